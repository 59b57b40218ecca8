"""`trajectories`: what each agent did, in threads and steps."""

from collections.abc import Iterator
from datetime import date, timedelta

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.lake_io import DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.staleness import touched_traces
from transforms.garbage import seldom_collected
from transforms.trajectories.plain_messages import SAID, Messages
from transforms.trajectories.plain_threads import COLUMNS, plain_threads
from transforms.trajectories.threads import (
    Threads,
    held_messages,
    looked_up_in,
    piled_up,
    put_together,
    threads_one_by_one,
)
from transforms.trajectories.trace_rows import LookUp
from warehouse.lake import Lake
from warehouse.rows import row_groups
from warehouse.schemas import MESSAGES, SPANS, Table

PART = 1 << 16
"""Spans that are threaded at a time, and messages that are read at a time: about a group of rows of the file."""


@dg.asset(
    partitions_def=days, group_name="trajectories", kinds={"polars"}, io_manager_key="lake_io", deps=["clean_spans"]
)
def trajectories(context: dg.AssetExecutionContext, mill: MillResource) -> DayTables:
    """Trajectories that the day touched, with their steps, tool calls, and the calls that are in no step."""
    with told_safely():
        return thread_day(mill.open(), date.fromisoformat(context.partition_key))


@seldom_collected()
def thread_day(mill: Mill, day: date) -> DayTables:
    """Thread every trace that got a span or a verdict on `day`, with all that came before."""
    returning = _returning(mill.lake, day)
    made, others = [], []
    for plain, rest in _plain(mill, returning, day):
        made += [plain] if plain else []
        others.append(rest)
    for traces in _lots(mill.lake, pl.concat(others), day) if others else ():
        spans = _scan(mill.lake, traces, day).collect()
        messages = mill.lake.newest_messages(held_messages(spans.lazy()), day)
        made.append(threads_one_by_one(spans, messages, mill.identity, day))
    threads = put_together(made)
    return DayTables({
        "trajectories": threads.trajectories, "steps": threads.steps,
        "tool_calls": threads.tool_calls, "unstepped_spans": threads.left_out,
    })  # fmt: skip


def _plain(mill: Mill, returning: pl.Series, day: date) -> Iterator[tuple[Threads | None, pl.Series]]:
    """The threads of plain traces, part by part, and the other traces of each part: first of those of which the day
    holds all, then of those that return."""
    read = [group.select(SAID).collect() for group in _groups(mill.lake, MESSAGES, day)]
    said = pl.DataFrame(piled_up([MESSAGES.empty().select(SAID), *read]))
    messages = Messages.of(said)
    lots = [*_lots(mill.lake, returning, day)]
    met = [SPANS.empty().select(COLUMNS)]
    for part, look_up in _stretches(mill.lake, day):
        if len(lots) == 1:  # as on most days: what returns is little, and need not be read again
            met.append(_copied(part.filter(pl.col("trace_id").is_in(returning.implode()))))
        found = plain_threads(part, messages, look_up, mill.identity, day, returning)
        del part  # before the next one is read
        yield found
    for traces in lots:
        scan = _scan(mill.lake, traces, day)
        before = _scan(mill.lake, traces, day - timedelta(days=1)).select(COLUMNS).collect()
        now = pl.concat(met) if len(lots) == 1 else scan.filter(pl.col("day") == day).select(COLUMNS).collect()
        part = pl.concat([before, now])
        messages = Messages.of(_said_of(mill.lake, part, said, day))
        yield plain_threads(part, messages, looked_up_in(scan), mill.identity, day)


def _returning(lake: Lake, day: date) -> pl.Series:
    """Traces that the day touched and of which it does not hold all: those with spans of earlier days, and those of
    conversations with other traces."""
    touched = touched_traces(lake, day).lazy()
    before = lake.scan(SPANS, through=day - timedelta(days=1)).join(touched, on="trace_id", how="semi")
    talks = lake.scan(SPANS, through=day).select("trace_id", "conversation_id").drop_nulls().unique()
    several = talks.join(touched, on="trace_id", how="semi").filter(pl.col("conversation_id").is_duplicated())
    return pl.concat([before.select("trace_id"), several.select("trace_id")]).unique().collect()["trace_id"]


def _stretches(lake: Lake, day: date) -> Iterator[tuple[pl.DataFrame, LookUp]]:
    """The day's spans, some whole traces at a time, and where to look up what they lack. Spans lie trace by trace, and
    each group of rows is read once; what a group cuts at its ends comes together with other such traces."""
    cut, anywhere = SPANS.empty().select(COLUMNS), looked_up_in(lake.scan(SPANS, only=day))
    for group in _groups(lake, SPANS, day):
        part = group.select(COLUMNS).collect()
        trace = part["trace_id"]
        begin = (trace == trace[0]).sum()
        end = max(begin, part.height - (trace == trace[-1]).sum())
        yield part.slice(begin, end - begin), looked_up_in(group)
        cut = pl.concat([cut, _copied(pl.concat([part.head(begin), part.slice(end)]))])
        del part, trace  # before the next one is read
        if cut.height > PART:
            going_on = cut["trace_id"] == cut["trace_id"][-1]
            yield cut.filter(~going_on), anywhere
            cut = cut.filter(going_on)
    yield cut, anywhere


def _copied(rows: pl.DataFrame) -> pl.DataFrame:
    """The same rows, that do not keep the text of all others which they were chosen from."""
    return pl.read_ipc_stream(rows.write_ipc_stream(None, compat_level=pl.CompatLevel.oldest()).getvalue())


def _groups(lake: Lake, table: Table, day: date) -> Iterator[pl.LazyFrame]:
    """A table of the day, a group of rows at a time."""
    for path in lake.files(table, only=day):
        for start, length in row_groups(path, PART):
            yield pl.scan_parquet(path).slice(start, length)


def _lots(lake: Lake, traces: pl.Series, day: date) -> Iterator[pl.Series]:
    """Some traces at a time, those of a conversation together."""
    if traces.is_empty():
        return
    talk = pl.coalesce(pl.col("conversation_id").min(), pl.col("trace_id").first()).alias("talk")
    held = _scan(lake, traces, day).group_by("trace_id").agg(talk, pl.len().alias("spans")).collect()
    for lot in held.sort("talk", "trace_id").with_columns(
        lot=pl.col("spans").cum_sum().last().over("talk") // PART
    ).partition_by("lot", maintain_order=True):  # fmt: skip
        yield lot["trace_id"]


def _scan(lake: Lake, traces: pl.Series, through: date) -> pl.LazyFrame:
    return lake.scan(SPANS, through=through).filter(pl.col("trace_id").is_in(traces.implode()))


def _said_of(lake: Lake, spans: pl.DataFrame, said: pl.DataFrame, day: date) -> pl.DataFrame:
    """The messages that spans name, later days behind earlier ones; `said` are those of `day`."""
    held = held_messages(spans.lazy())
    before = lake.scan(MESSAGES, through=day - timedelta(days=1)).join(held, on="message_id", how="semi").select(SAID)
    now = said.lazy().join(held, on="message_id", how="semi").collect()
    return pl.concat([before.collect().sort("day"), now])
