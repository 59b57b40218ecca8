"""A table that is too large for memory: frames in the order of its key, sealed until they are published."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

import polars as pl

from transforms.sealed import Sealed
from warehouse.schemas import SchemaError, Table

SMALL_BYTES = 32 << 20
"""A table up to this size is one frame."""

FRAME_BYTES = 8 << 20
"""About as much of a larger one is held at a time."""


class SealedFrames:
    """The rows of a table as frames whose keys ascend from one to the next."""

    def __init__(self, table: Table, sealed: Sealed) -> None:
        self._table, self._sealed = table, sealed
        self._blocks: list[int] = []
        self._without: pl.Series | None = None
        self.height = 0
        self.sizes = dict.fromkeys(table.columns, 0)
        """Bytes of each column in memory, at most."""

    def add(self, frame: pl.DataFrame) -> None:
        """Seal rows whose keys are greater than those before them."""
        self._blocks.append(_seal(self._sealed, frame))
        self.height += frame.height
        for column in frame.get_columns():
            self.sizes[column.name] += int(column.estimated_size())

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for block in self._blocks:
            yield self._left(_unsealed(self._sealed, block))

    def column(self, name: str) -> Iterator[pl.Series]:
        """One column, frame by frame."""
        for block in self._blocks:
            frame = _unsealed(self._sealed, block, [*dict.fromkeys((self._table.key[0], name))])
            yield self._left(frame)[name]

    def without(self, keys: pl.Series) -> SealedFrames:
        """The table without the rows whose first key is one of `keys`."""
        left = SealedFrames(self._table, self._sealed)
        left._blocks, left.sizes, left._without = self._blocks, self.sizes, keys
        left.height = sum(len(part) for part in left.column(self._table.key[0]))
        return left

    def _left(self, frame: pl.DataFrame) -> pl.DataFrame:
        if self._without is None:
            return frame
        return frame.filter(~pl.col(self._table.key[0]).is_in(self._without.implode()))


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
        size += int(frame.estimated_size())
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
        rows = -(-ordered.height // max(1, int(ordered.estimated_size()) // FRAME_BYTES))
        for part in ordered.iter_slices(rows):
            told.add(part)
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
    sealed, first = Sealed(), table.key[0]
    chunks, keys, size = [], [], 0
    for frame in frames:
        size += int(frame.estimated_size())
        keys.append(frame[first])
        chunks.append(_seal(sealed, frame))
    ranges: list[list[int]] = [[] for _ in range(size // FRAME_BYTES + 1)]
    ordered = pl.concat(keys).sort()
    bounds = [ordered[len(ordered) * number // len(ranges)] for number in range(1, len(ranges))]
    for chunk in chunks:
        frame = _unsealed(sealed, chunk)
        places = pl.Series(bounds, dtype=frame[first].dtype).search_sorted(frame[first], side="right")
        for (number,), part in frame.with_columns(places.alias("range")).partition_by("range", as_dict=True).items():
            ranges[number].append(_seal(sealed, part.drop("range")))
    told = SealedFrames(table, sealed)
    for parts in ranges:
        told.add(table.enforce(pl.concat([table.empty(), *(_unsealed(sealed, part) for part in parts)])))
    return told


def _seal(sealed: Sealed, frame: pl.DataFrame) -> int:
    written = io.BytesIO()
    frame.write_ipc(written, compression="uncompressed")  # three times as much, read and written in half the time
    return sealed.put(written.getvalue())


def _unsealed(sealed: Sealed, block: int, columns: list[str] | None = None) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(sealed.get(block)), columns=columns)
