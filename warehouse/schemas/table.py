"""One object a table: its columns, what they mean, and the check that a frame is really that table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any

import polars as pl
import pyarrow as pa

LONG = 512
"""Characters from which on it is worth while to look for text that is repeated."""

SAMPLE = 64
"""Rows that are looked at for it."""

FLAT = (pl.String, pl.Binary)
"""What lists hold that are built from their items one behind the other: value by value takes ten times as long."""

VIEW_BYTES = 16
"""What tells where a text lies that stands in a column."""

TIME = pl.Datetime("ns", "UTC")


class SchemaError(ValueError):
    """A frame is not the table it should be. Names columns and counts, never a value."""


@dataclass(frozen=True)
class Column:
    """A column: its type, what it means, whether it may be null, and whether it was measured, as a time is, so that
    it does not tell one content from another."""

    dtype: pl.DataType | type[pl.DataType]
    comment: str
    nullable: bool = False
    measured: bool = False


@dataclass(frozen=True)
class Table:
    """A table: what a row is, its columns in order, and the columns that identify a row."""

    name: str
    comment: str
    key: tuple[str, ...]
    columns: Mapping[str, Column]

    @property
    def schema(self) -> pl.Schema:
        return pl.Schema({name: column.dtype for name, column in self.columns.items()})

    @property
    def measured(self) -> list[str]:
        """Columns that are no part of the content."""
        return [name for name, column in self.columns.items() if column.measured]

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.schema)

    def frame(self, rows: list[dict[str, object]]) -> pl.DataFrame:
        """The table of `rows`; a column that a row lacks is null. Raises SchemaError as `enforce` does."""
        return self.enforce(self.part(rows))

    def part(self, rows: list[dict[str, object]]) -> pl.DataFrame:
        """Some rows of the table, to be put together with others; what `enforce` checks is not checked yet.

        Raises SchemaError for a value that its type cannot hold.
        """
        try:
            return pl.DataFrame(
                [_series(name, column.dtype, _values(name, rows)) for name, column in self.columns.items()]
            )
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError) as error:
            raise SchemaError(f"{self.name}: rows do not fit the schema ({type(error).__name__})") from None

    def enforce(self, frame: pl.DataFrame) -> pl.DataFrame:
        """`frame` with exactly this table's columns, types and order, rows sorted by key.

        Raises SchemaError for a missing or unknown column, a value that its type cannot hold, a null where
        none may be, or a key that occurs twice.
        """
        self._same_columns(frame)
        try:
            typed = frame.select(pl.col(name).cast(column.dtype) for name, column in self.columns.items())
        except pl.exceptions.PolarsError as error:
            raise SchemaError(f"{self.name}: a value does not fit its type ({type(error).__name__})") from None
        for name, column in self.columns.items():
            nulls = typed[name].null_count()
            if nulls and not column.nullable:
                raise SchemaError(f"{self.name}.{name}: {nulls} of {typed.height} values are null")
        ordered = typed if self._ascends(typed) else typed.sort(self.key)
        if ordered is not typed and not self._ascends(ordered):
            twice = typed.height - typed.select(self.key).n_unique()
            raise SchemaError(f"{self.name}: {twice} rows repeat the key ({', '.join(self.key)})")
        return ordered

    def _ascends(self, frame: pl.DataFrame) -> bool:
        """Whether each row's key is greater than the one before: quicker to see than to sort what is sorted."""
        greater = pl.lit(False)
        for name in reversed(self.key):
            key, before = pl.col(name), pl.col(name).shift()
            greater = (key > before) | ((key == before) & greater)
        return bool(frame.select(greater.slice(1).all()).item()) if frame.height > 1 else True

    def _same_columns(self, frame: pl.DataFrame) -> None:
        missing = [name for name in self.columns if name not in frame.columns]
        unknown = [name for name in frame.columns if name not in self.columns]
        if missing or unknown:
            raise SchemaError(f"{self.name}: missing {missing}, unknown {unknown}")


def _series(name: str, dtype: pl.DataType | type[pl.DataType], values: list[Any]) -> pl.Series:
    """A column; long text that many rows repeat is held once."""
    if dtype == pl.String and _is_repeated(values):
        numbers: dict[Any, int] = {}
        places = [numbers.setdefault(value, len(numbers)) for value in values]
        return pl.Series(name, list(numbers), dtype=dtype, strict=True).gather(places)
    if isinstance(dtype, pl.List) and dtype.inner in FLAT and None not in values:
        inner = pl.Series([*chain.from_iterable(values)], dtype=dtype.inner, strict=True).to_arrow()
        ends = pl.Series([0, *accumulate(map(len, values))], dtype=pl.Int64).to_arrow()  # pa.array would load pandas
        return pl.Series(name, pa.LargeListArray.from_arrays(ends, inner), dtype=dtype)
    return pl.Series(name, values, dtype=dtype, strict=True)


def held_bytes(column: pl.Series) -> int:
    """What a column takes in memory; long text that rows share counts once."""
    size = int(column.estimated_size())
    if column.dtype not in FLAT:
        return size
    size += VIEW_BYTES * column.len()  # which Polars does not count, while it counts what is shared once a row
    if size > LONG * column.len():
        return min(size, int(column.to_arrow(compat_level=pl.CompatLevel.newest()).get_total_buffer_size()))
    return size


def _is_repeated(values: list[Any]) -> bool:
    """Whether a column holds long texts, of which many rows have the same, told by some rows."""
    some = [value for value in values[-SAMPLE:] if isinstance(value, str) and len(value) >= LONG]
    return len(some) > SAMPLE // 2 and 2 * len({*some}) <= len(some)


def _values(name: str, rows: list[dict[str, object]]) -> list[Any]:
    """The values of a column; null where a row lacks it."""
    try:
        return [*map(itemgetter(name), rows)]
    except KeyError:
        return [row.get(name) for row in rows]
