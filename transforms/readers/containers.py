"""Unpacks what a file is wrapped in: gzip and zstd, one inside the other if need be, in bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

import zstandard

READ_BYTES = 256 << 10
"""Bytes a read asks for: large enough that Python's overhead vanishes, small enough for the processor's cache."""

SLICE_BYTES = 4 << 10
"""Compressed bytes fed to zstd at a time: one slice of a bomb can grow to 128 MiB, no further."""

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
        while sum(map(len, self._held)) < size and self._torn is None:
            try:
                chunk = next(self._chunks, b"")
            except Torn as torn:
                self._torn = torn
                break
            if not chunk:
                break
            self._held.append(chunk)
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
    grown = 0
    try:
        for chunk in chunks:
            yield chunk
            grown += len(chunk)
            if grown > BOMB_BYTES and grown > BOMB_RATIO * packed.bytes:
                raise Torn("compression_bomb")
    except (zlib.error, zstandard.ZstdError):
        raise Torn(f"torn_{name}") from None


def _gunzip(packed: Source) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)
    for chunk in packed:
        while chunk:
            if inflate.eof:
                chunk = chunk.lstrip(b"\0")  # padding between or after members
                if not chunk:
                    break
                inflate = zlib.decompressobj(wbits=31)
            before = inflate.copy()
            try:
                grown = inflate.decompress(chunk, READ_BYTES)
            except zlib.error:
                yield from _up_to_damage(before, chunk)
                raise
            if grown:
                yield grown
            chunk = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
    while not inflate.eof and (grown := inflate.decompress(b"", READ_BYTES)):
        yield grown
    if not inflate.eof:
        raise Torn("torn_gzip")


def _up_to_damage(inflate: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    """What is good in a chunk that is damaged further on: its bytes one by one."""
    try:
        for at in range(len(chunk)):
            yield inflate.decompress(chunk[at : at + 1])
    except zlib.error:
        return


def _unzstd(packed: Source) -> Iterator[bytes]:
    expand = zstandard.ZstdDecompressor().decompressobj()
    for chunk in packed:
        for start in range(0, len(chunk), SLICE_BYTES):
            piece = chunk[start : start + SLICE_BYTES]
            while piece:
                if expand.eof:
                    expand = zstandard.ZstdDecompressor().decompressobj()
                if grown := expand.decompress(piece):
                    yield grown
                piece = expand.unused_data if expand.eof else b""
    if not expand.eof:
        raise Torn("torn_zstd")
