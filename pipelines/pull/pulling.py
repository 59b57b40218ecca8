"""Pulls a project: every gap of every stream, a page at a time, landed before it is noted."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipelines.pull.coverage import by_day, gaps
from pipelines.pull.landing import Landing
from pipelines.pull.ledger import Ledger, Progress, digest
from pipelines.pull.patience import Tell, Trouble, patiently
from pipelines.pull.sources import Page, Source, Stream, Window
from warehouse.problem import Problem

PAGE_RECORDS = 100  # what every service gives at once
PART_RECORDS = 5_000
PART_BYTES = 64 * 2**20
STALE_CURSOR = frozenset({400, 404, 410, 422})


@dataclass
class Pull:
    """One pull: `landed` counts what is new by stream, `files` are those that it wrote, `reads` counts all records.

    `tell` hears of waits, `show` of progress. `limit` bounds the new records of each stream that is no verdicts; what
    is left waits for the next pull. `late` is the overlap of those streams, instead of their own.
    """

    source: Source
    landing: Landing
    ledger: Ledger
    now: datetime
    tell: Tell
    show: Tell
    limit: int | None = None
    late: timedelta | None = None
    landed: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    reads: int = 0

    def run(self, since: datetime, until: datetime) -> None:
        """Pull what started from `since` on and before `until`, and verdicts up to now. Raises Problem."""
        try:
            for stream in self.source.streams:
                self._stream(stream, Window(since, self._end(stream, until)))
        except Trouble as trouble:
            raise self.source.service.problem(trouble) from None

    @property
    def stopped(self) -> bool:
        """Whether the limit left something behind."""
        return any(progress.open for progress in self.ledger.streams.values())

    def _end(self, stream: Stream, until: datetime) -> datetime:
        if not stream.by_run:
            return self.now if stream.verdicts else until
        left = [progress.open.start for progress in self.ledger.streams.values() if progress.open]
        return min([until, *left])

    def _overlap(self, stream: Stream) -> timedelta:
        return stream.overlap if stream.verdicts or self.late is None else self.late

    def _stream(self, stream: Stream, wanted: Window) -> None:
        progress = self.ledger.of(stream)
        if progress.open:
            self._window(stream, progress, progress.open)
        for gap in gaps(progress.covered, wanted, self._overlap(stream)):
            for window in [gap] if stream.verdicts and not stream.by_run else by_day(gap):
                if progress.open:
                    return  # the limit is reached
                self._window(stream, progress, window)
        self.ledger.write()  # windows without anything new are noted together

    def _window(self, stream: Stream, progress: Progress, window: Window) -> None:
        """Pull a window to its end, or to the limit, in which case it stays open."""
        progress.begin(window)
        known = {one for digests in progress.seen.values() for one in digests}
        part = _Part()
        while (size := self._room(stream, part)) > 0:
            page = self._page(stream, progress, window, part.cursor or progress.cursor, size)
            self.reads += len(page.records)
            self.show(f"{window.start:%Y-%m-%d}: {stream.name}, {self.reads:,} records read")
            for record in page.records:
                if (mark := digest(record)) not in known:
                    known.add(mark)
                    part.add(record, mark)
            part.cursor = page.cursor
            if page.cursor is None:
                self._note(stream, progress, part, done=True)
                return
            if part.full:
                self._note(stream, progress, part, done=False)
                part = _Part()
        self._note(stream, progress, part, done=False)

    def _room(self, stream: Stream, part: _Part) -> int:
        if self.limit is None or stream.verdicts:
            return PAGE_RECORDS
        return min(PAGE_RECORDS, self.limit - self.landed[stream.name] - len(part.lines))

    def _page(self, stream: Stream, progress: Progress, window: Window, cursor: str | None, size: int) -> Page:
        def ask(where: str | None) -> Page:
            return patiently(lambda: self.source.page(stream, window, where, size), self.tell)

        try:
            page = ask(cursor)
        except Trouble as trouble:
            # A cursor of an earlier pull may have lapsed; digests keep what it had brought from coming twice.
            if cursor is None or cursor != progress.cursor or trouble.status not in STALE_CURSOR:
                raise
            cursor = None
            page = ask(None)
        if page.cursor is not None and page.cursor == cursor:
            raise Problem(f"{self.source.service.name} gave the same page twice; what was pulled is kept: run again")
        return page

    def _note(self, stream: Stream, progress: Progress, part: _Part, done: bool) -> None:
        """Land what is new, then note it: killed in between, the next pull lands the same part again in its place."""
        assert progress.open
        if part.lines:
            self.files.append(self.landing.write(self.ledger.parts, part.lines, datetime.now(UTC).date()))
            self.ledger.parts += 1
            self.landed[stream.name] += len(part.lines)
            progress.seen.setdefault(progress.open, []).extend(part.digests)
        progress.cursor = part.cursor or progress.cursor
        if done:
            progress.finish(max(stream.overlap, self._overlap(stream)))
        if part.lines or not done:
            self.ledger.write()


@dataclass
class _Part:
    """Records on their way into one file, and the cursor after them."""

    lines: list[bytes] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    bytes: int = 0
    cursor: str | None = None

    def add(self, record: dict[str, object], mark: str) -> None:
        # Escaped to ASCII: lone surrogates, which services do hand out, have no UTF-8.
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        self.lines.append(line)
        self.digests.append(mark)
        self.bytes += len(line)

    @property
    def full(self) -> bool:
        return len(self.lines) >= PART_RECORDS or self.bytes >= PART_BYTES
