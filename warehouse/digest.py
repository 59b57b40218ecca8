"""A hash of rows: equal rows, equal hash, whatever library version wrote the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
import polars as pl

from warehouse.schemas import Table

DIGEST_BYTES = 16
ROWS = 1 << 14
"""Rows of text that are held once more while they are hashed."""


class _Sink(Protocol):
    def update(self, data: bytes | memoryview, /) -> None: ...


def rows_digest(frame: pl.DataFrame) -> str:
    """128-bit hash of column names, types and values in the order they stand in."""
    sink = hashlib.blake2b(digest_size=DIGEST_BYTES)
    sink.update(str(frame.height).encode())
    for column in frame.get_columns():
        sink.update(f"|{column.name}:{column.dtype}|".encode())
        _feed(sink, column)
    return sink.hexdigest()


def parts_digest(table: Table, height: int, column: Callable[[str], Iterable[pl.Series]]) -> str:
    """The hash that `rows_digest` gives of a table, of which `column` gives a column in parts, as often as asked."""
    sink = hashlib.blake2b(digest_size=DIGEST_BYTES)
    sink.update(str(height).encode())
    for name, dtype in table.schema.items():
        sink.update(f"|{name}:{dtype}|".encode())
        if dtype not in (pl.String, pl.Binary):
            _feed(sink, pl.concat(column(name)))
            continue
        told = [(part.is_not_null().to_numpy(), _lengths(part.drop_nulls())) for part in column(name)]
        sink.update(np.packbits(np.concatenate([present for present, _ in told])).tobytes())
        _feed_lengths(sink, pl.concat([lengths for _, lengths in told]))
        for part in column(name):
            _feed_bytes(sink, part.drop_nulls())
    return sink.hexdigest()


def text_digest(*parts: Any) -> str:
    """128-bit hash of JSON-like parts, keys sorted."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


def _feed(sink: _Sink, column: pl.Series) -> None:
    sink.update(np.packbits(column.is_not_null().to_numpy()).tobytes())
    present = column.drop_nulls()
    if isinstance(present.dtype, pl.List):
        _feed_lengths(sink, present.list.len())
        _feed(sink, present.filter(present.list.len() > 0).explode(empty_as_null=False))
    elif isinstance(present.dtype, pl.Struct):
        for field in present.dtype.fields:
            _feed(sink, present.struct.field(field.name))
    elif present.dtype in (pl.String, pl.Binary):
        _feed_lengths(sink, _lengths(present))
        _feed_bytes(sink, present)
    else:
        _feed_numbers(sink, present)


def _lengths(present: pl.Series) -> pl.Series:
    return present.str.len_bytes() if present.dtype == pl.String else present.bin.size()


def _feed_bytes(sink: _Sink, present: pl.Series) -> None:
    """The bytes of texts one behind the other, as they lie in Arrow's buffers; some rows at a time."""
    for start in range(0, present.len(), ROWS):
        array = present.slice(start, ROWS).to_arrow(compat_level=pl.CompatLevel.oldest())
        _, ends, content = array.buffers()
        first, last = np.frombuffer(ends, dtype="<i8")[[array.offset, array.offset + len(array)]]
        if last > first:
            sink.update(memoryview(content)[first:last])


def _feed_lengths(sink: _Sink, lengths: pl.Series) -> None:
    sink.update(lengths.cast(pl.Int64).to_numpy().astype("<i8").tobytes())


def _feed_numbers(sink: _Sink, numbers: pl.Series) -> None:
    if numbers.dtype.is_float():
        sink.update(numbers.cast(pl.Float64).to_numpy().astype("<f8").tobytes())
    else:
        _feed_lengths(sink, numbers.to_physical())
