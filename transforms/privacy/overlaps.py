"""Which of several overlapping findings wins, and what becomes of the rest of those that lose."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace

from transforms.privacy.words import words

_ORDER = words(
    "SECRET CREDIT_CARD IBAN_CODE KR_RRN US_SSN EMAIL_ADDRESS STREET_ADDRESS PHONE_NUMBER IP_ADDRESS "
    "MAC_ADDRESS USER_ID "
    "ID_NUMBER DATE_OF_BIRTH ZIP_CODE PERSON COORDINATES AGE"
)
PRIORITY = {entity: rank for rank, entity in enumerate(_ORDER)}
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
    queue = sorted(hits, key=lambda hit: hit.rank, reverse=True)
    taken: list[Hit] = []
    while queue:
        hit = queue.pop()
        place = bisect_left(taken, hit.start, key=lambda win: win.end - 1)
        clash = taken[place] if place < len(taken) and taken[place].start < hit.end else None
        if clash is None:
            taken.insert(place, hit)
            continue
        for start, end in ((hit.start, clash.start), (clash.end, hit.end)):
            if start < end and any(char.isalnum() for char in text[start:end]):
                queue.append(_tight(text, hit, start, end))
    return taken


def _tight(text: str, hit: Hit, start: int, end: int) -> Hit:
    while not text[start].isalnum():
        start += 1
    while not text[end - 1].isalnum():
        end -= 1
    return replace(hit, start=start, end=end)
