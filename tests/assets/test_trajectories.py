"""A day is threaded part by part, and comes out as if all its traces had been threaded together."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from assets import trajectories
from assets.mill import Mill
from assets.trajectories import thread_day
from benchmarks.trajectories import generate
from tests.mills import mill_at
from transforms.trajectories.threads import threads_one_by_one
from warehouse.catalog import DAILY
from warehouse.schemas import SPANS

Day = tuple[pl.DataFrame, pl.DataFrame]


def _publish(mill: Mill, day: date, made: Day, rows: int) -> None:
    """Publish a day's spans and messages in groups of `rows` rows."""
    frames = {table.name: table.empty() for table in DAILY["clean_spans"]} | dict(
        zip(("spans", "messages"), made, strict=True)
    )
    mill.lake.publish("clean_spans", day, frames, mill.provenance("clean_spans", {}))
    for path in mill.home.lake.glob(f"tables/*/day={day}/*.parquet"):
        pl.read_parquet(path).write_parquet(path, row_group_size=rows)


def _expected(mill: Mill, days: dict[date, Day], day: date) -> dict[str, pl.DataFrame]:
    """The tables, one trace after the other. Every trace of the generator is touched on the later day."""
    spans = pl.concat([of_spans for _, (of_spans, _) in sorted(days.items())])
    messages = pl.concat([of_messages for _, (_, of_messages) in sorted(days.items())])
    newest = messages.sort("day").unique("message_id", keep="last", maintain_order=True)
    threads = threads_one_by_one(spans, newest, mill.identity, day)
    return {"trajectories": threads.trajectories, "steps": threads.steps, "tool_calls": threads.tool_calls,
            "unstepped_spans": threads.left_out}  # fmt: skip


@pytest.mark.parametrize(("part", "rows"), [(1, 40), (60, 25), (10_000, 1_000)])
def test_parts_make_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int, rows: int) -> None:
    mill = mill_at(tmp_path, monkeypatch)
    for name, share in (("AGAIN", 0.3), ("LOST", 0.1), ("TWICE", 0.1), ("FAILED", 0.2)):
        monkeypatch.setattr(generate, name, share)
    monkeypatch.setattr(trajectories, "PART", part)
    days = generate.tables(700, 5)
    of_spans, of_messages = days[generate.DAY]
    talk = (pl.col("trace_id").str.slice(0, 1)).replace_strict({"3": "x", "4": "x", "5": "y"}, default=None)
    alone = pl.when(pl.col("trace_id").str.starts_with("6")).then(pl.col("trace_id"))
    days[generate.DAY] = of_spans.with_columns(conversation_id=pl.coalesce(talk, alone)), of_messages
    for day, made in days.items():
        _publish(mill, day, made, rows)
    frames = thread_day(mill, generate.DAY).frames
    for name, expected in _expected(mill, days, generate.DAY).items():
        made_here = frames[name]
        assert isinstance(made_here, pl.DataFrame) and made_here.height
        assert made_here.to_dicts() == expected.to_dicts(), name


def test_a_day_without_spans_has_no_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mill = mill_at(tmp_path, monkeypatch)
    assert all(not frame.height for frame in thread_day(mill, generate.DAY).frames.values())
    empty = SPANS.empty(), generate.tables(60, 5)[generate.DAY][1]
    _publish(mill, generate.DAY, empty, 10)
    assert all(not frame.height for frame in thread_day(mill, generate.DAY).frames.values())
