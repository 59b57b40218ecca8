"""Reads OpenTelemetry spans in other wrappings than OTLP, as requests of OTLP: Jaeger, and dumps of SDKs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from transforms.readers import otlp
from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.reading import Reading
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

Spans = Iterator[Span | Feedback | Reject]

IDS = {"traceId": otlp.TRACE_DIGITS, "spanId": otlp.SPAN_DIGITS, "parentSpanId": otlp.SPAN_DIGITS}
JAEGER_SCOPES = ("otel.scope.name", "otel.library.name")
NO_DOT = "@"
"""What stands for dots in names of tags that Elasticsearch holds."""

METADATA = "metadata."
CODES = {"OK": 1, "ERROR": 2}


def is_bare(fields: dict[str, Any]) -> bool:
    """Whether an object is one span of OTLP without its request, as Phoenix lists them."""
    return "start_time_unix_nano" in fields and "span_id" in fields and isinstance(fields.get("attributes"), list)


def read_bare(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of an OTLP span by itself, its unset variants of values left out."""
    span = _set(fields)
    span["attributes"] = lifted(otlp.attributes(span["attributes"]))
    yield from read_span(span, {}, "", position, reading)


def is_jaeger(fields: dict[str, Any]) -> bool:
    """Whether an object is a trace of Jaeger."""
    return "traceID" in fields and isinstance(fields.get("spans"), list) and "processes" in fields


def read_jaeger(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The spans of a trace of Jaeger, times in microseconds; a broken one is a reject of its own."""
    processes = mapping(fields.get("processes"))
    for span in fields["spans"]:
        try:
            yield from list(_read_jaeger(span, processes, position, reading))
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_jaeger")


def _read_jaeger(span: dict[str, Any], processes: dict[str, Any], position: int, reading: Reading) -> Spans:
    process = mapping(processes.get(text(span.get("processID")))) or mapping(span.get("process"))
    resource = {"service.name": process.get("serviceName"), **_tags(process)}
    said = _tags(span)
    scope = next((text(said.pop(name)) for name in JAEGER_SCOPES if name in said), "")
    yield from read_span(_from_jaeger(span, said), resource, scope, position, reading)


def is_jaeger_span(fields: dict[str, Any]) -> bool:
    """Whether an object is a span of Jaeger by itself, as its store in Elasticsearch has it."""
    return "traceID" in fields and "spanID" in fields and "operationName" in fields


def read_jaeger_span(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of such an object, which holds its process."""
    yield from _read_jaeger(fields, {}, position, reading)


def is_console(fields: dict[str, Any]) -> bool:
    """Whether an object is a span as Python's console exporter prints it."""
    context = mapping(fields.get("context"))
    return text(context.get("trace_id")).startswith("0x") and text(fields.get("kind")).startswith("SpanKind.")


def read_console(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of a console dump."""
    status = mapping(fields.get("status"))
    span = {
        **_identified(fields, mapping(fields["context"])),
        "parentSpanId": fields.get("parent_id"),
        "startTimeUnixNano": time_ns(fields.get("start_time")),
        "endTimeUnixNano": time_ns(fields.get("end_time")),
        "status": {"code": CODES.get(text(status.get("status_code")), 0), "message": status.get("description")},
        "events": [_event(event, event.get("timestamp")) for event in map(mapping, listing(fields.get("events")))],
    }
    resource = mapping(mapping(fields.get("resource")).get("attributes"))
    scope = mapping(fields.get("instrumentation_scope") or fields.get("instrumentation_info"))
    yield from read_span(span, resource, text(scope.get("name")), position, reading)


def is_javascript(fields: dict[str, Any]) -> bool:
    """Whether an object is a span of the JavaScript SDK, dumped or printed by its console exporter."""
    context = fields.get("spanContext") or fields.get("_spanContext")
    printed = "traceId" in fields and "id" in fields and "timestamp" in fields and "attributes" in fields
    return ("traceId" in mapping(context) and "attributes" in fields) or printed


def read_javascript(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of a JavaScript dump; times are `[seconds, nanoseconds]`, printed ones microseconds."""
    context = mapping(fields.get("spanContext") or fields.get("_spanContext"))
    parent = first_text(mapping(fields.get("parentSpanContext")), "spanId")
    start = _hr_time(fields.get("startTime")) or time_ns(fields.get("timestamp"))
    took = number(fields.get("duration"))
    span = {
        **_identified(fields, {"trace_id": context.get("traceId") or fields.get("traceId"),
                               "span_id": context.get("spanId") or fields.get("id")}),
        "parentSpanId": parent or first_text(fields, "parentSpanId", "parentId"),
        "startTimeUnixNano": start,
        "endTimeUnixNano": _hr_time(fields.get("endTime")) or (start + int(took * 1_000) if start and took else None),
        "status": mapping(fields.get("status")),
        "events": [_event(event, _hr_time(event.get("time"))) for event in map(mapping, listing(fields.get("events")))],
    }  # fmt: skip
    resource = mapping(fields.get("resource"))
    scope = mapping(fields.get("instrumentationScope") or fields.get("instrumentationLibrary"))
    attributes = mapping(resource.get("attributes") or resource.get("_attributes"))
    yield from read_span(span, attributes, text(scope.get("name")), position, reading)


def read_span(
    span: dict[str, Any], resource: dict[str, Any], scope: str, position: int, reading: Reading, source: str = ""
) -> Spans:
    """The span of one OTLP span with plain attributes; `source` is who exported it, where that is not OTLP.

    Ids that are no OTLP ids are kept as they are.
    """
    told: dict[str, str] = {}
    span = {**span, **{name: _stand_in(span[name], digits, told) for name, digits in IDS.items() if name in span}}
    scopes = [{"scope": {"name": scope}, "spans": [span]}]
    request = {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": scopes}]}
    for record in otlp.read_request(request, position, reading.seen):
        if not isinstance(record, Reject):
            record.trace_id = told.get(record.trace_id, record.trace_id)
            record.span_id = told.get(record.span_id, record.span_id)
        if isinstance(record, Span):
            record.parent_span_id = told.get(record.parent_span_id, record.parent_span_id)
            if source:
                record.source = record.dialect = source
        yield record


def _stand_in(value: Any, digits: int, told: dict[str, str]) -> Any:
    """An id that OTLP's reader takes, and in `told` what it stands for."""
    if not isinstance(value, str) or not value.strip("0= ") or otlp.hex_id(value, digits):
        return value
    stand_in = hashlib.sha256(value.encode()).hexdigest()[:digits]
    told[stand_in] = value
    return stand_in


def _identified(fields: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    dropped = fields.get("droppedAttributesCount") or fields.get("dropped_attributes")
    return {
        "traceId": context.get("trace_id"),
        "spanId": context.get("span_id"),
        "name": fields.get("name"),
        "attributes": mapping(fields.get("attributes")),
        "droppedAttributesCount": dropped,
    }


def _event(event: dict[str, Any], time: Any) -> dict[str, Any]:
    moment = time_ns(time)
    return {"name": event.get("name"), "timeUnixNano": moment, "attributes": mapping(event.get("attributes"))}


def _hr_time(value: Any) -> int | None:
    if not isinstance(value, list) or len(value) != 2:
        return time_ns(value)
    seconds, rest = whole(value[0]), whole(value[1])
    return None if seconds is None or rest is None else seconds * 1_000_000_000 + rest


def _tags(fields: dict[str, Any]) -> dict[str, Any]:
    listed = {tag["key"]: tag.get("value") for tag in map(mapping, listing(fields.get("tags"))) if tag.get("key")}
    stored = {key.replace(NO_DOT, "."): value for key, value in mapping(fields.get("tag")).items()}
    return {**stored, **mapping(fields.get("tagsAsMap")), **listed}


def _from_jaeger(span: dict[str, Any], said: dict[str, Any]) -> dict[str, Any]:
    start, took = whole(span.get("startTime")), number(span.get("duration"))
    parents = [ref for ref in map(mapping, listing(span.get("references"))) if ref.get("refType") == "CHILD_OF"]
    failed = said.get("error") in (True, "true") or said.get("otel.status_code") == "ERROR"
    logs = [(log.get("timestamp"), _tags({"tags": log.get("fields")}))
            for log in map(mapping, listing(span.get("logs")))]  # fmt: skip
    return {
        "traceId": span.get("traceID"),
        "spanId": span.get("spanID"),
        "parentSpanId": first_text(parents[0], "spanID") if parents else first_text(span, "parentSpanID"),
        "name": span.get("operationName"),
        "startTimeUnixNano": start and start * 1_000,
        "endTimeUnixNano": int((start + took) * 1_000) if start and took is not None else None,
        "status": {"code": 2 if failed else 0, "message": said.get("otel.status_description")},
        "attributes": said,
        "events": [
            {"name": said.pop("event", ""), "timeUnixNano": (whole(time) or 0) * 1_000, "attributes": said}
            for time, said in logs
        ],
    }


def lifted(said: dict[str, Any]) -> dict[str, Any]:
    """Attributes with the user's metadata beside them: Phoenix takes the JSON of OpenInference apart."""
    found = {key.removeprefix(METADATA): value for key, value in said.items() if key.startswith(METADATA)}
    return {**found, **said}


def _set(value: Any) -> Any:
    """The same without nulls: Phoenix lists every variant a value could have."""
    if isinstance(value, dict):
        return {key: _set(item) for key, item in value.items() if item is not None}
    return [_set(item) for item in value] if isinstance(value, list) else value
