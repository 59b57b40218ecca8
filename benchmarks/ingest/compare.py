"""Our way from an export to published tables against what one would script by hand, on the same file.

    python -m benchmarks.ingest.compare --megabytes 100 [--rounds 5] [--dialect langsmith]

Each way runs in a fresh process, in turn, several rounds; figures are medians. CPU seconds are those of user and system
together, all threads counted, from the first byte read to the last one written; loading of libraries is left out of
them, and is in the peak of memory. What the ways give is compared span by span and message by message. The peers read
LangSmith's runs only; for other dialects our figures stand alone.
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
from benchmarks.ingest.generate import DIALECTS, write
from benchmarks.ingest.peers import PEERS

OURS = "tracemill"


def main() -> None:
    """Print one line a way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=100.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="langsmith")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    parser.add_argument("--export", type=Path, help="a file of the generator, made already")
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(_measure(options.way, options.export, options.out)))
        return
    with tempfile.TemporaryDirectory() as folder:
        export = options.export or Path(folder) / "export.jsonl"
        if not export.exists():
            write(export, options.dialect, options.megabytes, seed=7)
        peers = [] if options.alone or options.dialect != "langsmith" else list(PEERS)
        _compare(export, Path(folder), [OURS, *peers], options.rounds)


def _compare(export: Path, folder: Path, ways: list[str], rounds: int) -> None:
    measured: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    digests: dict[str, str] = {}
    for number in range(rounds):
        for way in ways:
            out = folder / f"{number} {way}"
            out.mkdir()
            measured[way].append(told_by("benchmarks.ingest.compare", "--way", way, "--export", export, "--out", out))
            if not number:
                digests[way] = _digest(way, out)
    megabytes = export.stat().st_size / 1e6
    ours = _medians(measured[OURS])
    print(f"{megabytes:.0f} MB, medians of {rounds} rounds in turn, {os.cpu_count()} cores")
    print(f"{'':16}{'CPU s':>8}{'MB per CPU s':>14}{'wall s':>8}{'peak MB':>9}{'x CPU':>7}{'x memory':>10}  result")
    for way in ways:
        median = _medians(measured[way])
        same = "" if way == OURS else ("equal" if digests[way] == digests[OURS] else "DIFFERS")
        print(
            f"{way:16}{median['cpu']:8.2f}{megabytes / median['cpu']:14.0f}{median['wall']:8.2f}{median['peak']:9.0f}"
            f"{median['cpu'] / ours['cpu']:7.1f}{median['peak'] / ours['peak']:10.1f}  {same}"
        )


def _medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


def _measure(way: str, export: Path, out: Path) -> dict[str, float]:
    """CPU and wall seconds and the peak of memory (10^6 bytes) of one way in this process."""
    if way == OURS:
        from benchmarks.ingest import ours

        mill = ours.prepared([export], out)
        before, start = time.process_time(), time.perf_counter()
        ours.run(mill)
    else:
        import duckdb  # noqa: F401
        import orjson  # noqa: F401
        import pandas as pd  # noqa: F401
        import pyarrow  # noqa: F401

        before, start = time.process_time(), time.perf_counter()
        PEERS[way](export, out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {"cpu": time.process_time() - before, "wall": time.perf_counter() - start, "peak": peak}


def _digest(way: str, out: Path) -> str:
    """One hash of all prompts and outputs, message by message, and of the distinct messages."""
    spans, messages = _ours(out) if way == OURS else _theirs(out)
    told = hashlib.sha256()
    for span_id, ids in sorted(spans.items()):
        told.update(json.dumps([span_id, [messages[one] for one in ids]]).encode())
    told.update(json.dumps(sorted(map(json.dumps, messages.values()))).encode())
    return told.hexdigest()


def _ours(out: Path) -> tuple[dict[str, list[Any]], dict[Any, Any]]:
    lake = out / "home" / "lake" / "tables"
    messages = pl.read_parquet(lake / "messages" / "**" / "*.parquet")
    spans = pl.read_parquet(lake / "spans" / "**" / "*.parquet").sort("started_at", "sequence", "span_id")
    whole: dict[tuple[str, str | None], list[bytes]] = {}
    told = {}
    for row in spans.iter_rows(named=True):
        prompt = whole.get((row["trace_id"], row["base_span_id"]), [])[: row["base_length"]] + row["prompt_suffix"]
        whole[row["trace_id"], row["span_id"]] = prompt + row["output"][:1]
        told[row["span_id"]] = prompt + row["output"]
    return told, {row["message_id"]: _canonical(row) for row in messages.iter_rows(named=True)}


def _theirs(out: Path) -> tuple[dict[str, list[Any]], dict[Any, Any]]:
    messages = pl.read_parquet(out / "messages.parquet")
    spans = pl.read_parquet(out / "spans.parquet", columns=["id", "prompt", "output"])
    told = {span_id: [*prompt, *(output or [])] for span_id, prompt, output in spans.iter_rows()}
    return told, {row["message_id"]: _canonical(row) for row in messages.iter_rows(named=True)}


def _canonical(row: dict[str, Any]) -> list[Any]:
    given = row["tool_calls"]
    loaded = json.loads(given) if given else []
    calls = loaded["calls"] if isinstance(loaded, dict) else loaded
    shaped = [[call["id"], *((call.get("function") or call)[name] for name in ("name", "arguments"))] for call in calls]
    return [row["role"], row["content"] or "", row["tool_call_id"] or "", shaped]


if __name__ == "__main__":
    main()
