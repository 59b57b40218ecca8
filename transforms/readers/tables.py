"""Reads Parquet as JSON documents, one a row, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from transforms.readers.containers import BOMB_BYTES, BOMB_RATIO
from transforms.readers.documents import LONGEST, Refused

PARQUET = b"PAR1"

BATCH_BYTES = 4 << 20
"""What the rows decoded at once should come to, by the file's own account of its row groups."""

MOST_ROWS, NESTED_ROWS = 1024, 64
"""Rows decoded at once at most; fewer where text may recur in structs, which Arrow writes out for each row."""

BUFFER_BYTES = 1 << 20
_BROKEN = (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError)
_encode = msgspec.json.Encoder(order=None).encode


def read_rows(stream: BinaryIO, size: int) -> Iterator[bytes | Refused]:
    """Each row as a JSON object of its columns; what cannot be decoded is refused, and a torn file from there on.

    Times become ISO text in microseconds, binary values text, maps objects. Inside structs nulls are left out: Arrow
    pads rows with the fields of all the others.
    """
    grown = 0
    for batch in _batches(stream, size):
        if isinstance(batch, Refused):
            yield batch
            continue
        for row in _documents(batch):
            yield row
            grown += len(row) if isinstance(row, bytes) else 0
            if grown > BOMB_BYTES and grown > BOMB_RATIO * size:
                yield Refused("compression_bomb")
                return


def _batches(stream: BinaryIO, size: int) -> Iterator[pa.RecordBatch | Refused]:
    """A few rows at a time; text that recurs stays in a dictionary, so that a short file cannot fill the memory."""
    try:
        schema = pq.read_schema(stream)
        stream.seek(0)
        recurring = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_binary(field.type)]
        most = NESTED_ROWS if any(pa.types.is_nested(field.type) for field in schema) else MOST_ROWS
        table = pq.ParquetFile(stream, buffer_size=BUFFER_BYTES, pre_buffer=False, read_dictionary=recurring)
        rows = _rows_at_once(table.metadata, most)
        for index in range(table.metadata.num_row_groups):
            if reason := _refusal(table.metadata.row_group(index), size):
                yield Refused(reason)
            else:
                yield from table.iter_batches(rows, row_groups=[index], use_threads=False)
    except _BROKEN:
        yield Refused("torn_parquet")


def _refusal(group: pq.RowGroupMetaData, size: int) -> str:
    """Why a row group is not decoded: Arrow unpacks a page as a whole, and a page may be all of a column."""
    for column in (group.column(index) for index in range(group.num_columns)):
        unpacked, packed = column.total_uncompressed_size, min(column.total_compressed_size, size)
        if unpacked > LONGEST and unpacked > BOMB_RATIO * packed:
            return "compression_bomb"
        if unpacked > LONGEST * max(group.num_rows, 1):
            return "too_large"
    return ""


def _rows_at_once(metadata: pq.FileMetaData, most: int) -> int:
    """Rows that come to `BATCH_BYTES` by the file's own account of its row groups."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    widest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=1)
    return int(max(1, min(most, BATCH_BYTES // max(widest, 1))))


def _documents(batch: pa.RecordBatch) -> Iterator[bytes | Refused]:
    widest = sum(map(_longest, batch.columns))
    step = max(1, BATCH_BYTES // max(widest, 1))
    for start in range(0, batch.num_rows, step):
        yield from _encoded(batch.slice(start, step))


def _longest(column: pa.Array) -> int:
    """Bytes of the longest text of a column that is held in a dictionary."""
    if not pa.types.is_dictionary(column.type) or not len(column.dictionary):
        return 0
    longest: int | None = pc.max(pc.binary_length(column.dictionary)).as_py()
    return longest or 0


def _encoded(batch: pa.RecordBatch) -> Iterator[bytes | Refused]:
    try:
        rows = _rows(batch)
    except _BROKEN:
        if batch.num_rows == 1:
            yield Refused("unreadable_row")
        else:
            for index in range(batch.num_rows):
                yield from _encoded(batch.slice(index, 1))
        return
    for row in rows:
        try:
            text = _encode(row)
        except _BROKEN:
            yield Refused("unreadable_row")
        else:
            yield text if len(text) <= LONGEST else Refused("too_large", len(text))


def _rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    columns = [_values(column) for column in batch.columns]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.Array) -> list[Any]:
    kind = column.type
    if (rougher := _in_microseconds(kind)) != kind:
        column = column.cast(rougher, safe=False)
    values: list[Any] = column.to_pylist()
    if pa.types.is_nested(kind):
        return list(map(_plain(kind), values))
    return list(map(_decoded, values))


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    """The same type with times in microseconds: Python's know no nanoseconds."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_microseconds(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        field = kind.value_field
        inner = field.with_type(_in_microseconds(field.type))
        return pa.list_(inner) if pa.types.is_list(kind) else pa.large_list(inner)
    return kind


def _plain(kind: pa.DataType) -> Callable[[Any], Any]:
    """What makes JSON of the values of a type: objects of structs and maps, text of binary values in them."""
    if pa.types.is_struct(kind):
        named = {field.name: _plain(field.type) for field in kind}
        return lambda value: value and {name: named[name](item) for name, item in value.items() if item is not None}
    if pa.types.is_map(kind):
        inner = _plain(kind.item_type)
        return lambda value: None if value is None else {str(_decoded(name)): inner(item) for name, item in value}
    if pa.types.is_nested(kind) and hasattr(kind, "value_type"):
        inner = _plain(kind.value_type)
        return lambda value: value and list(map(inner, value))
    return _decoded


def _decoded(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
