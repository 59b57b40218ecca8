"""Bytes kept outside of memory, encrypted under a key that only this process has: a disk never sees raw text."""

from __future__ import annotations

import os
import tempfile
import weakref
from multiprocessing.reduction import DupFd
from typing import IO, Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BITS = 256
NONCE_BYTES = 12

Place = tuple[int, int]
"""Offset and length of a block in the file."""


class Sealed:
    """A file without a name, of blocks that are written once and read as often as wanted.

    A process that is started gets it as an argument, with its key, and may read it.
    """

    def __init__(self) -> None:
        self._open(AESGCM.generate_key(KEY_BITS), tempfile.TemporaryFile(), [])  # noqa: SIM115 - closed with this object

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return sum(self.places[-1]) if self.places else 0

    def put(self, block: bytes | memoryview) -> int:
        """Keep a block; return its number. Raises OSError where the disk is full."""
        number, at = len(self.places), self.size
        sealed = memoryview(self._cipher.encrypt(_nonce(number), block, None))
        self.places.append((at, len(sealed)))
        while sealed:
            written = os.pwrite(self._file.fileno(), sealed, at)
            sealed, at = sealed[written:], at + written
        return number

    def get(self, number: int) -> bytes:
        """The block of a number."""
        start, size = self.places[number]
        return self._cipher.decrypt(_nonce(number), os.pread(self._file.fileno(), size, start), None)

    def _open(self, key: bytes, file: IO[bytes], places: list[Place]) -> None:
        self._key, self._file = key, file
        self.places = places
        self._cipher = AESGCM(key)
        weakref.finalize(self, file.close)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self._key, DupFd(self._file.fileno()), self.places)


def _reopened(key: bytes, file: Any, places: list[Place]) -> Sealed:
    sealed = Sealed.__new__(Sealed)
    sealed._open(key, os.fdopen(file.detach(), "rb"), places)
    return sealed


def _nonce(number: int) -> bytes:
    """A number of its own for each block, as AES-GCM asks: blocks are never written again."""
    return number.to_bytes(NONCE_BYTES, "big")
