"""What is remembered while one file is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from transforms.readers.cuts import Cutter
from transforms.readers.seen import Seen

REMEMBERED_BYTES = 64 << 20
"""JSON of runs that were begun before all are forgotten."""


class Begun:
    """Runs whose creation was read and whose end was not, so that a later update in the same file can join it."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}
        self._bytes = 0

    def remember(self, run_id: str, fields: dict[str, Any]) -> None:
        """Keep what a run was created with."""
        self._bytes += _size(fields)
        if self._bytes > REMEMBERED_BYTES:
            self._known.clear()
            self._bytes = 0
        self._known[run_id] = fields

    def end(self, run_id: str) -> dict[str, Any] | None:
        """What a run was created with, once."""
        return self._known.pop(run_id, None)


MOST_SESSIONS = 1 << 16
"""Sessions of which it is remembered how they began before all are forgotten."""


class Openings:
    """How the first trajectory of each session in the file began."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def is_first(self, session: str, began: str) -> bool:
        """Whether a session's first trajectory began so, or this is its first."""
        if len(self._known) >= MOST_SESSIONS:
            self._known.clear()
        return self._known.setdefault(session, began) == began


def _size(fields: dict[str, Any]) -> int:
    try:
        return len(msgspec.json.encode(fields))
    except (OverflowError, RecursionError, TypeError):  # integers beyond 64 bits, very deep nesting
        return REMEMBERED_BYTES // 64


@dataclass
class Reading:
    """The state of reading one file: `dataset` scopes task ids where a dialect names no data set."""

    dataset: str = ""
    seen: Seen = field(default_factory=Seen)
    begun: Begun = field(default_factory=Begun)
    openings: Openings = field(default_factory=Openings)

    def __post_init__(self) -> None:
        self.cutter = Cutter(self.seen.histories)
