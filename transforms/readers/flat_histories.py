"""Keeps what calls repeat whose messages are spread over attributes: OpenInference's `llm.input_messages.N…`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from transforms.readers.cuts import Cut, Cutter
from transforms.readers.histories import Histories, History, Item
from transforms.readers.otlp import any_value
from transforms.readers.otlp_flat import gather_openinference
from transforms.readers.shared_values import SHARED_BYTES, NotPlain, Value, plain_value
from transforms.readers.writings import FLAT, MESSAGES, START, number_of

TOOLS = "llm.tools."


class Attribute(Struct, forbid_unknown_fields=True):
    """An attribute whose value is not decoded yet."""

    key: str
    value: Raw


_attributes = msgspec.json.Decoder(list[Attribute]).decode
_encode = msgspec.json.Encoder().encode
_objects = msgspec.json.Decoder(list[dict[str, Any]]).decode
_GAP = re.compile(rb',\s?"value":\s?')
_CLOSE = re.compile(rb"\s?\}")
_OPEN = re.compile(rb'\{\s?"key":\s?\Z')
LONGEST_OPENING = 12
"""Bytes before the name of an attribute that belong to it."""


class FlatReader:
    """Attributes of a document's spans, in their order, decoded only where they part from those of earlier spans."""

    def __init__(self, text: bytes, cut: Cut, cutter: Cutter, histories: Histories) -> None:
        self._text, self._cut, self._cutter, self._histories = text, cut, cutter, histories
        self._at = 0

    def read(self, trace: str, pairs: list[Attribute]) -> dict[str, Any]:
        """The messages and tools of a span, the messages as one `History` under their prefix.

        Where they cannot be told apart so easily (a number or a value is missing) they are left as they are. Raises
        NotPlain where that cannot be done any more.
        """
        said: dict[str, Any] = {}
        known: History | None = None
        at = self._at
        messages: list[Attribute] = []
        tools: list[Attribute] = []
        for pair in pairs:
            if (number := self._cutter.number(pair.key)) >= 0:
                if not self._cut.is_history(number):
                    said |= self._cut.value(number)
                    continue
                if messages or known:
                    raise NotPlain
                known = self._cut.history(number)
                at = self._text.index(b"}", self._text.index(pair.key.encode(), self._at)) + 1
            elif pair.key.startswith(START):
                messages.append(pair)
            elif pair.key.startswith(TOOLS):
                tools.append(pair)
        self._read_messages(trace, messages, known, at, said)
        if tools:
            self._read_tools(tools, said)
        return said

    def _read_messages(
        self, trace: str, pairs: list[Attribute], known: History | None, at: int, said: dict[str, Any]
    ) -> None:
        values = decoded([(pair.key, bytes(pair.value)) for pair in pairs])
        groups = None
        if len(values) == len(pairs) and None not in values.values():
            groups = _groups(pairs, len(known) if known is not None else 0)
        if groups is None:
            if known is not None:
                raise NotPlain
            said |= values
        elif groups:
            fresh = [self._item(group, values) for group in groups]
            text = self._text_of(pairs, at, is_first=known is None)
            said[MESSAGES] = self._histories.keep(FLAT, trace.encode(), known, fresh, text)
        elif known is not None:
            said[MESSAGES] = known

    def _item(self, pairs: list[Attribute], values: dict[str, Any]) -> Item:
        """One message by itself, as if it were the first."""
        lead = len(START) + len(number_of(pairs[0].key))
        rests = {START + "0" + pair.key[lead:]: values[pair.key] for pair in pairs}
        key = b"." + _encode(rests)  # no JSON of an item begins like this
        found = self._histories.known_item(key)
        if found is None:
            odd: set[str] = set()
            found = Item(gather_openinference(rests, MESSAGES, odd)[0], odd)
            self._histories.keep_item(key, found)
        return found

    def _read_tools(self, pairs: list[Attribute], said: dict[str, Any]) -> None:
        values = decoded([(pair.key, bytes(pair.value)) for pair in pairs])
        said |= values
        text = self._text_of(pairs, self._at, is_first=True)
        if len(text) >= SHARED_BYTES:
            self._histories.values.keep(Value(text, values))

    def _text_of(self, pairs: list[Attribute], at: int, is_first: bool) -> bytes:
        """How attributes stand in the document, with what stands before them; empty where others are among them."""
        if is_first:
            place = self._text.find(b'"%s"' % pairs[0].key.encode(), at)
            opening = _OPEN.search(self._text, max(at, place - LONGEST_OPENING), max(place, 0))
            if opening is None:
                return b""
            at = opening.start()
        end = self._end(pairs[-1], at)
        if end < 0 or not _is_all(text := self._text[at:end], pairs):
            return b""
        self._at = end
        return text

    def _end(self, pair: Attribute, at: int) -> int:
        """Where an attribute ends; -1 where that cannot be told."""
        name = b'"%s"' % pair.key.encode()
        place = self._text.find(name, at)
        gap = _GAP.match(self._text, place + len(name)) if place >= 0 else None
        if gap is None or not self._text.startswith(raw := bytes(pair.value), gap.end()):
            return -1
        close = _CLOSE.match(self._text, gap.end() + len(raw))
        return close.end() if close is not None else -1


def _groups(pairs: list[Attribute], number: int) -> list[list[Attribute]] | None:
    """The attributes of each message, from that of a number on; None where one is missing or comes in pieces."""
    groups: list[list[Attribute]] = []
    current = ""
    for pair in pairs:
        found = number_of(pair.key)
        if found != current:
            if found != str(number + len(groups)):
                return None
            groups.append([])
            current = found
        groups[-1].append(pair)
    return groups


def _is_all(text: bytes, group: list[Attribute]) -> bool:
    """Whether a text is these attributes, with or without a comma in front, and no others."""
    try:
        told = _attributes(b"[" + text.lstrip(b" ,") + b"]")
    except (ValueError, UnicodeError):
        return False
    return [(one.key, bytes(one.value)) for one in told] == [(one.key, bytes(one.value)) for one in group]


def decoded(pairs: Sequence[tuple[str, bytes]]) -> dict[str, Any]:
    """Attributes, whose AnyValues are JSON yet, as plain values; where a key comes twice the last one counts.

    Raises NotPlain.
    """
    try:
        told = _objects(b"[" + b",".join([raw for _, raw in pairs]) + b"]")
    except (ValueError, UnicodeError):
        told = []
    if len(told) != len(pairs):  # some are no objects
        return {key: any_value(plain_value(raw)) for key, raw in pairs}
    return {
        key: one["stringValue"] if len(one) == 1 and "stringValue" in one else any_value(one)
        for (key, _), one in zip(pairs, told, strict=True)
    }
