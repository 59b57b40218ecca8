"""What becomes of spans in other wrappings than OTLP: Jaeger, dumps of SDKs, Phoenix, MLflow."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Record, Reject, Span, ToolCall

TRACE, SPAN, PARENT = "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "00b2c3d4e5f60718", "c1b2c3d4e5f60718"
START = 1_796_015_043_250_000_000
SAID = {
    "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "session.id": "talk", "task_id": "t-9",
    "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
    "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"ho"}]}]',
    "gen_ai.usage.input_tokens": 4,
}  # fmt: skip
OPENINFERENCE = {
    "llm.model_name": "m-1", "session.id": "talk", "llm.token_count.prompt": 4,
    "llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi",
    "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "ho",
}  # fmt: skip


def read(*documents: Any) -> list[Record]:
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), Tally()))


def span_of(*documents: Any) -> Span:
    (span,) = read(*documents)
    assert isinstance(span, Span)
    return span


def the_call(span: Span) -> None:
    assert (span.trace_id, span.span_id, span.parent_span_id) == (TRACE, SPAN, PARENT)
    assert (span.kind, span.status, span.content_state, span.model) == ("llm", "ok", "full", "m-1")
    assert span.prompt == [Message("user", "hi")]
    assert span.output == [Message("assistant", "ho")]
    assert (span.conversation_id, span.task, span.input_tokens) == ("talk", "t-9", 4)
    assert (span.started_ns, span.ended_ns) == (START, START + 750_000_000)


def jaeger(**more: Any) -> dict[str, Any]:
    span = {
        "traceID": TRACE.removeprefix("0"), "spanID": SPAN.removeprefix("00"), "operationName": "chat m-1",
        "references": [{"refType": "FOLLOWS_FROM", "spanID": "ff"}, {"refType": "CHILD_OF", "spanID": PARENT}],
        "startTime": START // 1000, "duration": 750_000, "processID": "p1", "logs": [],
        "tags": [{"key": key, "type": "string", "value": value} for key, value in SAID.items()],
    }  # fmt: skip
    return {"traceID": TRACE, "spans": [{**span, **more}], "processes": {"p1": {"serviceName": "shop"}}}


def test_a_trace_of_jaeger_is_its_spans() -> None:
    span = span_of(jaeger())
    the_call(span)
    assert span.dataset == "shop"
    for page in ({"data": [jaeger()], "total": 0}, {"data": jaeger(), "id": TRACE}):
        assert read(page) == [span]


def test_tags_as_a_map_and_logs_and_errors_of_jaeger_are_read() -> None:
    failed = {"error": True, "otel.status_description": "no"}
    log = {"timestamp": START // 1000, "fields": [{"key": "event", "value": "exception"},
                                                  {"key": "exception.type", "value": "Boom"}]}  # fmt: skip
    span = span_of(jaeger(tags=[], tagsAsMap={**SAID, **failed}, logs=[log]))
    assert (span.kind, span.status, span.error_type, span.error) == ("llm", "error", "Boom", "no")


def test_a_span_of_jaeger_by_itself_is_read_as_elasticsearch_holds_it() -> None:
    span = jaeger()["spans"][0] | {"tags": [], "process": {"serviceName": "shop"}}
    tag = {key.replace(".", "@"): value for key, value in SAID.items()}
    found = span_of(span | {"traceID": TRACE, "tag": tag, "startTimeMillis": START // 1_000_000})
    the_call(found)
    assert found.dataset == "shop"


def test_a_broken_span_of_jaeger_takes_no_other_with_it() -> None:
    trace = jaeger()
    trace["spans"] = [7, *trace["spans"], {**trace["spans"][0], "tags": [{"key": ["x"], "value": 1}]}]
    records = read(trace)
    assert [type(record) for record in records] == [Reject, Span]


CONSOLE = {
    "name": "chat m-1", "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
    "kind": "SpanKind.CLIENT", "parent_id": f"0x{PARENT}", "start_time": "2026-11-30T05:04:03.250000Z",
    "end_time": "2026-11-30T05:04:04.000000Z", "status": {"status_code": "UNSET"}, "attributes": SAID, "events": [],
    "links": [], "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
}  # fmt: skip
JAVASCRIPT = {
    "name": "chat m-1", "spanContext": {"traceId": TRACE, "spanId": SPAN, "traceFlags": 1}, "parentSpanId": PARENT,
    "startTime": [1_796_015_043, 250_000_000], "endTime": [1_796_015_044, 0], "status": {"code": 0}, "attributes": SAID,
    "events": [], "resource": {"attributes": {"service.name": "shop"}},
}  # fmt: skip
PRINTED = {
    "resource": {"attributes": {"service.name": "shop"}}, "traceId": TRACE, "id": SPAN, "name": "chat m-1",
    "parentSpanContext": {"traceId": TRACE, "spanId": PARENT}, "kind": 2, "timestamp": START // 1000,
    "duration": 750_000, "attributes": SAID, "status": {"code": 0}, "events": [], "links": [],
}  # fmt: skip


@pytest.mark.parametrize("dump", [CONSOLE, JAVASCRIPT, PRINTED])
def test_a_dump_of_an_sdk_is_its_span(dump: dict[str, Any]) -> None:
    span = span_of(dump)
    the_call(span)
    assert span.dataset == "shop"


def test_what_a_console_prints_is_read_as_it_stands() -> None:
    printed = "".join(json.dumps(CONSOLE, indent=4) + "\n" for _ in range(3))
    tally = Tally()
    records = list(read_export(io.BytesIO(printed.encode()), tally))
    assert (len(records), tally.container, tally.rejects) == (3, "json", 0)


def test_a_span_that_was_printed_when_it_began_is_pending() -> None:
    first, second = read({**CONSOLE, "end_time": None}, CONSOLE)
    assert isinstance(first, Span)
    assert isinstance(second, Span)
    assert (first.status, second.status, first.span_id) == ("pending", "ok", second.span_id)


API = {
    "id": "U3Bhbjox", "name": "ChatCompletion", "context": {"trace_id": TRACE, "span_id": SPAN}, "span_kind": "LLM",
    "parent_id": PARENT, "start_time": "2026-11-30T05:04:03.250000+00:00", "status_message": "", "status_code": "OK",
    "end_time": "2026-11-30T05:04:04+00:00", "attributes": {**OPENINFERENCE, "metadata.task_id": "t-9"}, "events": [],
}  # fmt: skip
ROW = {
    "name": "ChatCompletion", "span_kind": "LLM", "parent_id": PARENT, "start_time": "2026-11-30T05:04:03.250Z",
    "end_time": "2026-11-30T05:04:04.000Z", "status_code": "OK", "status_message": "", "events": [],
    "context.span_id": SPAN, "context.trace_id": TRACE, "attributes.llm.model_name": "m-1",
    "attributes.session.id": "talk", "attributes.llm.token_count.prompt": 4.0, "attributes.tool.name": None,
    "attributes.metadata": {"task_id": "t-9", "attempt": None},
    "attributes.llm.input_messages": [{"message.role": "user", "message.content": "hi", "message.tool_calls": None}],
    "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "ho"}],
}  # fmt: skip


def test_spans_of_phoenix_read_the_same_from_its_api_its_data_frame_and_parquet() -> None:
    span = span_of(API)
    the_call(span)
    assert (span.source, span.dialect) == ("phoenix", "phoenix")
    assert read({"data": [API], "next_cursor": None}) == [span]
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([ROW]), held)
    (packed,) = read_export(io.BytesIO(held.getvalue()), Tally())
    for other in (span_of(ROW), packed):
        assert isinstance(other, Span)
        the_call(other)


def test_a_tool_call_in_a_data_frame_is_read_and_padding_is_not() -> None:
    call = {"tool_call.id": "c1", "tool_call.function.name": "find", "tool_call.function.arguments": '{"id": 7}'}
    said = {"message.role": "assistant", "message.content": None, "message.tool_calls": [call]}
    span = span_of({**ROW, "attributes.llm.output_messages": [said]})
    assert span.output == [Message("assistant", tool_calls=(ToolCall("c1", "find", '{"id": 7}'),))]


def test_spans_of_phoenix_in_the_shape_of_otlp_are_read_without_their_unset_variants() -> None:
    unset = {"string_value": None, "int_value": None, "double_value": None, "bool_value": None, "array_value": None}
    pairs = [
        {"key": key, "value": {**unset, "int_value" if isinstance(value, int) else "string_value": value}}
        for key, value in (API["attributes"] | {"openinference.span.kind": "LLM"}).items()  # type: ignore[operator]
    ]
    bare = {"trace_id": TRACE, "span_id": SPAN, "parent_span_id": PARENT, "name": "n", "start_time_unix_nano": START,
            "end_time_unix_nano": START + 750_000_000, "status": {"code": 1, "message": None}, "events": None,
            "attributes": pairs}  # fmt: skip
    (span,) = read({"data": [bare], "next_cursor": None})
    assert isinstance(span, Span)
    the_call(span)


def test_ids_that_are_not_of_opentelemetry_stay_what_they_are() -> None:
    context = {"trace_id": "trace one", "span_id": "s1"}
    span = span_of({**API, "context": context, "parent_id": "s0"})
    assert (span.trace_id, span.span_id, span.parent_span_id) == ("trace one", "s1", "s0")
    (record,) = read({**API, "context": {"trace_id": "", "span_id": "s1"}})
    assert isinstance(record, Reject)
    assert record.reason == "no_ids"


@pytest.mark.parametrize("flat", [False, True])
def test_annotations_of_phoenix_are_feedback_on_a_span(flat: bool) -> None:
    result = {"score": 0.5, "label": "fair", "explanation": "why"}
    told = {f"result.{key}": value for key, value in result.items()} if flat else {"result": result}
    named = {"annotation_name": "mood"} if flat else {"name": "mood"}
    (verdict,) = read({"id": "A1", "span_id": SPAN, "annotator_kind": "LLM", "created_at": "2026-11-30T05:04:03.25Z",
                       **told, **named})  # fmt: skip
    assert isinstance(verdict, Feedback)
    assert (verdict.trace_id, verdict.trace_identity, verdict.span_id, verdict.key) == ("", (), SPAN, "mood")
    assert (verdict.score, verdict.label, verdict.comment, verdict.annotator) == (0.5, "fair", "why", "llm")
    assert verdict.created_ns == START


def test_annotations_that_the_cli_of_phoenix_puts_beside_spans_and_traces_are_feedback() -> None:
    mood = {"id": "A1", "name": "mood", "annotator_kind": "HUMAN", "result": {"score": 0.5}}
    document = {"traceId": TRACE, "status": "OK", "spans": [{**API, "annotations": [mood]}],
                "annotations": [{**mood, "trace_id": TRACE, "name": "all", "annotator_kind": "CODE"}]}  # fmt: skip
    span, *verdicts = read(document)
    assert span == span_of(API)
    assert [(one.trace_id, one.span_id, one.key, one.score, one.annotator)
            for one in verdicts if isinstance(one, Feedback)] == [
        ("", SPAN, "mood", 0.5, "human"), (TRACE, "", "all", 0.5, "code")
    ]  # fmt: skip
    (reject,) = read({**mood, "span_id": SPAN, "document_position": 0})
    assert isinstance(reject, Reject)


def test_spans_of_arize_tell_their_kind_by_another_name_and_nest_attributes() -> None:
    asked = [{"message": {"role": "user", "content": "hi"}}]
    said = {"llm": {"model_name": "m-1", "input_messages": asked, "token_count": {"prompt": 4},
                    "output_messages": [{"message.role": "assistant", "message.content": "ho"}]},
            "session": {"id": "talk"}, "metadata": {"task_id": "t-9"}}  # fmt: skip
    fields = {name: value for name, value in API.items() if name not in ("id", "span_kind", "attributes")}
    the_call(span_of({**fields, "kind": "LLM", "attributes": said}))


def test_columns_of_verdicts_are_feedback_and_rows_of_arize_are_spans() -> None:
    row = {"context.trace_id": TRACE, "context.span_id": SPAN, "name": "find", "attributes.input.value": "hi",
           "attributes.openinference.span.kind": "TOOL", "attributes.output.value": "ho",
           "eval.Tone.score": "0.5", "eval.Tone.label": "warm", "eval.Tone.explanation": "why",
           "annotation.ok.label": "yes", "trace_eval.all.score": "1", "eval.none.score": None}  # fmt: skip
    text = ",".join(row) + "\n" + ",".join(value or "" for value in row.values()) + "\n"
    span, *verdicts = read_export(io.BytesIO(text.encode()), Tally())
    assert isinstance(span, Span)
    assert (span.kind, span.tool_arguments, span.tool_result) == ("tool", "hi", "ho")
    assert [(one.trace_id, one.span_id, one.key, one.score, one.label, one.comment, one.annotator)
            for one in verdicts if isinstance(one, Feedback)] == [
        ("", SPAN, "Tone", 0.5, "warm", "why", "unknown"), ("", SPAN, "ok", None, "yes", "", "human"),
        (TRACE, "", "all", 1.0, "", "", "unknown"),
    ]  # fmt: skip


ANSWER = {"id": "chatcmpl-1", "model": "m-1", "choices": [{"finish_reason": "stop", "message": {
    "role": "assistant", "content": "ho"}}], "usage": {"prompt_tokens": 4}}  # fmt: skip
MLFLOW = {
    "info": {"trace_id": f"tr-{TRACE}", "state": "OK", "trace_metadata": {"mlflow.trace.session": "talk"},
             "tags": {"task_id": "t-9", "attempt": "2"}},
    "data": {"spans": [{
        "trace_id": "ChssPU5fYHGCk6S1xtfo+Q==", "span_id": "ALLD1OX2Bxg=", "parent_span_id": "wbLD1OX2Bxg=",
        "name": "Completions", "start_time_unix_nano": START, "end_time_unix_nano": START + 750_000_000,
        "status": {"code": "STATUS_CODE_OK", "message": ""}, "events": [], "links": [],
        "attributes": {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanOutputs": json.dumps(ANSWER),
                       "mlflow.spanInputs": json.dumps({"messages": [{"role": "user", "content": "hi"}]}),
                       "mlflow.chat.tokenUsage": '{"input_tokens": 4}'}}]},
}  # fmt: skip


def test_a_trace_of_mlflow_is_its_spans_and_its_feedback() -> None:
    span = span_of(MLFLOW)
    the_call(span)
    assert (span.trial, span.source) == (2, "mlflow")
    row = {"trace_id": f"tr-{TRACE}", "trace": json.dumps(MLFLOW), "trace_metadata": "{}", "request": "x"}
    assert read(row) == [span]


def test_a_trace_of_mlflow_2_is_read() -> None:
    (old,) = MLFLOW["data"]["spans"]  # type: ignore[index]
    context = {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}"}
    kept = {key: value for key, value in old.items() if key in ("name", "attributes", "events")}
    span = {**kept, "context": context, "parent_id": f"0x{PARENT}", "start_time": START,
            "end_time": START + 750_000_000, "status_code": "OK", "status_message": ""}  # fmt: skip
    info = {"request_id": "r1", "request_metadata": {"mlflow.trace.session": "talk"}, "tags": {"task_id": "t-9"}}
    the_call(span_of({"info": info, "data": {"spans": [span]}}))


def test_a_trace_of_mlflow_reads_the_same_from_its_api_from_a_row_and_from_the_file_of_its_spans() -> None:
    info, spans = MLFLOW["info"], MLFLOW["data"]["spans"]  # type: ignore[index]
    expected = span_of(MLFLOW)
    marked = [{**span, "attributes": {**span["attributes"], "mlflow.traceRequestId": '"r1"'}} for span in spans]
    pairs = [{"key": key, "value": {"string_value": value}} for key, value in spans[0]["attributes"].items()]
    row = {**info, "request": "x", "response": "y"}  # type: ignore[dict-item]
    for document in (
        {"trace": {"trace_info": info, "spans": [{**spans[0], "attributes": pairs}]}},
        {**row, "spans": spans},
        {**row, "trace": "Trace(trace_id=x)", "spans": json.dumps(spans), "tags": json.dumps(row["tags"])},
    ):
        assert read(document) == [expected]
    answer = {"object": "response", "output": [], "databricks_output": {"trace": MLFLOW}}
    assert read(answer) == read({"databricks_request_id": "r1", "response": json.dumps(answer)}) == [expected]
    alone = span_of({"spans": marked, "request": "x", "response": "y"})
    assert (alone.trace_id, alone.span_id, alone.output) == (TRACE, SPAN, expected.output)
    printed = {**row, "trace": "Trace(trace_id=x)", "spans": "[{'name': 'x'}]"}
    (reject,) = read(printed)
    assert isinstance(reject, Reject)
    assert reject.reason == "unreadable_mlflow"


def test_assessments_of_mlflow_that_still_count_are_feedback() -> None:
    given = [
        {"assessment_name": "ok", "feedback": {"value": True}, "source": {"source_type": "HUMAN"}, "rationale": "why"},
        {"assessment_name": "tone", "feedback": {"value": "warm"}, "source": {"source_type": "LLM_JUDGE"},
         "span_id": "ALLD1OX2Bxg="},
        {"assessment_name": "old", "feedback": {"value": 0.1}, "valid": False},
        {"assessment_name": "truth", "expectation": {"value": "ho"}},
    ]  # fmt: skip
    info = {**MLFLOW["info"], "assessments": given}  # type: ignore[dict-item]
    _, first, second = read({**MLFLOW, "info": info})
    assert isinstance(first, Feedback)
    assert isinstance(second, Feedback)
    assert (first.trace_id, first.key, first.score, first.comment) == (TRACE, "ok", 1.0, "why")
    assert (first.annotator, second.annotator) == ("human", "llm")
    assert (second.score, second.label, second.span_id) == (None, "warm", SPAN)


def test_times_within_lists_of_parquet_may_be_nanoseconds() -> None:
    event = pa.struct([("name", pa.string()), ("timestamp", pa.timestamp("ns", "UTC"))])
    row = {"context.trace_id": TRACE, "context.span_id": SPAN, "span_kind": "TOOL", "name": "find",
           "events": [{"name": "exception", "timestamp": START + 1}]}  # fmt: skip
    schema = pa.schema([(name, pa.list_(event) if name == "events" else pa.string()) for name in row])
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row], schema), stream)
    (span,) = read_export(io.BytesIO(stream.getvalue()), Tally())
    assert isinstance(span, Span)
    assert (span.span_id, span.kind) == (SPAN, "tool")
