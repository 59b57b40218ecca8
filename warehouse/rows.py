"""Rows of a table as one Parquet file that is named by its content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from warehouse.digest import Parts, parts_digest, rows_digest, text_digest
from warehouse.files import write_whole
from warehouse.schemas import Table

ZSTD_LEVEL = 1
"""Half the time of level 3 for a twentieth more bytes."""

GROUP_ROWS = 1 << 16
"""Rows of a group, which readers take one at a time: half of what is usual, for half of the memory."""


def write_rows(root: Path, folder: str, table: Table, rows: pl.DataFrame | Parts) -> dict[str, Any]:
    """Write `rows` as `table` into `folder` below `root`; return its entry in a manifest.

    The entry has `files` (relative to `root`; none where there are no rows), `rows`, `digest`, and `schema`, a hash of
    the columns and their types. A file that is there already stays as it is. Raises SchemaError, Problem.
    """
    if isinstance(rows, pl.DataFrame):
        rows = table.enforce(rows)
        digest = rows_digest(rows.drop(table.measured))
        write = partial(rows.write_parquet, compression="zstd", compression_level=ZSTD_LEVEL, row_group_size=GROUP_ROWS)
    else:
        digest, write = parts_digest(table, rows), partial(_write_parts, rows)
    name = f"{folder}/{digest}.parquet"
    path = root / name
    if rows.height and not path.exists():
        write_whole(path, write)
    entry = {"rows": rows.height, "digest": digest, "schema": schema_digest(table)}
    return {"files": [name] if rows.height else [], **entry}


def schema_digest(table: Table) -> str:
    """A hash of a table's columns and their types."""
    return text_digest([(column, str(dtype)) for column, dtype in table.schema.items()])


@dataclass(frozen=True)
class Held:
    """Files that hold a table, and whether all were written with the columns of today."""

    files: list[Path]
    alike: bool


def held(table: Table, entries: Iterable[tuple[Path, Mapping[str, Any]]]) -> Held:
    """What entries of manifests name, each with the folder that its files are relative to."""
    found = list(entries)
    files = dict.fromkeys(root / name for root, entry in found for name in entry["files"])
    now = schema_digest(table)
    return Held(list(files), all(entry.get("schema") == now for _, entry in found))


def scan_rows(table: Table, files: list[Path]) -> pl.LazyFrame:
    """The rows of a table's files; a column that is newer than a file is null there, one that is gone is left out."""
    if not files:
        return table.empty().lazy()
    return pl.scan_parquet(files, schema=table.schema, missing_columns="insert", extra_columns="ignore")


def row_groups(path: Path, rows: int) -> Iterator[tuple[int, int]]:
    """First row and number of rows of stretches of a file that can be read by themselves, of about `rows` each."""
    metadata = pq.read_metadata(path)
    start = end = 0
    for number in range(metadata.num_row_groups):
        end += metadata.row_group(number).num_rows
        if end - start >= rows or number == metadata.num_row_groups - 1:
            yield start, end - start
            start = end


class StoredRows:
    """Rows of a table's files, in order, read a group of rows at a time; those of which `left` is true, or all."""

    def __init__(self, table: Table, files: list[Path], left: pl.Expr | None = None) -> None:
        self._table, self._files = table, files
        self._left = pl.lit(True) if left is None else left
        self.height = sum(frame.height for frame in self.columns(table.key[:1]))

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Bytes of each column in memory."""
        sizes = dict.fromkeys(self._table.columns, 0)
        for frame in self:
            for column in frame.get_columns():
                sizes[column.name] += int(column.estimated_size())
        return sizes

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for group in self._groups():
            yield self._table.enforce(group.filter(self._left).collect())

    def columns(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, group by group."""
        for group in self._groups():
            yield group.filter(self._left).select(names).collect()

    def each(self, what: pl.Expr) -> Iterator[pl.Series]:
        """What an expression says of the rows, group by group."""
        for group in self._groups():
            yield group.filter(self._left).select(what).collect().to_series()

    def _groups(self) -> Iterator[pl.LazyFrame]:
        if not self._files:
            yield self._table.empty().lazy()
        for path in self._files:
            for start, length in row_groups(path, 1):
                yield scan_rows(self._table, [path]).slice(start, length)


def _write_parts(parts: Parts, path: Path) -> None:
    """One group of rows a part."""
    frames = (frame.to_arrow(compat_level=pl.CompatLevel.oldest()) for frame in parts if frame.height)
    first = next(frames)
    with pq.ParquetWriter(path, first.schema, compression="zstd", compression_level=ZSTD_LEVEL) as writer:
        writer.write_table(first)
        for frame in frames:
            writer.write_table(frame)
