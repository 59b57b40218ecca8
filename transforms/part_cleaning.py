"""One part of a day's records becomes clean rows: what a worker does, alone or beside others.

Every step is a function of the records, of what all workers learned before it, and of the part: how many workers
share the parts changes no byte.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

import polars as pl

from transforms import record_ids
from transforms.clean_rows import ERASED, Audited, CleanRows, CleanSurroundings, Row, hold_back
from transforms.contexts import link_rows
from transforms.duplicates import merged
from transforms.kept import KeptRecords
from transforms.kept_shelves import KeptSpan
from transforms.offered_tools import inherit_tools
from transforms.payloads import around_values, feedback_values, message_values, own_values
from transforms.privacy.deidentifier import Deidentifier, Unscannable
from transforms.privacy.erasure import Tombs
from transforms.privacy.propagation import Known
from transforms.records import Message
from transforms.surroundings import Surroundings
from transforms.tokens import drop_tokens, token_columns
from warehouse.schemas import FEEDBACK, MESSAGES, SPANS, Table

Offered = tuple[str | None, bool]
"""Clean tools as JSON, and whether cleaning changed them."""

NO_TOOLS: Offered = (None, False)

ALTERED, HAS_MEDIA = 1, 2
"""What is remembered of each message when its spans are made."""

Knowledge = dict[str, set[Known]]
"""What is personal, by trace."""

RECENT = 128
"""Surroundings of traces that are known to be learned from, or of which it is known what cleaning made of them."""


@dataclass(slots=True)
class CleanPart:
    """What came of a part: rows, and what was found in them, held back or left out."""

    rows: list[Row] | pl.DataFrame = field(default_factory=list)
    findings: list[Row] = field(default_factory=list)
    held_back: dict[str, str] = field(default_factory=dict)  # traces that could not be cleared, and why
    left_out: list[tuple[str, int, str]] = field(default_factory=list)  # file, position and reason of records
    left_spans: dict[str, str] = field(default_factory=dict)  # spans that are left out, and their traces
    facts: dict[int, int] = field(default_factory=dict)  # of messages, by number


class PartCleaner:
    """Does the steps of a day's cleaning on one part at a time."""

    def __init__(
        self,
        day: date,
        kept: KeptRecords,
        deidentifier: Callable[[], Deidentifier],
        in_columns: bool = False,
        tombs: Tombs | None = None,
    ) -> None:
        """`in_columns` gives rows as frames, which travel more quickly between processes; traces in which `tombs` are
        found are left out."""
        self._kept, self._deidentifier, self._in_columns = kept, deidentifier(), in_columns
        self._tombs = tombs or None
        self._rows = CleanRows(day, self._deidentifier, kept.identity)
        self._facts = bytearray()
        self._held_back: dict[str, str] = {}

    def survey(self, part: int) -> dict[str, str]:
        """Learn what is personal in a part; the traces that could not be searched, with the reason."""
        failed: dict[str, str] = {}
        known_tools: set[tuple[int, int]] = set()
        known: set[tuple[int, Surroundings]] = set()
        for one in self._kept.spans(part):
            trace = self._kept.traces[one.trace]
            if (one.trace, one.around) not in known:
                if len(known) >= RECENT:
                    known.clear()
                known.add((one.trace, one.around))
                self._learn([trace], around_values(one.around), failed)
            if values := own_values(one.span):
                self._learn([trace], values, failed)
            if one.tools and (one.trace, one.tools) not in known_tools:
                known_tools.add((one.trace, one.tools))
                self._learn([trace], self._kept.tools[one.tools], failed)
        for number, message in self._kept.messages(part):
            holders = [self._kept.traces[holder] for holder in self._kept.holders.of(number)]
            self._learn(holders, message_values(message), failed)
        return failed

    def survey_feedback(self) -> dict[str, str]:
        """The same for all verdicts."""
        failed: dict[str, str] = {}
        for verdict, _ in self._kept.feedback():
            self._learn([record_ids.trace_id(verdict, self._kept.identity)], feedback_values(verdict), failed)
        return failed

    def knowledge(self) -> Knowledge:
        """What was learned so far."""
        return self._deidentifier.knowledge()

    def begin(self, knowledge: Knowledge, facts: bytes, held_back: dict[str, str]) -> None:
        """Take over what all have learned, and which traces are held back so far."""
        self._deidentifier.share(knowledge)
        self._facts, self._held_back = bytearray(facts), dict(held_back)

    def messages(self, part: int) -> CleanPart:
        """Clean messages of a part. What only replacing shows (two keys become one, a pattern takes too long)
        holds back the traces that hold a message as well."""
        kept, told = self._kept, CleanPart()
        variants: dict[bytes, list[tuple[int, Message]]] = defaultdict(list)
        for number, message in kept.messages(part):
            variants[kept.message_ids[number]].append((number, message))
        made: list[tuple[list[int], Audited]] = []
        for message_id, ways in variants.items():
            numbers = [number for number, _ in ways]
            traces = {kept.traces[trace] for number in numbers for trace in kept.holders.of(number)}
            chosen = self._cleared(ways)
            if chosen is None:
                continue
            try:
                row = self._rows.message(message_id, chosen, traces)
            except Unscannable as problem:
                hold_back(traces, problem, told.held_back)
                continue
            made.append((numbers, Audited("messages", message_id.hex(), row, traces)))
        told.rows = self._audited([audited for _, audited in made], told)
        for numbers, audited in made:
            fact = ALTERED * audited.row["altered"] | HAS_MEDIA * (audited.row["media"] is not None)
            told.facts.update(dict.fromkeys(numbers, fact))
        return self._told(told, MESSAGES)

    def spans(self, part: int) -> CleanPart:
        """Clean spans of a part; those of a trace that cannot be cleared are left out."""
        kept, told = self._kept, CleanPart(held_back=dict(self._held_back))
        records: dict[tuple[str, str], list[Row]] = defaultdict(list)
        around: dict[tuple[int, Surroundings], CleanSurroundings] = {}
        tools: dict[tuple[int, int], Offered] = {}
        ids = kept.message_ids.made_once()
        for one in kept.spans(part):
            trace = kept.traces[one.trace]
            row = self._span(one, around, tools, told)
            if row is None:
                told.left_out.append((kept.files[one.file], one.span.position, told.held_back[trace]))
                told.left_spans[record_ids.span_id(one.span, trace, kept.identity)] = trace
                continue
            said = reduce(or_, map(self._facts.__getitem__, one.prompt + one.output), 0)
            shown = bool(said & ALTERED) or tools.get((one.trace, one.tools), NO_TOOLS)[1]
            row |= token_columns(one.span, shown, row["content_state"])
            row["altered"] = row["altered"] or shown
            row["prompt"] = [*map(ids.__getitem__, one.prompt)]
            row["output"] = [*map(ids.__getitem__, one.output)]
            if said & HAS_MEDIA and row["content_state"] == "full":
                row["content_state"] = "redacted"
            records[trace, row["span_id"]].append(row)
        made = {key: merged(rows) for key, rows in records.items()}
        offered = [(row, row["tools"]) for row in made.values()]
        self._audited([Audited("spans", f"{trace}:{span}", row, [trace]) for (trace, span), row in made.items()], told)
        for row, before in offered:
            if row["tools"] != before:
                drop_tokens(row)
        inherit_tools(made.values())
        told.rows = list(link_rows(made.values()))
        return self._told(told, SPANS)

    def feedback(self, traces: list[str]) -> CleanPart:
        """The verdicts, the last word of each; `traces` are those they belong to, empty where nobody knows."""
        kept, told = self._kept, CleanPart(held_back=dict(self._held_back))
        made: dict[str, Row] = {}
        for (verdict, file), trace in zip(kept.feedback(), traces, strict=True):
            reason = told.held_back.get(trace, "") if trace else "unknown_span"
            if self._tombs and self._tombs.finds(feedback_values(verdict)):
                reason = ERASED
            if not reason:
                try:
                    row = self._rows.feedback(verdict, trace)
                    before = made.get(row["feedback_id"])
                    if not before or (before["created_at"] or 0) <= (row["created_at"] or 0):
                        made[row["feedback_id"]] = row
                except Unscannable as problem:
                    hold_back([trace], problem, told.held_back)
                    reason = told.held_back[trace]
            if reason:
                told.left_out.append((kept.files[file], verdict.position, reason))
        audited = [Audited("feedback", f"feedback:{key}", row, [row["trace_id"]]) for key, row in made.items()]
        told.rows = self._audited(audited, told)
        return self._told(told, FEEDBACK)

    def _span(
        self,
        one: KeptSpan,
        around: dict[tuple[int, Surroundings], CleanSurroundings],
        tools: dict[tuple[int, int], Offered],
        told: CleanPart,
    ) -> Row | None:
        """The row of a span without its messages; None where its trace is held back."""
        trace = self._kept.traces[one.trace]
        if trace in told.held_back:
            return None
        offered = (one.trace, one.tools)
        try:
            key = (one.trace, one.around)
            beside = around.get(key)
            if beside is None:
                if len(around) >= RECENT:
                    around.clear()
                beside = around[key] = self._rows.surroundings(one.around, trace)
            row = self._rows.span(one.span, beside, trace)
            if one.tools and offered not in tools:
                tools[offered] = self._rows.tools(self._kept.tools[one.tools], trace, row["span_id"])
        except Unscannable as problem:
            hold_back([trace], problem, told.held_back)
            return None
        row["tools"], row["file_id"] = tools.get(offered, NO_TOOLS)[0], self._kept.files[one.file]
        return row

    def _learn(self, traces: list[str], values: Any, failed: dict[str, str]) -> None:
        if self._tombs and self._tombs.finds(values):
            hold_back(traces, ERASED, failed)
        try:
            self._deidentifier.learn_for(traces, values)
        except Unscannable as problem:
            hold_back(traces, problem, failed)

    def _cleared(self, ways: list[tuple[int, Message]]) -> Message | None:
        """The first of the messages with one id, by their numbers, that any trace holds which is not held back."""
        if not self._held_back:
            return ways[0][1]
        traces, holders = self._kept.traces, self._kept.holders
        return next((said for n, said in ways if any(traces[t] not in self._held_back for t in holders.of(n))), None)

    def _audited(self, audited: list[Audited], told: CleanPart) -> list[Row]:
        for trace, reason in self._rows.audit(audited).items():
            hold_back([trace], reason, told.held_back)
        return [one.row for one in audited]

    def _told(self, told: CleanPart, table: Table) -> CleanPart:
        if self._in_columns and isinstance(told.rows, list):
            told.rows = table.part(told.rows)
        told.findings = list(self._rows.findings.values())
        self._rows.findings.clear()
        return told
