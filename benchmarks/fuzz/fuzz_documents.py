"""Fuzzes documents of one dialect, or of all: each stands between two others, is read, and is cleaned.

    pip install atheris
    PYTHONPATH=tests python -m benchmarks.fuzz.fuzz_documents --dialect langfuse --seconds 60 --captures tests/corpus

Documents are changed as structures (see `mutations`); those that reach new code are changed again. What breaks a
promise of `invariants` is written to the folder `--findings`, and the run goes on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["transforms.readers", "transforms.cleaning", "transforms.payloads"]):
    from benchmarks.fuzz import seeds
    from benchmarks.fuzz.findings import Findings
    from benchmarks.fuzz.invariants import check_neighbours, clean
    from benchmarks.fuzz.mutations import dumped, mutated
    from transforms.readers.exports import detect

LARGEST = 256 << 10
CLEANED = 12
"""One of so many documents is cleaned, too, which takes several times as long as reading it."""


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--dialect", default="", help="as `detect` names it; all where none is named")
    wanted.add_argument("--seconds", type=int, default=300)
    wanted.add_argument("--seed", type=int, default=1)
    wanted.add_argument("--captures", type=Path, action="append", default=[], help="folders of exports")
    wanted.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = wanted.parse_args()
    by_dialect = seeds.documents()
    for document in seeds.parsed(seeds.captured(options.captures)):
        by_dialect.setdefault(detect(document), []).append(document)
    everything = [document for found in by_dialect.values() for document in found]
    fuzz(by_dialect[options.dialect] if options.dialect else everything, everything, options)


def fuzz(pool: list[Any], others: list[Any], options: argparse.Namespace) -> None:
    """Runs until the time is up, on a corpus that begins with `pool`."""
    findings, tried = Findings(options.findings), 0

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            document = chance.choice(pool)
        line = dumped(mutated(document, others, chance), chance).replace(b"\n", b" ")
        return line if len(line) <= max_size else dumped(chance.choice(pool), chance)[:max_size]

    def run(data: bytes) -> None:
        nonlocal tried
        tried += 1
        try:
            records = check_neighbours(seeds.NEIGHBOUR, data.replace(b"\n", b" "), seeds.NEIGHBOUR)
            if tried % CLEANED == 0:
                clean(records)
        except Exception as problem:  # noqa: BLE001  whatever it is, it is what is looked for
            findings.keep(problem, data)

    with tempfile.TemporaryDirectory() as corpus:
        for number, document in enumerate(pool):
            Path(corpus, str(number)).write_bytes(json.dumps(document).encode())
        arguments = [sys.argv[0], corpus, f"-max_total_time={options.seconds}", f"-max_len={LARGEST}",
                     f"-seed={options.seed}", "-len_control=0", "-timeout=60", "-rss_limit_mb=4096"]  # fmt: skip
        atheris.Setup(arguments, run, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
