"""What of a place belongs to a day: its first bytes, without those that an earlier day has."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from transforms.readers.decoding import TooDeep, TooLarge, decode
from transforms.readers.documents import HEAD, LONGEST
from transforms.readers.files import is_lines
from warehouse.arrivals import Arrival
from warehouse.places import Places
from warehouse.problem import Problem

HEADS = (1, 16, 256, 4096)
"""Bytes from the beginning whose hashes tell, without reading more, which files cannot be the same."""

STEP = 1 << 20
"""Bytes read at a time when looking for the last newline."""

Order = tuple[int, tuple[str, ...], str, str, int]


@dataclass(frozen=True)
class Stretch:
    """The bytes of a place from `start` to `end`; the first record among them has position `first`, and the one behind
    the last `documents`.

    `size` bytes were looked at when the place had `stamp`: what is between `end` and `size` is a record that is not
    complete yet. `lines` are JSON lines, which grow. `sha256` (hex) is of all before `end`, empty where unknown.
    """

    uri: str
    size: int
    stamp: str
    end: int
    lines: bool
    heads: tuple[str, ...]
    start: int = 0
    first: int = 0
    documents: int = 0
    sha256: str = ""
    file_id: str = ""

    @property
    def order(self) -> Order:
        """In which order the files of a day are read: by what they hold, whatever they are called."""
        return self.end, self.heads, self.sha256, dataset_name(self.uri), self.size

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that the bytes before `end` may have; their dialects tell which. None where they were not hashed."""
        return possible_ids(bytes.fromhex(self.sha256), self.uri) if self.sha256 else ()

    def may_begin(self, other: Stretch) -> bool:
        """Whether the bytes of `other` may begin with these, as far as hashes of their beginnings tell."""
        return 0 < self.end <= other.end and bool(self.heads) and other.heads[: len(self.heads)] == self.heads

    def source(self, read: str) -> dict[str, str]:
        """The stretch as it stands in a manifest."""
        numbers = {name: str(getattr(self, name)) for name in NUMBERS}
        texts = {"file_id": self.file_id, "uri": self.uri, "stamp": self.stamp, "sha256": self.sha256}
        return {**texts, **numbers, "lines": "yes" if self.lines else "no", "heads": ".".join(self.heads), "read": read}


NUMBERS = ("size", "end", "start", "first", "documents")


def stretch_of(source: Mapping[str, str]) -> Stretch:
    """The stretch that stands in a manifest."""
    numbers = {name: int(source.get(name, "0")) for name in NUMBERS}
    heads = tuple(filter(None, source.get("heads", "").split(".")))
    texts = {name: source.get(name, "") for name in ("file_id", "uri", "stamp", "sha256")}
    return Stretch(**texts, **numbers, lines=source.get("lines") == "yes", heads=heads)  # type: ignore[arg-type]


def look(places: Places, arrival: Arrival) -> Stretch:
    """What of an arrival can be read now. Raises OSError, Problem where it is shorter than what arrived."""
    with closing(places.open(arrival.uri)) as stream:
        size = min(stream.seek(0, io.SEEK_END), arrival.size)
        stream.seek(0)
        head = read_fully(stream, min(HEAD, size))
        lines = is_lines(head)
        end = size - (_waiting(stream, size) if lines else 0)
    if size < arrival.size:
        raise Problem("an export is shorter than what arrived of it: put it back and run again")
    return Stretch(arrival.uri, size, arrival.stamp, end, lines, _heads(head, end))


def begins_with(places: Places, uri: str, stretch: Stretch) -> bool:
    """Whether what lies at a uri begins with the bytes of a stretch. Raises OSError, Problem."""
    with closing(places.open(uri)) as stream:
        if _heads(read_fully(stream, min(HEADS[-1], stretch.end)), stretch.end) != stretch.heads:
            return False
        stream.seek(0)
        return stretch.file_id in possible_ids(hash_of(stream, stretch.end).digest(), stretch.uri)


def hash_of(stream: BinaryIO, size: int, sha256: hashlib._Hash | None = None) -> hashlib._Hash:
    """The SHA-256 of the next `size` bytes of a stream, fewer at its end, behind those that `sha256` has."""
    sha256 = sha256 or hashlib.sha256()
    while size > 0 and (chunk := stream.read(min(STEP, size))):
        sha256.update(chunk)
        size -= len(chunk)
    return sha256


def possible_ids(sha256: bytes, uri: str) -> tuple[str, str]:
    """The ids that a file with that hash may have."""
    return file_id(sha256, ""), file_id(sha256, dataset_name(uri))


def file_id(sha256: bytes, name: str) -> str:
    """The id of a file: the SHA-256 of its bytes and, where its dialect needs it, of its name."""
    return hashlib.sha256(sha256 + name.encode()).hexdigest()


def dataset_name(uri: str) -> str:
    """The file's name without its endings."""
    return PurePosixPath(uri).name.split(".")[0]


def read_fully(stream: BinaryIO, size: int) -> bytes:
    """The next `size` bytes; fewer at the end."""
    held = bytearray()
    while len(held) < size and (chunk := stream.read(size - len(held))):
        held += chunk
    return bytes(held)


def _heads(head: bytes, end: int) -> tuple[str, ...]:
    return tuple(hashlib.sha256(head[:size]).hexdigest()[:16] for size in HEADS if size <= end)


def _waiting(stream: BinaryIO, size: int) -> int:
    """Bytes of a line at the end that is not complete: no newline ends it, and it is no object or list as it is.

    What is longer than any record may be does not wait.
    """
    parts: list[bytes] = []
    at = size
    while at > 0 and not (parts and b"\n" in parts[-1]) and len(parts) * STEP <= LONGEST:
        at -= (step := min(STEP, at))
        stream.seek(at)
        parts.append(read_fully(stream, step))
    tail = b"".join(reversed(parts))
    tail = tail[tail.rfind(b"\n") + 1 :]
    if len(tail) > LONGEST:
        return 0
    return 0 if tail.lstrip().startswith((b"{", b"[")) and _is_json(tail.strip()) else len(tail)


def _is_json(text: bytes) -> bool:
    try:
        decode(text, set())
    except (RecursionError, TooDeep, TooLarge):
        return True  # a record that is refused as a whole
    except ValueError:
        return False
    return True
