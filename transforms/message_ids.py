"""Ids of very many messages in a few bytes each: twenty-eight instead of two hundred in a list and a dictionary."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from transforms.identity import ID_BYTES

LEAST = 1 << 10
"""Places of the smallest table."""

FULL = 0.6
"""Share of the places that are taken before there are twice as many."""


class MessageIds:
    """Ids by number, and numbers by key: the key is the id, or another of the same length for a message told apart
    from one with the same id. Keys are found by open addressing; being hashes, they need no other."""

    def __init__(self) -> None:
        self._ids = bytearray()
        self._places = array("I", bytes(4 * LEAST))  # number + 1, zero where free
        self._keys: dict[int, bytes] = {}  # of messages whose key is not their id

    def __len__(self) -> int:
        return len(self._ids) // ID_BYTES

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._ids[number * ID_BYTES : (number + 1) * ID_BYTES])

    def __iter__(self) -> Iterator[bytes]:
        return (bytes(self._ids[at : at + ID_BYTES]) for at in range(0, len(self._ids), ID_BYTES))

    def made_once(self) -> dict[int, bytes]:
        """The same by number, for those who ask for the same ones again and again: a trace's calls do."""
        return _MadeOnce(self)

    def key(self, number: int) -> bytes:
        """The key of a number."""
        return self._keys.get(number) or self[number]

    def add(self, message_id: bytes, key: bytes) -> tuple[int, bool]:
        """The number of a key, and whether it is a new one."""
        number = len(self._ids) // ID_BYTES
        if number >= FULL * len(self._places):
            self._grow()
        place = self._place(key)
        if taken := self._places[place]:
            return taken - 1, False
        self._ids += message_id
        if key != message_id:
            self._keys[number] = key
        self._places[place] = number + 1
        return number, True

    def _place(self, key: bytes) -> int:
        """Where a key stands, or would."""
        places, ids, keys = self._places, self._ids, self._keys
        mask = len(places) - 1
        place = int.from_bytes(key[:8], "big") & mask
        while taken := places[place]:
            end = taken * ID_BYTES
            if ids.startswith(key, end - ID_BYTES, end) if taken - 1 not in keys else keys[taken - 1] == key:
                break
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        places = self._places = array("I", bytes(8 * len(self._places)))
        mask = len(places) - 1
        for number, own in enumerate(self):
            place = int.from_bytes(self._keys.get(number, own)[:8], "big") & mask
            while places[place]:  # by another key: each is there once
                place = (place + 1) & mask
            places[place] = number + 1


class _MadeOnce(dict[int, bytes]):
    def __init__(self, ids: MessageIds) -> None:
        super().__init__()
        self._ids = ids

    def __missing__(self, number: int) -> bytes:
        made = self[number] = self._ids[number]
        return made
