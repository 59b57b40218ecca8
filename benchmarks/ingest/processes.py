"""What more processes bring: the same day of several exports, ingested by one and by two, in turn.

    python -m benchmarks.ingest.processes --megabytes 500 [--rounds 3] [--workers 2]

Wall seconds are what counts here, with the start of the workers, so nothing else may run on the machine. The tables are
compared by their hashes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.fresh_process import told_by
from benchmarks.ingest.generate import DIALECTS, write

FILES = 4


def main() -> None:
    """Print a line for each number of workers, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=500.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--dialect", choices=sorted(DIALECTS), default="langsmith")
    parser.add_argument("--day", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.day:
        print(json.dumps(_measure(options.day, options.workers)))
        return
    with tempfile.TemporaryDirectory() as folder:
        day = Path(folder)
        for number in range(FILES):
            write(day / f"{number}.jsonl", options.dialect, options.megabytes / FILES, seed=7 + number)
        rounds = [
            [told_by("benchmarks.ingest.processes", "--day", day, "--workers", count) for count in (1, options.workers)]
            for _ in range(options.rounds)
        ]
    for number, count in enumerate((1, options.workers)):
        print(f"{count} workers: {statistics.median(one[number]['wall'] for one in rounds):6.2f} s")
    ratio = statistics.median(one["wall"] / several["wall"] for one, several in rounds)
    same = len({told["tables"] for one in rounds for told in one}) == 1
    print(f"{ratio:.2f} times as fast, tables {'equal' if same else 'DIFFER'}")


def _measure(day: Path, workers: int) -> dict[str, Any]:
    from benchmarks.ingest import ours

    with tempfile.TemporaryDirectory() as out:
        mill = ours.prepared(sorted(day.glob("*.jsonl")), Path(out), workers)
        start = time.perf_counter()
        ours.run(mill)
        wall = time.perf_counter() - start
        return {"wall": wall, "tables": mill.lake.version_of("clean_spans", ours.DAY)}


if __name__ == "__main__":
    main()
