"""Reads traces of MLflow (`Trace.to_json`, `search_traces`): their spans as OTLP, their assessments as feedback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.nested import opened_text
from transforms.readers.otlp import TRACE_DIGITS, hex_id
from transforms.readers.reading import Reading
from transforms.readers.span_dumps import Spans, read_span
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

ANNOTATORS = {"HUMAN": "human", "LLM_JUDGE": "llm", "CODE": "code"}
CONVERSATION = "mlflow.trace.session"
TASK_NAMES = ("task_id", "task.id", "example_id")
TRIAL_NAMES = ("attempt", "trial")
CODES = {"OK": 1, "ERROR": 2, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}


def is_trace(fields: dict[str, Any]) -> bool:
    """Whether an object is a trace, or a row of `search_traces` that holds one as text."""
    data = mapping(fields.get("data"))
    held = fields.get("trace")
    return (isinstance(fields.get("info"), dict) and isinstance(data.get("spans"), list)) or (
        isinstance(held, str) and "trace_id" in fields and ("trace_metadata" in fields or "request_metadata" in fields)
    )


def read_trace(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The spans of a trace and the feedback in its assessments."""
    trace = fields if "info" in fields else mapping(opened_text(fields["trace"], set()))
    info = mapping(trace["info"])
    tags, metadata = mapping(info.get("tags")), mapping(info.get("trace_metadata") or info.get("request_metadata"))
    place = mapping(mapping(info.get("trace_location")).get("mlflow_experiment"))
    experiment = first_text(place, "experiment_id") or first_text(info, "experiment_id")
    trace_id = first_text(info, "trace_id", "request_id").removeprefix("tr-")
    for fields_of_span in trace["data"]["spans"]:
        for record in read_span(_as_otlp(mapping(fields_of_span), trace_id), {}, "", position, reading, "mlflow"):
            if isinstance(record, Span):
                trace_id = record.trace_id
                record.dataset = experiment
                _fill(record, tags, metadata)
            yield record
    yield from _verdicts(info, hex_id(trace_id, TRACE_DIGITS) or trace_id, position)


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
        "attributes": mapping(span.get("attributes")),
        "events": [
            {"name": event.get("name"), "timeUnixNano": event.get("time_unix_nano") or event.get("timestamp"),
             "attributes": mapping(event.get("attributes"))}
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
    for item in map(mapping, listing(info.get("assessments"))):
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
    return hex_id(said, 16) or said
