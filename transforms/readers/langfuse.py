"""Reads what Langfuse gives out: traces of its UI and API, rows of exports to blob storage, and scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from transforms.readers.decoding import WRONG_SHAPES, bounded
from transforms.readers.langfuse_calls import attributes_of, fill_call, fill_tool
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

KINDS = {"generation": "llm", "tool": "tool", "agent": "agent", "chain": "chain", "retriever": "retriever",
         "embedding": "embedding", "evaluator": "evaluator", "guardrail": "guardrail"}  # fmt: skip
TYPES = frozenset({*(name.upper() for name in KINDS), "SPAN", "EVENT"})
TOOL = "gen_ai.tool.name"
"""The attribute of spans that run a tool, which older versions gave no type."""

ANNOTATORS = {"ANNOTATION": "human", "EVAL": "llm"}
TASK_NAMES = ("task_id", "task.id", "example_id", "taskId")
TRIAL_NAMES = ("attempt", "trial")
CONVERSATION_NAMES = ("conversation_id", "thread_id")
NOISE = ("resourceAttributes", "scope", "attributes", "ls_", "langfuse_")
WORDED = frozenset({"CATEGORICAL", "TEXT", "CORRECTION"})
"""Types of score whose number is an index or nothing."""


def is_trace(fields: dict[str, Any]) -> bool:
    """Whether an object is a trace with its observations, as the UI downloads it or the API answers."""
    listed = isinstance(fields.get("observations"), list)
    return listed and (isinstance(fields.get("trace"), dict) or "timestamp" in fields)


def is_observation(fields: dict[str, Any]) -> bool:
    """Whether an object is one observation: a row of an export, or of an answer of the API."""
    if "parentObservationId" in fields or "parent_observation_id" in fields:
        return True
    named = {"traceId", "startTime"} <= fields.keys() or {"trace_id", "start_time"} <= fields.keys()
    return named and text(fields.get("type")) in TYPES


def is_trace_row(fields: dict[str, Any]) -> bool:
    """Whether an object is a trace without its observations: a row of an export."""
    named = {"user_id", "session_id"} <= fields.keys() or {"userId", "sessionId"} <= fields.keys()
    return named and {"id", "timestamp", "name", "tags"} <= fields.keys() and "type" not in fields


def is_score(fields: dict[str, Any]) -> bool:
    """Whether an object is a score."""
    typed = "dataType" in fields or "data_type" in fields
    return typed and "name" in fields and ("value" in fields or "stringValue" in fields or "string_value" in fields)


def read_trace(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """The spans of a trace and its scores."""
    trace = _snake(mapping(fields.get("trace")) or fields)
    if not any(isinstance(observation, dict) for observation in fields["observations"]):
        yield from read_trace_row(mapping(fields.get("trace")) or fields, position, reading)  # the API lists ids
    for observation in fields["observations"]:
        if isinstance(observation, str):
            continue
        try:
            yield _read(_snake(observation), trace, position, reading)
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_langfuse")
    for score in listing(trace.get("scores")):
        if isinstance(score, dict):
            yield _score({"trace_id": trace.get("id"), **_snake(score)}, position)


def read_observation(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """The span of one observation."""
    yield _read(_snake(fields), {}, position, reading)


def read_trace_row(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """What a trace by itself says: a span that carries its task and its conversation."""
    row = _snake(fields)
    yield _read({**row, "trace_id": row["id"], "start_time": row["timestamp"], "type": "agent"}, row, position, reading)


def read_score(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Feedback | Reject]:
    """A verdict on a trace or an observation; one on a session says of no trace."""
    yield _score(_snake(fields), position)


def _read(row: dict[str, Any], trace: dict[str, Any], position: int, reading: Reading) -> Span | Reject:
    span_id, trace_id = first_text(row, "id"), first_text(row, "trace_id") or first_text(trace, "id")
    if not span_id or not trace_id:
        return Reject(position, "no_ids")
    odd: set[str] = set()
    row["metadata"] = mapping(opened_text(row.get("metadata"), odd))
    kind = KINDS.get(text(row.get("type")).lower(), "other")
    if kind == "other" and TOOL in attributes_of(row["metadata"]):
        kind = "tool"
    span = Span("langfuse", "langfuse", position, trace_id, span_id, kind, text(row.get("name")))
    parent = first_text(row, "parent_observation_id")
    span.parent_span_id = "" if parent == span_id else parent
    span.started_ns, span.ended_ns = time_ns(row.get("start_time")), time_ns(row.get("end_time"))
    failed = text(row.get("level")).upper() == "ERROR"
    span.status = "error" if failed else "ok" if span.ended_ns is not None or kind == "other" else "pending"
    span.error = text(row.get("status_message")) if failed else ""
    _fill_identity(span, row, trace, odd)
    if kind == "llm":
        fill_call(span, row, reading.seen, odd)
    elif kind == "tool":
        fill_tool(span, row, odd)
    elif row.get("input") or row.get("output"):
        span.content_state = "full"
    span.flags += sorted(odd)
    return span


def _fill_identity(span: Span, row: dict[str, Any], trace: dict[str, Any], odd: set[str]) -> None:
    own, of_trace = row["metadata"], mapping(opened_text(trace.get("metadata"), odd))
    metadata = {**of_trace, **own}
    everything = {**metadata, **attributes_of(metadata)}
    span.conversation_id = (
        first_text(row, "session_id") or first_text(trace, "session_id") or first_text(everything, *CONVERSATION_NAMES)
    )
    span.dataset = first_text(row, "project_id") or first_text(trace, "project_id")
    span.task = first_text(everything, *TASK_NAMES)
    span.trial = next((count for name in TRIAL_NAMES if (count := whole(everything.get(name))) is not None), None)
    span.agent = first_text(everything, "agent_name", "gen_ai.agent.name") or (
        span.name if span.kind == "agent" else ""
    )
    kept = {key: value for key, value in metadata.items() if not key.startswith(NOISE)}
    kept |= {name: row[name] for name in ("version", "release", "environment", "prompt_name") if row.get(name)}
    if tags := listing(opened_text(row.get("tags") or trace.get("tags"), odd)):
        kept["tags"] = tags
    span.attributes = {key: bounded(value) for key, value in kept.items() if key not in (*TASK_NAMES, *TRIAL_NAMES)}


def _score(row: dict[str, Any], position: int) -> Feedback | Reject:
    trace = first_text(row, "trace_id")
    if not trace:
        return Reject(position, "no_ids")
    kind = text(row.get("data_type")).upper()
    said, value = text(row.get("string_value")), row.get("value")
    if kind in WORDED and not said and isinstance(value, str):
        said = value
    comment = text(row.get("comment"))
    return Feedback(
        position=position,
        trace_id=trace,
        key=text(row.get("name")),
        feedback_id=first_text(row, "id"),
        span_id=first_text(row, "observation_id"),
        score=None if kind in WORDED else number(value),
        label="" if kind == "CORRECTION" else said,
        comment="\n".join(filter(None, (comment, said if kind == "CORRECTION" else ""))),
        annotator=ANNOTATORS.get(text(row.get("source")).upper(), "unknown"),
        created_ns=time_ns(row.get("updated_at")) or time_ns(row.get("timestamp")),
    )


def _snake(fields: dict[str, Any]) -> dict[str, Any]:
    """The same with the names that exports use; the API writes them in camel case."""
    return {_snake_name(name): value for name, value in fields.items()}


@lru_cache(maxsize=1024)
def _snake_name(name: str) -> str:
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
