"""Compressed bytes: gzip's files (RFC 1952) and zlib's streams (RFC 1950), opened and made again.

Checksums are not asked for, so that a text with a broken one is read as well; nor is the end, where a stream was cut.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from transforms.privacy.unscannable import Unscannable

GROWTH = 64
"""How many times its size compressed text may be; logs that repeat themselves reach some forty."""
MOST_INFLATED = 2_000_000
"""Bytes that all compressed runs of one text may hold: as many as a leaf may have characters."""
MAX_LAYERS = 3  # of compressed bytes that are compressed again

GZIP = b"\x1f\x8b\x08"
ZLIB = frozenset(
    bytes((kind, flags))
    for kind in range(0x08, 0x80, 0x10)  # windows of 256 bytes to 32 kB
    for flags in range(256)
    if not flags & 32 and (kind * 256 + flags) % 31 == 0
)
_WINDOW = 4096  # bytes at a time: what follows a stream is copied
_HEADER_BYTES, _CHECKSUM, _EXTRA, _NAME, _COMMENT = 10, 2, 4, 8, 16


@dataclass(frozen=True, slots=True)
class Opened:
    """What compressed bytes hold, and what follows them; names and comments of their headers, which are not packed
    again; and of each layer, from the outside, whether it is gzip's."""

    content: bytes
    beside: bytes
    layers: tuple[bool, ...]


def opened(data: bytes, most: int = MOST_INFLATED) -> Opened | None:
    """What `data` holds through all its layers; None where it is not compressed.

    Raises Unscannable where that is more than GROWTH times its size, or than `most` bytes, or in too many layers.
    """
    room, found = min(GROWTH * len(data), most), None
    while layer := _layer(found.content if found else data, room):
        if found is None:
            found = layer
        elif len(found.layers) == MAX_LAYERS:
            raise Unscannable("too_deep")
        else:
            found = Opened(layer.content, found.beside + layer.beside, found.layers + layer.layers)
        room -= len(layer.content)
    return found


def closed(content: bytes, layers: tuple[bool, ...]) -> bytes:
    """`content` compressed once for each layer."""
    for is_gzip in reversed(layers):
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS + (16 if is_gzip else 0))
        content = packer.compress(content) + packer.flush()
    return content


def _layer(data: bytes, room: int) -> Opened | None:
    """All members of a gzip file, or zlib streams, and the bytes after them."""
    pieces: list[bytes] = []
    beside, at = b"", 0
    while header := _header(data, at):
        member = _inflated(data, header[0], room)
        if member is None:
            break
        pieces.append(member[0])
        beside += header[1]
        room -= len(member[0])
        at = member[1] + (8 if data.startswith(GZIP, at) else 4)
    if not b"".join(pieces) and not beside:
        return None
    return Opened(b"".join((*pieces, data[at:].strip(b"\0"))), beside, (data.startswith(GZIP),))


def _header(data: bytes, at: int) -> tuple[int, bytes] | None:
    """Where what is compressed begins, and the texts of a header before it; None where no header is."""
    if data[at : at + 2] in ZLIB:
        return at + 2, b""
    if not data.startswith(GZIP, at) or len(data) < at + _HEADER_BYTES:
        return None
    flags, at, beside = data[at + 3], at + _HEADER_BYTES, b""
    if flags & _EXTRA:
        end = at + 2 + int.from_bytes(data[at : at + 2], "little")
        beside, at = data[at + 2 : end] + b"\n", end
    for _ in range(bool(flags & _NAME) + bool(flags & _COMMENT)):
        end = data.find(b"\0", at)
        if end < 0:
            return None
        beside, at = beside + data[at:end] + b"\n", end + 1
    return at + (2 if flags & _CHECKSUM else 0), beside


def _inflated(data: bytes, at: int, room: int) -> tuple[bytes, int] | None:
    """What is compressed from a place on, as far as it is there, and where it ends; None where nothing is."""
    stream, pieces, size = zlib.decompressobj(-zlib.MAX_WBITS), [b""], 0
    while at < len(data) and not stream.eof:
        window = data[at : at + _WINDOW]
        try:
            pieces.append(stream.decompress(window, room - size + 1))
        except zlib.error:
            return (b"".join(pieces), len(data)) if size else None
        size += len(pieces[-1])
        if size > room:
            raise Unscannable("too_long")
        at += len(window) - len(stream.unused_data)
    return b"".join(pieces), at
