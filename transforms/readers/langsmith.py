"""Reads LangSmith runs (v1) as the SDK gives them back: the envelope, ids, metadata and tool runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from transforms.readers.decoding import WRONG_SHAPES, bounded
from transforms.readers.langsmith_calls import fill_call, fill_tool, metadata_of
from transforms.readers.seen import Seen
from transforms.readers.values import first_text, listing, mapping, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

KINDS = {"llm": "llm", "tool": "tool", "chain": "chain", "retriever": "retriever", "embedding": "embedding"}
STATUSES = {"success": "ok", "error": "error", "pending": "pending", "interrupted": "pending"}
TASK_NAMES = ("task_id", "task.id", "example_id")
TRIAL_NAMES = ("attempt", "trial")
CONVERSATION_NAMES = ("session_id", "conversation_id", "thread_id")
LIFTED = frozenset(
    (*TASK_NAMES, *TRIAL_NAMES, *CONVERSATION_NAMES, "session_name", "tool_call_id", "usage_metadata", "lc_agent_name")
)
NOISE = ("LANGSMITH_", "LANGCHAIN_", "ls_", "lc_versions", "runtime", "_type")
ANNOTATORS = {"app": "human", "model": "llm", "evaluator": "llm", "auto_eval": "llm"}
KNOWN_KEYS = 4096
"""Keys of metadata of which it is remembered what they are."""

_TRACEBACK = "Traceback (most recent call last):"
_ERROR_CLASS = re.compile(r"([A-Za-z_][\w.]*)\(")


def is_run(fields: dict[str, Any]) -> bool:
    """Whether an object is a v1 run: its type in lower case and an id or an order."""
    kind = fields.get("run_type")
    return isinstance(kind, str) and kind == kind.lower() and ("dotted_order" in fields or "id" in fields)


def is_feedback(fields: dict[str, Any]) -> bool:
    """Whether an object is a row of `list_feedback`."""
    return "key" in fields and "run_id" in fields and bool({"score", "value", "feedback_source"} & fields.keys())


def read_run(
    fields: dict[str, Any], position: int, seen: Seen, inside: tuple[str, str] = ("", "")
) -> Iterator[Span | Reject]:
    """The span of a run, then those of child runs nested in it.

    `inside` are the trace and the id of the run that this one is nested in, for where it names none itself.
    """
    order = text(fields.get("dotted_order"))
    ids = [segment[-36:] for segment in order.split(".") if len(segment) > 36]
    span_id = first_text(fields, "id") or (ids[-1] if ids else "")
    parents = [*map(text, listing(fields.get("parent_run_ids"))), first_text(fields, "parent_run_id")]
    parent = parents[-1] or (parents[-2] if len(parents) > 1 else "") or (ids[-2] if len(ids) > 1 else inside[1])
    root = first_text(fields, "trace_id") or (ids[0] if ids else inside[0]) or (parents[0] if parent else span_id)
    if not span_id or not root:
        yield Reject(position, "no_ids")
        return
    span = Span(
        "langsmith", "langsmith", position, root.lower(), span_id.lower(), _kind(fields), text(fields.get("name"))
    )
    span.parent_span_id = "" if parent == span_id else parent.lower()
    span.sequence = order
    if len(ids) > 1 and parent and ids[-2].lower() != parent.lower():
        span.flags.append("parent_conflict")
    _fill(span, fields, seen)
    yield span
    yield from _read_children(listing(fields.get("child_runs")), position, seen, (root, span_id))


def _read_children(runs: list[Any], position: int, seen: Seen, inside: tuple[str, str]) -> Iterator[Span | Reject]:
    """The spans of runs in a run; one that cannot be read is a reject and takes no other with it."""
    for run in runs:
        try:
            yield from list(read_run(run, position, seen, inside))
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_langsmith")


def read_feedback(fields: dict[str, Any], position: int) -> Feedback | Reject:
    """A verdict on a run; one on the root run is about the whole trace."""
    run = first_text(fields, "run_id").lower()
    trace = first_text(fields, "trace_id").lower() or run
    if not trace:
        return Reject(position, "no_ids")
    value = fields.get("value")
    score = _score(fields.get("score"))
    source = mapping(fields.get("feedback_source"))
    kind = text(source.get("type"))
    return Feedback(
        position=position,
        trace_id=trace,
        key=text(fields.get("key")),
        feedback_id=first_text(fields, "id").lower(),
        span_id="" if run == trace else run,
        score=_score(value) if score is None else score,
        label="" if isinstance(value, int | float) else text(value),
        comment=text(fields.get("comment")) or text(fields.get("correction")),
        annotator=ANNOTATORS.get(kind, "human" if first_text(source, "user_id") else "unknown"),
        created_ns=time_ns(fields.get("modified_at")) or time_ns(fields.get("created_at")),
    )


def _fill(span: Span, fields: dict[str, Any], seen: Seen) -> None:
    extra = mapping(fields.get("extra"))
    metadata = metadata_of(fields)
    span.started_ns = time_ns(fields.get("start_time"))
    span.ended_ns = time_ns(fields.get("end_time"))
    span.error_type, span.error = _error(text(fields.get("error")))
    span.status = _status(span, text(fields.get("status")))
    span.agent = first_text(metadata, "lc_agent_name") or (span.name if _is_agent(span) else "")
    if span.kind == "chain" and span.agent and span.name == span.agent and "lc_agent_name" in metadata:
        span.kind = "agent"
    span.conversation_id = first_text(metadata, *CONVERSATION_NAMES) or first_text(fields, "thread_id")
    span.dataset = first_text(metadata, "session_name") or first_text(
        fields, "session_name", "session_id", "project_id"
    )
    span.task = first_text(fields, "reference_example_id") or first_text(metadata, *TASK_NAMES)
    span.trial = next((count for name in TRIAL_NAMES if (count := whole(metadata.get(name))) is not None), None)
    span.attributes = _attributes(metadata, extra, fields)
    if span.kind == "llm":
        fill_call(span, fields, seen)
    elif span.kind == "tool":
        fill_tool(span, fields)
    elif fields.get("inputs") or fields.get("outputs"):
        span.content_state = "full"


def _kind(fields: dict[str, Any]) -> str:
    return KINDS.get(text(fields.get("run_type")), "other")


def _is_agent(span: Span) -> bool:
    return span.kind == "chain" and not span.parent_span_id


def _status(span: Span, status: str) -> str:
    if status in STATUSES:
        return STATUSES[status]
    if span.error:
        return "error"
    return "pending" if span.ended_ns is None else "ok"


def _error(said: str) -> tuple[str, str]:
    """Class and message of `repr(exception)`; the traceback after it tells file paths and is left out."""
    message, traceback, _ = said.partition(_TRACEBACK)
    message = message.rstrip() if traceback else message
    named = _ERROR_CLASS.match(message)
    return (named.group(1) if named else ""), message


def _attributes(metadata: dict[str, Any], extra: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    request = mapping(extra.get("invocation_params"))
    kept = {
        key: value if type(value) is str else bounded(value)
        for key, value in metadata.items()
        if _is_own(key) and (key not in request or request[key] != value)
    }
    if tags := [tag for tag in listing(fields.get("tags")) if isinstance(tag, str)]:
        kept["tags"] = tags
    return kept


@lru_cache(KNOWN_KEYS)
def _is_own(key: str) -> bool:
    """Whether a key of metadata is nothing that is read into other fields."""
    return key not in LIFTED and not key.startswith(NOISE)


def _score(value: Any) -> float | None:
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return None
    return None
