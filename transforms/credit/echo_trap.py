"""The echo trap (RAGEN, arXiv 2504.20073): before a policy collapses, spread and entropy fall by half."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

BASELINE = 3
"""First values whose median says what was normal."""

COLLAPSED_SHARE = 0.5
"""Share of the baseline below which entropy or reward spread has collapsed. Ours; the phenomenon is RAGEN's."""


def collapses(values: Sequence[float]) -> list[int]:
    """Places, from 0, at which a spread or an entropy is below COLLAPSED_SHARE of the first values' median."""
    floor = COLLAPSED_SHARE * median(values[:BASELINE]) if values else 0.0
    return [place for place, value in enumerate(values) if place >= BASELINE and value < floor]
