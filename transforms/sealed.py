"""Bytes kept outside of memory, encrypted under a key that only this process has: a disk never sees raw text."""

from __future__ import annotations

import tempfile
import weakref

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BITS = 256
NONCE_BYTES = 12
TAG_BYTES = 16

Place = tuple[int, int]
"""Offset and length of a block in the file."""


class Sealed:
    """A file without a name, of blocks that are written once and read as often as wanted."""

    def __init__(self) -> None:
        self._cipher = AESGCM(AESGCM.generate_key(KEY_BITS))
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this object
        weakref.finalize(self, self._file.close)
        self._places: list[Place] = []
        self._end = 0

    def put(self, block: bytes) -> int:
        """Keep a block; return its number. Raises OSError where the disk is full."""
        number = len(self._places)
        self._file.seek(self._end)
        self._file.write(self._cipher.encrypt(_nonce(number), block, None))
        self._places.append((self._end, len(block) + TAG_BYTES))
        self._end += len(block) + TAG_BYTES
        return number

    def get(self, number: int) -> bytes:
        """The block of a number."""
        start, size = self._places[number]
        self._file.seek(start)
        return self._cipher.decrypt(_nonce(number), self._file.read(size), None)


def _nonce(number: int) -> bytes:
    """A number of its own for each block, as AES-GCM asks: blocks are never written again."""
    return number.to_bytes(NONCE_BYTES, "big")
