"""What becomes of OTLP logs: events that tell the messages of a span which stands elsewhere."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from benchmarks.conformance.corpus import with_logs
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Record, Reject, Span, ToolCall

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALLS = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
SYSTEM = ("gen_ai.system.message", {"content": "Be brief."})
USER = ("gen_ai.user.message", {"content": "hi"})
ASSISTANT = ("gen_ai.assistant.message", {"content": "Let me see.", "tool_calls": CALLS})
TOOL = ("gen_ai.tool.message", {"content": "done", "id": "c1"})
CHOICE = ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}})
PROMPT = [
    Message("system", "Be brief."),
    Message("user", "hi"),
    Message("assistant", "Let me see.", tool_calls=(ToolCall("c1", "f", '{"a": 1}'),)),
    Message("tool", "done", tool_call_id="c1"),
]


def body(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": body(item)} for key, item in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [body(item) for item in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def record(name: str, said: dict[str, Any], named_in_attribute: bool = False, **more: Any) -> dict[str, Any]:
    named = {"attributes": {"event.name": name}} if named_in_attribute else {"eventName": name}
    return {"traceId": TRACE, "spanId": SPAN, "body": body(said) if said else {}} | named | more


def read(*requests: list[dict[str, Any]]) -> tuple[list[Record], Tally]:
    resource = {"attributes": {"service.name": "shop"}}
    lines = [{"resourceLogs": [{"resource": resource, "scopeLogs": [{"logRecords": records}]}]} for records in requests]
    tally = Tally()
    data = b"\n".join(json.dumps(line).encode() for line in lines)
    return list(read_export(io.BytesIO(data), tally)), tally


def spans(records: list[Record]) -> list[Span]:
    return [found for found in records if isinstance(found, Span)]


@pytest.mark.parametrize("named_in_attribute", [False, True])
def test_events_of_one_span_give_the_fields_that_logs_know(named_in_attribute: bool) -> None:
    told = [record(*event, named_in_attribute) for event in (SYSTEM, USER, ASSISTANT, TOOL, CHOICE)]
    records, tally = read(told)
    [span] = spans(records)
    assert (span.trace_id, span.span_id, span.kind, span.flags) == (TRACE, SPAN, "llm", ["from_logs"])
    assert (span.prompt, span.output) == (PROMPT, [Message("assistant", "ok")])
    assert (span.finish_reason, span.dataset, span.content_state) == ("stop", "shop", "full")
    assert (span.name, span.parent_span_id, span.started_ns, span.status) == ("", "", None, "unknown")
    assert (tally.records, tally.rejects, tally.dialects) == (1, 0, {"otlp_events"})


def test_an_event_that_tells_a_whole_call_is_read() -> None:
    said = {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "ok"}]}],
            "gen_ai.response.model": "m", "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 2}  # fmt: skip
    event = record("gen_ai.client.inference.operation.details", {}, attributes=said)
    [span] = spans(read([event])[0])
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ok")])
    assert (span.model, span.input_tokens, span.dialect) == ("m", 9, "otlp_genai")


def test_a_span_is_joined_with_what_several_requests_told_of_it() -> None:
    records, _ = read([record(*event) for event in (SYSTEM, USER, ASSISTANT)], [record(*TOOL), record(*CHOICE)])
    span = Span("otlp", "otlp_genai", 0, TRACE, SPAN, "llm", "chat", status="ok", model="m")
    whole = with_logs(span, spans(records))
    assert (whole.prompt, whole.output) == (PROMPT, [Message("assistant", "ok")])
    assert (whole.model, whole.finish_reason, whole.content_state, whole.flags) == ("m", "stop", "full", [])
    assert (span.prompt, span.flags) == ([], [])
    assert with_logs(whole, spans(records)).prompt == PROMPT
    assert with_logs(span, spans(records)[:1]).content_state == "absent"


def test_without_captured_content_logs_give_nothing() -> None:
    bare = [{"id": "c1", "type": "function", "function": {"name": "f"}}]
    told = [record("gen_ai.user.message", {}), record("gen_ai.assistant.message", {"tool_calls": bare}),
            record("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "tool_calls": bare}})]  # fmt: skip
    records, tally = read(told, [record("gen_ai.client.inference.operation.details", {})], [record("other.event", {})])
    assert (records, tally.records, tally.rejects, tally.blanks) == ([], 0, 0, 3)


def test_what_was_said_beside_calls_and_left_out_is_flagged() -> None:
    records, _ = read([record(*USER), record("gen_ai.assistant.message", {"tool_calls": CALLS})])
    assert spans(records)[0].flags == ["from_logs", "text_beside_calls_unknown"]


def test_what_was_said_beside_calls_is_put_back_from_the_answer_that_wrote_them() -> None:
    written = [{"id": "call_5f2b7c81d9e04a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    counted = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]

    def calls(asked: list[dict[str, Any]], trace: str, first: str) -> list[list[dict[str, Any]]]:
        answer = {"role": "assistant", "content": "I shall look.", "tool_calls": asked}
        return [
            [record(*USER), record("gen_ai.choice", {"index": 0, "message": answer})],
            [record(*one, traceId=trace, spanId="2" * 16) for one in (USER, ("gen_ai.assistant.message",
             {"tool_calls": asked}), ("gen_ai.choice", {"index": 0, "message": {"content": first}}))],
        ]  # fmt: skip

    for asked, trace, restored in (
        (written, TRACE, True), (written, "9" * 32, True), (counted, TRACE, True), (counted, "9" * 32, False)
    ):  # fmt: skip
        first, second = spans(read(*calls(asked, trace, "done"))[0])
        assert (second.prompt[1] == first.output[0]) is restored
        assert second.prompt[1].content == ("I shall look." if restored else "")
        assert ("text_beside_calls_unknown" in second.flags) is not restored


def test_a_record_that_cannot_be_read_takes_no_other_with_it() -> None:
    records, tally = read([record(*USER), {"attributes": 7, "eventName": []}, "odd", record(*CHOICE, traceId="")])  # type: ignore[list-item]
    assert {found.reason for found in records if isinstance(found, Reject)} == {"no_ids", "unreadable_otlp_logs"}
    assert spans(records)[0].prompt == [Message("user", "hi")]
    assert (tally.records, tally.rejects) == (1, 2)


def test_verdicts_in_logs_are_feedback_on_the_span_they_name() -> None:
    verdict = {"gen_ai.evaluation.name": "polite", "gen_ai.evaluation.score.value": 0.5}
    event = record("gen_ai.evaluation.result", {}, attributes=verdict, observedTimeUnixNano="1796013930905659274")
    records, tally = read([event])
    assert records == [Feedback(0, TRACE, "polite", span_id=SPAN, score=0.5, annotator="code",
                                created_ns=1796013930905659274)]  # fmt: skip
    assert tally.dialects == {"otlp_logs"}


@pytest.mark.parametrize("name", ["resourceLogs", "resource_logs"])
def test_other_logs_are_passed_over(name: str) -> None:
    line = {name: [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "started"}}]}]}]}
    tally = Tally()
    assert list(read_export(io.BytesIO(json.dumps(line).encode()), tally)) == []
    assert (tally.records, tally.rejects, tally.blanks) == (0, 0, 1)
