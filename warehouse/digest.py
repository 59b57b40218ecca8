"""A hash of rows: equal rows, equal hash, whatever library version wrote the file."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Protocol

import numpy as np
import polars as pl

DIGEST_BYTES = 16


class _Sink(Protocol):
    def update(self, data: bytes, /) -> None: ...


def rows_digest(frame: pl.DataFrame) -> str:
    """128-bit hash of column names, types and values in the order they stand in."""
    sink = hashlib.blake2b(digest_size=DIGEST_BYTES)
    sink.update(str(frame.height).encode())
    for column in frame.get_columns():
        sink.update(f"|{column.name}:{column.dtype}|".encode())
        _feed(sink, column)
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
    elif present.dtype == pl.String:
        _feed_lengths(sink, present.str.len_bytes())
        sink.update("".join(present.to_list()).encode())
    elif present.dtype == pl.Binary:
        _feed_lengths(sink, present.bin.size())
        sink.update(b"".join(present.to_list()))
    else:
        _feed_numbers(sink, present)


def _feed_lengths(sink: _Sink, lengths: pl.Series) -> None:
    sink.update(lengths.cast(pl.Int64).to_numpy().astype("<i8").tobytes())


def _feed_numbers(sink: _Sink, numbers: pl.Series) -> None:
    if numbers.dtype.is_float():
        sink.update(numbers.cast(pl.Float64).to_numpy().astype("<f8").tobytes())
    else:
        _feed_lengths(sink, numbers.to_physical())
