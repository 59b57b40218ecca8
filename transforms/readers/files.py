"""Opens a file whatever it is: text, packed text, a table, or an archive of such files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from transforms.readers.archives import ZIP, Budget, members
from transforms.readers.containers import DEEPEST, GZIP, ZSTD, Source, Torn, unpack
from transforms.readers.cuts import Cut
from transforms.readers.delimited import LOOKED_AT, is_table, read_table
from transforms.readers.documents import LONGEST, Blanks, Refused, Take, exhaust, layout, split, taken
from transforms.readers.frames import binary_layout, split_binary
from transforms.readers.tables import PARQUET, read_rows
from transforms.readers.utf8 import WIDE_BOMS, as_utf8

APPLE_DOUBLE = b"\x00\x05\x16\x07"
"""Beginning of what macOS puts beside each file of an archive."""

Piece = tuple[str, Cut | bytes | Refused | Blanks]
"""A document and the name of the archive's member that holds it, empty where it stands in no archive."""

PACKED = (GZIP, ZSTD, *ZIP, PARQUET)


def open_file(stream: BinaryIO, packed: Source, growing: bool, take: Take = taken) -> tuple[str, Iterator[Piece]]:
    """What a file is packed in, and its documents in order, as `take` gives them; `packed` are the stream's chunks."""
    return _open(packed, stream, growing, take, None, 0)


def is_lines(head: bytes) -> bool:
    """Whether a file that begins so is JSON lines in UTF-8, packed in nothing: what grows by what is appended. Blank
    lines alone may become such a file."""
    if not head or head.startswith((*PACKED, *WIDE_BOMS)):
        return False
    source = Source(iter([head]))
    return not is_table(head) and not binary_layout(source) and layout(as_utf8(source)) in ("jsonl", "empty")


def open_lines(packed: Source, tail: bool, take: Take = taken) -> Iterator[Piece]:
    """The documents of a file that `is_lines`, or of its `tail`, in order, as `take` gives them."""
    return (("", piece) for piece in split(packed if tail else as_utf8(packed), "jsonl", False, take))


def _open(
    source: Source, stream: BinaryIO | None, growing: bool, take: Take, budget: Budget | None, depth: int
) -> tuple[str, Iterator[Piece]]:
    names, inner = unpack(source)
    whole = stream if not names and stream is not None and stream.seekable() else None
    if budget is not None:
        inner = budget.metered(inner)
    head = inner.peek(4)
    if head.startswith(ZIP):
        return "+".join((*names, "zip")), _archive(inner, whole, growing, take, budget, depth)
    if head.startswith(PARQUET):
        return "+".join((*names, "parquet")), (("", row) for row in _table(inner, whole, growing))
    if binary := binary_layout(inner):
        return "+".join((*names, binary)), (("", piece) for piece in split_binary(inner, binary, growing))
    text = as_utf8(inner)
    if is_table(text.peek(LOOKED_AT)):
        return "+".join((*names, "csv")), (("", row) for row in read_table(text, growing))
    how = layout(text)
    pieces = _unknown(text) if how == "unknown" else split(text, how, growing, take)
    return "+".join((*names, how)), (("", piece) for piece in pieces)


def _archive(
    source: Source, whole: BinaryIO | None, growing: bool, take: Take, budget: Budget | None, depth: int
) -> Iterator[Piece]:
    if depth == DEEPEST:
        exhaust(source)
        yield "", Refused("nested_too_deeply")
        return
    try:
        stream, size = _held(source, whole)
        budget = budget or Budget(size)
        for name, member in members(stream):
            for inner, piece in _member(member, take, budget, depth):
                yield inner or name, piece
    except Torn as torn:
        if not (growing and torn.reason.startswith("torn_")):
            yield "", Refused(torn.reason)


def _member(member: Source, take: Take, budget: Budget, depth: int) -> Iterator[Piece]:
    if member.peek(4).startswith(APPLE_DOUBLE):
        exhaust(member)
        yield "", b""
        return
    _, pieces = _open(member, None, False, take, budget, depth + 1)
    for piece in pieces:
        yield piece
        if budget.is_spent:
            raise Torn("compression_bomb")


def _table(source: Source, whole: BinaryIO | None, growing: bool) -> Iterator[bytes | Refused]:
    try:
        stream, size = _held(source, whole)
    except Torn as torn:
        yield Refused(torn.reason)
        return
    for row in read_rows(stream, size):
        if not (growing and isinstance(row, Refused) and row.reason.startswith("torn_")):
            yield row


def _held(source: Source, whole: BinaryIO | None) -> tuple[BinaryIO, int]:
    """Something to seek in and its size: the file itself, or what lies inside another, held in memory."""
    if whole is not None:
        source.bytes = whole.seek(0, io.SEEK_END)
        whole.seek(0)
        return whole, source.bytes
    held = io.BytesIO()
    for chunk in source:
        held.write(chunk)
        if held.tell() > LONGEST:
            raise Torn("too_large")
    size = held.tell()
    held.seek(0)
    return held, size


def _unknown(source: Source) -> Iterator[Refused]:
    exhaust(source)
    yield Refused("unknown_container")
