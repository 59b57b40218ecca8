"""Reads spans and logs that stand by themselves with plain attributes: rows of stores, dumps, answers of debuggers.

Everybody names the fields in a way of their own: OTLP without its request (CloudWatch, MLflow's artifacts), Logfire's
records, ClickHouse's rows, the kit's debugger of Google, consoles of SDKs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers import otlp, otlp_logs
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.span_dumps import Spans, read_span
from transforms.readers.values import first_text, listing, mapping, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

TRACE, SPAN = ("traceId", "trace_id", "TraceId"), ("spanId", "span_id", "SpanId")
PARENT = ("parentSpanId", "parent_span_id", "ParentSpanId", "parentId", "parent_id")
NAME = ("name", "span_name", "SpanName")
START = ("startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time", "start_timestamp", "Timestamp")
END = ("endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time", "end_timestamp")
TOOK = "Duration"
"""Where ClickHouse says how many nanoseconds a span took, and not when it ended."""

ATTRIBUTES = ("attributes", "SpanAttributes", "span_attributes")
RESOURCE = ("resource", "ResourceAttributes", "resource_attributes", "otel_resource_attributes")
SERVICE = ("service_name", "ServiceName", "serviceName")
SCOPE = ("scope", "instrumentation_scope", "instrumentationScope", "ScopeName", "otel_scope_name", "scope_name")
STATUS = ("status", "status_code", "StatusCode", "otel_status_code")
STATUS_TEXT = ("status_message", "StatusMessage", "otel_status_message", "statusMessage")
EVENTS = ("events", "otel_events", "span_events")
TIMES = ("timeUnixNano", "time_unix_nano", "timestamp", "event_timestamp", "time")
COLUMNS = ("Events.Name", "Events.Timestamp", "Events.Attributes")
"""Events of ClickHouse's rows, a list a field."""

SEVERITY = ("severity_number", "severityNumber", "severity_text", "severityText")


def is_span(fields: dict[str, Any]) -> bool:
    """Whether an object is a span with its ids, a name and attributes."""
    ids = (_id(fields, TRACE, otlp.TRACE_DIGITS), _id(fields, SPAN, otlp.SPAN_DIGITS))
    return all(ids) and bool(first_text(fields, *NAME)) and _attributes(fields) is not None


def read_flat_span(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of such an object; none of Logfire's copies of spans that only began."""
    if fields.get("kind") == otlp.PENDING:
        return
    start, parent = time_ns(otlp.pick(fields, *START)), mapping(fields.get("parent"))
    took = whole(fields.get(TOOK))
    span = {
        "traceId": _id(fields, TRACE, otlp.TRACE_DIGITS),
        "spanId": _id(fields, SPAN, otlp.SPAN_DIGITS),
        "parentSpanId": _id(fields, PARENT, otlp.SPAN_DIGITS) or _id(parent, SPAN, otlp.SPAN_DIGITS),
        "name": first_text(fields, *NAME),
        "startTimeUnixNano": start,
        "endTimeUnixNano": time_ns(otlp.pick(fields, *END)) or (start + took if start and took is not None else None),
        "status": _status(fields),
        "attributes": _attributes(fields),
        "events": [*map(_event, map(mapping, listing(_opened(fields, EVENTS)))), *_from_columns(fields)],
        "links": listing(fields.get("links")),
        "droppedAttributesCount": otlp.pick(fields, "droppedAttributesCount", "dropped_attributes_count"),
    }
    yield from read_span(span, _resource(fields), _scope(fields), position, reading)


def is_log(fields: dict[str, Any]) -> bool:
    """Whether an object is a record of a log."""
    return "body" in fields and _attributes(fields) is not None and any(name in fields for name in SEVERITY)


def is_cloud_log(fields: dict[str, Any]) -> bool:
    """Whether an object is an entry of Google's Cloud Logging."""
    return isinstance(fields.get("logName"), str) and not {"labels", "jsonPayload"}.isdisjoint(fields)


def read_cloud_log(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """What such an entry tells of a span: its labels are attributes, its log is named after the event."""
    entry = {
        "trace_id": text(fields.get("trace")).rpartition("/")[2],
        "span_id": fields.get("spanId"),
        "timestamp": fields.get("timestamp"),
        "event_name": fields["logName"].rpartition("/")[2],
        "body": fields.get("jsonPayload"),
        "attributes": mapping(fields.get("labels")),
    }
    yield from read_log(entry, position, reading)


def read_log(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """What a record of a log tells of a span."""
    times = ("timeUnixNano", "time_unix_nano", "timestamp", "observed_timestamp", "observedTimeUnixNano")
    record = {
        "traceId": _id(fields, TRACE, otlp.TRACE_DIGITS),
        "spanId": _id(fields, SPAN, otlp.SPAN_DIGITS),
        "timeUnixNano": next(filter(None, map(time_ns, map(fields.get, times))), None),
        "eventName": otlp.pick(fields, "eventName", "event_name"),
        "body": _body(fields["body"]),
        "attributes": _attributes(fields),
    }
    logs = [{"resource": {"attributes": _resource(fields)}, "scopeLogs": [{"logRecords": [record]}]}]
    yield from otlp_logs.read_logs({"resourceLogs": logs}, position, reading.seen)


def _id(fields: dict[str, Any], names: tuple[str, ...], digits: int) -> str:
    """An id, beside the name or in a context, as text; numbers become the hex that they stand for."""
    value = otlp.pick(fields, *names) or otlp.pick(mapping(fields.get("context")), *names)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:0{digits}x}" if 0 < value < 16**digits else ""
    return value if isinstance(value, str) else ""


def _opened(fields: dict[str, Any], names: tuple[str, ...]) -> Any:
    return opened_text(otlp.pick(fields, *names), set())


def _attributes(fields: dict[str, Any]) -> dict[str, Any] | None:
    """Attributes as plain values, also out of pairs and out of JSON; None where there are none."""
    held = _opened(fields, ATTRIBUTES)
    if isinstance(held, list) and not all("key" in mapping(pair) for pair in held):
        return None
    return otlp.attributes(held) if isinstance(held, dict | list) else None


def _resource(fields: dict[str, Any]) -> dict[str, Any]:
    held = mapping(_opened(fields, RESOURCE))
    said = otlp.attributes(held["attributes"]) if "attributes" in held else held
    return {"service.name": first_text(fields, *SERVICE), **said}


def _scope(fields: dict[str, Any]) -> str:
    held = otlp.pick(fields, *SCOPE)
    return first_text(held, "name") if isinstance(held, dict) else text(held)


def _status(fields: dict[str, Any]) -> dict[str, Any]:
    held = otlp.pick(fields, *STATUS)
    status = mapping(held)
    code = otlp.pick(status, "code", "status_code") if status else held
    return {
        "code": code.rpartition(".")[2].upper() if isinstance(code, str) else code,
        "message": first_text(status, "message", "description") or first_text(fields, *STATUS_TEXT),
    }


def _event(event: dict[str, Any]) -> dict[str, Any]:
    said = otlp.attributes(event.get("attributes"))
    return {"name": first_text(event, "name", "event_name"), "timeUnixNano": time_ns(otlp.pick(event, *TIMES)),
            "attributes": said}  # fmt: skip


def _from_columns(fields: dict[str, Any]) -> list[dict[str, Any]]:
    names, times, said = (listing(fields.get(name)) for name in COLUMNS)
    return [{"name": name, "timeUnixNano": time_ns(time), "attributes": mapping(attributes)}
            for name, time, attributes in zip(names, times, said, strict=False)]  # fmt: skip


def _body(value: Any) -> Any:
    """A body that is an AnyValue as it is, any other as one of a kind of its own, which is its value."""
    is_any_value = isinstance(value, dict) and len(value) == 1 and next(iter(value)).endswith(("Value", "_value"))
    return value if is_any_value else {"plainValue": value}
