"""Plain threads as the tables of trajectories, steps and tool calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from transforms.identity import Identity, framed
from transforms.trajectories.plain_calls import COUNTS, REASONS, PlainCalls
from transforms.trajectories.plain_ends import terminations
from transforms.trajectories.plain_messages import Messages
from transforms.trajectories.plain_prompts import EDITED, RETRY, RULES, TOOLS, Segments
from transforms.trajectories.plain_results import Shown, ToolCalls
from transforms.trajectories.plain_tasks import tasks
from transforms.trajectories.termination import is_ending
from transforms.trajectories.thread_tables import OF_SPAN, Threads, sums, trainable
from transforms.trajectories.trace_rows import NONE, Array, TraceRows, at
from warehouse.schemas import LEFT_OUT, STEPS, TOOL_CALLS, TRAJECTORIES, Table

FLAGS = ("changed_tools", "edited_context", "media", "missing_message", "missing_result", "retried")
_FLAGS_OF = pl.Series(
    [[flag for n, flag in enumerate(FLAGS) if told >> n & 1] for told in range(1 << len(FLAGS))],
    dtype=pl.List(pl.String),
)
"""By number what its bits say."""


@dataclass
class PlainTables:
    """What was found out about the counted calls of all traces; the tables have those of plain traces.

    `shown` are numbers of messages and `said` their ids; `actions` are numbers of the messages produced, `acted` their
    ids, by counted call.
    """

    spans: TraceRows
    calls: PlainCalls
    parts: Segments
    shown: Shown
    said: pl.Series
    actions: Array
    acted: pl.Series
    joined: ToolCalls
    messages: Messages
    identity: Identity

    @cached_property
    def _kept(self) -> Array:
        """Numbers of the counted calls of plain traces."""
        return np.flatnonzero(self.spans.plain[self.spans.trace[self.calls.counted]])

    @cached_property
    def _rows(self) -> Array:
        rows: Array = self.calls.counted[self._kept]
        return rows

    @cached_property
    def _begins(self) -> Array:
        """Places in `_kept` of the threads' first calls."""
        return np.flatnonzero(np.diff(self.spans.trace[self._rows], prepend=NONE))

    @cached_property
    def _thread(self) -> Array:
        """The number of each kept call's thread."""
        begin = np.zeros(len(self._kept), dtype=np.int64)
        begin[self._begins] = 1
        return np.cumsum(begin) - 1

    @cached_property
    def _number(self) -> Array:
        """The number of each kept call in its thread."""
        number: Array = np.arange(len(self._kept)) - self._begins[self._thread]
        return number

    @cached_property
    def _ids(self) -> pl.Series:
        first = self.spans.frame.select("trace_id", "span_id")[self._rows[self._begins]]
        purpose, digest = framed("trajectory"), self.identity.framed_digest
        return pl.Series([digest(purpose, framed(*ids)).hex() for ids in first.iter_rows()], dtype=pl.String)

    @cached_property
    def _place(self) -> Array:
        """The place in `_kept` of each counted call; NONE for others."""
        place = np.full(len(self.calls.counted), NONE, dtype=np.int64)
        place[self._kept] = np.arange(len(self._kept))
        return place

    def tables(self, revision: date) -> Threads:
        """The tables with their rows in any order."""
        day = pl.lit(revision).alias("revision")

        def typed(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
            return rows.with_columns(day).select(pl.col(name).cast(dtype) for name, dtype in table.schema.items())

        return Threads(
            typed(TRAJECTORIES, self.trajectories()),
            typed(STEPS, self.steps()),
            typed(TOOL_CALLS, self.tool_calls()),
            typed(LEFT_OUT, self.left_out()),
        )

    def trajectories(self) -> pl.DataFrame:
        """TRAJECTORIES but for `revision`."""
        frame, first = self.spans.frame, self._rows[self._begins]
        trace_ids = frame["trace_id"][first]
        last = self._rows[np.append(self._begins, len(self._rows))[1:] - 1]
        calls = np.bincount(self._thread[self._asked], minlength=len(first))
        asks = np.zeros(len(frame), dtype=bool)
        names = self.joined.said["name"]
        ending = names.is_in([name for name in names.unique() if is_ending(name)]).to_numpy() & ~self.joined.failed
        asks[self.calls.counted[self.joined.step[~ending]]] = True
        segments = self.parts.segment[self._kept]
        agent, agent_span = (np.full(len(frame), NONE, dtype=np.int64) for _ in range(2))
        agent[self.calls.rows], agent_span[self.calls.rows] = self.calls.agent, self.calls.agent_span
        agents = at(frame["agent"], agent[first]), at(frame["name"], agent_span[first])
        told = tasks(self.spans, first, self._kept[self._begins], self.shown, self.messages, self.identity)
        threads = told.with_columns(
            self._ids.alias("trajectory_id"),
            self._ids.alias("rollout_id"),
            pl.lit(None, dtype=pl.String).alias("parent_trajectory_id"),
            trace_ids.reshape((-1, 1)).cast(pl.List(pl.String)).alias("trace_ids"),
            pl.coalesce(*agents).alias("agent"),
            pl.Series("segments", np.maximum.reduceat(segments, self._begins) + 1 if len(first) else []),
            pl.Series("tool_calls", calls),
            pl.Series("termination", terminations(self.spans, self.calls, last, asks[last]), dtype=pl.String),
            self._flags().alias("flags"),
            pl.Series("thread", np.arange(len(first))),
        )
        spans = frame.select("started_at", "ended_at", "input_tokens", "output_tokens", "model", "content_state")
        total = sums(spans[self._rows].with_columns(thread=self._thread), "thread")
        return trainable(threads.join(total, on="thread", how="left", maintain_order="left")).drop("thread")

    def steps(self) -> pl.DataFrame:
        """STEPS but for `revision`."""
        rule = pl.Series(RULES, dtype=pl.String)[self.parts.rule[self._kept]]
        rows = self.spans.frame.select("trace_id", "span_id", "prompt_length", *OF_SPAN)[self._rows]
        return rows.with_columns(
            self._ids[self._thread].alias("trajectory_id"),
            pl.Series("step", self._number),
            pl.Series("segment", self.parts.segment[self._kept]),
            rule.alias("segment_rule"),
            self._observed().alias("observed"),
            self.acted[self._kept].alias("action"),
        )

    def tool_calls(self) -> pl.DataFrame:
        """TOOL_CALLS but for `revision`."""
        asked, joined = self._asked, self.joined
        kept = np.flatnonzero(self._place[joined.step] != NONE)
        result, row = joined.result[kept], joined.row[kept]
        said = joined.said[kept]
        return pl.DataFrame({
            "trajectory_id": self._ids[self._thread[asked]],
            "step": self._number[asked],
            "call": joined.place[kept],
            "call_id": pl.select(pl.when(said["id"] != "").then(said["id"])).to_series(),
            "name": said["name"],
            "arguments": said["arguments"],
            "result_id": at(self.messages.frame["message_id"], result),
            "tool_span_id": at(self.spans.frame["span_id"], row),
            "join_rule": pl.Series(["id", "missing"])[((result == NONE) & (row == NONE)).astype(np.int64)],
            "is_error": joined.failed[kept],
        })  # fmt: skip

    def left_out(self) -> pl.DataFrame:
        """LEFT_OUT but for `revision`."""
        out = (self.calls.reason != COUNTS) & self.spans.plain[self.spans.trace[self.calls.rows]]
        reason = pl.Series("reason", REASONS)[self.calls.reason[out]]
        rows: pl.DataFrame = self.spans.frame.select("trace_id", "span_id")[self.calls.rows[out]]
        return rows.with_columns(reason)

    @cached_property
    def _asked(self) -> Array:
        """The place in `_kept` of the step of each call of a kept one."""
        place = self._place[self.joined.step]
        asked: Array = place[place != NONE]
        return asked

    def _observed(self) -> pl.Series:
        count = np.diff(self.shown.begin)
        said = self.said
        if len(self._kept) < len(count):
            said = said.filter(pl.Series(np.repeat(self._place != NONE, count)))
        begin = np.concatenate([[0], np.cumsum(count[self._kept])])
        values = said.to_arrow(compat_level=pl.CompatLevel.newest())
        array = pa.Array.from_buffers(  # `pa.array` would load pandas
            pa.large_list(values.type), len(begin) - 1, [None, pa.py_buffer(begin.astype(np.int64))], children=[values]
        )
        lists = pl.from_arrow(array)
        assert isinstance(lists, pl.Series)
        return lists

    def _flags(self) -> pl.Series:
        rule, size = self.parts.rule[self._kept], len(self._begins)
        owner = np.repeat(self._place, np.diff(self.shown.begin))
        shown, owner = self.shown.messages[owner != NONE], owner[owner != NONE]
        seen = np.concatenate([shown, self.actions[self._kept]])
        owner = np.concatenate([owner, np.arange(len(self._kept))])
        missing = (self.joined.result == NONE) & (self.joined.row == NONE)
        asked = self._place[self.joined.step[missing]]
        found = (
            np.flatnonzero(rule == TOOLS),
            np.flatnonzero(rule == EDITED),
            owner[self.messages.media[seen]],
            owner[seen == NONE],
            asked[asked != NONE],
            np.flatnonzero(rule == RETRY),
        )
        bits = np.zeros(size, dtype=np.int64)
        for number, places in enumerate(found):
            has = np.zeros(size, dtype=bool)
            has[self._thread[places]] = True
            bits |= has << number
        return _FLAGS_OF[bits]
