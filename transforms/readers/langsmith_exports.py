"""Reads what else LangSmith gives out, as runs of the SDK: v2 runs, rows of the CLI and of bulk exports, batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.langsmith import read_feedback, read_run
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.rollouts import call_spans, root_span, turns
from transforms.readers.values import first_text, listing, mapping, text, time_ns
from transforms.records import Feedback, Reject, Span

JSON_COLUMNS = ("inputs", "outputs", "extra", "events", "tags", "parent_run_ids", "feedback_stats", "metadata")
_V2 = frozenset({"dotted_order", "parent_run_ids", "project_id", "is_root", "inputs", "outputs"})
_MODEL_HINTS = frozenset({"ls_model_type", "ls_model_name"})
_ANSWERS = frozenset({"choices", "generations", "usage_metadata"})
LONGEST_ID = 36


def is_v2(fields: dict[str, Any]) -> bool:
    """Whether an object is a run of the v2 API: its type in upper case."""
    kind = fields.get("run_type")
    return isinstance(kind, str) and kind.isupper() and "id" in fields and bool(_V2 & fields.keys())


def read_v2(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """The span of a v2 run, also of one whose structures are JSON text, as columns of a table are."""
    odd: set[str] = set()
    fields = _opened(fields, odd)
    metadata = dict(mapping(fields.get("metadata")))
    if thread := first_text(fields, "thread_id"):
        metadata.setdefault("thread_id", thread)
    run = {
        **fields,
        "run_type": text(fields["run_type"]).lower(),
        "status": text(fields.get("status")).lower(),
        "session_id": fields.get("project_id"),
        "extra": {**mapping(fields.get("extra")), "metadata": metadata},
    }
    yield from _noted(list(read_run(run, position, reading.seen)), odd)


BULK_KEYS = frozenset({"trace_tier", "inputs", "extra"})


def is_bulk(fields: dict[str, Any]) -> bool:
    """Whether an object is a row of a bulk export: a run whose structures are JSON text."""
    kind = fields.get("run_type")
    packed = any([type(fields.get(name)) is str for name in JSON_COLUMNS])
    return packed and isinstance(kind, str) and "id" in fields and not BULK_KEYS.isdisjoint(fields)


def read_bulk(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """The span of a row of a bulk export."""
    odd: set[str] = set()
    run = _opened(fields, odd)
    run["run_type"] = text(run.get("run_type")).lower()
    if run.get("outputs") and not {"status", "end_time"} & run.keys():
        run["status"] = "success"  # the export was told to leave out how and when runs ended
    yield from _noted(list(read_run(run, position, reading.seen)), odd)


def _opened(fields: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    return {name: opened_text(value, odd) if name in JSON_COLUMNS else value for name, value in fields.items()}


def _noted(records: list[Span | Reject], odd: set[str]) -> Iterator[Span | Reject]:
    for record in records:
        if isinstance(record, Span):
            record.flags += sorted(odd - set(record.flags))
        yield record


def is_cli_row(fields: dict[str, Any]) -> bool:
    """Whether an object is a line of `langsmith run export` or `trace export`."""
    return "run_id" in fields and "run_type" in fields and "trace_id" in fields and "id" not in fields


def read_cli_row(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """The span of a row. The CLI leaves out what a model was offered as tools beside its messages."""
    counts = mapping(fields.get("token_usage"))
    run = {
        **fields,
        "id": fields["run_id"],
        "run_type": text(fields["run_type"]).lower(),
        "extra": {"metadata": mapping(fields.get("custom_metadata"))},
        "prompt_tokens": counts.get("prompt_tokens"),
        "completion_tokens": counts.get("completion_tokens"),
    }
    for span in list(read_run(run, position, reading.seen)):
        if isinstance(span, Span) and span.kind == "llm" and not span.tools:
            span.flags.append("tools_unknown")
        yield span


def is_batch(fields: dict[str, Any]) -> bool:
    """Whether an object is what the SDK sends: runs begun (`post`) and runs updated (`patch`)."""
    first = [half[0] for half in (fields.get("post"), fields.get("patch")) if isinstance(half, list) and half]
    return bool(first) and all(isinstance(run, dict) and _run_id(run) for run in first)


def read_batch(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """The spans of a batch, each update joined to its creation where that stands in the same file.

    What has only one half here is a span flagged `partial`; a creation is given at once, and again when its update
    comes, whole.
    """
    halves = [*listing(fields.get("post")), *listing(fields.get("patch"))]
    if not all(isinstance(half, dict) for half in halves):
        yield Reject(position, "unreadable_langsmith_batch")
    posts = {_run_id(run): run for run in listing(fields.get("post")) if isinstance(run, dict)}
    for patch in (run for run in listing(fields.get("patch")) if isinstance(run, dict)):
        run_id = _run_id(patch)
        begun = posts.pop(run_id, None) or reading.begun.end(run_id)
        yield from _read_half({**patch, "id": run_id} if begun is None else _joined(begun, patch), position, reading)
    for run_id, post in posts.items():
        yield from _read_half(post, position, reading)
        if not post.get("end_time"):
            reading.begun.remember(run_id, post)


def is_fetched(fields: dict[str, Any]) -> bool:
    """Whether an object is a file of `langsmith-fetch`: a trace as its messages."""
    return "trace_id" in fields and isinstance(fields.get("messages"), list) and "metadata" in fields


def read_fetched(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """A root, a call for each message of the assistant, and feedback; the spans themselves are not in the file."""
    said = mapping(fields["metadata"])
    trace = first_text(fields, "trace_id").lower()
    if not trace:
        yield Reject(position, "no_ids")
        return
    custom = mapping(said.get("custom_metadata"))
    root = root_span("langsmith", "langsmith", position, trace_id=trace)
    root.started_ns, root.ended_ns = time_ns(said.get("start_time")), time_ns(said.get("end_time"))
    root.task = first_text(custom, "reference_example_id", "task_id", "task.id", "example_id")
    root.conversation_id = first_text(custom, "session_id", "conversation_id", "thread_id")
    root.flags.append("spans_unknown")
    yield root
    yield from call_spans(root, turns(fields["messages"]))
    for verdict in map(mapping, listing(fields.get("feedback"))):
        yield read_feedback({**verdict, "trace_id": trace, "run_id": verdict.get("run_id") or trace}, position)


def _read_half(run: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    try:
        half = not run.get("run_type") or not (run.get("end_time") or run.get("outputs"))
        if not run.get("run_type"):
            run = {**run, "run_type": _guessed_type(run)}
        for span in list(read_run(run, position, reading.seen)):
            if half and isinstance(span, Span):
                span.flags.append("partial")
            yield span
    except WRONG_SHAPES:
        yield Reject(position, "unreadable_langsmith_batch")


def _guessed_type(patch: dict[str, Any]) -> str:
    """What an update is of, which says so nowhere; nothing where its creation has to tell."""
    extra = mapping(patch.get("extra"))
    metadata = mapping(extra.get("metadata"))
    if _MODEL_HINTS & metadata.keys() or _ANSWERS & mapping(patch.get("outputs")).keys():
        return "llm"
    return "tool" if "tool_call_id" in extra or "tool_call_id" in metadata else ""


def _joined(post: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in patch.items() if value not in (None, {}, [], "")}
    before, after = mapping(post.get("extra")), mapping(said.get("extra"))
    metadata = {**mapping(before.get("metadata")), **mapping(after.get("metadata"))}
    return {**post, **said, "extra": {**before, **after, "metadata": metadata}}


def _run_id(run: dict[str, Any]) -> str:
    return first_text(run, "id") or text(run.get("dotted_order"))[-LONGEST_ID:]
