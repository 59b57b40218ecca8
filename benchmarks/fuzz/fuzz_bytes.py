"""Fuzzes exports as bytes: any file is read without an exception, in bounded time, and accounted for.

    pip install atheris
    PYTHONPATH=tests python -m benchmarks.fuzz.fuzz_bytes --seconds 300 --captures tests/corpus/exports

Bytes are changed by libFuzzer, guided by the code that they reach; half of the changes put an input into a container
or change bytes inside of one. What breaks a promise of `invariants` is written to the folder `--findings`, and the
run goes on.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import sys
import tempfile
import zipfile
from pathlib import Path

import atheris
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

with atheris.instrument_imports(include=["transforms.readers"]):
    from benchmarks.fuzz import seeds
    from benchmarks.fuzz.findings import Findings
    from benchmarks.fuzz.invariants import clean, read

LARGEST = 64 << 10
CLEANED = 24
"""One of so many inputs is cleaned, too, which takes several times as long as reading it."""


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wanted.add_argument("--seconds", type=int, default=300)
    wanted.add_argument("--seed", type=int, default=1)
    wanted.add_argument("--captures", type=Path, action="append", default=[], help="folders of exports")
    wanted.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = wanted.parse_args()
    found = [json.dumps(document).encode() for listed in seeds.documents().values() for document in listed]
    found += [data for data in seeds.captured(options.captures) if len(data) <= LARGEST]
    found += [packed(data, kind) for data in found[::9] for kind in KINDS]
    fuzz(found, options)


KINDS = ("gzip", "zstd", "zip", "parquet", "frames", "array", "printed", "utf-16", "two", "lines")


def packed(data: bytes, kind: str) -> bytes:
    """Data in one of the containers that are read."""
    if kind == "gzip":
        return gzip.compress(data, 1)
    if kind == "zstd":
        return zstandard.ZstdCompressor(1).compress(data)
    if kind == "zip":
        return _zipped(data)
    if kind == "parquet":
        return _table(data)
    if kind == "frames":
        return len(data).to_bytes(4, "big") + data
    if kind == "utf-16":
        return data.decode("utf-8", "replace").encode("utf-16")
    if kind == "two":
        return data + data
    if kind == "lines":
        return b"\n".join((seeds.NEIGHBOUR, data, b"", seeds.NEIGHBOUR))
    try:
        document = json.loads(data)
        return json.dumps([document, document] if kind == "array" else document, indent=1).encode()
    except (ValueError, RecursionError):
        return b"[" + data + b",\n" + data + b"]"


def _zipped(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", seeds.NEIGHBOUR)
        archive.writestr("b", data)
    return held.getvalue()


def _table(data: bytes) -> bytes:
    try:
        fields = json.loads(data)
        table = pa.Table.from_pylist([{str(name): value for name, value in fields.items()}])
    except (ValueError, RecursionError, AttributeError, TypeError, OverflowError, pa.ArrowException):
        table = pa.table({"inputs": [data[:1000], None], "id": [1, 2]})
    held = io.BytesIO()
    try:
        pq.write_table(table, held)
    except pa.ArrowException:
        return data
    return held.getvalue()


def fuzz(found: list[bytes], options: argparse.Namespace) -> None:
    """Runs until the time is up, on a corpus that begins with `found`."""
    findings, tried = Findings(options.findings), 0

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.3:
            data = packed(data, chance.choice(KINDS))
        if chance.random() < 0.3:
            data = packed(atheris.Mutate(chance.choice(found), max_size), chance.choice(KINDS))
        return bytes(atheris.Mutate(data[:max_size], max_size))

    def run(data: bytes) -> None:
        nonlocal tried
        tried += 1
        try:
            read(data, growing=True)
            records, _ = read(data)
            if tried % CLEANED == 0:
                clean(records)
        except Exception as problem:  # noqa: BLE001  whatever it is, it is what is looked for
            findings.keep(problem, data)

    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(found):
            Path(corpus, str(number)).write_bytes(data)
        arguments = [sys.argv[0], corpus, f"-max_total_time={options.seconds}", f"-max_len={LARGEST}",
                     f"-seed={options.seed}", "-timeout=60", "-rss_limit_mb=4096"]  # fmt: skip
        atheris.Setup(arguments, run, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
