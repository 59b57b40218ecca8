"""Prompts as nodes of a tree: two prompts that begin alike share the nodes of that beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from transforms.identity import EMPTY_CONTEXT, extend


@dataclass(slots=True, eq=False)
class Context:
    """A list of messages, told by its chained id; `parent` is the same list without its last message."""

    id: bytes
    parent: Context | None = None
    message: bytes = b""
    length: int = 0


@dataclass(slots=True)
class ContextTree:
    """All contexts of a conversation, each once; memory is linear in messages, not in prompts."""

    root: Context = field(default_factory=lambda: Context(EMPTY_CONTEXT))
    _nodes: dict[bytes, Context] = field(default_factory=dict)

    def add(self, context: Context, messages: Iterable[bytes]) -> Context:
        """`context` followed by `messages`."""
        for message in messages:
            chained = extend(context.id, message)
            node = self._nodes.get(chained)
            if node is None:
                node = self._nodes[chained] = Context(chained, context, message, context.length + 1)
            context = node
        return context


def shorten(context: Context, length: int) -> Context | None:
    """The first `length` messages of `context`; None where it has fewer."""
    node: Context | None = context
    while node is not None and node.length > length:
        node = node.parent
    return node if node is not None and node.length == length else None


def messages_after(context: Context, beginning: Context | None = None) -> list[bytes]:
    """The messages of `context` that come after `beginning`, one of its ancestors (default: all of them)."""
    found = []
    node: Context | None = context
    while node is not None and node is not beginning and node.parent is not None:
        found.append(node.message)
        node = node.parent
    return found[::-1]


def nearest(context: Context, wanted: Callable[[Context], bool]) -> Context | None:
    """The longest beginning of `context`, itself included and the empty one not, that is `wanted`."""
    node: Context | None = context
    while node is not None and node.parent is not None:
        if wanted(node):
            return node
        node = node.parent
    return None
