"""A hash of rows: equal rows, equal hash, whatever library version wrote the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import polars as pl

from warehouse.schemas import Table

DIGEST_BYTES = 16
HELD_BYTES = 24 << 20
"""What of a table is held when it is hashed in parts."""

CHUNK_BYTES = 1 << 20
"""What of a column of texts is held once more while it is hashed: little enough to stay in the processor's cache."""


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


class Parts(Protocol):
    """A table that is not held in memory: enforced frames whose keys ascend from one to the next."""

    height: int

    @property
    def sizes(self) -> Mapping[str, int]:
        """Bytes of each column in memory, about."""

    def __iter__(self) -> Iterator[pl.DataFrame]: ...

    def columns(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, frame by frame."""


def parts_digest(table: Table, parts: Parts) -> str:
    """The hash that `rows_digest` gives of the same rows in one frame. Some columns are held at a time."""
    sink = hashlib.blake2b(digest_size=DIGEST_BYTES)
    sink.update(str(parts.height).encode())
    for names, size in _groups(parts.sizes):
        if size > HELD_BYTES and _of_texts(table.schema[names[0]]):
            _feed_long(sink, table, names[0], parts)
            continue
        held: dict[str, list[pl.Series]] = {name: [] for name in names}
        for frame in parts.columns(names):
            for name in names:
                held[name].append(frame[name])
        for name in names:
            sink.update(f"|{name}:{table.schema[name]}|".encode())
            _feed(sink, pl.concat(held.pop(name)))
    return sink.hexdigest()


def _groups(sizes: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    """Columns in order, as many as may be held together, and their bytes; one that is longer stands alone."""
    names: list[str] = []
    for name, size in sizes.items():
        if names and sum(sizes[one] for one in names) + size > HELD_BYTES:
            yield names, sum(sizes[one] for one in names)
            names = []
        names.append(name)
    yield names, sum(sizes[one] for one in names)


def _feed_long(sink: _Sink, table: Table, name: str, parts: Parts) -> None:
    """A column of texts, or of lists of texts, that is read several times instead of held."""
    dtype = table.schema[name]
    sink.update(f"|{name}:{dtype}|".encode())
    if isinstance(dtype, pl.List):
        _feed_told(sink, (frame[name] for frame in parts.columns([name])))
    _feed_told(sink, map(_texts, (frame[name] for frame in parts.columns([name]))))
    for frame in parts.columns([name]):
        _feed_bytes(sink, _texts(frame[name]).drop_nulls())


def _feed_told(sink: _Sink, columns: Iterable[pl.Series]) -> None:
    """Which values are there, and how long they are."""
    told = [(column.is_not_null().to_numpy(), _lengths(column.drop_nulls())) for column in columns]
    sink.update(np.packbits(np.concatenate([present for present, _ in told])).data)
    _feed_lengths(sink, pl.concat([lengths for _, lengths in told]))


def _of_texts(dtype: pl.DataType) -> bool:
    return (dtype.inner if isinstance(dtype, pl.List) else dtype) in (pl.String, pl.Binary)


def _texts(column: pl.Series) -> pl.Series:
    """The texts of a column, out of their lists."""
    return _items(column.drop_nulls()) if isinstance(column.dtype, pl.List) else column


def _items(lists: pl.Series) -> pl.Series:
    return lists.filter(lists.list.len() > 0).explode(empty_as_null=False)


def text_digest(*parts: Any) -> str:
    """128-bit hash of JSON-like parts, keys sorted."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).hexdigest()


def _feed(sink: _Sink, column: pl.Series) -> None:
    sink.update(np.packbits(column.is_not_null().to_numpy()).data)
    present = column.drop_nulls() if column.null_count() else column
    if isinstance(present.dtype, pl.List):
        _feed_lengths(sink, _lengths(present))
        _feed(sink, _items(present))
    elif isinstance(present.dtype, pl.Struct):
        for field in present.dtype.fields:
            _feed(sink, present.struct.field(field.name))
    elif present.dtype in (pl.String, pl.Binary):
        _feed_lengths(sink, _lengths(present))
        _feed_bytes(sink, present)
    else:
        _feed_numbers(sink, present)


def _lengths(present: pl.Series) -> pl.Series:
    if isinstance(present.dtype, pl.List):
        return present.list.len()
    return present.str.len_bytes() if present.dtype == pl.String else present.bin.size()


def _feed_bytes(sink: _Sink, present: pl.Series) -> None:
    """The bytes of texts one behind the other, as they lie in Arrow's buffers; some rows at a time."""
    rows = max(CHUNK_BYTES * present.len() // max(int(_lengths(present).sum()), 1), 1)
    for start in range(0, present.len(), rows):
        array = present.slice(start, rows).to_arrow(compat_level=pl.CompatLevel.oldest())
        _, ends, content = array.buffers()
        first, last = np.frombuffer(ends, dtype="<i8")[[array.offset, array.offset + len(array)]]
        if last > first:
            sink.update(memoryview(content)[first:last])


def _feed_lengths(sink: _Sink, lengths: pl.Series) -> None:
    sink.update(lengths.cast(pl.Int64).to_numpy().astype("<i8", copy=False).data)


def _feed_numbers(sink: _Sink, numbers: pl.Series) -> None:
    if numbers.dtype.is_float():
        sink.update(numbers.cast(pl.Float64).to_numpy().astype("<f8", copy=False).data)
    else:
        _feed_lengths(sink, numbers.to_physical())
