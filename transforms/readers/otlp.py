"""Reads OTLP traces in JSON: requests, their spans, ids and attribute values, whoever wrote the content."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.otlp_chunks import CHUNK
from transforms.readers.otlp_events import Event, is_message_event
from transforms.readers.otlp_feedback import Link, read_feedback
from transforms.readers.otlp_genai import fill_span
from transforms.readers.seen import Seen
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

TRACE_DIGITS = 32
SPAN_DIGITS = 16
LOST_ZEROS = 3
"""Leading zeros that an id may have lost to a printer of numbers and still be told from base64."""

RESOURCES = ("resourceSpans", "resource_spans")
RESOURCE_KEYS = frozenset(RESOURCES)
SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
"""Keys under which spans stand, the first that is there; old names last."""

PENDING = "pending_span"
"""What Logfire calls a copy that it sends when a span begins."""

KNOWN_IDS = 1024
"""Ids that are remembered: spans of one trace stand together, and name their parents."""

_HEX = re.compile(r"[0-9a-f]+")


def is_request(fields: dict[str, Any]) -> bool:
    """Whether an object is a request or a file line of traces."""
    if _has_resources(fields) or ("batches" in fields and _is_tempo(fields)):
        return True
    return "trace" in fields and _has_resources(mapping(fields["trace"]))


def _has_resources(fields: dict[str, Any]) -> bool:
    return not RESOURCE_KEYS.isdisjoint(fields)


def _is_tempo(fields: dict[str, Any]) -> bool:
    """Whether an object is an answer of Tempo's first API; one of its second has a request under `trace`."""
    return any(name in mapping(batch) for batch in listing(fields.get("batches"))[:1] for name in SCOPES)


def read_request(fields: dict[str, Any], position: int, seen: Seen) -> Iterator[Span | Feedback | Reject]:
    """Spans and verdicts of a request; what cannot be read, a span or a resource, is a reject and takes no other."""
    if not _has_resources(fields) and not _is_tempo(fields):
        fields = mapping(fields.get("trace"))
    for resource_spans in map(mapping, listing(pick(fields, *RESOURCES, "batches"))):
        try:
            resource = attributes(mapping(resource_spans.get("resource")).get("attributes"))
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_otlp")
            continue
        for scope_spans in map(mapping, listing(pick(resource_spans, *SCOPES))):
            scope = mapping(pick(scope_spans, "scope", "instrumentationLibrary"))
            for span in listing(scope_spans.get("spans")):
                try:
                    yield from list(_read_span(span, position, resource, text(scope.get("name")), seen))
                except WRONG_SHAPES:
                    yield Reject(position, "unreadable_otlp")


def pick(fields: dict[str, Any], *names: str) -> Any:
    """The value under the first of the names that is there (camel case, snake case, older name)."""
    for name in names:
        if name in fields:
            return fields[name]
    return None


def attributes(pairs: Any) -> dict[str, Any]:
    """Attributes as plain values; where a key comes twice the last one counts."""
    if isinstance(pairs, dict):
        return pairs
    return {pair["key"]: any_value(pair.get("value")) for pair in listing(pairs) if isinstance(pair, dict)}


def any_value(value: Any) -> Any:
    """The plain value of an AnyValue."""
    if not isinstance(value, dict) or len(value) != 1:
        return None if value == {} else value
    ((name, inner),) = value.items()
    name = name.replace("_value", "Value")
    if name == "intValue":
        return inner if (count := whole(inner)) is None else count
    if name == "doubleValue":
        return number(inner)
    if name == "arrayValue":
        return [any_value(item) for item in listing(mapping(inner).get("values"))]
    if name == "kvlistValue":
        return attributes(mapping(inner).get("values"))
    return inner


def hex_id(value: Any, digits: int) -> str:
    """A trace or span id in lower-case hex, from hex in any case, with 0x, or base64; empty where there is none."""
    return _hex_id(value, digits) if isinstance(value, str) else ""


@lru_cache(KNOWN_IDS)
def _hex_id(value: str, digits: int) -> str:
    said = value.strip().lower().removeprefix("0x")
    if _HEX.fullmatch(said) and digits - LOST_ZEROS <= len(said) <= digits:
        said = said.zfill(digits)
    else:
        said = _from_base64(value.strip(), digits)
    return said if said.strip("0") else ""


def _from_base64(value: str, digits: int) -> str:
    try:
        raw = base64.b64decode(value + "=" * (-len(value) % 4), altchars=b"-_" if set(value) & set("-_") else None)
    except (binascii.Error, ValueError):
        return ""
    return raw.hex() if len(raw) * 2 == digits else ""


def _read_span(
    fields: dict[str, Any], position: int, resource: dict[str, Any], scope: str, seen: Seen
) -> Iterator[Span | Feedback | Reject]:
    trace_id = hex_id(pick(fields, "traceId", "trace_id"), TRACE_DIGITS)
    span_id = hex_id(pick(fields, "spanId", "span_id"), SPAN_DIGITS)
    if not trace_id or not span_id:
        yield Reject(position, "no_ids")
        return
    said = attributes(fields.get("attributes"))
    if said.get("logfire.span_type") == PENDING:
        return
    span = Span("otlp", "otlp", position, trace_id, span_id, "other", text(fields.get("name")))
    parent = hex_id(pick(fields, "parentSpanId", "parent_span_id"), SPAN_DIGITS)
    span.parent_span_id = "" if parent == span_id else parent
    span.started_ns = time_ns(pick(fields, "startTimeUnixNano", "start_time_unix_nano"))
    span.ended_ns = time_ns(pick(fields, "endTimeUnixNano", "end_time_unix_nano"))
    span.dataset = text(resource.get("service.name"))
    events = [_event(event) for event in map(mapping, listing(fields.get("events")))]
    _fill_status(span, mapping(fields.get("status")), said, events)
    if whole(pick(fields, "droppedAttributesCount", "dropped_attributes_count")):
        span.flags.append("attrs_dropped")
    if events and whole(pick(fields, "droppedEventsCount", "dropped_events_count")) and any(map(_is_content, events)):
        span.flags.append("events_dropped")
    beside = fill_span(span, said, events, seen)
    environment = first_text(resource, "deployment.environment.name", "deployment.environment")
    if scope or environment:
        told = {"otel.scope.name": scope, "deployment.environment": environment}
        span.attributes = span.attributes | {key: value for key, value in told.items() if value}
    yield span
    links = [_link(link) for link in map(mapping, listing(fields.get("links")))]
    yield from read_feedback(span, said, beside.metadata, events, links)


def _link(fields: dict[str, Any]) -> Link:
    trace, span = pick(fields, "traceId", "trace_id"), pick(fields, "spanId", "span_id")
    return hex_id(trace, TRACE_DIGITS), hex_id(span, SPAN_DIGITS)


def _event(fields: dict[str, Any]) -> Event:
    time = time_ns(pick(fields, "timeUnixNano", "time_unix_nano"))
    return text(fields.get("name")), attributes(fields.get("attributes")), time


def _is_content(event: Event) -> bool:
    """Whether an event is one of several that make up what was said; SDKs drop events beyond 128 a span."""
    return is_message_event(event[0]) or event[0].startswith(CHUNK)


def _fill_status(span: Span, status: dict[str, Any], said: dict[str, Any], events: list[Event]) -> None:
    raised = next((event for name, event, _ in events if name == "exception"), {})
    failed = status.get("code") in (2, "2", "STATUS_CODE_ERROR", "ERROR", "Error")
    if failed or said.get("error.type"):
        span.status = "error"
        span.error_type = text(said.get("error.type") or raised.get("exception.type"))
        span.error = text(status.get("message") or raised.get("exception.message"))
    else:
        span.status = "pending" if span.ended_ns is None else "ok"
