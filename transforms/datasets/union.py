"""Disjoint sets."""

from __future__ import annotations

from collections.abc import Iterable


class Union:
    """Sets of text keys that grow together; every key starts as a set of its own."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, item: str) -> str:
        """The smallest key of the set that `item` is in, so that the order of joins does not show."""
        self._parent.setdefault(item, item)
        root = item
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[item] != root:
            self._parent[item], item = root, self._parent[item]
        return root

    def join(self, items: Iterable[str]) -> None:
        """Make one set of those that `items` are in."""
        roots = sorted({self.find(item) for item in items})
        for root in roots:
            self._parent[root] = roots[0]
