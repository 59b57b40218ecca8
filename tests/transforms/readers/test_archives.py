"""What becomes of zip archives and of tables: each row and member is read, and nothing grows without bounds."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import zipfile
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.readers import archives, documents, files, tables
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Reject, Span


def run(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"run-{number}", "trace_id": "t", "run_type": "tool", "name": f"tool {number}", **more}


LINES = b"".join(json.dumps(run(n)).encode() + b"\n" for n in range(3))
TRIAL = {"task_id": 1, "trial": 0, "reward": 1.0, "traj": [{"role": "user", "content": "hi"},
                                                           {"role": "assistant", "content": "ho"}]}  # fmt: skip


class Pipe(io.BytesIO):
    """A stream that cannot go back."""

    def seekable(self) -> bool:
        return False


def zipped(members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", packing) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def table(rows: list[dict[str, Any]] | pa.Table, **more: Any) -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows) if isinstance(rows, list) else rows, held, **more)
    return held.getvalue()


def read(data: bytes, growing: bool = False, stream: type[io.BytesIO] = io.BytesIO) -> tuple[list[Record], Tally]:
    tally = Tally()
    records = list(read_export(stream(data), tally, "named", growing))
    assert [record.position for record in records] == sorted(record.position for record in records)
    return records, tally


def brief(records: list[Record]) -> list[str]:
    return [f"{r.position}:{r.span_id if isinstance(r, Span) else r.reason if isinstance(r, Reject) else r.key}"
            for r in records]  # fmt: skip


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("stream", [io.BytesIO, Pipe])
def test_each_member_of_an_archive_is_read_as_a_file_of_its_own(packing: int, stream: type[io.BytesIO]) -> None:
    data = zipped(
        {
            "folder/": b"",
            "a.jsonl": LINES,
            "folder/b.json": json.dumps([run(3)], indent=1).encode(),
            "c.gz": gzip.compress(b"\n" + json.dumps(run(4)).encode()),
            "d.parquet": table([run(5)]),
            "e.zip": zipped({"f.jsonl": json.dumps(run(6)).encode()}),
            "notes.txt": b"nothing of ours",
        },
        packing,
    )
    records, tally = read(data, stream=stream)
    assert brief(records) == [
        "0:run-0", "1:run-1", "2:run-2", "3:run-3", "5:run-4", "6:run-5", "7:run-6", "8:unknown_container"
    ]  # fmt: skip
    assert (tally.records, tally.rejects, tally.blanks) == (7, 1, 1)
    assert (tally.container, tally.bytes) == ("zip", len(data))


def test_an_archive_may_be_packed_itself() -> None:
    records, tally = read(gzip.compress(zipped({"a.jsonl": LINES})))
    assert (len(records), tally.container) == (3, "gzip+zip")


def test_a_member_names_its_own_data_set() -> None:
    records, _ = read(zipped({"retail/gpt.json": json.dumps([TRIAL]).encode(), "air.json": json.dumps(TRIAL).encode()}))
    assert [r.dataset for r in records if isinstance(r, Span) and r.kind == "agent"] == ["gpt", "air"]
    assert len([r for r in records if isinstance(r, Feedback)]) == 2


def test_what_an_operating_system_adds_to_an_archive_is_nothing() -> None:
    records, tally = read(zipped({"__MACOSX/._a.jsonl": b"\0\5\x16\7" + b"\0" * 60, "a.jsonl": LINES}))
    assert brief(records) == ["1:run-0", "2:run-1", "3:run-2"]
    assert tally.blanks == 1


def test_an_empty_archive_holds_nothing() -> None:
    records, tally = read(zipped({}))
    assert (records, tally.container, tally.rejects) == ([], "zip", 0)


def test_a_torn_member_takes_no_other_with_it() -> None:
    data = bytearray(zipped({"a.jsonl": LINES, "b.jsonl": LINES}, zipfile.ZIP_STORED))
    data[60] ^= 1
    records, _ = read(bytes(data))
    assert "torn_zip" in {r.reason for r in records if isinstance(r, Reject)}
    assert brief(records)[-3:] == [f"{records[-3].position}:run-0", f"{records[-2].position}:run-1",
                                   f"{records[-1].position}:run-2"]  # fmt: skip


@pytest.mark.parametrize("data", [b"PK\x03\x04" + b"\0" * 100, zipped({"a.jsonl": LINES})[:-30]])
def test_an_archive_without_its_directory_is_torn_unless_it_grows(data: bytes) -> None:
    assert brief(read(data)[0]) == ["0:torn_zip"]
    assert read(data, growing=True)[0] == []


def test_an_encrypted_member_and_a_packing_without_bounds_are_refused_alone() -> None:
    locked = bytearray(zipped({"a.jsonl": LINES}, zipfile.ZIP_STORED))
    at = locked.rfind(b"PK\x01\x02")
    locked[at + 8] |= 1
    assert brief(read(bytes(locked))[0]) == ["0:encrypted"]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("a.jsonl", LINES, zipfile.ZIP_BZIP2)
        archive.writestr("b.jsonl", LINES, zipfile.ZIP_DEFLATED)
    assert brief(read(held.getvalue())[0]) == ["0:unsupported_packing", "1:run-0", "2:run-1", "3:run-2"]


def test_archives_are_opened_to_a_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    data = LINES
    for _ in range(3):
        data = zipped({"a": data})
    assert len(read(data)[0]) == 3
    assert brief(read(zipped({"a": data, "b": LINES}))[0])[:2] == ["0:nested_too_deeply", "1:run-0"]


def test_an_archive_that_is_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(documents, "LONGEST", 1 << 16)
    bombs = {f"{n}.gz": gzip.compress(b"[" + b" " * (8 << 20)) for n in range(12)}
    records, _ = read(zipped({"a.jsonl": LINES, **bombs}))
    assert brief(records)[:3] == ["0:run-0", "1:run-1", "2:run-2"]
    assert brief(records)[-1].endswith(":compression_bomb")
    assert len(records) < 3 + 12


def test_a_member_that_is_a_bomb_is_refused_and_its_neighbours_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "BOMB_BYTES", 1 << 20)
    bombs = {f"{n}.jsonl": b"[" + b" " * (8 << 20) for n in range(3)}
    records, tally = read(zipped({**bombs, "z.jsonl": LINES}))
    refused = [f"{n}:compression_bomb" for n in range(3)]
    assert brief(records) == [*refused, "3:run-0", "4:run-1", "5:run-2"]
    assert (tally.records, tally.rejects) == (3, 3)


def test_a_directory_of_absurd_size_is_not_read() -> None:
    data = bytearray(zipped({"a.jsonl": LINES}))
    struct.pack_into("<I", data, data.rfind(b"PK\x05\x06") + 12, 200 << 20)
    assert brief(read(bytes(data))[0]) == ["0:too_large"]


def test_what_has_to_be_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LONGEST", 1 << 10)
    inner = zipped({"a.jsonl": LINES * 100}, zipfile.ZIP_STORED)
    assert brief(read(zipped({"in.zip": inner, "b.jsonl": LINES}))[0])[:2] == ["0:too_large", "1:run-0"]
    rows = table([run(n) for n in range(100)])
    assert brief(read(gzip.compress(rows))[0]) == ["0:too_large"]
    assert len(read(rows)[0]) == 100  # a file itself need not be held


@pytest.mark.parametrize("compression", ["zstd", "gzip", "snappy", "none"])
@pytest.mark.parametrize("stream", [io.BytesIO, Pipe])
def test_rows_of_a_table_are_read_in_order(compression: str, stream: type[io.BytesIO]) -> None:
    data = table([run(n) for n in range(50)], row_group_size=7, compression=compression)
    records, tally = read(data, stream=stream)
    assert brief(records) == [f"{n}:run-{n}" for n in range(50)]
    assert (tally.container, tally.bytes, tally.records) == ("parquet", len(data), 50)


def test_columns_of_every_type_are_read() -> None:
    moment = datetime(2026, 11, 30, 5, 4, 3, 250_000, UTC)
    rows = pa.table({
        "id": pa.array(["a"]), "run_type": pa.array([b"tool"], pa.binary()), "trace_id": pa.array(["t"]),
        "start_time": pa.array([moment.replace(tzinfo=None)], pa.timestamp("ns")), "end_time": pa.array([moment]),
        "total_cost": pa.array([Decimal("0.25")]), "inputs": pa.array(['{"q": "caf\\u00e9"}'], pa.large_string()),
        "extra": pa.array([{"metadata": {"n": 1, "pad": None}}]), "tags": pa.array([["x"]]),
    })  # fmt: skip
    (span,), _ = read(table(rows))
    assert isinstance(span, Span)
    assert (span.kind, span.tool_arguments, span.attributes) == ("tool", '{"q": "café"}', {"n": 1, "tags": ["x"]})
    assert span.started_ns == span.ended_ns == 1_796_015_043_250_000_000


def test_polars_writes_what_is_read() -> None:
    held = io.BytesIO()
    pl.DataFrame([run(n) for n in range(4)]).write_parquet(held)
    assert len(read(held.getvalue())[0]) == 4


@pytest.mark.parametrize("cut", [10, 200, -9])
def test_a_torn_table_is_a_reject_unless_it_grows(cut: int) -> None:
    data = table([run(n) for n in range(50)])[:cut]
    assert brief(read(data)[0]) == ["0:torn_parquet"]
    assert read(data, growing=True)[0] == []


def test_a_damaged_page_keeps_the_rows_before_it() -> None:
    data = bytearray(table([run(n, inputs="x" * 50) for n in range(3_000)], row_group_size=500, compression="zstd"))
    middle = len(data) // 2
    data[middle : middle + 40] = b"\xff" * 40
    records, _ = read(bytes(data))
    reasons = {r.reason for r in records if isinstance(r, Reject)}
    assert reasons
    assert reasons <= {"torn_parquet", "unreadable_row"}
    assert brief(records)[0] == "0:run-0"


def test_a_table_that_is_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "BOMB_BYTES", 1 << 20)
    same = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array(["x" * 100_000]))
    wide = pa.table({"id": same, "run_type": ["tool"] * 10_000})
    records, _ = read(table(wide))
    assert brief(records)[-1].endswith("compression_bomb")
    assert len(records) < 5_000


def test_archives_and_tables_with_bytes_changed_anywhere_are_read_without_an_exception() -> None:
    inner = {"a.jsonl": LINES, "b.parquet": table([run(n, tags=["x", None]) for n in range(20)], compression="zstd")}
    dice = random.Random(5)
    for data in (zipped({**inner, "c.zip": zipped(inner)}), inner["b.parquet"]):
        for _ in range(150):
            changed = bytearray(data)
            for _ in range(dice.choice((1, 2, 9))):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
            records, tally = read(bytes(changed), growing=dice.random() < 0.3)
            assert tally.bytes == len(data)
            assert tally.rejects == sum(isinstance(record, Reject) for record in records)
