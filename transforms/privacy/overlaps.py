"""Which of several overlapping findings wins, and what becomes of the rest of those that lose."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from transforms.privacy.words import words

_ORDER = words(
    "SECRET CREDIT_CARD IBAN_CODE KR_RRN US_SSN EMAIL_ADDRESS STREET_ADDRESS PHONE_NUMBER IP_ADDRESS "
    "MAC_ADDRESS USER_ID "
    "ID_NUMBER DATE_OF_BIRTH ZIP_CODE PERSON COORDINATES AGE"
)
PRIORITY = {entity: rank for rank, entity in enumerate(_ORDER)}
MANY = 64  # hits of a text from which on it pays to mark what none has taken yet
_LETTERS = re.compile(r"[^\W_]")  # and digits
_USER = PRIORITY["STREET_ADDRESS"]  # recognisers of a user's own stand beside addresses


@dataclass(frozen=True, slots=True)
class Hit:
    """A personal value in a leaf, by code points; `ours` marks a surrogate, which wins and stays."""

    start: int
    end: int
    entity: str
    recogniser: str
    score: float
    ours: bool = False

    @property
    def rank(self) -> tuple[int, float, int, int]:
        return (-1 if self.ours else PRIORITY.get(self.entity, _USER), -self.score, self.start - self.end, self.start)


def resolve(text: str, hits: Iterable[Hit]) -> list[Hit]:
    """Disjoint hits in order of place: by type, then score, then length.

    What a winner leaves over of a loser stays a hit of the loser's type where it holds a letter or digit, so that
    nothing of either is left standing.
    """
    taken: list[Hit] = []
    starts: list[int] = []
    ends: list[int] = []
    free = bytearray(map(str.isalnum, text)) if len(all_hits := list(hits)) > MANY else bytearray()
    for hit in reversed(sorted(all_hits, key=attrgetter("rank"), reverse=True)):
        first, after = bisect_right(ends, hit.start), bisect_left(starts, hit.end)
        wins = taken[first:after]
        if wins and free and free.find(1, hit.start, hit.end) < 0:
            continue
        left = list(_left_over(text, hit, wins)) if wins else [hit]
        both = sorted((*wins, *left), key=attrgetter("start"))
        taken[first:after] = both
        starts[first:after], ends[first:after] = [one.start for one in both], [one.end for one in both]
        for one in left if free else ():
            free[one.start : one.end] = bytes(one.end - one.start)
    return taken


def _left_over(text: str, hit: Hit, wins: Sequence[Hit]) -> Iterator[Hit]:
    """What winners, in order, leave of a hit, from its first letter or digit to its last."""
    at = hit.start
    for start, end in (*((win.start, win.end) for win in wins), (hit.end, hit.end)):
        if at < start and (inner := _LETTERS.search(text, at, start)):
            yield replace(hit, start=inner.start(), end=_tight_end(text, start))
        at = end


def _tight_end(text: str, end: int) -> int:
    while not text[end - 1].isalnum():
        end -= 1
    return end
