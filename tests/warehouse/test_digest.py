"""Equal rows have equal hashes; any difference that a reader could see changes them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse import digest
from warehouse.digest import parts_digest, rows_digest
from warehouse.schemas import Column, Table

FRAME = pl.DataFrame(
    {
        "text": ["a", None, "bc"],
        "number": [1, None, 3],
        "share": [0.5, None, float("nan")],
        "flag": [True, None, False],
        "ids": [[b"x", b"yz"], [], None],
        "message": [{"role": "user", "calls": [{"id": "1"}]}, {"role": None, "calls": []}, None],
    },
    schema={
        "text": pl.String,
        "number": pl.Int64,
        "share": pl.Float64,
        "flag": pl.Boolean,
        "ids": pl.List(pl.Binary),
        "message": pl.Struct({"role": pl.String, "calls": pl.List(pl.Struct({"id": pl.String}))}),
    },
)


def test_the_hash_of_these_rows_is_this_one_for_good() -> None:
    assert rows_digest(FRAME) == "ab98593f60947ad1a57311d5da10d498"


def test_parquet_and_chunks_do_not_change_it(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    assert rows_digest(pl.read_parquet(tmp_path / "a.parquet")) == rows_digest(FRAME)
    assert rows_digest(pl.concat([FRAME[:1], FRAME[1:]], rechunk=False)) == rows_digest(FRAME)


class _Parts(list[pl.DataFrame]):
    @property
    def height(self) -> int:
        return sum(frame.height for frame in self)

    @property
    def sizes(self) -> dict[str, int]:
        return {name: sum(int(frame[name].estimated_size()) for frame in self) for name in FRAME.columns}

    def columns(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        return (frame.select(names) for frame in self)


@pytest.mark.parametrize("held", [1, 40, 100, 1 << 20])
def test_what_is_held_of_a_table_in_parts_does_not_change_it(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "HELD_BYTES", held)
    columns = {name: Column(dtype, "a column", nullable=True) for name, dtype in FRAME.schema.items()}
    parts = _Parts([FRAME[:1], FRAME[1:1], FRAME[1:]])
    assert parts_digest(Table("t", "A test.", ("text",), columns), parts) == rows_digest(FRAME)


def test_moving_a_character_or_a_list_border_changes_it() -> None:
    def of(*values: object) -> str:
        return rows_digest(pl.DataFrame({"x": list(values)}))

    assert len({of("ab", "c"), of("a", "bc"), of("abc", ""), of("abc", None)}) == 4
    assert len({of([1], [2, 3]), of([1, 2], [3]), of([1, 2, 3], [])}) == 3


@given(st.lists(st.one_of(st.none(), st.text(st.characters(exclude_categories=("Cs",)))), min_size=1, max_size=8))
def test_a_column_of_text_hashes_the_same_every_time(values: list[str | None]) -> None:
    frame = pl.DataFrame({"x": values}, schema={"x": pl.String})
    assert rows_digest(frame) == rows_digest(frame.clone())
    changed = pl.DataFrame({"x": [*values, "more"]}, schema={"x": pl.String})
    assert rows_digest(frame) != rows_digest(changed)
