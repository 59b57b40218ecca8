"""Forgetting takes memory for what goes, not for the day that it is taken from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from mills import KEY, ROOT, Night

from assets.erasure import rewrite_without
from assets.lake_search import Found
from assets.mill import Mill
from transforms.sealed_frames import framed
from warehouse.catalog import DAILY
from warehouse.home import Home
from warehouse.lake import Lake, Provenance
from warehouse.schemas import MESSAGES, SPANS

DAY = date(2026, 11, 30)
AT_A_TIME = 20
BY = Provenance("config", "code", "canonical", "key")
PROGRAM = """
import re, sys
from datetime import date
from pathlib import Path
from assets.erasure import rewrite_without
from assets.lake_search import Found
from assets.mill import Mill
from assets.mill import open_mill
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
mill, day = open_mill(), date(2026, 11, 30)
before = peak()
rewrite_without(mill, day, Found(traces={sys.argv[1]}))
print(peak() - before)
"""


def copies(night: Night, count: int) -> dict[str, Iterator[pl.DataFrame]]:
    """The night's clean day many times over, as traces and messages of their own, with longer texts."""
    spans, messages = (night.mill.lake.scan(table, only=DAY).collect() for table in (SPANS, MESSAGES))
    marks = [pl.DataFrame({"mark": [f"{number:08x}" for number in range(at, at + AT_A_TIME)]})
             for at in range(0, count, AT_A_TIME)]  # fmt: skip
    return {
        "spans": (own_spans(spans, some) for some in marks),
        "messages": (own_messages(messages, some) for some in marks),
    }


def own_spans(spans: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    made = spans.join(marks, how="cross").with_columns(trace_id=pl.col("trace_id") + pl.col("mark")).with_row_index()
    for name in ("prompt_suffix", "output"):
        ids = made.select("index", "mark", name).explode(name, empty_as_null=False)
        ids = ids.with_columns((pl.col(name).bin.encode("hex") + pl.col("mark")).str.decode("hex").alias(name))
        listed = ids.group_by("index").agg(name)
        made = made.drop(name).join(listed, on="index", how="left").with_columns(pl.col(name).fill_null([]))
    return made.select(*SPANS.columns)


def own_messages(messages: pl.DataFrame, marks: pl.DataFrame) -> pl.DataFrame:
    made = messages.join(marks, how="cross")
    more = pl.Series([os.urandom(256).hex() for _ in range(made.height)])
    ids = (pl.col("message_id").bin.encode("hex") + pl.col("mark")).str.decode("hex")
    return made.with_columns(message_id=ids, content=pl.col("content") + more).select(*MESSAGES.columns)


def publish(lake: Lake, night: Night, count: int) -> None:
    made = copies(night, count)
    frames = {table.name: table.empty() for table in DAILY["clean_spans"]}
    large = {table.name: framed(table, made[table.name]) for table in (SPANS, MESSAGES)}
    lake.publish("clean_spans", DAY, frames | large, BY)


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the peak of its memory")
def test_a_day_of_ten_times_the_size_takes_hardly_more_memory(night: Night, tmp_path: Path) -> None:
    peaks = []
    for count in (100, 800):
        home = tmp_path / f"home{count}"
        lake = Lake(home / "lake")
        publish(lake, night, count)
        spans = lake.scan(SPANS).collect()
        gone = spans["trace_id"][0]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TRACEMILL_HOME": str(home), "TRACEMILL_KEY": KEY}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, gone],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        left = lake.scan(SPANS).collect()
        assert left.equals(spans.filter(pl.col("trace_id") != gone)) and 0 < left.height < spans.height
        peaks.append(int(done.stdout))
    assert peaks[1] < 1.5 * peaks[0] + 50_000


def test_a_message_that_no_span_is_left_to_show_goes(night: Night, tmp_path: Path) -> None:
    frames = {table.name: night.mill.lake.scan(table, only=DAY).collect() for table in DAILY["clean_spans"]}
    superseded = frames["messages"].head(1).with_columns(message_id=pl.lit(bytes(16)), content=pl.lit("what was said"))
    frames["messages"] = pl.concat([superseded, frames["messages"]])
    mill = Mill(Home.at(tmp_path), night.mill.settings)
    mill.lake.publish("clean_spans", DAY, frames, BY)
    rewrite_without(mill, DAY, Found(traces={frames["spans"]["trace_id"][0]}))
    left = mill.lake.scan(MESSAGES).collect()
    assert bytes(16) not in left["message_id"].to_list() and left.height > 0
