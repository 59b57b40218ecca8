"""Attributes that the spans of an export write in the same way, and what was read of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transforms.readers.otlp_kinds import Identity

MOST_SHARED = 2048
"""Ways of saying the same that are remembered before all are forgotten."""

Written = tuple[tuple[str, bytes], ...]
"""Names of attributes and the JSON of their values."""

LONGEST_SHARED = 1024
"""Bytes of attributes that are worth remembering: more hold something of a single call."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a span's attributes say beside content. Spans share it: nobody may change what it holds."""

    metadata: dict[str, Any]
    identity: Identity
    kind: str
    dialect: str
    model: str
    provider: str
    parameters: dict[str, Any]
    attributes: dict[str, Any]


class Shared:
    """Attributes that spans write in the same way, and what was read of them by which content stands beside them."""

    __slots__ = ("around", "said")

    def __init__(self, said: dict[str, Any]) -> None:
        self.said = said
        self.around: dict[tuple[str, ...], Around] = {}


class Said(dict[str, Any]):
    """Attributes of a span: those that it shares with others, and content."""

    __slots__ = ("content", "shared")

    def __init__(self, shared: Shared, content: tuple[str, ...]) -> None:
        super().__init__(shared.said)
        self.shared, self.content = shared, content


class SharedAttributes:
    """What spans of one export share, by how they are written."""

    def __init__(self) -> None:
        self._known: dict[Written, Shared] = {}

    def known(self, written: Written) -> Shared | None:
        """What is known of attributes."""
        return self._known.get(written)

    def keep(self, written: Written, said: dict[str, Any]) -> Shared:
        """Remember attributes; all are forgotten when they are too many."""
        shared = Shared(said)
        if sum(len(raw) for _, raw in written) <= LONGEST_SHARED:
            if len(self._known) >= MOST_SHARED:
                self._known.clear()
            self._known[written] = shared
        return shared
