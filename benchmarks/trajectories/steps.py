"""Our way from clean spans to trajectories and steps, against what one would script by hand on the same lake.

    python -m benchmarks.trajectories.steps --spans 1000000 [--calls 12] [--rounds 3] [--alone]
    python -m benchmarks.trajectories.steps --spans 200000 --growth

Each way runs in a fresh process, in turn; figures are medians. CPU seconds are those of user and system together, all
threads counted, from the first byte read to tables in memory; loading of libraries is left out of them, and is in the
peak of memory. What the ways give is compared: which span is which step, and which tool's span answered which call.
`--growth` compares trajectories of 12 and of 200 calls that have as many spans, and what the tables of steps take.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.fresh_process import told_by
from benchmarks.trajectories.generate import DAY
from benchmarks.trajectories.peers import PEERS, Tables

OURS = "tracemill"
ONE_BY_ONE = "trace by trace"


def main() -> None:
    """Print one line a way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=12, help="model calls a trajectory")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--growth", action="store_true", help="short and long trajectories instead of peers")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help="of a lake that was generated already")
    options = parser.parse_args()
    if options.way:
        print(json.dumps(_run(options.way, options.home, options.spans, options.calls)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.growth:
            _compare_growth(Path(folder), options.spans, options.rounds)
            return
        home = options.home or Path(folder)
        if not options.home:
            _in_fresh_process("generate", home, options.spans, options.calls)
        _compare(home, [OURS, *([] if options.alone else PEERS)], options.rounds)


def _compare(home: Path, ways: list[str], rounds: int) -> None:
    measured: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way in ways:
            measured[way].append(_in_fresh_process(way, home))
    ours = measured[OURS][0]
    print(f"{ours['spans']:,} spans, {ours['steps']:,} steps, {ours['calls']:,} tool calls; medians of {rounds} rounds")
    print(f"{'':16}{'CPU s':>8}{'wall s':>8}{'peak MB':>9}{'x CPU':>7}{'x memory':>10}  result")
    for way, told in measured.items():
        cpu, wall, peak = (_median(told, name) for name in ("cpu", "wall", "peak"))
        times = f"{cpu / _median(measured[OURS], 'cpu'):7.1f}{peak / _median(measured[OURS], 'peak'):10.1f}"
        same = "" if way == OURS else "equal" if told[0]["digest"] == ours["digest"] else "DIFFERS"
        print(f"{way:16}{cpu:8.2f}{wall:8.2f}{peak:9.0f}{times}  {same}")


def _compare_growth(folder: Path, spans: int, rounds: int) -> None:
    told = {}
    print(f"{'calls':>6}{'spans':>10}{'steps':>9}{'CPU s':>8}{'peak MB':>9}{'B/step':>8}{'messages named':>16}")
    for calls in (12, 200):
        home = folder / str(calls)
        _in_fresh_process("generate", home, spans, calls)
        rows = [_in_fresh_process(OURS, home) for _ in range(rounds)]
        cpu, peak, row = _median(rows, "cpu"), _median(rows, "peak"), rows[0]
        told[calls] = cpu / row["spans"], row["bytes"] / row["steps"]
        print(
            f"{calls:6}{row['spans']:10,}{row['steps']:9,}{cpu:8.2f}{peak:9.0f}{row['bytes'] / row['steps']:8.0f}"
            f"{row['named']:16,}"
        )
    ratios = [long / short for short, long in zip(told[12], told[200], strict=True)]
    print(f"200 calls against 12: x {ratios[0]:.2f} CPU a span, x {ratios[1]:.2f} bytes a step")


def _median(rows: list[dict[str, Any]], name: str) -> float:
    return statistics.median(row[name] for row in rows)


def _in_fresh_process(way: str, home: Path, spans: int = 0, calls: int = 0) -> dict[str, Any]:
    given = ("--way", way, "--home", home, "--spans", spans, "--calls", calls)
    return told_by("benchmarks.trajectories.steps", *given)


def _run(way: str, home: Path, spans: int, calls: int) -> dict[str, Any]:
    os.environ |= {"TRACEMILL_HOME": str(home), "TRACEMILL_KEY": "5eed" * 16}
    if way == "generate":
        return _generate(spans, calls)
    if way == OURS:
        return _measure_ours()
    import duckdb  # noqa: F401
    import pyarrow  # noqa: F401

    before, start = time.process_time(), time.perf_counter()
    tables = PEERS[way](home / "lake")
    return _used(before, start) | _told(tables)


def _generate(spans: int, calls: int) -> dict[str, Any]:
    from assets.mill import open_mill
    from benchmarks.trajectories.generate import tables
    from warehouse.catalog import DAILY

    mill = open_mill()
    for day, (of_spans, of_messages) in tables(spans, calls).items():
        frames = {table.name: table.empty() for table in DAILY["clean_spans"]}
        frames |= {"spans": of_spans, "messages": of_messages}
        mill.lake.publish("clean_spans", day, frames, mill.provenance("clean_spans", {}))
    return {}


def _measure_ours() -> dict[str, Any]:
    from assets.mill import open_mill
    from assets.trajectories import thread_day
    from warehouse.schemas import SPANS

    mill = open_mill()
    before, start = time.process_time(), time.perf_counter()
    made = thread_day(mill, DAY).frames
    used = _used(before, start)
    steps, calls = made["steps"], made["tool_calls"]
    assert isinstance(steps, pl.DataFrame) and isinstance(calls, pl.DataFrame)
    whose = steps.select("trajectory_id", "step", "trace_id")
    told = used | _told((steps, calls.join(whose, on=["trajectory_id", "step"])))
    taken = steps.drop("tools").estimated_size()
    spans = mill.lake.scan(SPANS, only=DAY).select(pl.len()).collect().item()
    return told | {"bytes": taken, "named": int(steps["observed"].list.len().sum()) + steps.height, "spans": spans}


def _used(before: float, start: float) -> dict[str, float]:
    """CPU and wall seconds and the peak of memory (10^6 bytes) of this process."""
    cpu, wall = time.process_time() - before, time.perf_counter() - start
    return {"cpu": cpu, "wall": wall, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}


def _told(tables: Tables) -> dict[str, Any]:
    """How much came out, and a hash of it."""
    steps, calls = tables
    rows = [
        steps.select("trace_id", "span_id", pl.col("step").cast(pl.Int64)),
        calls.select("trace_id", pl.col("step").cast(pl.Int64), "call_id", "tool_span_id"),
    ]
    digest = hashlib.sha256()
    for table in rows:
        digest.update(table.sort(table.columns).write_csv().encode())
    return {"digest": digest.hexdigest(), "steps": steps.height, "calls": calls.height}


if __name__ == "__main__":
    main()
