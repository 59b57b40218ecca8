"""Exports on disk: what tells a file from every other, and its records."""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from transforms.readers.exports import Tally, read_export
from transforms.records import Record
from warehouse.problem import Problem

CHUNK = 1 << 20  # bytes

# Dialects that name no data set: their task numbers mean nothing without the name of the file.
NAMED_BY_FILE = {"tau_bench", "tau2_bench", "nemo_gym", "swe_agent", "chat"}


@dataclass(frozen=True)
class Export:
    """A file and its id: the SHA-256 of its bytes and, where its dialect needs it, of its name."""

    path: Path
    file_id: str

    @classmethod
    def of(cls, path: Path, dialects: Collection[str], size: int | None = None) -> "Export":
        """The export that a file, or its first `size` bytes, are. Raises Problem where it cannot be read."""
        digest = hashlib.sha256(_digest(path, size))
        if NAMED_BY_FILE & set(dialects):
            digest.update(dataset_name(path).encode())
        return cls(path, digest.hexdigest())


def read_records(path: Path, tally: Tally) -> Iterator[Record]:
    """The records of a file, as they stand in it. Raises Problem where the file cannot be read."""
    try:
        with path.open("rb", buffering=0) as stream:
            yield from read_export(stream, tally, dataset=dataset_name(path))
    except OSError as error:
        raise Problem(f"an export of that day cannot be read ({error.strerror}): land it again") from None


def dataset_name(path: Path) -> str:
    """The file's name without its endings."""
    return path.name.split(".")[0]


def _digest(path: Path, size: int | None) -> bytes:
    digest, left = hashlib.sha256(), size
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(CHUNK if left is None else min(CHUNK, left)):
                digest.update(chunk)
                left = None if left is None else left - len(chunk)
    except OSError as error:
        raise Problem(f"an export of that day cannot be read ({error.strerror}): land it again") from None
    return digest.digest()
