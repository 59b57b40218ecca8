"""Which traces hold which messages, in a few bytes a message."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class Holders:
    """Numbers of traces by the numbers of messages; nearly all messages are held by one trace."""

    def __init__(self) -> None:
        self._first = array("i")
        self._others: dict[int, set[int]] = {}

    def add(self, trace: int, messages: Iterable[int]) -> None:
        """Note that a trace holds messages; numbers grow one by one."""
        for message in messages:
            if message == len(self._first):
                self._first.append(trace)
                continue
            first = self._first[message]
            if first != trace:
                self._others.setdefault(message, set()).add(trace)

    def of(self, message: int) -> list[int]:
        """The traces that hold a message."""
        others = self._others.get(message)
        return [self._first[message], *sorted(others)] if others else [self._first[message]]
