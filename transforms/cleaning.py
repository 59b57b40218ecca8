"""A day's records become clean tables, in two readings: first collect what is personal, then replace it.

The first reading learns every value of every trace, since a value that the last span gives away must change the
first message. The second cleans each distinct message once, with what all traces that hold it know. Both go over
records that were kept sealed, a part of the messages or traces at a time, so that memory hardly grows with the day;
nothing raw outlives the objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

import polars as pl

from transforms import record_ids
from transforms.clean_rows import Audited, CleanRows, Row
from transforms.contexts import link_rows
from transforms.duplicates import merged
from transforms.holders import Holders
from transforms.identity import Identity
from transforms.kept import PARTS, KeptRecords, KeptSpan
from transforms.payloads import feedback_values, message_values, span_values
from transforms.privacy.deidentifier import Deidentifier, Unscannable
from transforms.records import Message
from transforms.sealed_frames import Frames, framed, frames_of, without
from warehouse.schemas import FEEDBACK, MESSAGES, PII_FINDINGS, REJECTS, SPANS, Table

Item = TypeVar("Item")


class LeakFound(Exception):
    """Personal data or secrets that cleaning could not remove; says how many of which type, and nothing else."""


Watch = Callable[[Iterable[Any], str], Iterable[Any]]
"""Shows how far something is."""

HELD_ROWS = 2048
"""Rows that become columns at a time."""

ALTERED, HAS_MEDIA = 1, 2
"""What is remembered of each message when its spans are made."""


def _unwatched(items: Iterable[Item], what: str) -> Iterable[Item]:
    return items


@dataclass
class DayCleaning:
    """One day's cleaning, done once by `tables`."""

    day: date
    deidentifier: Deidentifier
    identity: Identity
    earlier_trace: Callable[[str], str | None] = lambda span_id: None  # trace of a span that an earlier day has
    watch: Watch = _unwatched
    _quarantined: dict[str, str] = field(default_factory=dict)
    _rejects: dict[tuple[str, int, str], Row] = field(default_factory=dict)
    _held_spans: dict[str, str] = field(default_factory=dict)  # spans that are held back, and their traces

    def tables(self, kept: KeptRecords, max_quarantined: float) -> dict[str, Frames]:
        """The clean tables of the records, audited; sealed where they are large.

        Raises LeakFound where a known value or a secret remains, or where more than `max_quarantined` (share of the
        day's traces) could not be cleared.
        """
        kept.finish()
        holders = self._survey(kept)
        rows = CleanRows(self.day, self.deidentifier, self.identity, kept.traces)
        facts = bytearray(len(kept.message_ids))
        parts = self.watch(range(PARTS), "replacing it in messages")
        cleaned = (self._messages(part, kept, rows, holders, facts) for part in parts)
        messages = framed(MESSAGES, _frames(MESSAGES, cleaned))
        parts = self.watch(range(PARTS), "replacing it in spans")
        spans = framed(SPANS, _frames(SPANS, (self._spans(part, kept, rows, facts) for part in parts)))
        feedback = self._feedback(kept, rows, spans)
        self._check(kept, max_quarantined)
        frames: dict[str, Frames] = {
            "spans": self._cleared_spans(spans),
            "messages": self._cleared_messages(messages, kept, holders),
            "feedback": FEEDBACK.frame([row for row in feedback if row["trace_id"] not in self._quarantined]),
        }
        findings = PII_FINDINGS.frame(list(rows.findings.values()))
        rejects = REJECTS.frame(list(self._rejects.values()))
        return {**frames, "pii_findings": self._cleared_findings(findings, frames), "rejects": rejects}

    def _survey(self, kept: KeptRecords) -> Holders:
        """First reading: learn what is personal, and which traces hold which messages."""
        holders = Holders(len(kept.message_ids))
        known_tools: set[tuple[int, int]] = set()
        for part in self.watch(range(PARTS), "looking for personal data in spans"):
            for one in kept.spans(part):
                trace = kept.traces[one.trace]
                self._learn(trace, span_values(one.span))
                holders.add(one.trace, one.fresh)
                holders.add(one.trace, one.output)
                if one.tools and (one.trace, one.tools) not in known_tools:
                    known_tools.add((one.trace, one.tools))
                    self._learn(trace, kept.tools[one.tools])
        for part in self.watch(range(PARTS), "looking for personal data in messages"):
            for number, message in kept.messages(part):
                for holder in holders.of(number):
                    self._learn(kept.traces[holder], message_values(message))
        for verdict, _ in kept.feedback():
            self._learn(record_ids.trace_id(verdict, self.identity), feedback_values(verdict))
        return holders

    def _learn(self, trace: str, values: Any) -> None:
        try:
            self.deidentifier.learn(trace, values)
        except Unscannable as problem:
            self._hold_back([trace], problem)

    def _messages(self, part: int, kept: KeptRecords, rows: CleanRows, holders: Holders, facts: bytearray) -> list[Row]:
        """Clean messages of a part. What only replacing shows (two keys become one, a pattern takes too long)
        quarantines the traces that hold a message as well."""
        variants: dict[bytes, list[tuple[int, Message]]] = defaultdict(list)
        for number, message in kept.messages(part):
            variants[kept.message_ids[number]].append((number, message))
        made: list[tuple[list[int], Audited]] = []
        for message_id, told in variants.items():
            numbers = [number for number, _ in told]
            traces = {kept.traces[trace] for number in numbers for trace in holders.of(number)}
            chosen = next((said for number, said in told if self._is_cleared(kept, holders.of(number))), None)
            if chosen is None:
                continue
            try:
                row = rows.message(message_id, chosen, traces)
            except Unscannable as problem:
                self._hold_back(traces, problem)
                continue
            made.append((numbers, Audited("messages", message_id.hex(), row, traces)))
        self._audit(rows, [audited for _, audited in made])
        for numbers, audited in made:
            fact = ALTERED * audited.row["altered"] | HAS_MEDIA * (audited.row["media"] is not None)
            for number in numbers:
                facts[number] = fact
        return [audited.row for _, audited in made]

    def _spans(self, part: int, kept: KeptRecords, rows: CleanRows, facts: bytearray) -> list[Row]:
        """Clean spans of a part; those of a trace that cannot be cleared are rejects."""
        made: dict[tuple[str, str], Row] = {}
        prompts: dict[int, list[int]] = {}
        tools: dict[tuple[int, int], str] = {}
        ids = kept.message_ids
        for one in kept.spans(part):
            trace = kept.traces[one.trace]
            prompt = prompts.get(one.trace, [])[: one.shared] + one.fresh
            if prompt:
                prompts[one.trace] = prompt
            row = self._span(one, kept, rows, tools)
            if row is None:
                self._reject(kept.files[one.file], one.span.position, self._quarantined[trace])
                self._held_spans[record_ids.span_id(one.span, trace, self.identity)] = trace
                continue
            said = 0
            for number in (*prompt, *one.output):
                said |= facts[number]
            row["altered"] = row["altered"] or bool(said & ALTERED)
            row["prompt"] = [ids[number] for number in prompt]
            row["output"] = [ids[number] for number in one.output]
            if said & HAS_MEDIA and row["content_state"] == "full":
                row["content_state"] = "redacted"
            key = (trace, row["span_id"])
            made[key] = merged(made[key], row) if key in made else row
        return self._linked(made, rows)

    def _span(self, one: KeptSpan, kept: KeptRecords, rows: CleanRows, tools: dict[tuple[int, int], str]) -> Row | None:
        """The row of a span without its messages; None where its trace is held back."""
        trace = kept.traces[one.trace]
        if trace in self._quarantined:
            return None
        offered = (one.trace, one.tools)
        try:
            row = rows.span(one.span, trace)
            if one.tools and offered not in tools:
                tools[offered] = rows.tools(kept.tools[one.tools], trace, row["span_id"])
        except Unscannable as problem:
            self._hold_back([trace], problem)
            return None
        return row | {"tools": tools.get(offered), "file_id": kept.files[one.file]}

    def _linked(self, made: dict[tuple[str, str], Row], rows: CleanRows) -> list[Row]:
        """The spans of a part, audited, with what their prompts share with each other."""
        audited = [Audited("spans", f"{trace}:{span_id}", row, [trace]) for (trace, span_id), row in made.items()]
        self._audit(rows, audited)
        return list(link_rows(made.values()))

    def _feedback(self, kept: KeptRecords, rows: CleanRows, spans: Frames) -> list[Row]:
        """The verdicts, the last word of each; one that names a span and no trace is of the day's spans, else of an
        earlier day's."""
        made: dict[str, Row] = {}
        traces: dict[str, str] | None = None
        for verdict, file in kept.feedback():
            trace = record_ids.trace_id(verdict, self.identity)
            if not trace:
                if traces is None:
                    traces = dict(self._held_spans)
                    for frame in frames_of(spans):
                        traces |= dict(frame.select("span_id", "trace_id").iter_rows())
                span_id = record_ids.judged_span_id(verdict, self.identity) or ""
                trace = traces.get(span_id) or self.earlier_trace(span_id) or ""
            reason = self._quarantined.get(trace, "") if trace else "unknown_span"
            if not reason:
                try:
                    row = rows.feedback(verdict, trace)
                    before = made.get(row["feedback_id"])
                    if not before or (before["created_at"] or 0) <= (row["created_at"] or 0):
                        made[row["feedback_id"]] = row
                except Unscannable as problem:
                    self._hold_back([trace], problem)
                    reason = self._quarantined[trace]
            if reason:
                self._reject(kept.files[file], verdict.position, reason)
        self._audit(rows, [Audited("feedback", f"feedback:{key}", row, [row["trace_id"]]) for key, row in made.items()])
        return list(made.values())

    def _audit(self, rows: CleanRows, audited: list[Audited]) -> None:
        for trace, reason in rows.audit(audited).items():
            self._quarantined.setdefault(trace, reason)

    def _check(self, kept: KeptRecords, max_quarantined: float) -> None:
        share = len(self._quarantined) / max(len(kept.traces), 1)
        if share > max_quarantined:
            raise LeakFound(
                f"{len(self._quarantined)} of {len(kept.traces)} traces could not be cleared of personal data "
                f"(allowed: {max_quarantined:.0%}); nothing was published"
            )

    def _is_cleared(self, kept: KeptRecords, traces: Iterable[int]) -> bool:
        """Whether any of the traces that hold a message is not held back."""
        return not self._quarantined or any(kept.traces[trace] not in self._quarantined for trace in traces)

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

    def _cleared_messages(self, messages: Frames, kept: KeptRecords, holders: Holders) -> Frames:
        """The messages without those that only traces hold which are not cleared."""
        if not self._quarantined:
            return messages
        numbered = enumerate(kept.message_ids)
        cleared = {message_id for number, message_id in numbered if self._is_cleared(kept, holders.of(number))}
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

    def _hold_back(self, traces: Iterable[str], problem: Unscannable) -> None:
        for trace in traces:
            self._quarantined.setdefault(trace, f"unscannable_{problem.reason}")

    def _reject(self, file_id: str, position: int, reason: str) -> None:
        self._rejects[file_id, position, reason] = {
            "day": self.day, "file_id": file_id, "position": position, "reason": reason, "bytes": None
        }  # fmt: skip


def _frames(table: Table, parts: Iterable[list[Row]]) -> Iterator[pl.DataFrame]:
    """The rows of the parts by column; few are held as objects at a time."""
    held: list[Row] = []
    for rows in parts:
        held += rows
        if len(held) >= HELD_ROWS:
            yield table.part(held)
            held = []
    yield table.part(held)
