"""Reads OTLP logs: events that tell the messages of a span which stands in another record, and verdicts on one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from transforms.readers.calls import content_state
from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.otlp import SPAN_DIGITS, TRACE_DIGITS, any_value, attributes, hex_id, pick
from transforms.readers.otlp_around import read_around
from transforms.readers.otlp_calls import fill_surroundings
from transforms.readers.otlp_content import Read, read_content, read_told
from transforms.readers.otlp_conventions import COMPLETION_EVENT, DETAILS, PROMPT_EVENT
from transforms.readers.otlp_events import CHOICE, TEXT_UNKNOWN, event_body, is_message_event
from transforms.readers.otlp_feedback import VERDICT, read_evaluation
from transforms.readers.otlp_kinds import fill_identity
from transforms.readers.seen import Seen
from transforms.readers.values import first_text, listing, mapping, text, time_ns
from transforms.records import Feedback, Message, Reject, Span

FROM_LOGS = "from_logs"
"""Flag of a span that holds what logs told of it and nothing else."""

RESOURCES, SCOPES, RECORDS = (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"),
                              ("logRecords", "log_records"))  # fmt: skip


@dataclass(slots=True)
class _Told:
    """What the events of one span said, in their order."""

    dataset: str
    since: int | None = None
    messages: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    odd: set[str] = field(default_factory=set)


RESOURCE_KEYS = frozenset(RESOURCES)


def is_logs(fields: dict[str, Any]) -> bool:
    """Whether an object is a request or a file line of logs."""
    return not RESOURCE_KEYS.isdisjoint(fields)


def read_logs(fields: dict[str, Any], position: int, seen: Seen) -> Iterator[Span | Feedback | Reject]:
    """Verdicts, then one span for each that events tell messages of; other logs are passed over.

    Such a span has the ids of its call, the flag `from_logs` and the fields that logs give: no name, parent, end or
    status; it starts when its first event was told. Events of one call may be spread over several requests; each then
    gives a part.
    """
    calls: dict[tuple[str, str], _Told] = {}
    for resource_logs in map(mapping, listing(pick(fields, *RESOURCES))):
        try:
            dataset = text(attributes(mapping(resource_logs.get("resource")).get("attributes")).get("service.name"))
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_otlp_logs")
            continue
        for scope_logs in map(mapping, listing(pick(resource_logs, *SCOPES))):
            for record in listing(pick(scope_logs, *RECORDS)):
                try:
                    yield from _read_record(record, position, dataset, calls)
                except WRONG_SHAPES:
                    yield Reject(position, "unreadable_otlp_logs")
    for (trace_id, span_id), told in calls.items():
        try:
            span = Span("otlp", "otlp_events", position, trace_id, span_id, "llm", "", started_ns=told.since)
            yield from _spans(span, told, seen)
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_otlp_logs")


def _read_record(
    record: dict[str, Any], position: int, dataset: str, calls: dict[tuple[str, str], _Told]
) -> Iterator[Feedback | Reject]:
    said = attributes(record.get("attributes"))
    name = text(pick(record, "eventName", "event_name")) or first_text(said, "event.name", "event_name")
    if name not in (DETAILS, VERDICT, PROMPT_EVENT, COMPLETION_EVENT) and not is_message_event(name):
        return
    trace_id = hex_id(pick(record, "traceId", "trace_id"), TRACE_DIGITS)
    span_id = hex_id(pick(record, "spanId", "span_id"), SPAN_DIGITS)
    if not trace_id or not (span_id or name == VERDICT):
        yield Reject(position, "no_ids")
        return
    time = time_ns(pick(record, "timeUnixNano", "time_unix_nano")) or time_ns(
        pick(record, "observedTimeUnixNano", "observed_time_unix_nano")
    )
    if name == VERDICT:
        yield read_evaluation(said, position, trace_id, span_id, time)
        return
    told = calls.setdefault((trace_id, span_id), _Told(dataset))
    told.since = min(filter(None, (told.since, time)), default=None)
    body = event_body(any_value(record.get("body")), told.odd)
    if name == PROMPT_EVENT:  # LiteLLM, one a message
        name = f"gen_ai.{text(body.get('role'))}.message"
    elif name == COMPLETION_EVENT:
        name = CHOICE
    if name == DETAILS:
        told.said |= {**body, **said}
    else:
        told.messages.append((name, body or said))
        told.said |= said


def _restore_texts(span: Span, odd: set[str], seen: Seen) -> None:
    """Put what the assistant said beside calls back into a prompt, from the answers of earlier calls of the trace."""
    restored: list[Message] = []
    known = True
    for message in span.prompt:
        silent = message.role == "assistant" and message.tool_calls and not message.content
        answer = seen.answer(span.trace_id, message) if silent else message
        known = known and answer is not None
        restored.append(answer or message)
    span.prompt = restored
    if known:
        odd.discard(TEXT_UNKNOWN)


def _spans(span: Span, told: _Told, seen: Seen) -> Iterator[Span]:
    read: Read | None = read_content(told.said, [], seen) or read_told(told.messages, seen)
    if read is None or not (read.prompt or read.output):
        return
    span.prompt, span.output, span.dialect, span.dataset = read.prompt, read.output, read.dialect, told.dataset
    read.odd |= told.odd
    if TEXT_UNKNOWN in read.odd:
        _restore_texts(span, read.odd, seen)
    for said in (said for said in span.output if said.tool_calls):
        seen.keep_answer(span.trace_id, said)
    beside = read_around(told.said)
    fill_identity(span, beside.identity)
    fill_surroundings(span, told.said, beside, read.finish, seen)
    span.content_state = content_state(span, read.odd, lambda: False)
    span.flags = sorted({FROM_LOGS, *read.odd})
    yield span
