"""Exports where they lie: what tells a file from every other, and its records."""

from __future__ import annotations

import hashlib
import io
import re
import tempfile
from array import array
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import polars as pl

from assets.stretches import Stretch, dataset_name, file_id, hash_of
from transforms.kept import KeptRecords
from transforms.readers.exports import Tally, read_export
from transforms.records import Record, Reject
from warehouse.files import NO_SPACE
from warehouse.places import Places
from warehouse.problem import Problem
from warehouse.schemas import REJECTS

MOST_REJECTS = 10_000
"""Rejects of a file that have a row of their own, for each reason; the last of them says how many more there are."""

# Dialects that name no data set: their task numbers mean nothing without the name of the file.
NAMED_BY_FILE = {"tau_bench", "tau2_bench", "nemo_gym", "swe_agent", "chat"}

_REST_OF_LINE = re.compile(rb"[ \t\r\f\v]*\n")


@dataclass
class Rejects:
    """What of a file could not be used: positions and sizes by reason, and how many more there are than are kept."""

    positions: dict[str, array[int]] = field(default_factory=dict)
    sizes: dict[str, array[int]] = field(default_factory=dict)
    more: dict[str, int] = field(default_factory=dict)

    def add(self, reject: Reject) -> None:
        """Keep a reject, or count it."""
        positions = self.positions.setdefault(reject.reason, array("q"))
        if positions and positions[-1] == reject.position:
            return  # one row a record and reason
        if len(positions) >= MOST_REJECTS:
            self.more[reject.reason] = self.more.get(reject.reason, 0) + 1
            return
        positions.append(reject.position)
        self.sizes.setdefault(reject.reason, array("q")).append(-1 if reject.bytes is None else reject.bytes)

    def frame(self) -> pl.DataFrame:
        """(position, reason, bytes, more)"""
        schema = {name: REJECTS.schema[name] for name in ("position", "reason", "bytes", "more")}
        frames = [
            pl.DataFrame(
                {
                    "position": positions, "reason": [reason] * len(positions), "bytes": self.sizes[reason],
                    "more": [None] * (len(positions) - 1) + [self.more.get(reason)],
                },
                schema=schema,
            )
            for reason, positions in self.positions.items()
        ]  # fmt: skip
        known = pl.when(pl.col("bytes") >= 0).then("bytes")
        return pl.concat(frames or [pl.DataFrame(schema=schema)]).with_columns(bytes=known)


@dataclass(frozen=True)
class Export:
    """A stretch that was read to its end: what it held, and what of it could not be used."""

    stretch: Stretch
    tally: Tally
    rejects: pl.DataFrame


class HashedStretch(io.RawIOBase):
    """The bytes of a stream between two positions, whose SHA-256, from the file's beginning on, is known once they
    were read in order. `sha256` has what comes before `start`."""

    def __init__(self, stream: BinaryIO, start: int, end: int, sha256: hashlib._Hash | None = None) -> None:
        self._stream, self._end, self._in_order = stream, end, True
        self._sha256 = sha256 or hash_of(stream, start)
        self._at = stream.seek(start)
        self._in_line = start > 0 and _byte_before(stream, start) != b"\n"

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        left = self._end - self._at
        chunk = self._stream.read(left if size is None or size < 0 else min(size, left))
        self._at += len(chunk)
        if self._in_order:
            self._sha256.update(chunk)
        if self._in_line and chunk:  # the line before was a record without its newline
            self._in_line = False
            rest = _REST_OF_LINE.match(chunk)
            return chunk[rest.end() :] or self.read(size) if rest else chunk
        return chunk

    def readinto(self, buffer: Any, /) -> int:
        chunk = self.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def seek(self, position: int, whence: int = io.SEEK_SET, /) -> int:
        self._in_order = False
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._end}[whence]
        self._at = self._stream.seek(max(start + position, 0))
        return self._at

    def tell(self) -> int:
        return self._at

    @property
    def sha256(self) -> bytes:
        """The hash of what was read; empty where it was not read in order, as archives and tables are not.

        Raises Problem where there was less than there should be.
        """
        if self._in_order and self._at < self._end:
            raise Problem("an export became shorter while it was read: run again")
        return self._sha256.digest() if self._in_order else b""


def read_stretch(places: Places, stretch: Stretch, kept: KeptRecords, sha256: hashlib._Hash | None = None) -> Export:
    """Read a stretch to its end; its records are kept. `sha256` has what comes before it, where that is known.

    Raises Problem where it cannot be read.
    """
    tally, rejects, file, dataset = Tally(), Rejects(), kept.start_file(), dataset_name(stretch.uri)
    first = stretch.first if stretch.lines else None
    with readable(), told_of_space(), closing(places.open(stretch.uri)) as opened:
        stream = HashedStretch(opened, stretch.start, stretch.end, sha256)
        for record in read_export(stream, tally, dataset, first=first):  # type: ignore[arg-type]
            if isinstance(record, Reject):
                rejects.add(record)
            else:
                kept.add(record, file)
        digest = stream.sha256 or hashed(places, stretch)
    kept.files[file] = file_id(digest, dataset if NAMED_BY_FILE & tally.dialects else "")
    read = replace(stretch, documents=tally.documents, sha256=digest.hex(), file_id=kept.files[file])
    return Export(read, tally, rejects.frame())


def read_records(places: Places, uri: str, tally: Tally) -> Iterator[Record]:
    """The records of a file, as they stand in it. Raises Problem where the file cannot be read."""
    with readable(), closing(places.open(uri)) as stream:
        yield from read_export(stream, tally, dataset=dataset_name(uri))


def hashed(places: Places, stretch: Stretch) -> bytes:
    """The SHA-256 of all before the end of a stretch. Raises Problem where it cannot be read."""
    with readable(), closing(places.open(stretch.uri)) as stream:
        return hash_of(stream, stretch.end).digest()


@contextmanager
def readable() -> Iterator[None]:
    """Raise Problem where an export cannot be read."""
    try:
        yield
    except OSError as error:
        raise Problem(f"an export of that day cannot be read ({error.strerror}): land it again") from None


@contextmanager
def told_of_space() -> Iterator[None]:
    """Raise Problem where there is no space for what is kept outside of memory."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        place = tempfile.gettempdir()
        raise Problem(f"no space left in {place}, where records wait encrypted: free some and run again") from None


def _byte_before(stream: BinaryIO, position: int) -> bytes:
    stream.seek(position - 1)
    return stream.read(1)
