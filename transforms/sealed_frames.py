"""A table that is too large for memory: frames in the order of its key, sealed until they are published."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

import polars as pl
import pyarrow as pa

from transforms.sealed import Sealed
from warehouse.schemas import SchemaError, Table, held_bytes

SMALL_BYTES = 24 << 20
"""A table up to this size is one frame; text that its rows share counts once."""

FRAME_BYTES = 8 << 20
"""About as much of a larger one is held at a time, with what rows share in each of them, as writers need it."""

CHUNK_BYTES = 16 << 20
"""About as much of rows in any order is sealed together before their order is known."""

MOST_RANGES, SAMPLED = 128, 16
"""Ranges of keys that such rows are sorted into, and of how many rows one tells where a range ends: blocks are as many
as chunks times ranges."""

APART_BYTES = 1 << 20
"""A column of a frame that is larger lies in a block of its own: the others are read without it."""

Stored = list[tuple[list[str], int]]
"""The blocks of a frame, and the columns in each."""


class SealedFrames:
    """The rows of a table as frames whose keys ascend from one to the next."""

    def __init__(self, table: Table, sealed: Sealed) -> None:
        self._table, self._sealed = table, sealed
        self._frames: list[Stored] = []
        self._without: pl.Series | None = None
        self.height = 0
        self.sizes = dict.fromkeys(table.columns, 0)
        """Bytes of each column in memory, at most."""

    def add(self, frame: pl.DataFrame) -> None:
        """Seal rows whose keys are greater than those before them, as frames of about `FRAME_BYTES`."""
        rows = -(-frame.height // max(1, int(frame.estimated_size()) // FRAME_BYTES))
        for part in frame.iter_slices(max(1, rows)):
            self._frames.append(_seal(self._sealed, part))
        self.height += frame.height
        for column in frame.get_columns():
            self.sizes[column.name] += held_bytes(column)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        yield from self.columns([*self._table.columns])

    def columns(self, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, frame by frame."""
        for stored in self._frames:
            if self._without is None:
                yield _unsealed(self._sealed, stored, names)
            else:
                first = self._table.key[0]
                frame = _unsealed(self._sealed, stored, [*dict.fromkeys((first, *names))])
                yield frame.filter(~pl.col(first).is_in(self._without.implode())).select(names)

    def without(self, keys: pl.Series) -> SealedFrames:
        """The table without the rows whose first key is one of `keys`."""
        left = SealedFrames(self._table, self._sealed)
        left._frames, left.sizes, left._without = self._frames, self.sizes, keys
        left.height = sum(frame.height for frame in left.columns(self._table.key[:1]))
        return left


Frames = pl.DataFrame | SealedFrames


def frames_of(table: Frames) -> Iterable[pl.DataFrame]:
    """The frames that a table is made of."""
    return [table] if isinstance(table, pl.DataFrame) else table


def without(table: Frames, column: str, keys: pl.Series) -> Frames:
    """A table without the rows whose first key, `column`, is one of `keys`."""
    if isinstance(table, SealedFrames):
        return table.without(keys)
    return table.filter(~pl.col(column).is_in(keys.implode()))


def framed(table: Table, frames: Iterable[pl.DataFrame], ascending: bool = False) -> Frames:
    """The table of all rows of `frames`, in any order: one frame, or sealed where it is large.

    All rows with the same first key must stand in frames that are held together. `ascending` says that all first keys
    of a frame are greater than those of the frames before it: such a table is sealed once. Raises SchemaError.
    """
    held: list[pl.DataFrame] = []
    size = 0
    chunks = iter(frames)
    for frame in chunks:
        held.append(frame)
        size += _size(frame)
        if size > SMALL_BYTES:
            rest = _let_go(held, chunks)
            return _sealed_once(table, rest) if ascending else _sealed(table, rest)
    return table.enforce(pl.concat([table.empty(), *held]))


def _let_go(held: list[pl.DataFrame], frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The frames of a list, which it holds no longer, and further ones."""
    while held:
        yield held.pop(0)
    yield from frames


def _sealed_once(table: Table, frames: Iterator[pl.DataFrame]) -> SealedFrames:
    told, first, last = SealedFrames(table, Sealed()), table.key[0], None
    for frame in _of_about(FRAME_BYTES, frames):
        ordered = table.enforce(frame)
        if last is not None and ordered[first][0] <= last:
            raise SchemaError(f"{table.name}: frames do not ascend by {first}")
        last = ordered[first][-1]
        told.add(ordered)
    return told


def _of_about(size: int, frames: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Frames put together until they are at least of a size; empty ones are left out."""
    held: list[pl.DataFrame] = []
    together = 0
    for frame in frames:
        if frame.height:
            held.append(frame)
            together += int(frame.estimated_size())
        if together >= size:
            yield pl.concat(held)
            held, together = [], 0
    if held:
        yield pl.concat(held)


def _sealed(table: Table, frames: Iterator[pl.DataFrame]) -> SealedFrames:
    sealed, first, columns = Sealed(), table.key[0], [*table.columns]
    chunks, keys, size = [], [], 0
    for frame in _of_about(CHUNK_BYTES, frames):
        size += int(frame.estimated_size())
        keys.append(frame[first].gather_every(SAMPLED))
        chunks.append(_seal(sealed, frame))
    ranges: list[list[Stored]] = [[] for _ in range(min(size // FRAME_BYTES + 1, MOST_RANGES))]
    ordered = pl.concat(keys).sort()
    bounds = [ordered[len(ordered) * number // len(ranges)] for number in range(1, len(ranges))]
    for chunk in chunks:
        frame = _unsealed(sealed, chunk, columns)
        places = pl.Series(bounds, dtype=frame[first].dtype).search_sorted(frame[first], side="right")
        for (number,), part in frame.with_columns(places.alias("range")).partition_by("range", as_dict=True).items():
            ranges[number].append(_seal(sealed, part.drop("range")))
    told = SealedFrames(table, sealed)
    for parts in ranges:
        told.add(table.enforce(pl.concat([table.empty(), *(_unsealed(sealed, part, columns) for part in parts)])))
    return told


def _size(frame: pl.DataFrame) -> int:
    return sum(map(held_bytes, frame.get_columns()))


def _seal(sealed: Sealed, frame: pl.DataFrame) -> Stored:
    apart = [column.name for column in frame.get_columns() if held_bytes(column) > APART_BYTES]
    rest = [name for name in frame.columns if name not in apart]
    return [(names, sealed.put(_written(frame[names]))) for names in (rest, *([name] for name in apart)) if names]


def _written(frame: pl.DataFrame) -> memoryview:
    written = io.BytesIO()
    frame.write_ipc(written, compression="uncompressed")  # three times as much, read and written in half the time
    return written.getbuffer()


def _unsealed(sealed: Sealed, stored: Stored, columns: Sequence[str]) -> pl.DataFrame:
    found: dict[str, pl.Series] = {}
    for names, block in stored:
        if wanted := [name for name in names if name in columns]:
            found |= _read(sealed.get(block), None if wanted == names else wanted).to_dict()
    return pl.DataFrame([found[name] for name in columns])


def _read(written: bytes, columns: list[str] | None) -> pl.DataFrame:
    """A frame that keeps `written` alive where it is all of it, and a copy of some columns."""
    if columns is None:
        return pl.DataFrame(pa.ipc.open_file(pa.py_buffer(written)).read_all())
    return pl.read_ipc(io.BytesIO(written), columns=columns)
