"""Keeps what the calls of a trace repeat: lists of messages are decoded only from where they part from earlier ones."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import msgspec

from transforms.readers.responses import is_items
from transforms.records import Message

REMEMBERED_BYTES = 16 << 20
"""JSON of one kind that is remembered before it is forgotten: what is needed again soon is soon there again."""

TRACES = 512
"""Histories that are kept; the one that was longest unused goes first, so that traces leave when they end."""

BEGINNING = 192
"""Bytes by which the histories of one trace are told apart: agents have system prompts of their own."""

SHARED_BYTES = 256
"""Bytes from which on a value is looked for among those known; shorter ones are decoded in the same time."""

PLAIN, ESCAPED = b"[", b'"['
"""How a list begins as JSON, and as JSON in a JSON string."""

CLOSERS = b'}]"'
"""How items end whose end shows by itself, while a number may go on."""

NUL = b"\\u0000"

_value = msgspec.json.Decoder().decode
_string = msgspec.json.Decoder(str).decode
_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode
_escaped = msgspec.json.Encoder().encode


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


class Item:
    """An item of a list of messages: its value and, once somebody asked, its messages and what was odd about them."""

    __slots__ = ("messages", "odd", "of_responses", "value")

    def __init__(self, value: Any, odd: set[str]) -> None:
        self.value = value
        self.odd = odd
        self.messages: list[Message] | None = None
        self.of_responses = is_items([value])


class History(list[Any]):
    """A decoded list of messages whose items are shared with other calls. Nobody may change it."""

    __slots__ = ("items",)

    def __init__(self, items: list[Item]) -> None:
        super().__init__([item.value for item in items])
        self.items = items


@dataclass(slots=True)
class Known:
    """A list as it was last seen: its text up to the end of its last item; where items end, and how many did there."""

    text: bytes = b""
    ends: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)

    def shared_with(self, raw: bytes) -> int:
        """How many of `ends` lie in the beginning that `raw` has in common with this list."""
        low = self._same_ends(raw)
        return low if low and raw[self.ends[low - 1]] in b",]" else 0

    def _same_ends(self, raw: bytes) -> int:
        ends, text = self.ends, self.text
        if not ends or raw.startswith(text):
            return len(ends)
        low, high, same = 0, len(ends), 0
        while low < high:
            middle = (low + high) // 2
            if raw[same : ends[middle]] == text[same : ends[middle]]:
                low, same = middle + 1, ends[middle]
            else:
                high = middle
        return low


K = TypeVar("K", bound=Known)


class Kept(Generic[K]):
    """Lists by trace and beginning, as many as may be remembered."""

    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[str, bytes], K] = OrderedDict()
        self._bytes = 0

    def get(self, key: tuple[str, bytes]) -> K | None:
        """The list that was kept last under a key."""
        found = self._lists.get(key)
        if found is not None:
            self._lists.move_to_end(key)
        return found

    def keep(self, key: tuple[str, bytes], known: K) -> None:
        """Keep a list in place of the one before; those that nobody asked for longest go."""
        before = self._lists.pop(key, None)
        self._lists[key] = known
        self._bytes += len(known.text) - (len(before.text) if before else 0)
        while self._bytes > REMEMBERED_BYTES or len(self._lists) > TRACES:
            _, gone = self._lists.popitem(last=False)
            self._bytes -= len(gone.text)


class Histories:
    """The lists of messages of one export, in whatever order its calls stand, and other values that they repeat."""

    def __init__(self) -> None:
        self._lists = Kept[Known]()
        self._items: dict[bytes, Item] = {}
        self._values: dict[bytes, Any] = {}
        self._itemised = self._valued = 0

    def value(self, raw: bytes) -> Any:
        """The value of JSON; equal text that is long gives the same object. Raises NotPlain."""
        if len(raw) < SHARED_BYTES:
            return plain_value(raw)
        found = self._values.get(raw)
        if found is None:
            found = plain_value(raw)
            self._valued += len(raw)
            if self._valued > REMEMBERED_BYTES:
                self._values.clear()
                self._valued = len(raw)
            self._values[raw] = found
        return found

    def read(self, trace: str, raw: bytes, opening: bytes = PLAIN) -> History:
        """The list that `raw` is the JSON of: `PLAIN`, or `ESCAPED` with its quotes. Raises NotPlain."""
        key = (trace, raw[:BEGINNING])
        known = self._lists.get(key) or Known()
        shared = known.shared_with(raw)
        at, items = (known.ends[shared - 1], known.items[: known.counts[shared - 1]]) if shared else (len(opening), [])
        fresh = split_items(raw[at:], opening, bool(shared))
        if fresh:
            items = items + [self._item(one) for one in fresh]
            ends, counts = item_ends(raw, at, fresh, opening, len(items))
            if ends:
                known = Known(raw[: ends[-1]], known.ends[:shared] + ends, known.counts[:shared] + counts, items)
                self._lists.keep(key, known)
        return History(items)

    def _item(self, raw: bytes) -> Item:
        found = self._items.get(raw)
        if found is None:
            found = Item(plain_value(raw), set())
            self._itemised += len(raw)
            if self._itemised > REMEMBERED_BYTES:
                self._items.clear()
                self._itemised = len(raw)
            self._items[raw] = found
        return found


def split_items(rest: bytes, opening: bytes, goes_on: bool) -> list[bytes]:
    """The items of what is left of a list behind the ones that it shares."""
    if goes_on:
        mark, rest = rest[:1], rest[1:]
        if mark == b"]" and rest == opening[:-1]:
            return []
        if mark != b"," or rest[:1] == b"]" or rest[:2] == b" ]":
            raise NotPlain
    try:
        if opening is ESCAPED:
            rest = _string(b'"' + rest).encode()
        return [bytes(one) for one in _raws(b"[" + rest)]
    except (ValueError, UnicodeError):
        raise NotPlain from None


def item_ends(raw: bytes, at: int, fresh: list[bytes], opening: bytes, count: int) -> tuple[list[int], list[int]]:
    """Where in `raw` the items behind `at` end, and how many items did there; `count` is that of all."""
    ends: list[int] = []
    for one in fresh:
        if opening is ESCAPED:
            one = _escaped(one.decode())[1:-1]
        start = next((at + gap for gap in (0, 1, 2) if raw.startswith(one, at + gap)), -1)
        if start < 0:
            break
        at = start + len(one)
        ends.append(at)
    counts = [*range(count - len(fresh) + 1, count - len(fresh) + 1 + len(ends))]
    last = len(raw) - len(opening)
    if len(ends) < len(fresh) and raw[last : last + 1] == b"]":  # characters that JSON may escape in two ways
        ends.append(last)
        counts.append(count)
    sound = [place for place, end in enumerate(ends) if raw[end - 1] in CLOSERS]
    return [ends[place] for place in sound], [counts[place] for place in sound]
