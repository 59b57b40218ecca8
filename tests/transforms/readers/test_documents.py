"""How files are unpacked and cut into documents, and what becomes of broken ones."""

from __future__ import annotations

import gzip
import io
import json
import random
from typing import Any

import pytest
import zstandard

from transforms.readers import containers, documents
from transforms.readers.exports import Tally, read_export
from transforms.records import Record, Reject, Span


class Dribble(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(7, size) if size is not None and size >= 0 else size)


def run(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"run-{number}", "trace_id": "t", "run_type": "tool", "name": f"tool {number}", **more}


def read(data: bytes, growing: bool = False, stream: type[io.BytesIO] = io.BytesIO) -> tuple[list[Record], Tally]:
    tally = Tally()
    return list(read_export(stream(data), tally, growing=growing)), tally


def brief(records: list[Record]) -> list[str]:
    """Each record as its position and its id or reason."""
    return [f"{r.position}:{r.span_id if isinstance(r, Span) else r.reason}" for r in records if not hasattr(r, "key")]


def counts(tally: Tally) -> tuple[int, int, int]:
    return (tally.records, tally.rejects, tally.blanks)


LINES = b"".join(json.dumps(run(n)).encode() + b"\n" for n in range(3))
THREE = ["0:run-0", "1:run-1", "2:run-2"]


@pytest.mark.parametrize("stream", [io.BytesIO, Dribble])
@pytest.mark.parametrize(
    ("data", "container"),
    [
        (LINES, "jsonl"),
        (LINES.rstrip(b"\n"), "jsonl"),
        (LINES.replace(b"\n", b"\r\n"), "jsonl"),
        (b"\xef\xbb\xbf" + LINES, "jsonl"),
        (LINES.decode().encode("utf-16"), "jsonl"),
        (gzip.compress(LINES, mtime=0), "gzip+jsonl"),
        (gzip.compress(LINES[:50], mtime=0) + gzip.compress(LINES[50:], mtime=0) + b"\0" * 512, "gzip+jsonl"),
        (zstandard.compress(LINES), "zstd+jsonl"),
        (zstandard.compress(LINES[:50]) + zstandard.compress(LINES[50:]), "zstd+jsonl"),
        (gzip.compress(zstandard.compress(LINES), mtime=0), "gzip+zstd+jsonl"),
        (json.dumps([run(n) for n in range(3)]).encode(), "json"),
        (json.dumps([run(n) for n in range(3)], indent=2).encode(), "json"),
        (json.dumps([run(n) for n in range(3)], indent=0).encode(), "json"),
        (b"\xef\xbb\xbf" + json.dumps([run(n) for n in range(3)], indent=4).encode(), "json"),
        (b"[" + LINES.strip().replace(b"\n", b",\n") + b"]\n", "json"),
        (b"\n".join(json.dumps(run(n), indent=2).encode() for n in range(3)), "json"),
        (b"".join(json.dumps(run(n), indent=2).encode() for n in range(3)), "json"),
        (LINES.replace(b"\n", b""), "jsonl"),
        (LINES.replace(b"\n", b"\\n"), "jsonl"),
    ],
)
def test_the_same_records_are_read_from_every_container(data: bytes, container: str, stream: type[io.BytesIO]) -> None:
    records, tally = read(data, stream=stream)
    assert brief(records) == THREE
    assert counts(tally) == (3, 0, 0)
    assert (tally.container, tally.bytes, tally.dialects) == (container, len(data), {"langsmith"})


def test_one_object_over_several_lines_is_one_record() -> None:
    records, tally = read(json.dumps(run(0), indent=2).encode())
    assert brief(records) == ["0:run-0"]
    assert tally.container == "json"


def test_blank_lines_are_counted_and_keep_positions_in_step_with_line_numbers() -> None:
    records, tally = read(LINES.replace(b"\n", b"\n  \n"))
    assert brief(records) == ["0:run-0", "2:run-1", "4:run-2"]
    assert counts(tally) == (3, 0, 3)


@pytest.mark.parametrize("data", [b"", b"\n", b"  \n\n"])
def test_an_empty_file_holds_nothing(data: bytes) -> None:
    records, tally = read(data)
    assert (records, tally.records, tally.rejects, tally.container) == ([], 0, 0, "empty")


@pytest.mark.parametrize(
    "broken",
    [
        b'{"id": "x", "run_type": "tool",,}',
        b'{"id": "x", "run_type": "to',
        b'{"id": "x"}}',
        b"secret words",
        b'{"id": "x", "inputs": {"a": [1, 2}',
        b"\x00\x01\x02",
        b'"',
    ],
)
def test_a_broken_line_takes_no_neighbour_with_it(broken: bytes) -> None:
    first, *rest = LINES.splitlines()
    records, tally = read(b"\n".join([first, broken, *rest]))
    assert brief(records) == ["0:run-0", "1:broken_json", "2:run-1", "3:run-2"]
    assert counts(tally) == (3, 1, 0)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("broken", ['{"id": "x",, "a": {"b": 1}}', '{"id": "x", "a": [1, }', '{"id": "x", "a": "b}'])
def test_a_broken_element_of_an_array_takes_no_neighbour_with_it(broken: str, indent: int | None) -> None:
    elements = [json.dumps(run(n), indent=indent).replace("\n", "\n  ") for n in range(3)]
    elements.insert(1, broken)
    records, _ = read(("[\n  " + ",\n  ".join(elements) + "\n]\n").encode())
    assert brief(records) == ["0:run-0", "1:broken_json", "2:run-1", "3:run-2"]


@pytest.mark.parametrize("cut", [5, 30, 60])
def test_a_torn_pretty_object_takes_no_neighbour_with_it(cut: int) -> None:
    pretty = [json.dumps(run(n), indent=2) for n in range(3)]
    pretty.insert(1, pretty[1][:cut])
    records, _ = read("\n".join(pretty).encode())
    assert brief(records) == ["0:run-0", "1:broken_json", "2:run-1", "3:run-2"]


def test_records_that_share_a_line_are_told_apart() -> None:
    records, _ = read(LINES.replace(b"\n", b"", 1))
    assert brief(records) == THREE


@pytest.mark.parametrize("array", [False, True])
def test_an_incomplete_end_is_a_reject_unless_the_file_is_growing(array: bool) -> None:
    data = json.dumps([run(n) for n in range(3)], indent=1).encode() if array else LINES
    data = data.rstrip(b"]\n ")[:-9]
    records, tally = read(data)
    assert brief(records) == ["0:run-0", "1:run-1", "2:incomplete_json"]
    assert counts(tally) == (2, 1, 0)
    records, tally = read(data, growing=True)
    assert brief(records) == ["0:run-0", "1:run-1"]
    assert counts(tally) == (2, 0, 0)


def test_a_complete_last_line_counts_without_its_newline() -> None:
    records, _ = read(LINES.rstrip(), growing=True)
    assert brief(records) == THREE


@pytest.mark.parametrize(("pack", "reason"), [(gzip.compress, "torn_gzip"), (zstandard.compress, "torn_zstd")])
def test_what_came_before_a_tear_is_kept(pack: Any, reason: str) -> None:
    dice = random.Random(1)
    noise = [json.dumps(run(n, inputs={"text": dice.randbytes(80).hex()})) + "\n" for n in range(6_000)]
    packed = pack("".join(noise).encode())
    records, tally = read(packed[: len(packed) // 2])
    assert tally.rejects == 1
    assert isinstance(records[-1], Reject)
    assert (records[-1].reason, records[-1].position) == (reason, tally.records)
    assert 2_000 < tally.records < 4_000
    records, tally = read(packed[: len(packed) // 2], growing=True)
    assert tally.rejects == 0


def test_damage_inside_gzip_is_a_tear() -> None:
    packed = bytearray(gzip.compress(LINES))
    packed[-8] ^= 0xFF
    records, _ = read(bytes(packed))
    assert brief(records) == [*THREE, "3:torn_gzip"]


@pytest.mark.parametrize(
    "data",
    [b"\n\x0c\x00\xff\x01" * 50, b"a,b\n1,2\n", b"%PDF-1.7\n..."],
)
def test_a_container_nobody_reads_is_one_reject(data: bytes) -> None:
    records, tally = read(data)
    assert brief(records) == ["0:unknown_container"]
    assert (tally.rejects, tally.bytes) == (1, len(data))


def test_a_bomb_costs_little_and_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(documents, "LONGEST", 1 << 16)
    for pack in (gzip.compress, zstandard.compress):
        records, _ = read(pack(LINES + b'{"a": "' + b"0" * (64 << 20)))
        assert brief(records)[:3] == THREE
        assert "compression_bomb" in {record.reason for record in records if isinstance(record, Reject)}


@pytest.mark.parametrize("array", [False, True])
def test_a_document_too_large_is_passed_over(array: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "READ_BYTES", 1 << 10)
    monkeypatch.setattr(documents, "LONGEST", 1 << 12)
    runs = [run(0), run(1, inputs={"text": "{x" * 5_000}), run(2)]
    data = json.dumps(runs).encode() if array else b"\n".join(json.dumps(one).encode() for one in runs)
    records, _ = read(data)
    assert brief(records) == ["0:run-0", "1:too_large", "2:run-2"]


def test_numbers_and_texts_that_strict_parsers_refuse_are_read() -> None:
    line = '{"id": "x", "run_type": "tool", "inputs": {"a": NaN, "b": -Infinity, "c": 1e999, "d": %s, "e": "\\ud83d"}}'
    records, _ = read((line % ("9" * 5_000)).encode())
    span = records[0]
    assert isinstance(span, Span)
    assert json.loads(span.tool_arguments) == {"a": None, "b": None, "c": None, "d": None, "e": "\ufffd"}
    assert set(span.flags) == {"nonfinite", "lone_surrogates"}


def test_bytes_that_are_not_utf8_and_nul_characters_are_read_and_flagged() -> None:
    records, _ = read(b'{"id": "x", "run_type": "tool", "name": "caf\xe9", "inputs": {"q": "a\\u0000b"}}\n')
    span = records[0]
    assert isinstance(span, Span)
    assert (span.name, span.tool_arguments) == ("caf\ufffd", '{"q": "ab"}')
    assert set(span.flags) == {"non_utf8", "nul_characters"}


@pytest.mark.parametrize("levels", [5_000, 100_000])
def test_a_value_nested_too_deeply_is_refused_alone(levels: int) -> None:
    deep = b'{"id": "x", "run_type": "tool", "inputs": ' + b"[" * levels + b"]" * levels + b"}"
    first, *rest = LINES.splitlines()
    records, _ = read(b"\n".join([first, deep, *rest]))
    assert brief(records) == ["0:run-0", "1:too_deep", "2:run-1", "3:run-2"]


def test_attributes_nested_too_deeply_to_be_written_out_are_refused() -> None:
    deep: Any = 1
    for _ in range(400):
        deep = [deep]
    records, _ = read(json.dumps(run(0, extra={"metadata": {"x": deep}})).encode())
    assert brief(records) == ["0:unreadable_langsmith"]


@pytest.mark.parametrize("value", [{"a": 1}, 1, "text", None, [1, 2], {"run_type": "LLM", "id": "x"}])
def test_a_format_nobody_knows_is_refused_alone(value: Any) -> None:
    records, tally = read(LINES + json.dumps(value).encode() + b"\n")
    assert brief(records) == [*THREE, "3:unknown_dialect"]
    assert counts(tally) == (3, 1, 0)


def test_a_file_may_mix_dialects() -> None:
    trial = {"task_id": 1, "trial": 0, "reward": 1.0, "traj": [{"role": "user", "content": "hi"}]}
    metrics: dict[str, Any] = {"resourceMetrics": []}
    lines = [run(0), trial, metrics, {"resourceSpans": []}, run(1)]
    records, tally = read(b"\n".join(json.dumps(line).encode() for line in lines))
    assert tally.dialects == {"langsmith", "tau_bench"}
    assert counts(tally) == (3, 0, 2)
    assert {record.position for record in records} == {0, 1, 4}
