"""What becomes of Langfuse's traces, observations and scores."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Media, Message, Record, Reject, Span, ToolCall

START, END = "2026-11-30T05:04:03.250Z", "2026-11-30T05:04:04.000Z"
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}]
TOOL = {"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}
SAID = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}]}  # fmt: skip
GENERATION = {
    "id": "o1", "traceId": "t1", "type": "GENERATION", "name": "chat", "parentObservationId": "o0", "startTime": START,
    "endTime": END, "level": "DEFAULT", "statusMessage": None, "model": "m-1", "modelParameters": {"temperature": 0.5},
    "input": {"messages": CHAT, "tools": [TOOL]}, "output": SAID, "metadata": {"attempt": 2},
    "usageDetails": {"input": 12, "input_cached_tokens": 8, "output": 5, "output_reasoning_tokens": 2, "total": 27},
}  # fmt: skip
TRACE = {"id": "t1", "projectId": "shop", "sessionId": "talk", "tags": ["x"], "metadata": '{"task_id": "t-9"}',
         "scores": [], "input": "hidden", "output": "hidden"}  # fmt: skip
SCORE = {"id": "s1", "traceId": "t1", "observationId": None, "name": "mood", "value": 0.5, "dataType": "NUMERIC",
         "source": "EVAL", "comment": "why", "timestamp": START}  # fmt: skip


def read(*documents: Any) -> list[Record]:
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), Tally()))


def call(**more: Any) -> Span:
    (span,) = read({**GENERATION, **more})
    assert isinstance(span, Span)
    return span


def snake(row: dict[str, Any]) -> dict[str, Any]:
    """A row of an export: other names, structures as text, times without a zone."""
    names = {"traceId": "trace_id", "parentObservationId": "parent_observation_id", "startTime": "start_time",
             "endTime": "end_time", "statusMessage": "status_message", "model": "provided_model_name",
             "modelParameters": "model_parameters", "usageDetails": "usage_details"}  # fmt: skip
    told = {names.get(key, key): json.dumps(value) if isinstance(value, dict | list) else value
            for key, value in row.items()}  # fmt: skip
    times = {key: told[key].replace("T", " ").rstrip("Z") for key in ("start_time", "end_time")}
    return {**told, **times, "session_id": "", "project_id": "shop"}


def test_a_trace_gives_its_observations_and_its_scores() -> None:
    root = {**GENERATION, "id": "o0", "type": "AGENT", "name": "helper", "parentObservationId": None}
    agent, span, verdict = read({"trace": {**TRACE, "scores": [SCORE]}, "observations": [root, GENERATION]})
    assert isinstance(agent, Span)
    assert isinstance(span, Span)
    assert (agent.kind, agent.agent, agent.parent_span_id) == ("agent", "helper", "")
    assert (span.trace_id, span.span_id, span.parent_span_id) == ("t1", "o1", "o0")
    assert (span.task, span.trial, span.conversation_id, span.dataset) == ("t-9", 2, "talk", "shop")
    assert isinstance(verdict, Feedback)
    assert (verdict.trace_id, verdict.score, verdict.annotator) == ("t1", 0.5, "llm")


def test_a_generation_is_a_call_with_all_that_it_was_shown() -> None:
    span = call()
    assert [(message.role, message.content) for message in span.prompt] == [
        ("system", "Be brief."), ("user", "Where is it?")
    ]  # fmt: skip
    assert span.output == [Message("assistant", tool_calls=(ToolCall("c1", "find", '{"id": 7}'),))]
    assert (span.tools, span.model, span.content_state) == ([TOOL], "m-1", "full")
    assert span.parameters == {"temperature": 0.5}
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (20, 7, 8, 2)
    assert (span.started_ns, span.ended_ns) == (1_796_015_043_250_000_000, 1_796_015_044_000_000_000)


def test_rows_of_an_export_read_like_the_api() -> None:
    row = snake(GENERATION)
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row]), held)
    (packed,) = read_export(io.BytesIO(held.getvalue()), Tally())
    (line,) = read(row)
    assert packed == line
    span = call()
    span.dataset = "shop"
    assert line == span


def test_a_row_by_itself_may_be_a_root_and_a_trace_by_itself_carries_the_task() -> None:
    assert call(parentObservationId=None).parent_span_id == ""
    assert call(parentObservationId="").parent_span_id == ""
    row = {"id": "t1", "timestamp": "2026-11-30 05:04:03.25", "name": "n", "user_id": "u", "session_id": "talk",
           "tags": [], "metadata": '{"task_id": "t-9"}', "input": "hi"}  # fmt: skip
    (span,) = read(row)
    assert isinstance(span, Span)
    assert (span.trace_id, span.task, span.conversation_id) == ("t1", "t-9", "talk")
    listed = {"id": "t1", "timestamp": START, "observations": ["o1"], "scores": ["s1"], "metadata": {"task_id": "t-9"}}
    (span,) = read({"data": [listed], "meta": {}})
    assert isinstance(span, Span)
    assert span.task == "t-9"


@pytest.mark.parametrize(
    ("asked", "said", "state"),
    [
        (json.dumps(json.dumps(CHAT)), json.dumps(SAID), "full"),
        (CHAT, "5", "full"),
        (CHAT, "true", "full"),
        ("Where is it?", "Here.", "full"),
        ("system: Be brief.\nuser: Where is it?", "Here.", "unparsed"),
        ({"messages": ["role='user' content='hi'"]}, SAID, "unparsed"),
        ({"contents": [{"parts": [{"text": "hi"}]}]}, {"candidates": []}, "unparsed"),
        ({"contents": [{"parts": [{"code": "hi"}]}]}, {"content": {"parts": [{"text": "ho"}]}}, "truncated"),
        (CHAT, None, "absent"),
        (None, None, "absent"),
        ([{"role": "user", "content": "__REDACTED__"}], SAID, "redacted"),
    ],
)
def test_payloads_of_every_shape_are_read_or_marked(asked: Any, said: Any, state: str) -> None:
    span = call(input=asked, output=said)
    assert span.content_state == state
    if isinstance(said, str) and state == "full" and not said.startswith("{"):
        assert span.output == [Message("assistant", said)]


def test_tools_that_stand_among_messages_are_tools() -> None:
    span = call(input=[*CHAT, {"role": "tool", "content": TOOL}])
    assert (len(span.prompt), span.tools, span.content_state) == (2, [TOOL], "full")


def test_results_of_tools_of_any_shape_are_text() -> None:
    span = call(input=[*CHAT, SAID, {"role": "tool", "tool_call_id": "c1", "content": [{"url": "u"}]}])
    assert (span.prompt[-1].content, span.content_state) == ('[{"url":"u"}]', "full")


def test_a_request_to_gemini_is_a_call() -> None:
    asked = {
        "model": "m",
        "config": {
            "system_instruction": "Be brief.",
            "tools": [{"function_declarations": [{"name": "find", "parameters": {"type": "object"}}]}],
        },
        "contents": [
            {"role": "user", "parts": [{"text": "Where is it?"}]},
            {"role": "model", "parts": [{"function_call": {"name": "find", "args": {"id": 7}}}]},
            {"role": "user", "parts": [{"function_response": {"name": "find", "response": {"a": 1}}}]},
        ],
    }
    said = {"candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Here."}]},
                            "finish_reason": "STOP"}]}  # fmt: skip
    span = call(input=asked, output=json.dumps(said))
    assert [message.role for message in span.prompt] == ["system", "user", "assistant", "tool"]
    assert span.prompt[2].tool_calls == (ToolCall("", "find", '{"id": 7}'),)
    assert span.prompt[3].content == '{"a":1}'
    assert span.output == [Message("assistant", "Here.", "hm")]
    assert (span.tools, span.finish_reason, span.content_state) == ([TOOL], "stop", "full")


def test_one_answer_in_several_messages_is_one() -> None:
    calls = [{"role": "assistant", "content": [{"type": "function", "id": f"c{n}", "function": {"name": "f"}}]}
             for n in (1, 2)]  # fmt: skip
    (message,) = call(output=calls).output
    assert [said.id for said in message.tool_calls] == ["c1", "c2"]


def test_an_answer_of_the_responses_api_brings_its_instructions() -> None:
    said = {"object": "response", "instructions": "Be brief.", "tools": [TOOL["function"]], "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Here."}]}]}  # fmt: skip
    span = call(input=CHAT[1:], output=said)
    assert [message.role for message in span.prompt] == ["system", "user"]
    assert (span.output, span.tools) == ([Message("assistant", "Here.")], [TOOL])


def test_a_tool_is_a_span_of_a_tool_and_an_error_is_one() -> None:
    (span,) = read({**GENERATION, "type": "TOOL", "name": "find", "input": {"id": 7}, "output": "gone",
                    "metadata": {"tool_call_id": "c1"}, "level": "ERROR", "statusMessage": "not found"})  # fmt: skip
    assert isinstance(span, Span)
    assert (span.kind, span.tool_name, span.tool_call_id) == ("tool", "find", "c1")
    assert (span.tool_arguments, span.tool_result) == ('{"id": 7}', "gone")
    assert (span.status, span.error) == ("error", "not found")


@pytest.mark.parametrize(
    ("more", "score", "label", "comment"),
    [
        ({}, 0.5, "", "why"),
        ({"dataType": "BOOLEAN", "value": 1, "stringValue": "True"}, 1.0, "True", "why"),
        ({"dataType": "CATEGORICAL", "value": 2, "stringValue": "glad"}, None, "glad", "why"),
        ({"dataType": "CATEGORICAL", "value": "glad"}, None, "glad", "why"),
        ({"dataType": "TEXT", "value": 0, "stringValue": "odd"}, None, "odd", "why"),
        ({"dataType": "CORRECTION", "value": 0, "stringValue": "Better.", "comment": None}, None, "", "Better."),
    ],
)
def test_scores_of_each_type_are_feedback(more: dict[str, Any], score: float | None, label: str, comment: str) -> None:
    given = {**SCORE, **more}
    row = {"trace_id": "t1", "data_type": given["dataType"], "string_value": given.get("stringValue")}
    for document in (given, {key: given[key] for key in ("id", "name", "value", "comment")} | row):
        (verdict,) = read(document)
        assert isinstance(verdict, Feedback)
        assert (verdict.score, verdict.label, verdict.comment, verdict.key) == (score, label, comment, "mood")


def test_a_score_of_a_session_says_of_no_trace() -> None:
    (record,) = read({**SCORE, "traceId": None, "sessionId": "talk"})
    assert isinstance(record, Reject)
    assert record.reason == "no_ids"


def test_a_person_who_annotates_is_a_person() -> None:
    (verdict,) = read({**SCORE, "source": "ANNOTATION", "observationId": "o1"})
    assert isinstance(verdict, Feedback)
    assert (verdict.annotator, verdict.span_id) == ("human", "o1")


@pytest.mark.parametrize(
    "more",
    [
        {"usageDetails": {}, "usage": {"promptTokens": 12, "completionTokens": 5, "totalTokens": 17}},
        {"usageDetails": {}, "promptTokens": 12, "completionTokens": 5},
        {"usageDetails": None, "inputUsage": 12, "outputUsage": 5},
        {"usageDetails": None, "output": {**SAID, "usage_metadata": {"input_tokens": 12, "output_tokens": 5}}},
    ],
)
def test_counts_are_found_by_the_names_of_every_version(more: dict[str, Any]) -> None:
    span = call(**more)
    assert (span.input_tokens, span.output_tokens, span.content_state) == (12, 5, "full")


@pytest.mark.parametrize(
    "metadata",
    [
        {"attributes": {"gen_ai.system": "openai", "gen_ai.response.finish_reasons": ["tool_calls"]}},
        {"attributes.gen_ai.system": "openai", "attributes.gen_ai.response.finish_reasons": '["tool_calls"]'},
    ],
)
def test_attributes_in_the_metadata_tell_of_a_call(metadata: dict[str, Any]) -> None:
    span = call(metadata=metadata)
    assert (span.provider, span.finish_reason, span.attributes) == ("openai", "tool_calls", {})


def test_an_observation_of_which_nothing_is_said_about_a_parent_is_a_root() -> None:
    row = {key: value for key, value in GENERATION.items() if key != "parentObservationId"}
    (span,) = read({**row, "isRootObservation": True})
    assert isinstance(span, Span)
    assert (span.kind, span.parent_span_id) == ("llm", "")


def test_traces_observations_and_scores_that_stand_in_one_file_are_all_read() -> None:
    row = {"id": "t1", "timestamp": START, "name": "talk", "tags": [], "userId": None, "sessionId": "s-1"}
    records = read({"traces": [row], "observations": [GENERATION], "scores": [SCORE]})
    assert [type(record) for record in records] == [Span, Span, Feedback]


def test_a_span_without_a_type_that_names_its_tool_is_a_tool() -> None:
    told = {"gen_ai.tool.name": "find", "gen_ai.tool.call.id": "c1"}
    row = {**GENERATION, "type": "SPAN", "input": '{"id": 7}', "output": "here"}
    for metadata in ({"attributes": told}, json.dumps({"attributes": told})):
        (span,) = read({**row, "metadata": metadata})
        assert isinstance(span, Span)
        assert (span.kind, span.tool_name, span.tool_call_id) == ("tool", "find", "c1")
        assert (span.tool_arguments, span.tool_result) == ('{"id": 7}', "here")


def test_what_is_stored_beside_a_message_is_media_of_it_and_no_text() -> None:
    picture, file = (f"@@@langfuseMedia:type={mime}|id=i-1|source=bytes@@@" for mime in ("image/png", "text/csv"))
    parts = [{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": picture}}]
    span = call(
        input=[{"role": "user", "content": parts}, {"role": "user", "content": f"Look: {file}"}], output=picture
    )
    assert span.prompt == [
        Message("user", "What?", media=(Media("image", "image/png", picture),)),
        Message("user", "Look: ", media=(Media("file", "text/csv", file),)),
    ]
    assert span.output == [Message("assistant", media=(Media("image", "image/png", picture),))]
    assert (span.content_state, span.flags) == ("full", ["payload_elsewhere"])
    said = {**SAID, "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": json.dumps({"at": file})}}]}
    assert call(output=said).content_state == "unparsed"


def test_maps_of_parquet_and_cells_of_csv_read_like_the_objects_of_json() -> None:
    schema = json.dumps({"type": "object"})
    row: dict[str, Any] = {
        "id": "o1", "trace_id": "t1", "type": "GENERATION", "parent_observation_id": "", "name": "chat",
        "start_time": "2026-11-30 05:04:03.250000", "end_time": "2026-11-30 05:04:04.000000", "input": "hi",
        "output": "ho", "usage_details": {"input": 12, "output": 5}, "tags": ["x"],
        "metadata": {"task_id": "t-9", "attributes": json.dumps({"gen_ai.system": "m"})},
        "tool_definitions": {"find": json.dumps({"description": "", "parameters": schema})},
    }  # fmt: skip
    (expected,) = read(row)
    assert isinstance(expected, Span)
    assert (expected.input_tokens, expected.task, expected.tools, expected.attributes, expected.provider) == (
        12, "t-9", [TOOL], {"tags": ["x"]}, "m"
    )  # fmt: skip
    texts = pa.map_(pa.binary(), pa.binary())
    types = {"usage_details": pa.map_(pa.string(), pa.uint64()), "metadata": texts, "tool_definitions": texts,
             "tags": pa.list_(pa.binary())}  # fmt: skip
    columns = pa.schema([(name, types.get(name, pa.binary())) for name in row])
    packed = {name: [*value.items()] if isinstance(value, dict) else value for name, value in row.items()}
    parquet, cells = io.BytesIO(), io.StringIO()
    pq.write_table(pa.Table.from_pylist([packed], columns), parquet)
    table = csv.DictWriter(cells, row)
    table.writeheader()
    table.writerow({name: value if isinstance(value, str) else json.dumps(value) for name, value in row.items()})
    for written in (parquet.getvalue(), cells.getvalue().encode()):
        assert list(read_export(io.BytesIO(written), Tally())) == [expected]


def test_the_manifest_of_an_export_is_nothing() -> None:
    manifest = {"version": 1, "projectId": "shop", "exportSource": "EVENTS", "tables": ["scores"], "files": [
        {"key": "shop/scores/x.parquet", "table": "scores", "fileType": "PARQUET", "rowCount": None}]}  # fmt: skip
    tally = Tally()
    assert list(read_export(io.BytesIO(json.dumps(manifest).encode()), tally)) == []
    assert (tally.blanks, tally.rejects) == (1, 0)
