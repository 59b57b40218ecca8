"""Of overlapping findings nothing is lost: what a winner leaves of a loser is replaced as well."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.privacy import overlaps
from transforms.privacy.overlaps import PRIORITY, Hit, resolve

TEXTS = st.text(st.sampled_from("ab1é -.가"), min_size=1, max_size=14)


def by_characters(text: str, hits: Iterable[Hit]) -> list[tuple[int, int, str]]:
    """The same by characters: a winner takes what nobody has, from letter to letter where somebody has some."""
    free, made = [True] * len(text), []
    for hit in sorted(hits, key=lambda hit: hit.rank):
        place = "".join(char if free[at] else "\0" for at, char in enumerate(text))[hit.start : hit.end]
        whole = "\0" not in place
        for run in re.finditer(r"(?s).+" if whole else r"[^\0\W_](?:[^\0]*[^\0\W_])?", place):
            start, end = hit.start + run.start(), hit.start + run.end()
            free[start:end] = [False] * (end - start)
            made.append((start, end, hit.entity))
    return sorted(made)


@st.composite
def overlapping(draw: st.DrawFn) -> tuple[str, list[Hit]]:
    text = draw(TEXTS)
    spans = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text)))
    drawn = draw(st.lists(st.tuples(spans, st.sampled_from(sorted(PRIORITY)), st.booleans()), max_size=12))
    hits = [
        Hit(a, max(a + 1, b), entity, "x", 0.5 + at / 1000, ours) for at, ((a, b), entity, ours) in enumerate(drawn)
    ]
    return text, hits


@settings(max_examples=400)
@given(overlapping(), st.sampled_from((0, overlaps.MANY)))
def test_what_is_left_of_losers_stays_found(drawn: tuple[str, list[Hit]], many: int) -> None:
    text, hits = drawn
    with patch.object(overlaps, "MANY", many):
        assert [(hit.start, hit.end, hit.entity) for hit in resolve(text, hits)] == by_characters(text, hits)


def test_a_loser_that_is_cut_keeps_both_ends() -> None:
    text = "Ann mia@mail.test Bob"
    hits = [Hit(0, 21, "PERSON", "x", 0.9), Hit(4, 17, "EMAIL_ADDRESS", "x", 0.9)]
    assert [(text[hit.start : hit.end], hit.entity) for hit in resolve(text, hits)] == [
        ("Ann", "PERSON"),
        ("mia@mail.test", "EMAIL_ADDRESS"),
        ("Bob", "PERSON"),
    ]


def test_thousands_of_long_losers_over_thousands_of_winners_are_judged_quickly() -> None:
    text = "ab=" * 7_000
    short = [Hit(at, at + 2, "SECRET", "x", 0.9) for at in range(0, len(text), 3)]
    long = [Hit(at, min(at + 400, len(text)), "PERSON", "x", 0.5) for at in range(0, len(text) - 400, 3)]
    started = time.process_time()
    assert resolve(text, [*long, *short]) == short
    assert time.process_time() - started < 4.0
