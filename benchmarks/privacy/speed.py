# ruff: noqa: E501  (repeated pieces are data)
"""Cleaning speed on an export that repeats its history, with Presidio out of the box on the same lines in the same run.

    python -m benchmarks.privacy.speed [--megabytes 20] [--rounds 3] [--seed 7] [--chats gpt-4o-airline.json]

CPU seconds, user and system, of whole ways in fresh processes, loading of libraries left out: ours from the export to
published, audited tables (read, learn, replace, audit, write), with the name model and without; Presidio's AnalyzerEngine
on every string of as many of the same lines as it gets through in 30 CPU seconds, without replacing or writing anything.
Then the slowest of 20 kB texts made of one repeated piece.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.fresh_process import told_by
from benchmarks.ingest.generate import DIALECTS, START_NS, Application, Call
from benchmarks.privacy.cleaners import stock_engine
from benchmarks.privacy.traces import trace

STOCK_SECONDS = 30.0
REPEATED = (
    "a.", "1.", "1-", "+1", "::", '{"', "@", "password:", "://a:", "Mary Ann ", "김철수님 ", "a@b.", "%41", "&#65;", "\\u0041",
    "-----BEGIN PRIVATE KEY-----", "\\n", "QUJD", "a=b&", "<td>a</td>", "| a ", "1,", "1,\n", "name: ", "name='a' ", "Dr. ",
    "A. ", "Zed, ", "12-", "012 ", "www.", "a_b.", "INSERT INTO a (b) VALUES ", "('a'), ", "Zed Qux ", "called Zed by ", "%25",
    "암호=", "pwd=", "secret=", "cookie=", "login1", "변호사 ", "passport 123456789 ", "[", "<",
)  # fmt: skip


def main() -> None:
    """Print megabytes a CPU second of each way, the factor between them, and the slowest texts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--chats", type=Path, help="tau-bench results whose chats make the export; none: synthetic")
    parser.add_argument("--way", choices=("model", "rules", "stock", "texts"), help=argparse.SUPPRESS)
    parser.add_argument("--export", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(WAYS[options.way](options.export)))
        return
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / "export.jsonl"
        distinct = write(export, options.megabytes, options.seed, options.chats)
        told = f"{export.stat().st_size / 1e6:.1f} MB, of which {distinct / 1e6:.2f} MB are distinct messages"
        print(f"{told}; medians of {options.rounds}")
        stock = _in_fresh_process("stock", export)["rate"]
        print(f"{'Presidio out of the box':28}{stock:8.3f} MB per CPU s")
        for way, title in (("model", "tracemill"), ("rules", "tracemill without a model")):
            rate = statistics.median(_in_fresh_process(way, export)["rate"] for _ in range(options.rounds))
            print(f"{title:28}{rate:8.3f} MB per CPU s, {rate / stock:.0f} times as much")
        for text, seconds in sorted(_in_fresh_process("texts", export).items(), key=lambda item: -item[1])[:5]:
            print(f"20 kB of {text!r}: {seconds:.2f} CPU s")


def write(out: Path, megabytes: float, seed: int, chats: Path | None = None) -> int:
    """Runs of LangSmith whose calls repeat their history; returns the size of the distinct messages."""
    application = Application("support", "You are a support agent.", [])
    written = distinct = number = 0
    with out.open("wb") as stream:
        for messages in _chats(seed, chats):
            distinct += sum(len(json.dumps(message, ensure_ascii=False).encode()) for message in messages)
            for step in range(1, len(messages)):
                if messages[step]["role"] == "assistant" or not chats:
                    at = START_NS + (number * 1000 + step) * 1_000_000_000
                    call = Call(application, number, step, messages[:step], messages[step] | {"role": "assistant"}, at)
                    line = json.dumps(DIALECTS["langsmith"](call), ensure_ascii=False)
                    written += stream.write(line.encode() + b"\n")
            number += 1
            if written >= megabytes * 1e6:
                break
    return distinct


def _chats(seed: int, chats: Path | None) -> Iterator[list[dict[str, Any]]]:
    if chats:
        for trial in json.loads(chats.read_text("utf-8")):
            yield [message | {"content": message.get("content") or ""} for message in trial["traj"]]
        return
    for number in itertools.count():
        values = [value for value in trace(random.Random(f"{seed}/{number}"), 40).values if "role" in value]
        yield [message | {"content": message.get("content") or ""} for message in values]


def _in_fresh_process(way: str, export: Path) -> dict[str, float]:
    return told_by("benchmarks.privacy.speed", "--way", way, "--export", export)


def _ours(export: Path, model: bool) -> dict[str, float]:
    from assets.ingest import land
    from assets.lake_io import DayScans
    from assets.privacy import clean_day
    from benchmarks.ingest.ours import DAY, prepared
    from transforms.privacy.deidentifier import Deidentifier
    from warehouse.catalog import DAILY

    with tempfile.TemporaryDirectory() as folder:
        mill = prepared([export], Path(folder))
        policy = mill.settings.privacy if model else mill.settings.privacy.model_copy(update={"model": None})
        mill.settings.__dict__["privacy"] = policy
        Deidentifier(policy, mill.key).clean("Yesterday Barbara Hussein came.", [])
        before = time.process_time()
        made = land(mill, DAY)
        mill.lake.publish("landed", DAY, made.frames, mill.provenance("landed", {}), made.sources)
        landed = {table.name: mill.lake.scan(table, only=DAY) for table in DAILY["landed"]}
        made = clean_day(mill, DAY, DayScans(landed))
        mill.lake.publish("clean_spans", DAY, made.frames, mill.provenance("clean_spans", {}), made.sources)
        return {"rate": export.stat().st_size / 1e6 / (time.process_time() - before)}


def _stock(export: Path) -> dict[str, float]:
    engine = stock_engine()
    engine.analyze("Yesterday Barbara Hussein came.", "en")
    before, done = time.process_time(), 0
    with export.open("rb") as lines:
        for line in lines:
            for text in _strings(json.loads(line)):
                engine.analyze(text, "en")
            done += len(line)
            if time.process_time() - before > STOCK_SECONDS:
                break
    return {"rate": done / 1e6 / (time.process_time() - before)}


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) and value else []


def _texts(_: Path) -> dict[str, float]:
    from benchmarks.privacy.cleaners import Ours

    ours, seconds = Ours(), {}
    ours([{"content": "Yesterday Barbara Hussein came."}])
    for piece in REPEATED:
        text = piece * (20_000 // len(piece))
        before = time.process_time()
        ours([{"content": text}])
        seconds[piece] = time.process_time() - before
    return seconds


WAYS: dict[str, Callable[[Path], dict[str, float]]] = {
    "model": lambda export: _ours(export, True),
    "rules": lambda export: _ours(export, False),
    "stock": _stock,
    "texts": _texts,
}


if __name__ == "__main__":
    main()
