"""A frame is checked against its table wherever it is written."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.catalog import RELEASED, daily_tables
from warehouse.schemas import EVALUATIONS, MODELS, RELEASES, Column, SchemaError, Table

PLAIN = Table("plain", "A test.", ("id",), {"id": Column(pl.String, "id"), "n": Column(pl.Int64, "n", nullable=True)})


def test_columns_come_in_order_and_rows_by_key() -> None:
    frame = PLAIN.enforce(pl.DataFrame({"n": [2, 1], "id": ["b", "a"]}))
    assert frame.columns == ["id", "n"]
    assert frame["id"].to_list() == ["a", "b"]


PAIRS = Table("pairs", "A test.", ("a", "b"), {"a": Column(pl.String, "a"), "b": Column(pl.Int64, "b")})


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-2, 2)), max_size=8, unique=True))
def test_rows_are_sorted_by_all_columns_of_the_key(rows: list[tuple[str, int]]) -> None:
    assert PAIRS.enforce(pl.DataFrame(rows, schema=PAIRS.schema, orient="row")).rows() == sorted(rows)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1)), min_size=2, max_size=6))
def test_rows_that_repeat_a_key_are_counted_in_any_order(rows: list[tuple[str, int]]) -> None:
    frame, twice = pl.DataFrame(rows, schema=PAIRS.schema, orient="row"), len(rows) - len({*rows})
    if twice:
        with pytest.raises(SchemaError, match=f"{twice} rows repeat the key"):
            PAIRS.enforce(frame)
    else:
        assert PAIRS.enforce(frame).height == len(rows)


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (pl.DataFrame({"id": ["a"]}), "missing ['n']"),
        (pl.DataFrame({"id": ["a"], "n": [1], "x": [1]}), "unknown ['x']"),
        (pl.DataFrame({"id": [None], "n": [1]}, schema=PLAIN.schema), "plain.id: 1 of 1 values are null"),
        (pl.DataFrame({"id": ["a", "a"], "n": [1, 2]}), "1 rows repeat the key"),
        (pl.DataFrame({"id": ["a"], "n": ["bob@corp.test"]}), "does not fit its type"),
    ],
)
def test_a_frame_that_is_not_the_table_is_refused_without_its_values(frame: pl.DataFrame, told: str) -> None:
    with pytest.raises(SchemaError) as caught:
        PLAIN.enforce(frame)
    assert told in str(caught.value)
    assert "bob" not in str(caught.value)


def test_rows_of_a_wrong_type_are_refused_without_their_values() -> None:
    with pytest.raises(SchemaError) as caught:
        PLAIN.frame([{"id": "a", "n": "bob@corp.test"}])
    assert "bob" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_every_table_says_what_a_row_and_each_column_is_and_holds_its_own_empty_frame() -> None:
    for table in (*daily_tables(), *RELEASED, RELEASES, MODELS, EVALUATIONS):
        assert table.comment.endswith(".")
        assert set(table.key) <= set(table.columns)
        assert all(column.comment for column in table.columns.values())
        assert table.enforce(table.empty()).is_empty()
        assert not any(table.columns[name].nullable for name in table.key)


def test_a_missing_optional_value_is_null() -> None:
    assert PLAIN.frame([{"id": "a"}])["n"].to_list() == [None]
