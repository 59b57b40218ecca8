"""Spans as arrays: rows that stand trace by trace, told by numbers instead of ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from transforms.identity import ID_BYTES
from transforms.trajectories.completion import completed_traces, most_complete

Array = np.ndarray[Any, Any]
LookUp = Callable[[str, pl.DataFrame], pl.Series]
"""A column of SPANS that few spans are asked for, of some of them (day, trace_id, span_id), in the same order."""

NONE = -1
KINDS = ("llm", "tool", "agent", "evaluator")
LLM, TOOL, AGENT, EVALUATOR = range(len(KINDS))
MOST_LEVELS = 64
"""Levels of spans above one that are looked at; what is nested deeper is threaded span by span."""

_SHIFT = np.uint64(44)
"""Bits of a key that do not count where one is looked for; the others tell one from nearly all others."""

_SPREAD = 1 << 20

_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


@dataclass
class TraceRows:
    """The most complete copy of each span. `frame` stands in order of trace and span id.

    `trace` numbers the traces by row, `plain` says by trace whether arrays are enough to thread it; who finds that
    they are not says so with `give_up`.
    """

    frame: pl.DataFrame
    trace: Array
    plain: Array
    look_up: LookUp
    _equal: dict[tuple[str, str], Array] = field(default_factory=dict)

    @classmethod
    def of(cls, spans: pl.DataFrame, look_up: LookUp) -> TraceRows:
        """`spans` in any order, also with several copies of one."""
        frame, halved = (spans, None) if _ascends(spans) else _one_copy(spans)
        frame = frame.rechunk()  # gathering from chunks copies their text
        trace = frame["trace_id"].rle_id().to_numpy().astype(np.int64)
        rows = cls(frame, trace, np.ones(int(trace[-1]) + 1 if len(trace) else 0, dtype=bool), look_up)
        if halved is not None and len(halved):
            rows.give_up(frame["trace_id"].is_in(halved.implode()).to_numpy())
        rows._give_up_several_days()
        rows._give_up_conversations()
        return rows

    def give_up(self, rows: Array) -> None:
        """The traces of some rows (or of a mask of rows) cannot be threaded by arrays."""
        self.plain[self.trace[rows]] = False

    def looked_up(self, name: str, rows: Array) -> pl.Series:
        """A column that `frame` lacks, of some rows."""
        return self.look_up(name, self.frame.select("day", "trace_id", "span_id")[rows])

    def numbers(self, name: str, missing: int = 0) -> Array:
        """A column of numbers or times; `missing` stands for null."""
        column = self.frame[name].cast(pl.Int64)
        return (column.fill_null(missing) if column.null_count() else column).to_numpy()

    def equals(self, name: str, value: str) -> Array:
        """Where a column has a value."""
        if (name, value) not in self._equal:
            self._equal[name, value] = true_in(self.frame[name] == value)
        return self._equal[name, value]

    def says(self, name: str) -> Array:
        """Where a column has text."""
        column = self.frame[name]
        if column.null_count() == len(column):
            return np.zeros(len(column), dtype=bool)
        return true_in(column != "")

    @cached_property
    def kind(self) -> Array:
        """Index into KINDS; others are greater."""
        column = self.frame["kind"]
        found = np.full(len(column), len(KINDS), dtype=np.uint8)
        for number, kind in enumerate(KINDS):
            found[(column == kind).to_numpy()] = number
        return found

    @cached_property
    def outputs(self) -> Array:
        """How many messages each row produced."""
        return self.frame["output"].list.len().to_numpy().astype(np.int64)

    @cached_property
    def parent(self) -> Array:
        return self._found["parent_span_id"]

    @cached_property
    def base(self) -> Array:
        return self._found["base_span_id"]

    @cached_property
    def _found(self) -> dict[str, Array]:
        """The row of the span that a column names, of the same trace; NONE where it never arrived."""
        names = ("parent_span_id", "base_span_id")
        asked = {name: np.flatnonzero(self.says(name)) for name in names}
        held = pl.DataFrame({"key": self._key(self.frame["span_id"], self.trace)}).with_row_index("row")
        ids = pl.concat([self.frame[name][rows].alias("id") for name, rows in asked.items()]).rechunk()
        rows = np.concatenate(list(asked.values()))
        wanted = pl.DataFrame({"key": self._key(ids, self.trace[rows])})
        found = wanted.join(held, on="key", how="left", maintain_order="left")["row"]
        if len(found) != len(rows):  # two spans with one hash: never, but who could prove it
            self.plain[:] = False
            found = pl.Series([None], dtype=pl.UInt32).new_from_index(0, len(rows))
        self.give_up(rows[differ(self.frame["span_id"][found], ids)])
        places, start, by_row = found.cast(pl.Int64).fill_null(NONE).to_numpy(), 0, {}
        for name, one in asked.items():
            by_row[name] = np.full(self.frame.height, NONE, dtype=np.int64)
            by_row[name][one] = places[start : start + len(one)]
            start += len(one)
        return by_row

    @staticmethod
    def _key(ids: pl.Series, trace: Array) -> Array:
        return mixed(ids.hash().to_numpy(), trace)

    def _give_up_several_days(self) -> None:
        day = self.frame["day"].to_physical().to_numpy()
        other = np.flatnonzero((day[1:] != day[:-1]) & (self.trace[1:] == self.trace[:-1]))
        self.give_up(other)

    def _give_up_conversations(self) -> None:
        """Several traces of one conversation may continue each other."""
        rows = np.flatnonzero(self.says("conversation_id"))
        if not len(rows):
            return
        talks = self.frame[rows].select("conversation_id", trace=pl.Series(self.trace[rows]))
        several = talks.unique().filter(pl.col("conversation_id").is_duplicated())
        self.plain[several["trace"].to_numpy()] = False


def true_in(column: pl.Series) -> Array:
    """Where a column is true, and not null."""
    return (column.fill_null(False) if column.null_count() else column).to_numpy()


def at(column: pl.Series, rows: Array) -> pl.Series:
    """The values of some rows; null for NONE."""
    return column[pl.Series(rows).cast(pl.UInt32, strict=False)]


@dataclass
class Index:
    """Where keys stand: 64-bit hashes, no two of them equal."""

    keys: Array
    order: Array
    begin: Array

    @classmethod
    def of(cls, keys: Array) -> Index:
        """The index of keys in any order; where two are equal, the place of the later one."""
        order = np.arange(len(keys))
        if (keys[1:] <= keys[:-1]).any():
            order = np.argsort(keys, kind="stable")
            last = np.append(np.diff(keys[order].astype(np.int64)) != 0, True)
            order = order[last]
            keys = keys[order]
        begin = np.concatenate([[0], np.cumsum(np.bincount((keys >> _SHIFT).astype(np.int64), minlength=_SPREAD))])
        return cls(keys, order, begin)

    def places(self, keys: Array) -> Array:
        """The place of each key; NONE where it is none of the index."""
        spread = (keys >> _SHIFT).astype(np.int64)
        place, until = self.begin[spread], self.begin[spread + 1]
        found, asking = np.full(len(keys), NONE, dtype=np.int64), np.arange(len(keys))
        while len(asking):
            left = np.flatnonzero(place < until)
            place, until, asking = place[left], until[left], asking[left]
            same = self.keys[place] == keys[asking]
            found[asking[same]] = self.order[place[same]]
            left = np.flatnonzero(~same)
            place, until, asking = place[left] + 1, until[left], asking[left]
        return found


def mixed(one: Array, *others: Array) -> Array:
    """One 64-bit number for several, where chance alone makes two of them equal."""
    key = one.astype(np.uint64)
    for number, other in enumerate(others):
        key = (key ^ (key >> np.uint64(29))) * _MIX[0] + other.astype(np.uint64) * _MIX[1 + number % 2]
    return key


def id_halves(ids: pl.Series) -> Array | None:
    """Ids of messages as two numbers each (n, 2); None where one has another length."""
    if len(ids) and not bool((ids.bin.size() == ID_BYTES).all()):
        return None
    array = ids.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    content = array.buffers()[2]
    if content is None:
        return np.zeros((0, 2), dtype=np.uint64)
    halves = np.frombuffer(content, dtype=">u8")[2 * array.offset : 2 * (array.offset + len(array))]
    return halves.astype(np.uint64).reshape(-1, 2)  # as they sort: tables of messages lie in order of their ids


def _ascends(spans: pl.DataFrame) -> bool:
    """Whether each row is a span of its own and stands behind the one before."""
    trace, span = pl.col("trace_id"), pl.col("span_id")
    greater = (trace > trace.shift()) | ((trace == trace.shift()) & (span > span.shift()))
    return spans.height < 2 or bool(spans.select(greater.slice(1).all()).item())


def _one_copy(spans: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series | None]:
    """Rows in order of trace and span id, of several copies of a span the most complete one; and the traces in which
    that is not enough."""
    key = ["trace_id", "span_id"]
    ordered = spans.sort(key)
    again = pl.col("span_id") == pl.col("span_id").shift(), pl.col("trace_id") == pl.col("trace_id").shift()
    repeated = ordered.filter(again[0] & again[1]).select(key).unique()
    if repeated.is_empty():
        return ordered, None
    several = spans.join(repeated, on=key, how="semi")
    single = ordered.join(repeated, on=key, how="anti")
    return pl.concat([single, most_complete(several)]).sort(key), completed_traces(several)


def differ(found: pl.Series, wanted: pl.Series) -> Array:
    """Where something was found that is not what was wanted."""
    return true_in(found != wanted)
