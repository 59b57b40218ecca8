"""Remembers the messages of an export, since every call of a model repeats its whole history."""

from __future__ import annotations

from typing import Any

import msgspec

from transforms.readers.messages import is_pair, read_message
from transforms.records import Message

REMEMBERED_BYTES = 64 << 20
"""JSON of messages that is remembered before all is forgotten and memory starts afresh."""


class Seen:
    """Reads lists of messages, each distinct one once: equal messages of an export are one object."""

    def __init__(self) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._known: dict[bytes, tuple[list[Message], set[str]]] = {}
        self._bytes = 0

    def read(self, value: Any, odd: set[str]) -> list[Message]:
        """Messages of a list, of one message, or of bare text said by the user; oddities go to `odd`."""
        if not isinstance(value, list) or is_pair(value):
            return read_message(value, odd)
        messages: list[Message] = []
        for item in value:
            known, noted = self._read(item)
            messages += known
            odd |= noted
        return messages

    def _read(self, item: Any) -> tuple[list[Message], set[str]]:
        try:
            key = self._encode(item)
        except (OverflowError, RecursionError, TypeError):  # integers beyond 64 bits, very deep nesting
            noted: set[str] = set()
            return read_message(item, noted), noted
        found = self._known.get(key)
        if found is None:
            noted = set()
            found = (read_message(item, noted), noted)
            self._remember(key, found)
        return found

    def _remember(self, key: bytes, found: tuple[list[Message], set[str]]) -> None:
        self._bytes += len(key)
        if self._bytes > REMEMBERED_BYTES:
            self._known.clear()
            self._bytes = len(key)
        self._known[key] = found
