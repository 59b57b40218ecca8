"""Keeps what calls repeat whose messages are spread over attributes: OpenInference's `llm.input_messages.N…`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw, Struct

from transforms.readers.histories import (
    BEGINNING,
    NUL,
    PLAIN,
    REMEMBERED_BYTES,
    History,
    Item,
    Kept,
    Known,
    NotPlain,
    item_ends,
    plain_value,
    split_items,
)
from transforms.readers.otlp import any_value
from transforms.readers.otlp_flat import gather_openinference

FLAT = "llm.input_messages"
START = FLAT + "."

CONTENT = START + "0.message.content"
KEPT = tuple((f"{START}0.message.{name}", name) for name in ("role", "name", "tool_call_id"))
PLAIN_MESSAGE = frozenset((CONTENT, *(key for key, _ in KEPT)))

Pair = tuple[str, Any]


class Attribute(Struct, forbid_unknown_fields=True):
    """An attribute whose value is not decoded yet."""

    key: str
    value: Raw


_attribute = msgspec.json.Decoder(Attribute).decode
_encode = msgspec.json.Encoder().encode
_string = msgspec.json.Decoder(str).decode

TEXT = b'{"stringValue":'
"""How nearly all values begin."""


@dataclass(slots=True)
class _Group:
    """A message: its attributes from `first` on, up to `end`."""

    first: int
    end: int
    item: Item


@dataclass(slots=True)
class _Run(Known):
    """A span's attributes as they were last seen, and the messages among them."""

    groups: list[_Group] = field(default_factory=list)
    others: list[tuple[int, Pair]] = field(default_factory=list)


class FlatHistories:
    """Attributes of the spans of one export, decoded only from where they part from those of an earlier span."""

    def __init__(self) -> None:
        self._runs = Kept[_Run]()
        self._items: dict[bytes, Item] = {}
        self._bytes = 0
        self.met = False
        """Whether the last span that was read had any such messages."""

    def read(self, trace: str, raw: bytes) -> dict[str, Any]:
        """The attributes of a span from the JSON of their list, its messages as one `History` under their prefix.

        Where they cannot be told apart so easily (a number or a value is missing) they are left as they are. Raises
        NotPlain.
        """
        key = (trace, raw[:BEGINNING])
        known = self._runs.get(key) or _Run()
        shared = known.shared_with(raw)
        at = known.ends[shared - 1] if shared else 1
        if raw.find(NUL, at) >= 0:
            raise NotPlain
        fresh = split_items(raw[at:], PLAIN, bool(shared))
        pairs = known.items[:shared] + [_pair(one) for one in fresh]
        groups = _kept_groups(known.groups, pairs, shared)
        at_others = groups[-1].end if groups else 0
        others = known.others[: bisect_left(known.others, at_others, key=_place)]
        self.met = self._group(pairs, groups, others)
        if fresh:
            ends, _ = item_ends(raw, at, fresh, PLAIN, len(pairs))
            if len(ends) == len(fresh):
                run = _Run(raw[: ends[-1]], known.ends[:shared] + ends, items=pairs, groups=groups, others=others)
                self._runs.keep(key, run)
        if not self.met:
            return dict(pairs)
        said = dict(map(_pair_of, others))
        said[FLAT] = History([group.item for group in groups])
        return said

    def _group(self, pairs: list[Pair], groups: list[_Group], others: list[tuple[int, Pair]]) -> bool:
        """Add the messages and other attributes that are lacking; whether each message has its number and values."""
        at, first, number = groups[-1].end if groups else 0, -1, ""
        for place in range(at, len(pairs) + 1):
            key = pairs[place][0] if place < len(pairs) else ""
            found = number_of(key)
            if not found and place < len(pairs):
                others.append((place, pairs[place]))
            if found == number:
                continue
            if number:
                if number != str(len(groups)) or any(value is None for _, value in pairs[first:place]):
                    return False
                groups.append(_Group(first, place, self._item(pairs[first:place], number)))
            first, number = place, found
        return bool(groups)

    def _item(self, pairs: list[Pair], number: str) -> Item:
        """One message by itself, as if it were the first."""
        rests = {START + "0" + key[len(START) + len(number) :]: value for key, value in pairs}
        key = _encode(rests)
        found = self._items.get(key)
        if found is None:
            odd: set[str] = set()
            value = _plain_message(rests) or gather_openinference(rests, FLAT, odd)[0]
            found = Item(value, odd)
            self._bytes += len(key)
            if self._bytes > REMEMBERED_BYTES:
                self._items.clear()
                self._bytes = len(key)
            self._items[key] = found
        return found


def _plain_message(said: dict[str, Any]) -> dict[str, Any]:
    """A message that is nothing but text, as `gather_openinference` gives it; empty for others."""
    if not said.keys() <= PLAIN_MESSAGE:
        return {}
    kept = {name: said[key] for key, name in KEPT if key in said}
    return {**kept, "content": said.get(CONTENT, ""), "tool_calls": []}


def _kept_groups(groups: list[_Group], pairs: list[Pair], shared: int) -> list[_Group]:
    """The messages whose attributes are all among the shared ones, and do not go on behind them."""
    kept = groups[: bisect_right(groups, shared, key=lambda group: group.end)]
    if not kept or not kept[-1].end == shared < len(pairs):
        return kept
    goes_on = number_of(pairs[kept[-1].first][0]) == number_of(pairs[shared][0])
    return kept[:-1] if goes_on else kept


def number_of(key: str) -> str:
    """The number of the message that an attribute belongs to; empty for all others, `-` where it cannot be told."""
    return (key[len(START) :].partition(".")[0] or "-") if key.startswith(START) else ""


def _place(other: tuple[int, Pair]) -> int:
    return other[0]


def _pair_of(other: tuple[int, Pair]) -> Pair:
    return other[1]


def decoded_value(raw: bytes) -> Any:
    """The plain value of an AnyValue in JSON. Raises NotPlain."""
    try:
        return _string(raw[len(TEXT) : -1]) if raw.startswith(TEXT) else any_value(plain_value(raw))
    except (ValueError, UnicodeError):
        raise NotPlain from None


def _pair(raw: bytes) -> Pair:
    attribute = _attribute(raw)
    return attribute.key, decoded_value(bytes(attribute.value))
