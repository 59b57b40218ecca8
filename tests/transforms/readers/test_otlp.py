"""What becomes of OTLP traces in JSON with GenAI content."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Media, Message, Reject, Span, ToolCall

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
PROMPT = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": "ok"}], "finish_reason": "stop"}]


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {} if value is None else {"stringValue": value}


def pairs(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in fields.items()]


def span(attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    times = {"startTimeUnixNano": "1796013930879523691", "endTimeUnixNano": "1796013930905659274"}
    return {"traceId": TRACE, "spanId": SPAN, "name": "s", "attributes": pairs(attributes)} | times | more


def read(*spans: Any) -> list[Any]:
    resource = {"attributes": pairs({"service.name": "shop"})}
    request = {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}]
    }
    return list(read_export(io.BytesIO(json.dumps(request).encode()), Tally()))


def call(prompt: Any = PROMPT, answer: Any = ANSWER, raw: bool = False, more: Any = (), **fields: Any) -> Span:
    content = {"gen_ai.input.messages": prompt, "gen_ai.output.messages": answer}
    said = {key: value if raw else json.dumps(value) for key, value in content.items()}
    [record] = read(span({"gen_ai.operation.name": "chat"} | said | dict(more), **fields))
    assert isinstance(record, Span)
    return record


@pytest.mark.parametrize("raw", [False, True])
def test_messages_read_the_same_as_text_and_as_values(raw: bool) -> None:
    prompt = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}], "name": None},
        {"role": "user", "parts": [{"type": "text", "content": "one"}, {"type": "text", "content": "two"}]},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "Hm."},
                                        {"type": "tool_call", "id": "c1", "name": "f", "arguments": {"a": 1}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "done"}]},
    ]  # fmt: skip
    record = call(prompt, raw=raw)
    assert record.prompt == [
        Message("system", "Be brief."),
        Message("user", "one\ntwo"),
        Message("assistant", "", "Hm.", (ToolCall("c1", "f", '{"a": 1}'),)),
        Message("tool", "done", tool_call_id="c1"),
    ]
    assert record.output == [Message("assistant", "ok")]
    assert (record.kind, record.dialect, record.dataset) == ("llm", "otlp_genai", "shop")
    assert (record.finish_reason, record.content_state) == ("stop", "full")


def test_messages_encoded_twice_are_read() -> None:
    assert call(json.dumps(PROMPT)).prompt == [Message("user", "hi")]


def test_results_under_the_role_user_and_the_name_result_become_tool_messages() -> None:
    for result in ({"a": [1, 2]}, {"type": "json", "value": {"a": [1, 2]}}, [{"text": '{"a":[1,2]}'}]):
        part = {"type": "tool_call_response", "id": "c1", "result": result}
        assert call([{"role": "user", "parts": [part]}]).prompt == [Message("tool", '{"a":[1,2]}', tool_call_id="c1")]


def test_arguments_that_are_text_stay_as_they_are() -> None:
    parts = [{"type": "tool_call", "id": "c1", "name": "f", "arguments": '{ "a":1 }'}]
    record = call(answer=[{"role": "assistant", "parts": parts, "finish_reason": "tool_call"}])
    assert record.output[0].tool_calls == (ToolCall("c1", "f", '{ "a":1 }'),)
    assert record.finish_reason == "tool_calls"


def test_media_of_all_kinds_are_read() -> None:
    parts = [
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"},
        {"type": "uri", "modality": "audio", "uri": "https://example.org/a"},
        {"type": "file", "modality": "video", "file_id": "file-1"},
    ]
    record = call([{"role": "user", "parts": parts}])
    assert record.prompt[0].media == (
        Media("image", "image/png", "AAAA"), Media("audio", "", "https://example.org/a"), Media("video", "", "file-1"),
    )  # fmt: skip
    assert record.content_state == "full"


def test_system_instructions_come_first_and_only_once() -> None:
    more = {"gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}])}
    assert call(more=more).prompt == [Message("system", "Be brief."), Message("user", "hi")]
    with_system = [{"role": "developer", "parts": [{"type": "text", "content": "Be brief."}]}, *PROMPT]
    assert call(with_system, more=more).prompt == [Message("system", "Be brief."), Message("user", "hi")]


@pytest.mark.parametrize("key", ["parameters", "inputSchema", "input_schema"])
def test_tools_have_one_shape(key: str) -> None:
    tool = {"type": "function", "name": "f", "description": "d", key: {"type": "object"}}
    shaped = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
    for said in (json.dumps([tool]), [tool], json.dumps([shaped])):
        assert call(more={"gen_ai.tool.definitions": said}).tools == [shaped]


def test_counts_parameters_and_names_are_read() -> None:
    record = call(more={
        "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 2, "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.reasoning.output_tokens": 1, "gen_ai.request.temperature": 0.5, "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1", "gen_ai.provider.name": "openai", "gen_ai.response.id": "r",
        "gen_ai.response.finish_reasons": ["stop", "tool_calls"], "gen_ai.conversation.id": "c", "odd": {"a": [1]},
    })  # fmt: skip
    assert (record.input_tokens, record.output_tokens, record.cache_read_tokens, record.reasoning_tokens) == (
        9,
        2,
        4,
        1,
    )
    assert (record.model, record.provider, record.response_id, record.finish_reason) == (
        "m-1",
        "openai",
        "r",
        "tool_calls",
    )
    assert (record.parameters, record.conversation_id) == ({"temperature": 0.5}, "c")
    assert record.attributes == {"odd": {"a": [1]}, "otel.scope.name": "x"}
    assert call(more={"gen_ai.usage.prompt_tokens": 9, "gen_ai.usage.completion_tokens": 2}).output_tokens == 2


@pytest.mark.parametrize(
    "ids",
    [
        (TRACE.upper(), SPAN.upper()),
        (base64.b64encode(bytes.fromhex(TRACE)).decode(), base64.b64encode(bytes.fromhex(SPAN)).decode()),
        ("0x" + TRACE, "0x" + SPAN),
        (TRACE.lstrip("0"), SPAN),
    ],
)
def test_ids_of_every_notation_are_lower_case_hex(ids: tuple[str, str]) -> None:
    [record] = read(span({}, traceId=ids[0], spanId=ids[1], parentSpanId=ids[1]))
    assert (record.trace_id, record.span_id, record.parent_span_id) == (TRACE, SPAN, "")


@pytest.mark.parametrize("bad", ["", "0" * 32, "nonsense", None, 7])
def test_a_span_without_ids_is_a_reject_and_takes_no_other_with_it(bad: Any) -> None:
    records = read(span({}, traceId=bad), span({}), span({}) | {"attributes": [{"no": "key"}]})
    assert [type(record) for record in records] == [Reject, Span, Reject]
    assert [record.reason for record in records if isinstance(record, Reject)] == ["no_ids", "unreadable_otlp"]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (1796013930879523691, 1796013930879523691),
        ("1796013930879523691", 1796013930879523691),
        (1796013930879523, 1796013930879523000),
        (1796013930879, 1796013930879000000),
        (0, None),
        ("soon", None),
    ],
)
def test_times_are_nanoseconds_whatever_they_were_counted_in(start: Any, expected: int | None) -> None:
    [record] = read(span({}, startTimeUnixNano=start))
    assert record.started_ns == expected


@pytest.mark.parametrize("code", [2, "2", "STATUS_CODE_ERROR"])
def test_errors_are_told_by_status_or_by_an_exception(code: Any) -> None:
    event = {"name": "exception", "attributes": pairs({"exception.type": "E", "exception.message": "broke"})}
    [record] = read(span({}, status={"code": code}, events=[event]))
    assert (record.status, record.error_type, record.error) == ("error", "E", "broke")
    [record] = read(span({"error.type": "429"}, status={"code": 0}))
    assert (record.status, record.error_type) == ("error", "429")
    assert read(span({}, endTimeUnixNano=0))[0].status == "pending"


def test_snake_case_requests_are_read() -> None:
    inner = {"trace_id": TRACE, "span_id": SPAN, "name": "s", "attributes": [{"key": "n", "value": {"int_value": 3}}]}
    request = {"resource_spans": [{"scope_spans": [{"spans": [inner]}]}]}
    [record] = read_export(io.BytesIO(json.dumps(request).encode()), Tally())
    assert isinstance(record, Span)
    assert record.attributes == {"n": 3}


def test_dropped_attributes_and_cut_json_are_never_full() -> None:
    assert call(droppedAttributesCount=3).content_state == "truncated"
    cut = call(json.dumps(PROMPT)[:-9], raw=True)
    assert (cut.content_state, cut.prompt, cut.flags) == ("truncated", [], ["truncated_json"])


def test_content_that_was_not_captured_is_absent_and_of_another_dialect_is_unparsed() -> None:
    assert read(span({"gen_ai.operation.name": "chat"}))[0].content_state == "absent"
    other = {"gen_ai.operation.name": "chat", "gcp.vertex.agent.llm_request": '{"contents": []}'}
    [record] = read(span(other))
    assert (record.kind, record.content_state, record.dialect) == ("llm", "unparsed", "otlp_adk")


def test_content_on_a_span_event_is_read() -> None:
    events = [{"name": "gen_ai.client.inference.operation.details", "attributes": pairs({key: json.dumps(value)})}
              for key, value in (("gen_ai.input.messages", PROMPT), ("gen_ai.output.messages", ANSWER))]  # fmt: skip
    [record] = read(span({"gen_ai.operation.name": "chat"}, events=events))
    assert (record.prompt, record.output) == ([Message("user", "hi")], [Message("assistant", "ok")])


@pytest.mark.parametrize("arguments", ['{"a": 1}', {"a": 1}])
def test_tool_spans_say_what_was_called_and_what_came_back(arguments: Any) -> None:
    said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": "done"}  # fmt: skip
    [record] = read(span(said))
    assert (record.kind, record.tool_name, record.tool_call_id) == ("tool", "f", "c1")
    assert (record.tool_arguments, record.tool_result, record.content_state) == ('{"a": 1}', "done", "full")


@pytest.mark.parametrize("reward", [1, 0.5, True])
def test_agents_bring_tasks_rewards_and_verdicts(reward: Any) -> None:
    said = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "a",
        "task.id": "t",
        "attempt": 2,
        "reward": reward,
    }
    verdict = {"gen_ai.evaluation.name": "polite", "gen_ai.evaluation.score.value": 0.5,
               "gen_ai.evaluation.score.label": "so-so", "gen_ai.evaluation.explanation": "why"}  # fmt: skip
    event = {"name": "gen_ai.evaluation.result", "timeUnixNano": "1796013930905659274", "attributes": pairs(verdict)}
    agent, polite, given = read(span(said, events=[event]))
    assert (agent.kind, agent.agent, agent.task, agent.trial) == ("agent", "a", "t", 2)
    assert polite == Feedback(0, TRACE, "polite", score=0.5, label="so-so", comment="why", annotator="code",
                              created_ns=1796013930905659274)  # fmt: skip
    assert (given.key, given.score, given.annotator, given.span_id) == ("reward", float(reward), "env", "")


def test_a_reward_that_is_no_number_is_no_reward() -> None:
    assert len(read(span({"gen_ai.operation.name": "invoke_agent", "reward": "much"}))) == 1


def test_a_document_that_gives_spans_and_rejects_counts_as_a_record_and_its_rejects_are_counted() -> None:
    tally = Tally()
    spans = [span({}), span({}, traceId=""), span({}, traceId="")]
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    records = list(read_export(io.BytesIO(data), tally))
    assert (len(records), tally.records, tally.rejects, tally.blanks) == (2, 1, 1, 0)
