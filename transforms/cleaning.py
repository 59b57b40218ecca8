"""A day's records become clean tables, in two readings: first collect what is personal, then replace it.

The first reading learns every value of every trace, since a value that the last span gives away must change the
first message. The second cleans each distinct message once, with what all traces that hold it know. Both go over
records that were kept sealed, a part of the messages or traces at a time, so that memory hardly grows with the day;
nothing raw outlives the objects. Parts are shared among workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any, TypeVar

import polars as pl

from transforms import record_ids
from transforms.clean_rows import ERASED, Row, hold_back
from transforms.crew import Crew, crew, worth
from transforms.kept import KeptRecords
from transforms.part_cleaning import CleanPart, Knowledge, PartCleaner
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.erasure import Tombs
from transforms.sealed_frames import Frames, framed, frames_of, without
from warehouse.schemas import FEEDBACK, MESSAGES, PII_FINDINGS, REJECTS, SPANS, Table

Item = TypeVar("Item")


class LeakFound(Exception):
    """Personal data or secrets that cleaning could not remove; says how many of which type, and nothing else."""


Watch = Callable[[Sequence[Any], str], Iterable[Any]]
"""Shows how far something is."""

BYTES_EACH = 16 << 20
"""Sealed bytes from which on one more worker is worth its start."""

HELD_ROWS = 2048
"""Rows that become columns at a time."""


def _unwatched(items: Sequence[Item], what: str) -> Iterable[Item]:
    return items


@dataclass
class DayCleaning:
    """One day's cleaning, done once by `tables`."""

    day: date
    deidentifier: Callable[[], Deidentifier]
    earlier_trace: Callable[[str], str | None] = lambda span_id: None  # trace of a span that an earlier day has
    watch: Watch = _unwatched
    workers: int | None = None  # processes that share the work; none: what the day is worth
    tombs: Tombs | None = None  # who is to be forgotten
    _quarantined: dict[str, str] = field(default_factory=dict)
    _rejects: dict[tuple[str, int, str], Row] = field(default_factory=dict)
    _findings: list[pl.DataFrame] = field(default_factory=list)
    _found: list[Row] = field(default_factory=list)  # findings that are no columns yet
    _left_spans: dict[str, str] = field(default_factory=dict)  # spans that are left out, and their traces

    def tables(self, kept: KeptRecords, max_quarantined: float) -> dict[str, Frames]:
        """The clean tables of the records, audited; sealed where they are large.

        Raises LeakFound where a known value or a secret remains, or where more than `max_quarantined` (share of the
        day's traces) could not be cleared; WorkerLost.
        """
        kept.finish()
        count = worth(kept.sealed_bytes, BYTES_EACH) if self.workers is None else self.workers
        cleaner = partial(PartCleaner, self.day, kept, self.deidentifier, count > 1, self.tombs)
        with crew([cleaner] * count) as team:
            knowledge = self._survey(team, kept.parts)
            self._forget(kept, knowledge)
            facts = bytearray(len(kept.message_ids))
            team.all("begin", knowledge, bytes(facts), self._quarantined)
            rows = self._cleaned(team, "messages", kept.parts, facts)  # of parts that follow each other by id
            messages = framed(MESSAGES, _frames(MESSAGES, rows), ascending=True)
            team.all("begin", {}, bytes(facts), self._quarantined)
            spans = framed(SPANS, _frames(SPANS, self._cleaned(team, "spans", kept.parts, facts)))
            team.all("begin", {}, b"", self._quarantined)
            told = self._noted(team.one("feedback", self._traces_of_verdicts(kept, spans)), facts)
            feedback = next(_frames(FEEDBACK, [told.rows]))
        self._check(kept, max_quarantined)
        frames: dict[str, Frames] = {
            "spans": self._cleared_spans(spans),
            "messages": self._cleared_messages(messages, kept),
            "feedback": FEEDBACK.enforce(feedback.filter(~pl.col("trace_id").is_in(list(self._quarantined)))),
        }
        findings = PII_FINDINGS.enforce(pl.concat([*self._findings, PII_FINDINGS.part(self._found)]))
        rejects = REJECTS.frame(list(self._rejects.values()))
        return {**frames, "pii_findings": self._cleared_findings(findings, frames), "rejects": rejects}

    def _survey(self, team: Crew, parts: int) -> Knowledge:
        """First reading: learn what is personal."""
        surveyed = self._each(team, "survey", parts, "looking for personal data")
        for failed in (*surveyed, team.one("survey_feedback")):
            self._hold_back(failed)
        whole: Knowledge = {}
        for knowledge in team.all("knowledge"):
            for trace, known in knowledge.items():
                whole[trace] = whole.get(trace, set()) | known
        return whole

    def _forget(self, kept: KeptRecords, knowledge: Knowledge) -> None:
        """Leave out traces of which only what was learned from several places says that they hold somebody who is to
        be forgotten (a first and a last name in fields of their own), and those that were erased before."""
        if self.tombs:
            named = {trace for trace, known in knowledge.items() if any(self.tombs.finds_text(k.text) for k in known)}
            gone = named.union(trace for trace in kept.traces if self.tombs.holds_trace(trace))
            self._quarantined |= dict.fromkeys(gone, ERASED)

    @property
    def erased(self) -> list[str]:
        """Traces that were left out since they hold somebody who is to be forgotten."""
        return sorted(trace for trace, reason in self._quarantined.items() if reason == ERASED)

    def _cleaned(self, team: Crew, step: str, parts: int, facts: bytearray) -> Iterator[list[Row] | pl.DataFrame]:
        """Second reading: the rows of the parts."""
        for told in self._each(team, step, parts, f"replacing it in {step}"):
            yield self._noted(told, facts).rows

    def _each(self, team: Crew, step: str, parts: int, what: str) -> Iterator[Any]:
        """A step on each part, watched."""
        results = team.each(step, range(parts))
        for _ in self.watch(range(parts), what):
            yield next(results)

    def _hold_back(self, reasons: dict[str, str]) -> None:
        for trace, reason in reasons.items():
            hold_back([trace], reason, self._quarantined)

    def _noted(self, told: CleanPart, facts: bytearray) -> CleanPart:
        self._hold_back(told.held_back)
        self._found += told.findings
        if len(self._found) >= HELD_ROWS:
            self._findings.append(PII_FINDINGS.part(self._found))
            self._found = []
        self._left_spans |= told.left_spans
        for file_id, position, reason in told.left_out:
            self._reject(file_id, position, reason)
        for number, fact in told.facts.items():
            facts[number] = fact
        return told

    def _traces_of_verdicts(self, kept: KeptRecords, spans: Frames) -> list[str]:
        """The trace of each verdict; one that names only a span is of the day's spans, else of an earlier day's."""
        found: list[str] = []
        traces: dict[str, str] | None = None
        for verdict, _ in kept.feedback():
            trace = record_ids.trace_id(verdict, kept.identity)
            if not trace:
                if traces is None:
                    traces = dict(self._left_spans)
                    for frame in frames_of(spans):
                        traces |= dict(frame.select("span_id", "trace_id").iter_rows())
                span_id = record_ids.judged_span_id(verdict, kept.identity) or ""
                trace = traces.get(span_id) or self.earlier_trace(span_id) or ""
            found.append(trace)
        return found

    def _check(self, kept: KeptRecords, max_quarantined: float) -> None:
        uncleared = len(self._quarantined) - len(self.erased)
        share = uncleared / max(len(kept.traces), 1)
        if share > max_quarantined:
            raise LeakFound(
                f"{uncleared} of {len(kept.traces)} traces could not be cleared of personal data "
                f"(allowed: {max_quarantined:.0%}); nothing was published"
            )

    def _cleared_spans(self, spans: Frames) -> Frames:
        """The spans without those of traces that turned out too late not to be cleared; these are rejects."""
        if not self._quarantined:
            return spans
        traces = pl.Series(list(self._quarantined), dtype=pl.String)
        for frame in frames_of(spans):
            late = frame.filter(pl.col("trace_id").is_in(traces.implode()))
            for trace, file_id, position in late.select("trace_id", "file_id", "position").iter_rows():
                self._reject(file_id, position, self._quarantined[trace])
        return without(spans, "trace_id", traces)

    def _cleared_messages(self, messages: Frames, kept: KeptRecords) -> Frames:
        """The messages without those that only traces hold which are not cleared."""
        if not self._quarantined:
            return messages
        gone_traces = {number for number, trace in enumerate(kept.traces) if trace in self._quarantined}
        numbered = enumerate(kept.message_ids)
        cleared = {message_id for number, message_id in numbered if not gone_traces.issuperset(kept.holders.of(number))}
        gone = [message_id for message_id in kept.message_ids if message_id not in cleared]
        return without(messages, "message_id", pl.Series(gone, dtype=pl.Binary))

    def _cleared_findings(self, findings: pl.DataFrame, frames: dict[str, Frames]) -> pl.DataFrame:
        if not self._quarantined:
            return findings
        rows = {key.hex() for frame in frames_of(frames["messages"]) for key in frame["message_id"]}
        for frame in frames_of(frames["spans"]):
            rows |= {f"{trace}:{span}" for trace, span in frame.select("trace_id", "span_id").iter_rows()}
        rows |= {f"feedback:{key}" for frame in frames_of(frames["feedback"]) for key in frame["feedback_id"]}
        return findings.filter(pl.col("row_id").is_in(list(rows)))

    def _reject(self, file_id: str, position: int, reason: str) -> None:
        if reason == ERASED:
            return  # nothing points at what was erased
        self._rejects[file_id, position, reason] = {
            "day": self.day, "file_id": file_id, "position": position, "reason": reason, "bytes": None
        }  # fmt: skip


def _frames(table: Table, parts: Iterable[list[Row] | pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The rows of the parts by column; few are held as objects at a time."""
    held: list[Row] = []
    for rows in parts:
        if isinstance(rows, pl.DataFrame):
            yield rows
            continue
        held += rows
        if len(held) >= HELD_ROWS:
            yield table.part(held)
            held = []
    if held:
        yield table.part(held)
    yield table.empty()
