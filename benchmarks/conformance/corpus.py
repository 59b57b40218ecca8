"""Reads an export of a capture, and what really happened in it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchmarks.conformance.captures import Export
from transforms.readers.calls import content_state
from transforms.readers.exports import Tally, read_export
from transforms.readers.otlp_logs import FROM_LOGS
from transforms.records import Record, Span


def place(folder: Path, export: Export, name: str) -> Path:
    """Where a file of an export lies: beside the truth, or in the project's own tree of exports."""
    own = folder / "exports" / export.capture / name
    return own if own.exists() else folder / export.capture / "export" / name


def read_files(folder: Path, export: Export) -> list[Record]:
    """Records of an export's files, logs joined to the spans they tell of."""
    records = [record for name in export.files for record in _records(place(folder, export, name))]
    told = defaultdict(list)
    for record in records:
        if isinstance(record, Span) and FROM_LOGS in record.flags:
            told[record.trace_id, record.span_id].append(record)
    return [
        with_logs(record, told[record.trace_id, record.span_id]) if isinstance(record, Span) else record
        for record in records
        if not (isinstance(record, Span) and FROM_LOGS in record.flags)
    ]


def with_logs(span: Span, told: Iterable[Span]) -> Span:
    """The span with what logs told of it, in the order of their records; what the span says itself goes first."""
    parts = list(told)
    silent = not span.prompt and not span.output
    whole = replace(span, prompt=list(span.prompt), output=list(span.output), flags=list(span.flags))
    for part in parts:
        if silent:
            whole.prompt += part.prompt
            whole.output += part.output
        whole.flags += [flag for flag in part.flags if flag not in (*whole.flags, FROM_LOGS)]
        for name in ("agent", "conversation_id", "task", "provider", "model", "response_id", "parameters", "tools",
                     "finish_reason"):  # fmt: skip
            setattr(whole, name, getattr(whole, name) or getattr(part, name))
        for name in ("trial", "input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens"):
            setattr(whole, name, getattr(part, name) if getattr(whole, name) is None else getattr(whole, name))
    if silent and parts:
        whole.content_state = content_state(whole, set(whole.flags), lambda: False)
    return whole


def read_truth(folder: Path, export: Export) -> dict[str, Any]:
    """What happened; `n_traces` as far as the file holds them, `seen` how many texts a plain search finds in it."""
    expected: dict[str, Any] = json.loads(_truth(folder, export).read_text())
    searched = expected.get("seen_in_export", {})
    names = [name.removesuffix(".gz").replace(".parquet", ".jsonl").replace(".pb", ".jsonl") for name in export.files]
    seen: dict[str, list[int]] = defaultdict(list)
    for name in names:
        for kind, count in searched.get(name, {}).items():
            seen[kind].append(int(count.split("/")[0]))
    if export.capture.startswith("agentlightning") and "traces" not in export.files[0]:
        _by_attempt(expected)
    elif seen.get("trace_ids"):
        expected["n_traces"] = max(seen["trace_ids"])
    return {**expected, "seen": {kind: [max(counts)] for kind, counts in seen.items()}}


def _truth(folder: Path, export: Export) -> Path:
    own = folder / "expected" / f"{export.capture}.json"
    return own if own.exists() else folder / export.capture / "expected.json"


def _by_attempt(expected: dict[str, Any]) -> None:
    """Traces of Agent Lightning's stores are its attempts."""
    expected["n_traces"] = expected["n_runs"]
    for run in expected["runs"]:
        run["trace_ids"] = [f"{run['rollout_id']}:{run.get('attempt_id', '0')}"]


def _records(path: Path) -> list[Record]:
    with path.open("rb") as stream:
        return list(read_export(stream, Tally()))
