"""Rows of records kept outside of memory, in sealed blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import msgspec

from transforms.sealed import Sealed

BLOCK_BYTES = 1 << 16
PACKED, WRITTEN = b"p", b"w"

Row = TypeVar("Row")

_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode


class Blocks(Generic[Row]):
    """Rows of one type that are encoded one by one and sealed together."""

    def __init__(self, sealed: Sealed, row: Any, numbers: list[int] | None = None) -> None:
        """`numbers` are those of blocks that were written already."""
        self._sealed, self._row = sealed, row
        self.numbers = numbers or []
        self._rows: list[bytes] = []
        self._bytes = 0

    def add(self, row: Row) -> None:
        """Keep a row. Raises OSError where the disk is full."""
        encoded = encoded_row(row)
        self._rows.append(encoded)
        self._bytes += len(encoded)
        if self._bytes >= BLOCK_BYTES:
            self.seal()

    def seal(self) -> None:
        """Put what waits in memory into a block. Raises as `add` does."""
        if self._rows:
            self.numbers.append(self._sealed.put(_pack(self._rows)))
            self._rows, self._bytes = [], 0

    def __iter__(self) -> Iterator[Row]:
        decoded = row_decoder(self._row)
        for number in (*self.numbers, None):
            yield from map(decoded, self._rows if number is None else _unpack(self._sealed.get(number)))


def encoded_row(value: Any) -> bytes:
    """`value` in a few bytes; what msgpack cannot hold (integers beyond 64 bits, lone surrogates) as JSON."""
    try:
        return PACKED + _pack(value)
    except (OverflowError, TypeError, ValueError, RecursionError):
        plain = msgspec.to_builtins(value)
        return WRITTEN + json.dumps(plain, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


def row_decoder(row: Any) -> Callable[[bytes], Any]:
    """What makes values of a type out of what `encoded_row` gives."""
    unpack = msgspec.msgpack.Decoder(row).decode

    def decoded(encoded: bytes) -> Any:
        if encoded[:1] == PACKED:
            return unpack(encoded[1:])
        return msgspec.convert(json.loads(encoded[1:].decode("utf-8", "surrogatepass")), row)

    return decoded
