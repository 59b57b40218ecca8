"""Looks for persons who are to be forgotten in all that the lake holds, by their tombstones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from assets.mill import Mill
from transforms.privacy.erasure import Tombs
from warehouse.catalog import RELEASED, daily_tables
from warehouse.schemas import FEEDBACK, MESSAGES, SPANS, Table

BATCH = 4_096
"""Rows that are searched at a time."""


@dataclass
class Found:
    """What of a day holds somebody: traces, verdicts by themselves, and how many messages."""

    traces: set[str] = field(default_factory=set)
    verdicts: set[str] = field(default_factory=set)
    messages: int = 0

    def __bool__(self) -> bool:
        return bool(self.traces or self.verdicts or self.messages)


def search_day(mill: Mill, day: date, tombs: Tombs) -> Found:
    """Traces of a day whose spans, messages or verdicts hold somebody, or that were erased before."""
    found, said = Found(), []
    for frame in _batches(mill.lake.files(SPANS, only=day)):
        found.traces.update(row["trace_id"] for row in _holding(frame, SPANS, tombs))
        found.traces.update(trace for trace in frame["trace_id"].unique() if tombs.holds_trace(trace))
    for frame in _batches(mill.lake.files(MESSAGES, only=day)):
        said += [row["message_id"] for row in _holding(frame, MESSAGES, tombs)]
    for frame in _batches(mill.lake.files(FEEDBACK, only=day)):
        for row in _holding(frame, FEEDBACK, tombs):
            found.verdicts.add(row["feedback_id"])
            found.traces.add(row["trace_id"])
        found.traces.update(trace for trace in frame["trace_id"].unique() if tombs.holds_trace(trace))
    found.messages = len(said)
    if said:
        shown = mill.lake.scan(SPANS, only=day).select(
            "trace_id", pl.col("prompt_suffix").list.concat("output").alias("message_id")
        )
        wanted = pl.LazyFrame({"message_id": said}, schema={"message_id": pl.Binary})
        held = shown.explode("message_id", empty_as_null=False).join(wanted, on="message_id", how="semi")
        found.traces.update(held.select("trace_id").collect()["trace_id"])
    return found


def search_release(mill: Mill, name: str, tombs: Tombs, trajectories: set[str]) -> bool:
    """Whether a release holds somebody, or was cut from any of `trajectories`."""
    for table in RELEASED:
        for frame in _batches(mill.releases.files_of(name, table)):
            held = "trajectory_id" in frame.columns and not trajectories.isdisjoint(frame["trajectory_id"])
            if held or next(_holding(frame, table, tombs), None):
                return True
    return False


def held_rows(mill: Mill, tombs: Tombs) -> int:
    """Rows of all tables, of days and of releases, that hold somebody: what is left of them."""
    tables = [(table, mill.lake.files(table)) for table in daily_tables()]
    tables += [(table, mill.releases.files(table)) for table in RELEASED]
    return sum(1 for table, files in tables for frame in _batches(files) for _ in _holding(frame, table, tombs))


def named_exports(mill: Mill, tombs: Tombs) -> int:
    """Exports whose place or name holds somebody; manifests and the ledger of arrivals remember those."""
    sources = [
        source for day in mill.lake.days("landed") for source in (mill.lake.manifest("landed", day) or {})["sources"]
    ]
    return len({source["uri"] for source in sources if tombs.finds_text(source["uri"])})


def _batches(files: list[Path]) -> Iterator[pl.DataFrame]:
    for file in files:
        with pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(BATCH):
                yield pl.DataFrame(pl.from_arrow(batch))


def _holding(frame: pl.DataFrame, table: Table, tombs: Tombs) -> Iterator[dict[str, Any]]:
    """Rows whose text holds somebody."""
    texts = [name for name, column in table.columns.items() if _has_text(column.dtype) and name in frame.columns]
    ids = [name for name in table.key if name in frame.columns]
    more = [name for name in ("trace_id",) if name in frame.columns]
    for row in frame.select(list(dict.fromkeys([*ids, *more, *texts]))).iter_rows(named=True):
        if tombs.finds([row[name] for name in texts]):
            yield row


def _has_text(dtype: Any) -> bool:
    if isinstance(dtype, pl.List):
        return _has_text(dtype.inner)
    if isinstance(dtype, pl.Struct):
        return any(_has_text(one.dtype) for one in dtype.fields)
    return bool(dtype == pl.String)
