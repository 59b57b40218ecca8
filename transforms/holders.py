"""Which traces hold which messages, in a few bytes a message."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

NOBODY = -1


class Holders:
    """Numbers of traces by the numbers of messages; nearly all messages are held by one trace."""

    def __init__(self, messages: int) -> None:
        self._first = array("l", [NOBODY]) * messages
        self._others: dict[int, set[int]] = {}

    def add(self, trace: int, messages: Iterable[int]) -> None:
        """Note that a trace holds messages."""
        for message in messages:
            first = self._first[message]
            if first == NOBODY:
                self._first[message] = trace
            elif first != trace:
                self._others.setdefault(message, set()).add(trace)

    def of(self, message: int) -> list[int]:
        """The traces that hold a message."""
        return [self._first[message], *sorted(self._others.get(message, ()))]
