"""What was covered, what was missed and what was replaced for nothing, value by value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.privacy.cleaners import Cleaned
from benchmarks.privacy.planting import STRUCTURED, Planted
from benchmarks.privacy.reading import readable
from benchmarks.privacy.traces import Trace

TARGETS = {"address": 0.93, "Korean name": 0.98, "secret": 1.0, **dict.fromkeys(STRUCTURED, 1.0)}
OVERALL, PRECISION = 0.99, 0.97


@dataclass
class Score:
    """Counts of one run; `misses` are (planted, what of it is still there, the cleaned text around)."""

    planted: Counter[str] = field(default_factory=Counter)
    covered: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    places_covered: Counter[str] = field(default_factory=Counter)
    spans: int = 0
    false: list[tuple[str, str]] = field(default_factory=list)
    misses: list[tuple[Planted, str, str]] = field(default_factory=list)

    def add(self, trace: Trace, cleaned: Iterable[Cleaned]) -> None:
        """Count one trace."""
        personal = {part.casefold() for planted in trace.planted for one in planted for part in (one.value, *one.parts)}
        for planted, made in zip(trace.planted, cleaned, strict=True):
            self._add_value(planted, made)
            for entity, text in made.spans:
                self.spans += 1
                if not is_personal(text, personal):
                    self.false.append((entity, text))

    def _add_value(self, planted: list[Planted], made: Cleaned) -> None:
        text = readable(made.value) if planted else ""
        for one in planted:
            left = next((part for part in one.parts if seen(part, text)), "")
            self.planted[one.group] += 1
            self.places[one.place] += 1
            if left:
                at = text.casefold().find(left.casefold())
                self.misses.append((one, left, text[max(0, at - 60) : at + 60].replace("\n", "⏎")))
            else:
                self.covered[one.group] += 1
                self.places_covered[one.place] += 1

    def recall(self, group: str = "") -> float:
        """Share of planted values of which nothing is left, of one group or of all."""
        planted = self.planted[group] if group else self.planted.total()
        covered = self.covered[group] if group else self.covered.total()
        return covered / planted if planted else 1.0

    def recall_in(self, place: str) -> float:
        """The same of one place."""
        return self.places_covered[place] / self.places[place] if self.places[place] else 1.0

    @property
    def precision(self) -> float:
        return 1 - len(self.false) / self.spans if self.spans else 1.0


def seen(part: str, text: str) -> bool:
    """Whether a part stands in a text by itself, in any case; a number also within a longer one."""
    if part.isalpha() and part.isascii():
        return re.search(rf"(?i)(?<![^\W\d_]){re.escape(part)}(?![^\W\d_])", text) is not None
    if part.isdigit() and len(part) < 5:
        return re.search(rf"(?<![\d-]){part}(?![\d-])", text) is not None
    return part.casefold() in text.casefold()


def is_personal(text: str, personal: set[str]) -> bool:
    """Whether a replaced span lies in a planted value, or holds one."""
    low = text.casefold()
    if any(low in part or part in low for part in personal):
        return True
    bare = re.sub(r"\W", "", low)
    return len(bare) >= 4 and any(bare in re.sub(r"\W", "", part) for part in personal)
