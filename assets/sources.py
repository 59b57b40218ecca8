"""Exports on disk: what tells a file from every other, and its records."""

import hashlib
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transforms.kept import KeptRecords
from transforms.readers.exports import Tally, read_export
from transforms.records import Record, Reject
from warehouse.files import NO_SPACE
from warehouse.problem import Problem

CHUNK = 256 << 10  # bytes

# Dialects that name no data set: their task numbers mean nothing without the name of the file.
NAMED_BY_FILE = {"tau_bench", "tau2_bench", "nemo_gym", "swe_agent", "chat"}


@dataclass(frozen=True)
class Export:
    """A file that was read to its end: its id, what it held, and what of it could not be used."""

    path: Path
    file_id: str
    tally: Tally
    rejects: list[Reject] = field(default_factory=list)


class HashedFile(io.FileIO):
    """A file whose SHA-256 is known once it was read from beginning to end."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._sha256 = hashlib.sha256()
        self._in_order = True

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(-1 if size is None else size) or b""
        self._sha256.update(chunk)
        return chunk

    def readinto(self, buffer: Any, /) -> int:
        self._in_order = False
        return super().readinto(buffer) or 0

    def seek(self, position: int, whence: int = io.SEEK_SET, /) -> int:
        self._in_order = False
        return super().seek(position, whence)

    @property
    def sha256(self) -> bytes:
        """The hash of what was read; empty where it was not read in order, as archives and tables are not."""
        return self._sha256.digest() if self._in_order else b""


def read_file(path: Path, kept: KeptRecords) -> Export:
    """Read a file to its end; its records are kept. Raises Problem where it cannot be read."""
    tally, rejects, file = Tally(), [], kept.start_file()
    try:
        with HashedFile(path) as stream, told_of_space():
            for record in read_export(stream, tally, dataset=dataset_name(path)):
                if isinstance(record, Reject):
                    rejects.append(record)
                else:
                    kept.add(record, file)
            read = stream.sha256
    except OSError as error:
        raise _unreadable(error) from None
    kept.files[file] = _file_id(read or digest(path), dataset_name(path) if NAMED_BY_FILE & tally.dialects else "")
    return Export(path, kept.files[file], tally, rejects)


def read_records(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of a file, as they stand in it. Raises Problem where the file cannot be read."""
    try:
        with path.open("rb", buffering=0) as stream:
            yield from read_export(stream, tally, dataset=dataset_name(path))
    except OSError as error:
        raise _unreadable(error) from None


def possible_ids(path: Path, size: int | None = None) -> tuple[str, ...]:
    """The ids that a file, or its first `size` bytes, may have; its dialects tell which of them it has.

    Raises Problem where it cannot be read.
    """
    sha256 = digest(path, size)
    return _file_id(sha256, ""), _file_id(sha256, dataset_name(path))


def dataset_name(path: Path) -> str:
    """The file's name without its endings."""
    return path.name.split(".")[0]


def digest(path: Path, size: int | None = None) -> bytes:
    """The SHA-256 of a file, or of its first `size` bytes. Raises Problem where it cannot be read."""
    sha256, left = hashlib.sha256(), size
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK if left is None else min(CHUNK, left)):
                sha256.update(chunk)
                left = None if left is None else left - len(chunk)
    except OSError as error:
        raise _unreadable(error) from None
    return sha256.digest()


def _file_id(sha256: bytes, name: str) -> str:
    """The id of a file: the SHA-256 of its bytes and, where its dialect needs it, of its name."""
    return hashlib.sha256(sha256 + name.encode()).hexdigest()


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


def _unreadable(error: OSError) -> Problem:
    return Problem(f"an export of that day cannot be read ({error.strerror}): land it again")
