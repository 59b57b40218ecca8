"""Which stretches of time were pulled, and which are still to be."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

from pipelines.pull.sources import Window


def gaps(covered: list[Window], wanted: Window, overlap: timedelta) -> list[Window]:
    """What of `wanted` is not covered, in order; where a covered stretch ends, its last `overlap` is asked again."""
    found: list[Window] = []
    start = wanted.start
    for window in sorted(covered, key=lambda one: one.start):
        if window.end <= start:
            continue
        if window.start >= wanted.end:
            break
        if start < window.start:
            found.append(Window(start, window.start))
        start = window.end
    if start < wanted.end:
        found.append(Window(start, wanted.end))
    ends = {window.end: window.start for window in covered}
    return [Window(max(gap.start - overlap, ends.get(gap.start, gap.start)), gap.end) for gap in found]


def by_day(window: Window) -> Iterator[Window]:
    """The window, cut at midnights UTC: a pull that is stopped has at most a day's pages to find again."""
    start = window.start
    while start < window.end:
        midnight = datetime.combine(start.date() + timedelta(days=1), time(), UTC)
        yield Window(start, min(midnight, window.end))
        start = midnight


def joined(covered: list[Window], window: Window) -> list[Window]:
    """The covered stretches with one more, in order, those that touch made one."""
    result: list[Window] = []
    for one in sorted([*covered, window], key=lambda each: each.start):
        if result and one.start <= result[-1].end:
            result[-1] = Window(result[-1].start, max(result[-1].end, one.end))
        else:
            result.append(one)
    return result
