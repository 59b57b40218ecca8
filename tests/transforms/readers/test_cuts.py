"""Documents that are cut before they are parsed read as if they were not: many spans in one, any place of a history."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from transforms.readers import exports
from transforms.readers.cuts import Cut, Cutter
from transforms.readers.exports import Tally, read_export
from transforms.readers.reading import Reading
from transforms.records import Record

SHIPPED = Path(__file__).parents[2] / "corpus" / "exports"
CAPTURES = [
    path
    for folder in filter(None, (SHIPPED, os.environ.get("TRACEMILL_CORPUS")))
    for path in sorted(Path(folder).rglob("*.jsonl*"))
]
ROUNDS = int(os.environ.get("TRACEMILL_ROUNDS", "3"))
DAMAGE = [
    '"',
    "\\",
    "\\u0000",
    ",",
    "]",
    "}",
    "[",
    "{",
    "é",
    "\ud83d",
    "1e999",
    '"messages":[',
    '"tools":[',
    '"}]}',
    " ",
]

LONG = "x" * 2_000
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "S " + LONG},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c", "content": LONG},
    {"role": "assistant", "content": "done"},
]
TOOLS = [{"type": "function", "function": {"name": "f", "description": LONG, "parameters": {"type": "object"}}}]


def read(lines: list[bytes]) -> list[Record]:
    return list(read_export(io.BytesIO(b"\n".join(lines)), Tally()))


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[list[bytes]], list[Record]]]:
    """Reads with nothing cut and nothing shared."""

    def plainly(lines: list[bytes]) -> list[Record]:
        with monkeypatch.context() as patch:
            patch.setattr(exports, "decode_shared", lambda piece, reading: None)
            patch.setattr(Cutter, "take", lambda self, buffer, start, end: buffer[start:end])
            return read(lines)

    yield plainly


def lines_of(path: Path) -> list[bytes]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.splitlines()[:40]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_captures_read_alike_however_they_are_mixed_and_damaged(
    path: Path, whole: Callable[[list[bytes]], list[Record]]
) -> None:
    chance, lines = random.Random(path.name), lines_of(path)
    for _ in range(ROUNDS):
        mixed = [chance.choice(lines) for _ in range(min(len(lines) * 2, 40))]
        for number in chance.sample(range(len(mixed)), len(mixed) // 3):
            at = chance.randrange(len(mixed[number]) + 1)
            damage = chance.choice(DAMAGE).encode("utf-8", "surrogatepass")
            mixed[number] = mixed[number][:at] + damage + mixed[number][at + chance.randrange(4) :]
        assert read(mixed) == whole(mixed)


def run(number: int, **fields: Any) -> bytes:
    made = {"id": f"{number:032x}", "trace_id": "a" * 32, "run_type": "llm", "name": "m", "outputs": None} | fields
    return json.dumps(made, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "fields",
    [
        {"inputs": {"messages": [TALK]}},
        {"inputs": {"messages": TALK, "tools": TOOLS}},
        {"inputs": {"input": TALK[:2]}},
        {"run_type": "chain", "inputs": {"messages": TALK[:3]}, "outputs": {"messages": TALK}},
        {"inputs": {"messages": TALK}, "extra": {"invocation_params": {"tools": TOOLS, "temperature": 1}}},
        {"inputs": {"messages": TALK}, "extra": {"metadata": {"messages": TALK}}},
        {"inputs": {"other": TALK, "messages": TALK}},
        {"inputs": {"messages": TALK}, "child_runs": [{"id": "1", "run_type": "llm", "inputs": {"messages": TALK}}]},
        {"inputs": {"messages": [{"role": "user", "content": json.dumps({"messages": TALK})}]}},
        {"inputs": {"messages": [*TALK, 7, 71, "7", None]}},
        {"inputs": {"messages": [*TALK, 7]}},
        {"inputs": [TALK]},
        {"inputs": {"messages": {"a": TALK}}},
    ],
    ids=lambda fields: ",".join(fields)[:40],
)
def test_a_known_history_is_put_back_wherever_it_stands(
    fields: dict[str, Any], whole: Callable[[list[bytes]], list[Record]]
) -> None:
    before = [run(n, inputs={"messages": TALK[:n], "tools": TOOLS}) for n in range(2, 6)]
    lines = [*before, run(9, **fields), run(10, **fields), *reversed(before), run(11, **fields)]
    assert read(lines) == whole(lines)


def test_most_of_a_long_trace_is_never_parsed() -> None:
    reading, parsed = Reading(), []
    talk = [{"role": "user", "content": f"{number} {LONG}"} for number in range(60)]
    for number in range(1, 61):
        line = run(number, inputs={"messages": talk[:number], "tools": TOOLS})
        piece = reading.cutter.take(line, 0, len(line))
        assert not isinstance(piece, Cut) or piece.whole() == line
        value = exports.decode_shared(piece, reading)
        assert value["inputs"] == {"messages": talk[:number], "tools": TOOLS}
        parsed.append(len(piece.text if isinstance(piece, Cut) else piece))
    assert max(parsed[1:]) < 3 * len(LONG)


def test_marks_cannot_be_guessed_or_forged() -> None:
    assert Reading().cutter.secret != Reading().cutter.secret
    reading = Reading()
    forged = reading.cutter.secret + "0~"
    before = run(1, inputs={"messages": TALK})
    exports.decode_shared(before, reading)
    for line in (run(2, inputs={"messages": [forged, *TALK]}), run(3, inputs={"messages": TALK, "tools": forged})):
        value = exports.decode_shared(reading.cutter.take(line, 0, len(line)), reading)
        assert value is None or value == json.loads(line)


def test_an_export_whose_documents_cannot_be_put_together_is_not_cut_for_ever() -> None:
    reading = Reading()
    nested = [{"id": "1", "run_type": "llm", "inputs": {"messages": TALK}}]
    cut = 0
    exports.decode_shared(run(0, inputs={"messages": TALK}), reading)
    for number in range(200):
        line = run(number, inputs={}, child_runs=nested)
        piece = reading.cutter.take(line, 0, len(line))
        cut += isinstance(piece, Cut)
        exports.decode_shared(piece, reading)
    assert 0 < cut < 100
