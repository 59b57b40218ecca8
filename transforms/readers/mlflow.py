"""Reads traces of MLflow (`Trace.to_json`, `search_traces`): their spans as OTLP, their assessments as feedback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers import otlp
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.span_dumps import Spans, read_span
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

ANNOTATORS = {"HUMAN": "human", "LLM_JUDGE": "llm", "CODE": "code"}
CONVERSATION = "mlflow.trace.session"
TASK_NAMES = ("task_id", "task.id", "example_id")
TRIAL_NAMES = ("attempt", "trial")
IDS = frozenset({"trace_id", "request_id", "databricks_request_id"})
METADATA = frozenset({"trace_metadata", "request_metadata", "databricks_request_id"})
"""What a row of `search_traces` says of a trace, by the names of MLflow 3 and 2, or of a table of served requests."""

SERVED = "databricks_output"
"""Where Databricks puts the trace into the answer of an agent that it serves, and so into its tables of requests."""

MARK = "mlflow.traceRequestId"
"""The attribute that all spans of MLflow have."""

CODES = {"OK": 1, "ERROR": 2, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}


def is_trace(fields: dict[str, Any]) -> bool:
    """Whether an object is a trace, holds one or its spans as a row of `search_traces` does, or is a file of spans."""
    if isinstance(fields.get("info"), dict):
        return isinstance(mapping(fields.get("data")).get("spans"), list)
    if isinstance(fields.get("trace_info"), dict):
        return isinstance(fields.get("spans"), list)
    if SERVED in fields:
        return is_trace(mapping(mapping(fields[SERVED]).get("trace")))
    if not IDS.isdisjoint(fields) and not METADATA.isdisjoint(fields):
        held = isinstance(fields.get("trace"), str) or isinstance(fields.get("spans"), list)
        answer = fields.get("response")
        return held or (f'"{SERVED}"' in answer if isinstance(answer, str) else SERVED in mapping(answer))
    first = mapping(next(iter(listing(fields.get("spans"))), None))
    return MARK in mapping(first.get("attributes"))


def read_trace(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The spans of a trace and the feedback in its assessments."""
    info, spans = _parts(fields)
    tags = mapping(opened_text(info.get("tags"), set()))
    metadata = mapping(opened_text(info.get("trace_metadata") or info.get("request_metadata"), set()))
    place = mapping(mapping(info.get("trace_location")).get("mlflow_experiment"))
    experiment = first_text(place, "experiment_id") or first_text(info, "experiment_id")
    trace_id = first_text(info, "trace_id", "request_id").removeprefix("tr-")
    for fields_of_span in spans:
        for record in read_span(_as_otlp(mapping(fields_of_span), trace_id), {}, "", position, reading, "mlflow"):
            if isinstance(record, Span):
                trace_id = record.trace_id
                record.dataset = experiment
                _fill(record, tags, metadata)
            yield record
    yield from _verdicts(info, otlp.hex_id(trace_id, otlp.TRACE_DIGITS) or trace_id, position)


def _parts(fields: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """What is said of a trace, and its spans; a row may hold the trace as text, beside what it says of it."""
    if isinstance(fields.get("info"), dict):
        return fields["info"], fields["data"]["spans"]
    if isinstance(fields.get("trace_info"), dict):
        return fields["trace_info"], fields["spans"]
    if SERVED in fields:
        return _parts(fields[SERVED]["trace"])
    if isinstance(trace := opened_text(fields.get("trace"), set()), dict):
        return _parts(trace)
    if SERVED in (answer := mapping(opened_text(fields.get("response"), set()))):
        return _parts(answer)
    spans = opened_text(fields["spans"], set())
    if not isinstance(spans, list):
        raise TypeError("no spans")  # data frames of MLflow 2 are written to CSV as Python prints them
    return fields, spans


def _as_otlp(span: dict[str, Any], trace_id: str) -> dict[str, Any]:
    """A span of either version: ids beside the name in base64, or in a context in hex."""
    context = mapping(span.get("context"))
    status = mapping(span.get("status"))
    code = text(status.get("code") or span.get("status_code"))
    return {
        "traceId": first_text(span, "trace_id").removeprefix("tr-") or first_text(context, "trace_id") or trace_id,
        "spanId": first_text(span, "span_id") or first_text(context, "span_id"),
        "parentSpanId": first_text(span, "parent_span_id", "parent_id"),
        "name": span.get("name"),
        "startTimeUnixNano": span.get("start_time_unix_nano") or span.get("start_time"),
        "endTimeUnixNano": span.get("end_time_unix_nano") or span.get("end_time"),
        "status": {"code": CODES.get(code, 0), "message": status.get("message") or span.get("status_message")},
        "attributes": otlp.attributes(span.get("attributes")),
        "events": [
            {"name": event.get("name"), "timeUnixNano": event.get("time_unix_nano") or event.get("timestamp"),
             "attributes": otlp.attributes(event.get("attributes"))}
            for event in map(mapping, listing(span.get("events")))
        ],
    }  # fmt: skip


def _fill(span: Span, tags: dict[str, Any], metadata: dict[str, Any]) -> None:
    said = {**metadata, **tags}
    span.conversation_id = span.conversation_id or first_text(metadata, CONVERSATION)
    span.task = span.task or first_text(said, *TASK_NAMES)
    if span.trial is None:
        span.trial = next((count for name in TRIAL_NAMES if (count := whole(said.get(name))) is not None), None)


def _verdicts(info: dict[str, Any], trace_id: str, position: int) -> Iterator[Feedback | Reject]:
    """Feedback that still counts; expectations, which say what would have been right, are no verdicts."""
    for item in map(mapping, listing(opened_text(info.get("assessments"), set()))):
        given = item.get("feedback")
        if not isinstance(given, dict) or item.get("valid") is False:
            continue
        span_id = _span_id(first_text(item, "span_id"))
        if not trace_id and not span_id:
            yield Reject(position, "no_ids")
            continue
        value = given.get("value")
        source = mapping(item.get("source"))
        yield Feedback(
            position=position,
            trace_id=trace_id,
            key=first_text(item, "assessment_name", "name"),
            feedback_id=first_text(item, "assessment_id"),
            span_id=span_id,
            score=number(value),
            label="" if isinstance(value, int | float) else text(value),
            comment=text(item.get("rationale")),
            annotator=ANNOTATORS.get(text(source.get("source_type")), "unknown"),
            created_ns=time_ns(item.get("last_update_time")) or time_ns(item.get("create_time")),
        )


def _span_id(said: str) -> str:
    return otlp.hex_id(said, otlp.SPAN_DIGITS) or said
