"""Opens zip archives member by member, in bounded memory, whatever their directory claims."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from transforms.readers.containers import BOMB_BYTES, BOMB_RATIO, READ_BYTES, Source, Torn

ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")

DIRECTORY_BYTES = 64 << 20
"""Size of a central directory that is read: about half a million members."""

END, END_64 = b"PK\x05\x06", b"PK\x06\x06"
LONGEST_END = (1 << 16) + 22 + 20 + 56
"""Bytes at the end of an archive in which its directory is announced."""

ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, NotImplementedError, RuntimeError,
           OSError, OverflowError, ValueError)  # fmt: skip


class Budget:
    """Bytes that an archive of `packed` bytes may grow to, all its members and what is nested in them together."""

    def __init__(self, packed: int) -> None:
        self._packed = packed
        self._grown = 0
        self.is_spent = False

    def spend(self, size: int) -> None:
        """Raises Torn where the archive is a bomb."""
        self._grown += size
        self.is_spent = self._grown > BOMB_BYTES and self._grown > BOMB_RATIO * self._packed
        if self.is_spent:
            raise Torn("compression_bomb")

    def metered(self, chunks: Source) -> Source:
        """The same bytes, paid for."""
        return Source(self._pay(chunks))

    def _pay(self, chunks: Source) -> Iterator[bytes]:
        for chunk in chunks:
            self.spend(len(chunk))
            yield chunk


def members(stream: BinaryIO) -> Iterator[tuple[str, Source]]:
    """Name and bytes of each member that is a file, in the directory's order; raises Torn where there is none.

    The bytes of a member raise Torn where it is damaged (`torn_zip`), encrypted, a bomb by itself
    (`compression_bomb`), or packed in a way that could not be bounded (`unsupported_packing`): only stored and
    deflated members are read.
    """
    if _directory_bytes(stream) > DIRECTORY_BYTES:
        raise Torn("too_large")
    try:
        archive = zipfile.ZipFile(stream)
    except _BROKEN:
        raise Torn("torn_zip") from None
    for member in archive.infolist():
        if not member.filename.endswith("/"):
            yield member.filename, Source(_inflated(archive, member))


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    if member.flag_bits & ENCRYPTED:
        raise Torn("encrypted")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Torn("unsupported_packing")
    if member.file_size > BOMB_BYTES and member.file_size > BOMB_RATIO * member.compress_size:
        raise Torn("compression_bomb")  # no more than it claims is ever inflated
    try:
        with archive.open(member) as packed:
            while chunk := packed.read(READ_BYTES):
                yield chunk
    except _BROKEN:
        raise Torn("torn_zip") from None


def _directory_bytes(stream: BinaryIO) -> int:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(size - LONGEST_END, 0))
    tail = stream.read(LONGEST_END)
    end = tail.rfind(END)
    if end < 0 or len(tail) < end + 16:
        return 0
    claimed: int = struct.unpack_from("<I", tail, end + 12)[0]
    end_64 = tail.rfind(END_64, 0, end)
    if claimed == 0xFFFFFFFF and end_64 >= 0 and len(tail) >= end_64 + 48:
        claimed = struct.unpack_from("<Q", tail, end_64 + 40)[0]
    return claimed
