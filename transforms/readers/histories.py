"""Keeps what the calls of a trace repeat: lists of messages are read only from where they part from earlier ones."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from typing import Any

import msgspec

from transforms.readers.responses import is_items
from transforms.readers.shared_values import NUL, REMEMBERED_BYTES, NotPlain, Values, plain_value
from transforms.readers.writings import CLOSERS, ESCAPED, PLAIN, Writing
from transforms.records import Message

TRACES = 512
"""Traces whose histories are kept; the one that was longest unused goes first, so that traces leave when they end."""

BRANCHES = 16
"""Ways in which a history may go on that are kept: agents of one trace, retries, edits. The oldest goes."""

_GOES_ON = re.compile(rb" ?, ?(?![ \]])")
_values = msgspec.json.Decoder(list[Any]).decode
_string = msgspec.json.Decoder(str).decode
_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Item:
    """An item of a list of messages: its value and, once somebody asked, its messages and what was odd about them."""

    __slots__ = ("messages", "odd", "of_responses", "value")

    def __init__(self, value: Any, odd: set[str]) -> None:
        self.value = value
        self.odd = odd
        self.messages: list[Message] | None = None
        self.of_responses = isinstance(value, dict) and "type" in value and is_items([value])


class Node:
    """Items of a history as they were written, with the comma before them, and what came behind them so far."""

    __slots__ = ("_ends", "branches", "items", "text")

    def __init__(self, text: bytes, items: list[Item]) -> None:
        self.text = text
        self.items = items
        self.branches: list[Node] = []
        self._ends: list[int] | None = None

    def ends(self, how: Writing) -> list[int]:
        """Where its items end in its text; the last may be missing."""
        if self._ends is None:
            self._ends = how.ends(self.text)
        return self._ends

    def cut(self, items: int, end: int) -> None:
        """Leave out the first items, which end there."""
        self.text, self.items, self._ends = self.text[end:], self.items[items:], None


class History(list[Any]):
    """A decoded list of messages whose items are shared with other calls. Nobody may change it.

    `text` is how they were written. Whoever reads its messages keeps them in `messages` and `odd`, and may go on from
    those of `before`, which holds the first of them.
    """

    __slots__ = ("before", "items", "messages", "node", "odd", "of_responses", "text")

    def __init__(self, before: History | None, fresh: list[Item], node: Node, text: bytes) -> None:
        super().__init__(() if before is None else before)
        self += [item.value for item in fresh]
        self.items: list[Item] = fresh if before is None else before.items + fresh
        told = any([item.of_responses for item in fresh])
        self.of_responses: bool = told or (before is not None and before.of_responses)
        self.node, self.text = node, text
        self.before = None if before is None or before.messages is None else before  # never a chain of them
        self.messages: list[Message] | None = None
        self.odd: set[str] = set()


class _Root(Node):
    """Before the first message of a trace; `bytes` is what is kept of it, `latest` the history that was read last."""

    __slots__ = ("bytes", "latest")

    def __init__(self) -> None:
        super().__init__(b"", [])
        self.bytes = 0
        self.latest: History | None = None


class Histories:
    """The lists of messages of one export, in whatever order its calls stand, and other values that they repeat."""

    def __init__(self) -> None:
        self._roots: OrderedDict[tuple[Writing, bytes], _Root] = OrderedDict()
        self._bytes = 0
        self._items: dict[bytes, Item] = {}
        self._itemised = 0
        self.values = Values()

    def known(self, how: Writing, trace: bytes, text: bytes, at: int) -> History | None:
        """What is known of the history that begins in `text` at a place."""
        root = self._roots.get((how, trace))
        if root is None:
            return None
        if root.latest is not None and text.startswith(root.latest.text, at):
            return root.latest
        path = _walk(root, text, at, how)
        if not path:
            return None
        items = [item for node in path for item in node.items]
        return History(None, items, path[-1], b"".join([node.text for node in path]))

    def keep(self, how: Writing, trace: bytes, before: History | None, fresh: list[Item], text: bytes) -> History:
        """The history that goes on with `fresh` items, written as `text`; it is remembered where that can be told.

        Traces that nobody asked for longest go.
        """
        if not text or text[-1] not in CLOSERS:
            return History(before, fresh, Node(b"", []), b"")
        key = (how, trace)
        root = self._roots.get(key)
        if root is None:
            root = self._roots[key] = _Root()
        else:
            self._roots.move_to_end(key)
        node = Node(text, fresh)
        branches = root.branches if before is None else before.node.branches
        branches.insert(0, node)
        del branches[BRANCHES:]
        root.latest = History(before, fresh, node, text if before is None else before.text + text)
        root.bytes += len(text)
        self._bytes += len(text)
        while self._bytes > REMEMBERED_BYTES or len(self._roots) > TRACES:
            _, gone = self._roots.popitem(last=False)
            self._bytes -= gone.bytes
        return root.latest

    def read(self, trace: str, raw: bytes, how: Writing = PLAIN) -> History:
        """The list that `raw` is the JSON of, with its quotes where it is `ESCAPED`. Raises NotPlain."""
        at = len(how.opening)
        known = self.known(how, trace.encode(), raw, at)
        return self.read_on(trace, raw, at if known is None else at + len(known.text), known, how)

    def read_on(self, trace: str, raw: bytes, at: int, known: History | None, how: Writing) -> History:
        """The list of which `raw` holds, from a place on, what comes behind the part that is known. Raises NotPlain."""
        rest = raw[at:] if known is None else _behind(raw, at, how)
        if known is not None and not rest:
            return known
        try:
            listed = b"[" + (_string(b'"' + rest).encode() if how is ESCAPED else rest)
            if NUL in listed:
                raise NotPlain
            if known is None:  # traces begin alike
                fresh = [self.item(bytes(one)) for one in _raws(listed)]
            else:
                fresh = [Item(value, set()) for value in _values(listed)]
        except (ValueError, UnicodeError):
            raise NotPlain from None
        return self._kept(trace, raw, at, known, fresh, how)

    def decoded(self, trace: str, raw: bytes, at: int, known: History, values: list[Any]) -> History:
        """The same where what comes behind the known part was decoded already. Raises NotPlain."""
        if not values:
            return self.read_on(trace, raw, at, known, PLAIN)
        return self._kept(trace, raw, at, known, [Item(value, set()) for value in values], PLAIN)

    def _kept(self, trace: str, raw: bytes, at: int, known: History | None, fresh: list[Item], how: Writing) -> History:
        return self.keep(how, trace.encode(), known, fresh, raw[at : -len(how.closing)].rstrip(b" "))

    def item(self, raw: bytes) -> Item:
        """The item that `raw` is the JSON of."""
        found = self._items.get(raw)
        if found is None:
            found = Item(plain_value(raw), set())
            self.keep_item(raw, found)
        return found

    def known_item(self, key: bytes) -> Item | None:
        """The item that was kept under a key."""
        return self._items.get(key)

    def keep_item(self, key: bytes, item: Item) -> None:
        """Remember an item; all are forgotten when they are too many."""
        self._itemised += len(key)
        if self._itemised > REMEMBERED_BYTES:
            self._items.clear()
            self._itemised = len(key)
        self._items[key] = item


def _behind(raw: bytes, at: int, how: Writing) -> bytes:
    """What is left of a list behind the comma at a place, or nothing where it ends. Raises NotPlain."""
    found = _GOES_ON.match(raw, at)
    if found is not None:
        return raw[found.end() :]
    if raw[at:].lstrip(b" ") != how.closing:
        raise NotPlain
    return b""


def _walk(node: Node, text: bytes, at: int, how: Writing) -> list[Node]:
    """What stands in `text` at a place, of what came behind a node."""
    path: list[Node] = []
    while True:
        found = next((branch for branch in node.branches if text.startswith(branch.text, at)), None)
        if found is None:
            part = next(filter(None, (_parted(node, branch, text, at, how) for branch in node.branches)), None)
            return path if part is None else [*path, part]
        path.append(found)
        at += len(found.text)
        node = found


def _parted(parent: Node, node: Node, text: bytes, at: int, how: Writing) -> Node | None:
    """The first items of a node, cut off as a node of their own, where only they stand in `text` at a place."""
    if len(node.items) < 2:
        return None
    ends = node.ends(how)[: len(node.items) - 1]
    same = bisect_right(ends, False, key=lambda end: not text.startswith(node.text[:end], at))
    if not same:
        return None
    first = Node(node.text[: ends[same - 1]], node.items[:same])
    first.branches = [node]
    parent.branches[parent.branches.index(node)] = first
    node.cut(same, ends[same - 1])
    return first
