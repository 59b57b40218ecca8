"""Records of one call: each of a call's systems wrote one of them, so that two attempts at once stay two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Pair = tuple[int, int, bool]
"""Numbers of two calls that may be one, and whether one response's id says so."""


@dataclass(slots=True)
class _Call:
    records: list[int]
    systems: set[str]
    responses: set[str]


class OneToOne:
    """Sets of records of one call. A set bears one response's id at most; what only content ties to it is of a system
    that it holds no record of yet. `systems` and `responses` are each record's, by its number; "" is no id."""

    def __init__(self, systems: Sequence[str], responses: Sequence[str]) -> None:
        self._systems, self._responses = systems, responses
        self._calls: dict[int, _Call] = {}

    def free(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those of `pairs`, two rollouts' calls with the nearest first, that can be one call each."""
        left, right = set[int](), set[int]()
        chosen = []
        for one, other, by_response in pairs:
            taken = not by_response and (one in left or other in right)
            if not taken and self._agree(self._call(one), self._call(other), by_response):
                left.add(one)
                right.add(other)
                chosen.append((one, other, by_response))
        return chosen

    def join(self, pairs: Iterable[Pair]) -> None:
        """Make one call of each pair, where none before it speaks against that."""
        for one, other, by_response in pairs:
            small, large = sorted((self._call(one), self._call(other)), key=lambda call: len(call.records))
            if small is not large and self._agree(small, large, by_response):
                large.records += small.records
                large.systems |= small.systems
                large.responses |= small.responses
                self._calls |= dict.fromkeys(small.records, large)

    def _call(self, record: int) -> _Call:
        if record not in self._calls:
            response = self._responses[record]
            self._calls[record] = _Call([record], {self._systems[record]}, {response} if response else set())
        return self._calls[record]

    def _agree(self, one: _Call, other: _Call, by_response: bool) -> bool:
        if one is other:
            return True
        return len(one.responses | other.responses) < 2 and (by_response or not one.systems & other.systems)
