"""Rows of the clean tables: values replaced, what was found noted, what leaks cleaned once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import date
from operator import itemgetter
from typing import Any

import polars as pl

from transforms import record_ids
from transforms.identity import Identity
from transforms.payloads import (
    AROUND_PLACES,
    FEEDBACK_PLACES,
    MESSAGE_PLACES,
    NO_TEXTS,
    OWN_PLACES,
    around_row,
    around_values,
    feedback_values,
    message_row,
    message_values,
    own_row,
    own_values,
    plausible,
    to_json,
    valid_text,
)
from transforms.privacy.deidentifier import Cleaned, Deidentifier, Unscannable
from transforms.records import Feedback, Message
from transforms.surroundings import OwnFields, Surroundings
from transforms.tokens import no_tokens
from warehouse.schemas import FEEDBACK, MESSAGES, PII_FINDINGS, SPANS, Table

Row = dict[str, Any]

ERASED = "erased"
"""Why a trace is left out that holds somebody who is to be forgotten: it is neither a reject nor quarantined."""

FIRST_INDEX = re.compile(r"\.(\d+)")  # of the list of a record's values, which tells the column
IDS = ("trace_id", "span_id", "parent_span_id", "file_id", "feedback_id")
RECENT_TOOLS = 64  # lists of which the JSON is remembered
LINKS = ("base_span_id",)  # not there yet when spans are audited, and an id as well


def _text_columns(table: Table) -> Callable[[Row], tuple[str | None, ...]]:
    names = [name for name, column in table.columns.items() if column.dtype == pl.String]
    return itemgetter(*(name for name in names if name not in (*IDS, *LINKS)))


TEXTS = {table.name: _text_columns(table) for table in (MESSAGES, SPANS, FEEDBACK)}
"""The texts of a row of each table."""


@dataclass(slots=True)
class Audited:
    """A cleaned row with its table, its id there, and the traces that hold it."""

    table: str
    row_id: str
    row: Row
    traces: Collection[str]


@dataclass(slots=True)
class CleanSurroundings:
    """What rows of a trace's spans have in common, and what was found in it."""

    row: Row
    cleaned: Cleaned[list[Any]]


def hold_back(traces: Iterable[str], why: str | Unscannable, held_back: dict[str, str]) -> None:
    """Note why traces are held back. Of several reasons one counts in whatever order parts find them: `ERASED` before
    all others, what cannot be searched before what leaks by that, then the first by name."""
    reason = why if isinstance(why, str) else f"unscannable_{why.reason}"
    for trace in traces:
        held_back[trace] = min(reason, held_back.get(trace, reason), key=_rank)


def _rank(reason: str) -> tuple[bool, bool, str]:
    return reason != ERASED, reason.startswith("leak_"), reason


@dataclass
class CleanRows:
    """Makes the rows of a day. Whatever cannot be searched raises Unscannable."""

    day: date
    deidentifier: Deidentifier
    identity: Identity
    findings: dict[tuple[str, str, str, int], Row] = field(default_factory=dict)
    _unaltered: dict[int, tuple[list[dict[str, Any]], str]] = field(default_factory=dict)  # tools, and their JSON

    def message(self, message_id: bytes, message: Message, traces: Collection[str]) -> Row:
        """The row of a message, without what any of the traces that hold it knows."""
        cleaned = self.deidentifier.clean(message_values(message), traces)
        row = message_row(message, cleaned.value, self.identity)
        if cleaned.altered:
            self._note(cleaned, "messages", message_id.hex(), MESSAGE_PLACES)
        row |= {"day": self.day, "message_id": message_id, "altered": cleaned.altered}
        return row

    def surroundings(self, around: Surroundings, trace: str) -> CleanSurroundings:
        """What surrounds spans of a trace, cleaned once for all of them."""
        cleaned = self.deidentifier.clean(around_values(around), [trace])
        row = {
            **NO_TEXTS,
            **no_tokens(around.flags),
            **around_row(cleaned.value),
            "day": self.day,
            "trace_id": trace,
            "source": around.source,
            "dialect": around.dialect,
            "kind": around.kind,
            "status": around.status,
            "content_state": around.content_state,
            "finish_reason": around.finish_reason or None,
            "flags": around.flags,
            "trial": plausible(around.trial),
        }
        return CleanSurroundings(row, cleaned)

    def span(self, span: OwnFields, around: CleanSurroundings, trace: str) -> Row:
        """The row of a span of these surroundings as far as it follows from the span itself."""
        cleaned = self.deidentifier.clean(own_values(span), [trace])
        span_id = record_ids.span_id(span, trace, self.identity)
        altered = around.cleaned.altered or cleaned.altered
        if altered:
            self._note(around.cleaned, "spans", f"{trace}:{span_id}", AROUND_PLACES)
            self._note(cleaned, "spans", f"{trace}:{span_id}", OWN_PLACES)
        return {
            **around.row,
            **own_row(cleaned.value),
            "span_id": span_id,
            "parent_span_id": record_ids.parent_span_id(span, trace, self.identity),
            "position": span.position,
            "started_at": span.started_ns,
            "ended_at": span.ended_ns,
            "altered": altered,
            "sequence": record_ids.sequence(span.sequence, self.identity),
            "input_tokens": plausible(span.input_tokens),
            "output_tokens": plausible(span.output_tokens),
            "cache_read_tokens": plausible(span.cache_read_tokens),
            "reasoning_tokens": plausible(span.reasoning_tokens),
        }

    def tools(self, tools: list[dict[str, Any]], trace: str, span_id: str) -> tuple[str, bool]:
        """Tools that a trace's models were offered, as JSON, and whether that was changed; `span_id` is the first
        span that was."""
        cleaned = self.deidentifier.clean(tools, [trace])
        self._note(cleaned, "spans", f"{trace}:{span_id}", ("tools",) * len(tools))
        return (self._written(tools) if cleaned.value is tools else to_json(cleaned.value)), cleaned.altered

    def feedback(self, feedback: Feedback, trace: str) -> Row:
        """The row of a verdict."""
        cleaned = self.deidentifier.clean(feedback_values(feedback), [trace])
        key, label, comment = (valid_text(value) for value in cleaned.value)
        row_id = record_ids.feedback_id(feedback, trace, self.identity)
        score = None if self.deidentifier.clean([feedback.score], [trace]).altered else feedback.score
        self._note(cleaned, "feedback", f"feedback:{row_id}", FEEDBACK_PLACES)
        return {
            "day": self.day,
            "feedback_id": row_id,
            "trace_id": trace,
            "span_id": record_ids.judged_span_id(feedback, self.identity),
            "key": key,
            "score": score,
            "label": label or None,
            "comment": comment or None,
            "annotator": feedback.annotator,
            "created_at": feedback.created_ns,
        }

    def audit(self, audited: Iterable[Audited]) -> dict[str, str]:
        """Look for what should be gone, and clean what leaks once more; the traces that still leak, with the reason."""
        rows = {one.row_id: one for one in audited}
        held_back: dict[str, str] = {}
        leaks = self.deidentifier.audit((row_id, _texts(one)) for row_id, one in rows.items())
        leaking = {leak.row_id: rows[leak.row_id] for leak in leaks}
        for one in leaking.values():
            try:
                self._clean_again(one)
            except Unscannable as problem:
                hold_back(one.traces, problem, held_back)
        for leak in self.deidentifier.audit((row_id, _texts(one)) for row_id, one in leaking.items()):
            hold_back(leaking[leak.row_id].traces, f"leak_{leak.entity.lower()}", held_back)
        return held_back

    def _clean_again(self, one: Audited) -> None:
        """Clean a row with what its traces know, and with what is one person's whichever trace of the day knows it."""
        row = one.row
        texts = [(name, text) for name, text in row.items() if isinstance(text, str) and name not in IDS]
        for place, text in texts:
            cleaned = self.deidentifier.clean([text], one.traces, leaking=True)
            self._note(cleaned, one.table, one.row_id, (place,))
            row[place] = cleaned.value[0]
            if "altered" in row:
                row["altered"] |= cleaned.altered

    def _written(self, tools: list[dict[str, Any]]) -> str:
        """The JSON of tools; most traces have the same, as the same object."""
        known = self._unaltered.get(id(tools))
        if known is None:
            if len(self._unaltered) >= RECENT_TOOLS:
                self._unaltered.clear()
            known = self._unaltered[id(tools)] = (tools, to_json(tools))  # held: its id is not used again
        return known[1]

    def _note(self, cleaned: Cleaned[Any], table: str, row_id: str, places: tuple[str, ...]) -> None:
        for found in cleaned.findings:
            first = FIRST_INDEX.match(found.path)
            place, path = (first[1], found.path[first.end() :]) if first else ("0", found.path)
            key = (f"{table}.{places[int(place)]}", row_id, path, found.start)
            self.findings.setdefault(key, {
                "day": self.day, **dict(zip(PII_FINDINGS.key, key, strict=True)), "length": found.length,
                "entity": found.entity, "recogniser": found.recogniser, "score": found.score,
            })  # fmt: skip


def _texts(one: Audited) -> list[str]:
    return [value for value in TEXTS[one.table](one.row) if value is not None]
