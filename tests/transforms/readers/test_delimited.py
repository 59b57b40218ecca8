"""CSV reads like the same rows as JSON."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from transforms.readers import delimited
from transforms.readers.exports import Tally, read_export
from transforms.readers.files import is_lines
from transforms.records import Feedback, Record, Reject, Span

CORPUS = os.environ.get("TRACEMILL_CORPUS", "")
ROW = {
    "id": "o1", "trace_id": "t1", "project_id": "shop", "type": "GENERATION", "parent_observation_id": None,
    "name": "chat", "start_time": "2026-11-30 05:04:03.250000", "end_time": "2026-11-30 05:04:04.000000",
    "level": "DEFAULT", "provided_model_name": "m-1", "model_parameters": '{"temperature": 0.5}',
    "input": json.dumps([{"role": "user", "content": 'Is the "blue" bag there,\nor not?\n\n나'}], ensure_ascii=False),
    "output": "1.0", "usage_details": '{"input": 12, "output": 5}', "latency": "750",
}  # fmt: skip
SCORE = {"id": "s1", "trace_id": "t1", "observation_id": None, "name": "mood", "value": 0.5, "data_type": "NUMERIC",
         "source": "EVAL", "comment": 'so, "so"', "timestamp": "2026-11-30 05:04:05.000000"}  # fmt: skip


def written(*rows: dict[str, Any]) -> bytes:
    text = io.StringIO()
    table = csv.DictWriter(text, rows[0], lineterminator="\r\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def read(data: bytes, growing: bool = False) -> tuple[list[Record], Tally]:
    tally = Tally()
    return list(read_export(io.BytesIO(data), tally, growing=growing)), tally


def as_json(*rows: dict[str, Any]) -> list[Record]:
    return read("".join(json.dumps(row) + "\n" for row in rows).encode())[0]


def test_rows_read_like_json_lines_of_the_same() -> None:
    rows = [ROW, ROW | {"id": "o2", "parent_observation_id": "o1", "output": "[1]", "level": "ERROR"}]
    records, tally = read(written(*rows))
    assert records == as_json(*rows)
    assert (tally.container, tally.records, tally.rejects, tally.blanks) == ("csv", 2, 0, 0)
    first = records[0]
    assert isinstance(first, Span)
    assert first.prompt[0].content == 'Is the "blue" bag there,\nor not?\n\n나'
    assert first.output[0].content == "1.0"


def test_scores_are_numbers() -> None:
    (verdict,), _ = read(written(SCORE))
    assert [verdict] == as_json(SCORE)
    assert isinstance(verdict, Feedback)
    assert verdict.score == 0.5


@pytest.mark.parametrize(
    ("container", "pack"),
    [("gzip+csv", gzip.compress), ("csv", lambda data: b"\xef\xbb\xbf" + data),
     ("csv", lambda data: data.decode().encode("utf-16"))],
)  # fmt: skip
def test_packing_and_encodings_are_those_of_any_file(container: str, pack: Any) -> None:
    records, tally = read(pack(written(ROW)))
    assert (records, tally.container) == (as_json(ROW), container)


def test_a_table_may_stand_in_an_archive() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("observations.csv", written(ROW))
        archive.writestr("scores.csv", written(SCORE))
    records, _ = read(packed.getvalue())
    assert [replace(record, position=0) for record in records if not isinstance(record, Reject)] == [
        *as_json(ROW), *as_json(SCORE),
    ]  # fmt: skip


def test_cells_with_json_over_several_lines_are_cells() -> None:
    rows = [ROW | {"id": f"o{number}", "input": json.dumps({"a": [{}, {}]}, indent=0)} for number in range(3)]
    records, tally = read(written(*rows))
    assert (tally.container, len(records), tally.rejects) == ("csv", 3, 0)
    assert not is_lines(written(*rows))
    assert not is_lines(b"\xef\xbb\xbf" + written(*rows))


def test_a_broken_row_takes_no_neighbour_with_it() -> None:
    head, first, second = written(SCORE, SCORE | {"id": "s2"}).splitlines(keepends=True)
    for broken in (b"a,b\r\n", first.rstrip() + b",more\r\n", b'"x" y,2\r\n'):
        records, tally = read(head + first + broken + b"\r\n" + second)
        assert [(record.position, getattr(record, "reason", "")) for record in records] == [
            (0, ""), (1, "broken_row"), (3, "")
        ]  # fmt: skip
        assert (tally.records, tally.rejects, tally.blanks) == (2, 1, 1)


@pytest.mark.parametrize("cut", [-3, -30, -50])
def test_an_incomplete_end_is_a_reject_unless_the_file_is_growing(cut: int) -> None:
    data = written(SCORE, SCORE | {"id": "s2"})[:cut]
    records, tally = read(data)
    assert [getattr(record, "reason", "") for record in records] in (["", "incomplete_row"], ["", ""])
    assert (len(records), tally.rejects) == (2, int(cut < -3))
    kept, tally = read(data, growing=True)
    assert (len(kept), tally.rejects) == (2 if cut == -3 else 1, 0)


@pytest.mark.parametrize(
    "other",
    [b"# Title\n\nSome, and more.\n", b"name,age\nx,3\n", b"id\n1\n", b'"id,trace_id\n1,2\n', b"id;trace_id\n1;2\n"],
)  # fmt: skip
def test_text_that_is_no_export_stays_an_unknown_container(other: bytes) -> None:
    records, tally = read(other)
    assert tally.container == "unknown"
    assert [getattr(record, "reason", "") for record in records] == ["unknown_container"]


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",))), min_size=1, max_size=4))
def test_any_text_comes_back_from_its_cell(texts: list[str]) -> None:
    rows = [SCORE | {"id": f"s{number}", "comment": text} for number, text in enumerate(texts)]
    records, _ = read(written(*rows))
    said = [record.comment for record in records if isinstance(record, Feedback)]
    assert said == [text.replace("\0", "") for text in texts]


def test_memory_does_not_grow_with_the_rows() -> None:
    def peak(count: int) -> int:
        data = written(*([SCORE | {"comment": "x" * 400}] * count))
        tracemalloc.start()
        for _ in read_export(io.BytesIO(data), Tally()):
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)
    assert peak(6_000) < peak(3_000) + (1 << 20)


def test_a_cell_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LONGEST_CELL", 1000)
    data = written(SCORE | {"comment": "x" * 2000}, SCORE)
    records, tally = read(data)
    assert [getattr(record, "reason", "") for record in records] == ["broken_row", ""]


def test_traces_of_mlflow_as_csv_are_those_of_its_json() -> None:
    if not CORPUS:
        pytest.skip("TRACEMILL_CORPUS does not name a folder of captures")
    folder = Path(CORPUS) / "mlflow-3.17.2-openai" / "export"
    told = [replace(record, position=0) for record in read((folder / "search_traces.csv.gz").read_bytes())[0]]
    whole = [replace(record, position=0) for record in read((folder / "traces.to_json.jsonl.gz").read_bytes())[0]]
    assert len({record.trace_id for record in told if isinstance(record, Span)}) == 5
    assert len(told) > 40
    assert all(record in whole for record in told)
