"""Blank lines are counted, one by one or by the thousand, and every record keeps its position."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.readers import containers
from transforms.readers.documents import Blanks, split
from transforms.readers.exports import Tally, read_export

LINE = b'{"id":"r","trace_id":"t","run_type":"tool","name":"x"}'


def positions(data: bytes) -> tuple[list[int], Tally]:
    tally = Tally()
    return [record.position for record in read_export(io.BytesIO(data), tally)], tally


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b" \t\n"])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 300_000])
def test_records_stand_where_they_stood_between_blank_lines(blank: bytes, count: int) -> None:
    found, tally = positions(LINE + b"\n" + blank * count + LINE + b"\n" + blank * count + LINE)
    assert found == [0, count + 1, 2 * count + 2]
    assert (tally.records, tally.rejects, tally.blanks) == (3, 0, 2 * count)
    assert tally.documents == 2 * count + 3


@given(
    st.lists(st.sampled_from([b"", b" ", b"\t\r", b"a", b"ab", b" b "]), max_size=80),
    st.lists(st.integers(0, 240), max_size=6),
)
def test_lines_are_the_same_however_the_chunks_are_cut(lines: list[bytes], cuts: list[int]) -> None:
    text = b"\n".join(lines)
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[start:end] for start, end in zip(edges, edges[1:], strict=False)]
    told: list[bytes | None] = []
    for piece in split(containers.Source(iter(chunks)), "jsonl", growing=False):
        told += [b""] * piece.count if isinstance(piece, Blanks) else [piece if isinstance(piece, bytes) else None]
    expected = [line.strip() for line in lines]
    assert told == (expected[:-1] if expected and not expected[-1] else expected)
