"""How much memory a day takes: the peak of our path from exports to published tables, for larger and larger days.

    python -m benchmarks.ingest.memory --gigabytes 0.5 1 2 4 [--dialect langsmith]

Each day is generated, ingested in a fresh process and removed. Its distinct messages grow with its size, so that
whatever is remembered of each of them shows; cleaning of text is left out, as in `compare`. What is printed beside the
peak is how much it grew since the smaller day, for each distinct message and each span that came in addition.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from benchmarks.fresh_process import told_by
from benchmarks.ingest.generate import DIALECTS, write

MOST_PEAK_MB = 600
"""What a day may take, whatever its size."""


def main() -> None:
    """Print one line a day; fail where one takes more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="langsmith")
    parser.add_argument("--day", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.day:
        print(json.dumps(_measure(options.day)))
        return
    print(f"{'GB':>6}{'spans':>10}{'messages':>10}{'CPU s':>8}{'peak MB':>9}{'B/message':>11}{'B/span':>8}")
    before = {"peak": 0.0, "messages": 0, "spans": 0}
    peaks = []
    for gigabytes in options.gigabytes:
        now = _in_fresh_process(gigabytes, options.dialect)
        grown = [(now["peak"] - before["peak"]) * 1e6 / (now[name] - before[name]) for name in ("messages", "spans")]
        told = "".join(f"{value:>{width}.0f}" for value, width in zip(grown, (11, 8), strict=True))
        print(
            f"{gigabytes:6.1f}{now['spans']:10,.0f}{now['messages']:10,.0f}{now['cpu']:8.1f}{now['peak']:9.0f}"
            f"{told if before['spans'] else ''}",
            flush=True,
        )
        before = now
        peaks.append(now["peak"])
    if max(peaks) > MOST_PEAK_MB:
        sys.exit(f"a day took {max(peaks):.0f} MB; it may take {MOST_PEAK_MB}")


def _in_fresh_process(gigabytes: float, dialect: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "export.jsonl", dialect, gigabytes * 1e3, seed=7)
        return told_by("benchmarks.ingest.memory", "--day", folder)


def _measure(folder: Path) -> dict[str, float]:
    """CPU seconds and the peak of memory (10^6 bytes) of this process, and what came out."""
    from benchmarks.ingest import ours

    mill = ours.prepared([folder / "export.jsonl"], folder)
    before = time.process_time()
    ours.run(mill)
    cpu = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    rows = {
        name: pl.scan_parquet(mill.home.lake / "tables" / name / "**" / "*.parquet").select(pl.len()).collect().item()
        for name in ("spans", "messages")
    }
    return {"cpu": cpu, "peak": peak, **rows}


if __name__ == "__main__":
    main()
