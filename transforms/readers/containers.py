"""Unpacks what a file is wrapped in: gzip and zstd, one inside the other if need be, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

READ_BYTES = 256 << 10
"""Bytes a read asks for: large enough that Python's overhead vanishes, small enough for the processor's cache."""

SLICE_BYTES = {"gzip": 16 << 10, "zstd": 4 << 10}
"""Packed bytes unpacked at a time: one slice of a bomb can grow to 16 MiB of gzip or 128 MiB of zstd, no further."""

BOMB_BYTES = 1 << 30
BOMB_RATIO = 500
"""Beyond `BOMB_BYTES`, output more than `BOMB_RATIO` times the input is refused; traces reach a few dozen."""

DEEPEST = 3
"""Wrappers taken off at most."""

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"


class Torn(Exception):
    """The bytes of a wrapper end early or are damaged; `reason` says which, what came before is good."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Source:
    """Chunks of a stream with their total, and a look at the first ones before they are taken."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._held: list[bytes] = []
        self._torn: Torn | None = None
        self.bytes = 0

    def peek(self, size: int) -> bytes:
        """The first bytes, at least `size` of them where there are as many."""
        held = sum(map(len, self._held))
        while held < size and self._torn is None:
            try:
                chunk = next(self._chunks, b"")
            except Torn as torn:
                self._torn = torn
                break
            if not chunk:
                break
            self._held.append(chunk)
            held += len(chunk)
        return b"".join(self._held)

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._held:
            self.bytes += len(chunk)
            yield chunk
        self._held = []
        if self._torn is not None:
            raise self._torn
        for chunk in self._chunks:
            self.bytes += len(chunk)
            yield chunk


def read_chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The stream as it lies on disk."""
    while chunk := stream.read(READ_BYTES):
        yield chunk


def unpack(source: Source) -> tuple[list[str], Source]:
    """Names of the wrappers, outermost first, and what is inside; raises `Torn` while it is read."""
    names: list[str] = []
    for _ in range(DEEPEST):
        head = source.peek(4)
        if head.startswith(GZIP):
            names.append("gzip")
            source = Source(_guarded(source, _gunzip(source), "gzip"))
        elif head.startswith(ZSTD):
            names.append("zstd")
            source = Source(_guarded(source, _unzstd(source), "zstd"))
        else:
            break
    return names, source


def _guarded(packed: Source, chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The same bytes in chunks of `READ_BYTES`, whatever the packing is made of: a million members, or none."""
    held = bytearray()
    grown = 0
    torn: Torn | None = None
    try:
        for chunk in chunks:
            held += chunk
            grown += len(chunk)
            while len(held) >= READ_BYTES:
                yield bytes(held[:READ_BYTES])
                del held[:READ_BYTES]
            if grown > BOMB_BYTES and grown > BOMB_RATIO * packed.bytes:
                raise Torn("compression_bomb")
    except (zlib.error, zstandard.ZstdError):
        torn = Torn(f"torn_{name}")
    except Torn as found:
        torn = found
    if held:
        yield bytes(held)
    if torn is not None:
        raise torn


def _slices(packed: Source, name: str) -> Iterator[bytes]:
    step = SLICE_BYTES[name]
    for chunk in packed:
        for start in range(0, len(chunk), step):
            yield chunk[start : start + step]


def _gunzip(packed: Source) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    for piece in _slices(packed, "gzip"):
        before = inflate.copy()
        try:
            inflate, grown = _inflated(inflate, piece)
        except zlib.error:
            yield _up_to_damage(before, piece)
            raise
        yield grown
    if not inflate.eof:
        raise Torn("torn_gzip")


def _inflated(inflate: zlib._Decompress, piece: bytes) -> tuple[zlib._Decompress, bytes]:
    """What a piece holds, and the state behind it; members follow each other, with padding between them."""
    grown: list[bytes] = []
    while piece:
        if inflate.eof:
            piece = piece.lstrip(b"\0")
            if not piece:
                break
            inflate = zlib.decompressobj(wbits=31)
        grown.append(inflate.decompress(piece))
        piece = inflate.unused_data
    return inflate, b"".join(grown)


def _up_to_damage(inflate: zlib._Decompress, piece: bytes) -> bytes:
    """What is good in a piece that is damaged further on: its bytes one by one."""
    good: list[bytes] = []
    try:
        for at in range(len(piece)):
            inflate, grown = _inflated(inflate, piece[at : at + 1])
            good.append(grown)
    except zlib.error:
        pass
    return b"".join(good)


def _unzstd(packed: Source) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor()
    expand = decompressor.decompressobj()
    for piece in _slices(packed, "zstd"):
        while piece:
            if expand.eof:
                expand = decompressor.decompressobj()
            if grown := expand.decompress(piece):
                yield grown
            piece = expand.unused_data if expand.eof else b""
    if not expand.eof:
        raise Torn("torn_zstd")
