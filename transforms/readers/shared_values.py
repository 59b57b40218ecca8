"""Values that calls repeat: found by how they begin, decoded once, and shared."""

from __future__ import annotations

from typing import Any

import msgspec

from transforms.readers.writings import CLOSERS

REMEMBERED_BYTES = 16 << 20
"""JSON of one kind that is remembered before it is forgotten: what is needed again soon is soon there again."""

SHARED_BYTES = 256
"""Bytes from which on a value is looked for among those known; shorter ones are decoded in the same time."""

BEGINNING = 96
"""Bytes by which values are looked for whose end is not known."""

ALIKE = 16
"""Values that begin alike and are kept; the oldest goes."""

NUL = b"\\u0000"

_value = msgspec.json.Decoder().decode


class NotPlain(ValueError):
    """JSON that has to be decoded leniently and as a whole: there is something in it that strict parsers refuse."""


def plain_value(raw: bytes) -> Any:
    """The value of JSON without oddities; raises NotPlain, or RecursionError, for all other."""
    if NUL in raw:
        raise NotPlain
    try:
        return _value(raw)
    except (ValueError, UnicodeError):
        raise NotPlain from None


class Value:
    """JSON and its value, which calls share and nobody may change."""

    __slots__ = ("text", "value")

    def __init__(self, text: bytes, value: Any) -> None:
        self.text = text
        self.value = value


class Values:
    """Long values that calls repeat."""

    def __init__(self) -> None:
        self._known: dict[bytes, list[Value]] = {}
        self._bytes = 0

    def starting(self, text: bytes, at: int) -> Value | None:
        """The known value that stands in `text` at a place."""
        for one in self._known.get(text[at : at + BEGINNING], ()):
            if text.startswith(one.text, at):
                return one
        return None

    def read(self, raw: bytes) -> Any:
        """The value of JSON; equal text gives the same object. Raises NotPlain."""
        known = self._same(raw)
        return self._new(raw, plain_value(raw)) if known is None else known.value

    def shared(self, raw: bytes, value: Any) -> Any:
        """The value of JSON that was decoded already, or the one that is known of the same text."""
        known = self._same(raw)
        return self._new(raw, value) if known is None else known.value

    def _same(self, raw: bytes) -> Value | None:
        found = self.starting(raw, 0)
        return found if found is not None and len(found.text) == len(raw) else None

    def _new(self, raw: bytes, value: Any) -> Any:
        self.keep(Value(raw, value))
        return value

    def keep(self, one: Value) -> None:
        """Remember a value; all are forgotten when they are too many. Its end must show by itself."""
        if one.text[-1] not in CLOSERS:
            return
        self._bytes += len(one.text)
        if self._bytes > REMEMBERED_BYTES:
            self._known.clear()
            self._bytes = len(one.text)
        alike = self._known.setdefault(one.text[:BEGINNING], [])
        alike.insert(0, one)
        del alike[ALIKE:]
