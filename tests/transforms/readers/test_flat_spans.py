"""What becomes of spans and logs that stand by themselves with plain attributes, as stores and consoles write them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Message, Record, Reject, Span

TRACE, SPAN, PARENT = "1f2e3d4c5b6a79880796a5b4c3d2e1f0", "0a9b8c7d6e5f4031", "f0e1d2c3b4a59687"
START = 1_796_015_043_250_000_000
TOOK = 750_000_000
BEGAN, ENDED = "2026-11-30T05:04:03.250000Z", "2026-11-30T05:04:04.000000Z"
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]
ANSWERED = [{"role": "assistant", "parts": [{"type": "text", "content": "ho"}]}]
SAID: dict[str, Any] = {
    "gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "session.id": "talk",
    "gen_ai.usage.input_tokens": 4, "gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED,
}  # fmt: skip
AS_TEXT = {key: value if isinstance(value, str) else json.dumps(value) for key, value in SAID.items()}
RESOURCE = {"service.name": "shop"}


def read(*documents: Any) -> tuple[list[Record], Tally]:
    tally = Tally()
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), tally)), tally


def pairs(said: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]


CLOUDWATCH = {
    "resource": {"attributes": RESOURCE}, "scope": {"name": "kit", "version": "1"}, "traceId": TRACE, "spanId": SPAN,
    "parentSpanId": PARENT, "name": "chat m-1", "kind": "INTERNAL", "startTimeUnixNano": START,
    "endTimeUnixNano": START + TOOK, "durationNano": TOOK, "attributes": AS_TEXT, "status": {"code": "OK"},
}  # fmt: skip
LOGFIRE = {
    "trace_id": TRACE, "span_id": SPAN, "parent_span_id": PARENT, "kind": "span", "span_name": "chat m-1",
    "start_timestamp": BEGAN, "end_timestamp": ENDED, "duration": 0.75, "service_name": "shop",
    "otel_scope_name": "kit", "otel_status_code": "UNSET", "otel_events": "[]", "attributes": json.dumps(SAID),
}  # fmt: skip
CLICKHOUSE = {
    "Timestamp": "2026-11-30 05:04:03.250000000", "TraceId": TRACE, "SpanId": SPAN, "ParentSpanId": PARENT,
    "SpanName": "chat m-1", "SpanKind": "Client", "ServiceName": "shop", "ResourceAttributes": RESOURCE,
    "ScopeName": "kit", "SpanAttributes": AS_TEXT, "Duration": str(TOOK), "StatusCode": "Ok", "StatusMessage": "",
    "Events.Timestamp": [], "Events.Name": [], "Events.Attributes": [],
}  # fmt: skip
OTLP_ALONE = CLOUDWATCH | {"attributes": pairs(AS_TEXT), "resource": {"attributes": pairs(RESOURCE)}}
NUMBERED = {
    "trace_id": int(TRACE, 16), "span_id": int(SPAN, 16), "parent_span_id": int(PARENT, 16), "name": "chat m-1",
    "start_time": START, "end_time": START + TOOK, "attributes": SAID, "resource": RESOURCE, "scope": "kit",
}  # fmt: skip
IN_CONTEXT = {
    "context": {"trace_id": TRACE, "span_id": SPAN}, "parent": {"span_id": PARENT},
    "name": "chat m-1", "start_time": BEGAN, "end_time": ENDED, "attributes": SAID, "resource_attributes": RESOURCE,
    "scope": {"name": "kit"}, "status": {"status_code": "StatusCode.OK"},
}  # fmt: skip


@pytest.mark.parametrize("span", [CLOUDWATCH, LOGFIRE, CLICKHOUSE, OTLP_ALONE, NUMBERED, IN_CONTEXT])
def test_a_span_is_read_whatever_its_store_calls_the_fields(span: dict[str, Any]) -> None:
    ((found,), tally) = read(span)
    assert isinstance(found, Span)
    assert (found.trace_id, found.span_id, found.parent_span_id, found.name) == (TRACE, SPAN, PARENT, "chat m-1")
    assert (found.kind, found.status, found.content_state, found.model) == ("llm", "ok", "full", "m-1")
    assert (found.prompt, found.output) == ([Message("user", "hi")], [Message("assistant", "ho")])
    assert (found.conversation_id, found.input_tokens, found.dataset) == ("talk", 4, "shop")
    assert (found.started_ns, found.ended_ns) == (START, START + TOOK)
    assert found.attributes["otel.scope.name"] == "kit"
    assert (tally.records, tally.dialects) == (1, {"otlp_genai"})


@pytest.mark.parametrize("page", [{"columns": [], "rows": [LOGFIRE]}, {"trace_id": TRACE, "spans": [CLOUDWATCH]}])
def test_spans_are_found_where_an_answer_lists_them(page: dict[str, Any]) -> None:
    ((found,), _) = read(page)
    assert isinstance(found, Span)
    assert found.content_state == "full"


@pytest.mark.parametrize("name", ["trace_id", "traceId"])
def test_spans_are_of_the_trace_that_lists_them(name: str) -> None:
    without = {key: said for key, said in CLOUDWATCH.items() if key != "traceId"}
    ((found,), _) = read({name: TRACE, "spans": [without]})
    assert isinstance(found, Span)
    assert found.trace_id == TRACE


@pytest.mark.parametrize("span", [
    LOGFIRE | {"otel_status_code": "ERROR", "otel_status_message": "broke", "otel_events": [
        {"event_name": "exception", "event_timestamp": ENDED, "attributes": {"exception.type": "E"}}]},
    CLICKHOUSE | {"StatusCode": "Error", "StatusMessage": "broke", "Events.Name": ["exception"],
                  "Events.Timestamp": ["2026-11-30 05:04:04"], "Events.Attributes": [{"exception.type": "E"}]},
    CLOUDWATCH | {"status": {"code": 2, "message": "broke"}, "events": [
        {"name": "exception", "timeUnixNano": START, "attributes": {"exception.type": "E"}}]},
])  # fmt: skip
def test_errors_are_read_with_the_events_that_tell_them(span: dict[str, Any]) -> None:
    ((found,), _) = read(span)
    assert isinstance(found, Span)
    assert (found.status, found.error, found.error_type) == ("error", "broke", "E")


def test_copies_of_spans_that_only_began_are_left_out() -> None:
    records, tally = read(LOGFIRE | {"kind": "pending_span"})
    assert (records, tally.blanks) == ([], 1)


@pytest.mark.parametrize("more", [{"span_id": ""}, {"trace_id": None}, {"attributes": "none"}, {"attributes": [1]},
                                  {"span_name": ""}])  # fmt: skip
def test_what_lacks_ids_a_name_or_attributes_is_no_span(more: dict[str, Any]) -> None:
    assert [type(record) for record in read(LOGFIRE | more)[0]] == [Reject]


def printed(name: str, body: Any, **more: Any) -> dict[str, Any]:
    return {
        "body": body, "severity_number": 9, "severity_text": "INFO", "attributes": {"gen_ai.system": "p"},
        "dropped_attributes": 0, "timestamp": BEGAN, "observed_timestamp": BEGAN, "trace_id": f"0x{TRACE}",
        "span_id": f"0x{SPAN}", "trace_flags": 1, "resource": {"attributes": RESOURCE}, "event_name": name,
    } | more  # fmt: skip


@pytest.mark.parametrize("body", [{"content": "hi"}, {"role": "user", "content": "hi"}, '{"content": "hi"}', "hi",
                                  {"kvlistValue": {"values": pairs({"content": "hi"})}}])  # fmt: skip
def test_a_log_that_a_console_printed_tells_of_its_span(body: Any) -> None:
    ((found,), tally) = read(printed("gen_ai.user.message", body))
    assert isinstance(found, Span)
    assert (found.trace_id, found.span_id, found.flags) == (TRACE, SPAN, ["from_logs"])
    assert (found.prompt, found.dataset, found.provider) == ([Message("user", "hi")], "shop", "p")
    assert found.started_ns == START
    assert tally.dialects == {"otlp_events"}


def test_a_log_with_one_field_only_keeps_what_is_in_it() -> None:
    body = {"content": {"parts": [{"text": "hi"}], "role": "user"}}
    ((found,), _) = read(printed("gen_ai.user.message", body))
    assert isinstance(found, Span)
    assert found.prompt == [Message("user", "hi")]


def test_logs_of_other_things_are_passed_over() -> None:
    records, tally = read(printed("", "started", trace_id="0x0", span_id="0x0"))
    assert (records, tally.blanks, tally.rejects) == ([], 1, 0)


def test_entries_of_cloud_logging_tell_of_their_span() -> None:
    entry = {
        "logName": "projects/p/logs/gen_ai.client.inference.operation.details",
        "spanId": SPAN,
        "trace": f"projects/p/traces/{TRACE}",
        "timestamp": BEGAN,
        "labels": {
            "event.name": "gen_ai.client.inference.operation.details",
            "gen_ai.usage.input_tokens": "4",
            "gen_ai.input.messages": json.dumps(ASKED),
            "gen_ai.output.messages": json.dumps(ANSWERED),
        },
    }
    ((found,), _) = read(entry)  # fmt: skip
    assert isinstance(found, Span)
    assert (found.trace_id, found.span_id, found.content_state, found.input_tokens) == (TRACE, SPAN, "full", 4)
    assert (found.prompt, found.output) == ([Message("user", "hi")], [Message("assistant", "ho")])
    message = {"logName": "projects/p/logs/gen_ai.user.message", "spanId": SPAN, "trace": f"projects/p/traces/{TRACE}",
               "jsonPayload": {"content": {"role": "user", "parts": [{"text": "hi"}]}}}  # fmt: skip
    ((found,), _) = read(message)
    assert isinstance(found, Span)
    assert found.prompt == [Message("user", "hi")]
    assert read({"logName": "projects/p/logs/run", "jsonPayload": {"message": "started"}})[1].blanks == 1
