"""Threads of the traces in which one agent made one call after the other, all at once and in columns.

`plain_threads` gives for these what `Assignment`, `join_results` and `ThreadTables` give trace by trace, and names the
traces that it leaves to them: those of several agents, of conversations over several traces or days, and those in which
ids do not tell what belongs together.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl

from transforms.identity import Identity
from transforms.trajectories.plain_calls import plain_calls
from transforms.trajectories.plain_messages import Messages
from transforms.trajectories.plain_prompts import (
    EDITED,
    RETRY,
    Prompts,
    check_bases,
    observed,
    predecessors,
    segments,
)
from transforms.trajectories.plain_results import Shown, tool_calls
from transforms.trajectories.plain_tables import PlainTables
from transforms.trajectories.thread_tables import OF_SPAN, Threads
from transforms.trajectories.trace_rows import NONE, Array, LookUp, TraceRows

COLUMNS = tuple(dict.fromkeys((
    "day", "trace_id", "span_id", "parent_span_id", "file_id", "position", "source", "kind", "name",
    "started_at", "ended_at", "status", "error_type", "error", "agent", "conversation_id", "dataset", "task", "trial",
    "response_id", "base_span_id", "base_length", "prompt_suffix", "prompt_length", "output", "tool_call_id", *OF_SPAN,
)))  # fmt: skip
"""What plain threads need of SPANS; more of a span is looked up where it matters."""


def plain_threads(
    spans: pl.DataFrame, messages: Messages | None, look_up: LookUp, identity: Identity, revision: date,
    besides: pl.Series | None = None,
) -> tuple[Threads | None, pl.Series]:  # fmt: skip
    """The tables of plain traces, rows in any order, and the ids of all other traces.

    `spans` are SPANS as `COLUMNS` selects them; traces of `besides` are in neither.
    """
    rows = TraceRows.of(spans, look_up)
    first = np.flatnonzero(np.diff(rows.trace, prepend=NONE))
    traces = rows.frame["trace_id"][first]
    asked = np.ones(len(first), dtype=bool)
    if besides is not None and len(besides):
        asked = ~traces.is_in(besides.implode()).to_numpy()
        rows.plain &= asked
    told = _prompts(rows, messages) if messages is not None and rows.plain.any() else None
    if messages is None or told is None:
        return None, traces.filter(asked)
    prompts, ids, numbers = told
    check_bases(rows, prompts)
    calls = plain_calls(rows, prompts.said)
    counted = calls.counted
    parts = segments(rows, counted, predecessors(rows, prompts, counted), prompts.length, calls.mixed)
    parts.rule[(parts.rule == EDITED) & prompts.asked_again(counted, rows.base)] = RETRY
    begin, places = observed(rows, prompts, counted, parts.known)
    shown = Shown(begin, numbers[places])
    outputs = prompts.out[counted]
    joined = tool_calls(rows, counted, parts.segment, numbers[outputs], shown, messages)
    said_ids, acted = ids[places], ids[outputs]
    tables = PlainTables(rows, calls, parts, shown, said_ids, numbers[outputs], acted, joined, messages, identity)
    return tables.tables(revision), traces.filter(asked & ~rows.plain)


def _prompts(rows: TraceRows, messages: Messages) -> tuple[Prompts, pl.Series, Array] | None:
    """What prompts and outputs name, by place, with the ids and numbers of messages there."""
    count = rows.frame["prompt_suffix"].list.len().to_numpy().astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(count)])
    out = np.full(rows.frame.height, NONE, dtype=np.int64)
    speaking = np.flatnonzero(rows.outputs)
    out[speaking] = begin[-1] + np.arange(len(speaking))
    suffixes = rows.frame["prompt_suffix"].filter(pl.Series(count > 0)).explode(empty_as_null=False)
    first = rows.frame["output"][speaking].list.first()
    ids = pl.concat([suffixes.alias("id"), first.alias("id")])
    found = messages.numbers(ids)
    if found is None:
        return None
    numbers, keys = found
    length, shared = rows.numbers("prompt_length"), rows.numbers("base_length")
    return Prompts(keys, begin, out, shared, length), ids, numbers
