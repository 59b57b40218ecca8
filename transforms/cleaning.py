"""A day's records become clean tables, in two readings: first collect what is personal, then replace it.

The first reading learns every value of every trace, since a value that the last span gives away must change the
first message. The second cleans each distinct message once, with what all traces that hold it know. Nothing raw
outlives the object.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import msgspec
import polars as pl

from transforms import record_ids
from transforms.contexts import link_rows
from transforms.duplicates import merged
from transforms.identity import Identity
from transforms.payloads import (
    FEEDBACK_PLACES,
    MESSAGE_PLACES,
    SPAN_PLACES,
    feedback_values,
    message_row,
    message_values,
    plausible,
    span_row,
    span_values,
    to_json,
    valid_text,
)
from transforms.privacy.deidentifier import Cleaned, Deidentifier, Unscannable
from transforms.records import Feedback, Message, Record, Reject, Span
from warehouse.schemas import FEEDBACK, MESSAGES, PII_FINDINGS, REJECTS, SPANS

Row = dict[str, Any]


class LeakFound(Exception):
    """Personal data or secrets that cleaning could not remove; says how many of which type, and nothing else."""


@dataclass
class DayCleaning:
    """One day's cleaning. Call `survey` for every record, then `clean` for every record again, then `tables`."""

    day: date
    deidentifier: Deidentifier
    identity: Identity
    earlier_trace: Callable[[str], str | None] = lambda span_id: None  # trace of a span that an earlier day has
    _waiting: list[tuple[Feedback, str]] = field(default_factory=list)
    _holders: dict[bytes, set[str]] = field(default_factory=lambda: defaultdict(set))
    _quarantined: dict[str, str] = field(default_factory=dict)
    _tools: dict[tuple[str, bytes], str] = field(default_factory=dict)
    _messages: dict[bytes, Row] = field(default_factory=dict)
    _spans: dict[tuple[str, str], Row] = field(default_factory=dict)
    _feedback: dict[str, Row] = field(default_factory=dict)
    _findings: dict[tuple[str, str, str, int], Row] = field(default_factory=dict)
    _rejects: dict[tuple[str, int, str], Row] = field(default_factory=dict)
    _traces: set[str] = field(default_factory=set)

    def survey(self, record: Record) -> None:
        """First reading: learn what is personal in a record, and which messages its trace holds."""
        if isinstance(record, Reject):
            return
        trace = record_ids.trace_id(record, self.identity)
        if trace:
            self._traces.add(trace)
        try:
            for values in self._new_values(record, trace):
                self.deidentifier.learn(trace, values)
        except Unscannable as problem:
            self._quarantined.setdefault(trace, f"unscannable_{problem.reason}")

    def clean(self, record: Record, file_id: str) -> None:
        """Second reading: replace what the first one learnt. What only replacing shows (two keys become one, a
        pattern takes too long) quarantines the trace as well."""
        if isinstance(record, Reject):
            return
        trace = record_ids.trace_id(record, self.identity)
        if not trace and isinstance(record, Feedback):
            self._waiting.append((record, file_id))
        else:
            self._clean(record, trace, file_id)

    def _clean(self, record: Span | Feedback, trace: str, file_id: str) -> None:
        if trace not in self._quarantined:
            try:
                if isinstance(record, Span):
                    self._clean_span(record, trace, file_id)
                else:
                    self._clean_feedback(record, trace)
            except Unscannable as problem:
                self._quarantined[trace] = f"unscannable_{problem.reason}"
        if trace in self._quarantined:
            self._reject(file_id, record.position, self._quarantined[trace])

    def tables(self, max_quarantined: float) -> dict[str, pl.DataFrame]:
        """The clean tables, audited.

        Raises LeakFound where a known value or a secret remains, or where more than `max_quarantined` (share of the
        day's traces) could not be cleared.
        """
        self._place_waiting()
        self._audit()
        share = len(self._quarantined) / max(len(self._traces), 1)
        if share > max_quarantined:
            raise LeakFound(
                f"{len(self._quarantined)} of {len(self._traces)} traces could not be cleared of personal data "
                f"(allowed: {max_quarantined:.0%}); nothing was published"
            )
        return {
            "spans": SPANS.frame(list(link_rows(self._spans.values()))),
            "messages": MESSAGES.frame(list(self._messages.values())),
            "feedback": FEEDBACK.frame(list(self._feedback.values())),
            "pii_findings": PII_FINDINGS.frame(list(self._findings.values())),
            "rejects": REJECTS.frame(list(self._rejects.values())),
        }

    def _place_waiting(self) -> None:
        """Verdicts that name a span and no trace: of the day's spans, else of an earlier day's."""
        traces = {span_id: trace for trace, span_id in self._spans} if self._waiting else {}
        for feedback, file_id in self._waiting:
            span_id = record_ids.judged_span_id(feedback, self.identity) or ""
            if trace := traces.get(span_id) or self.earlier_trace(span_id):
                self._clean(feedback, trace, file_id)
            else:
                self._reject(file_id, feedback.position, "unknown_span")
        self._waiting = []

    def _new_values(self, record: Span | Feedback, trace: str) -> Iterator[Any]:
        if isinstance(record, Feedback):
            yield feedback_values(record)
            return
        yield span_values(record)
        for message in (*record.prompt, *record.output):
            holders = self._holders[self.identity.message(message)]
            if trace not in holders:
                holders.add(trace)
                yield message_values(message)
        tools = (trace, _compact(record.tools))
        if tools not in self._tools:
            self._tools[tools] = ""
            yield record.tools

    def _clean_span(self, span: Span, trace: str, file_id: str) -> None:
        cleaned = self.deidentifier.clean(span_values(span), [trace])
        prompt = [self._message_id(message) for message in span.prompt]
        output = [self._message_id(message) for message in span.output]
        span_id = record_ids.span_id(span, trace, self.identity)
        tools = self._clean_tools(span, trace, span_id)
        has_media = any(message.media for message in (*span.prompt, *span.output))
        row = {
            **span_row(cleaned.value),
            "day": self.day,
            "trace_id": trace,
            "span_id": span_id,
            "parent_span_id": record_ids.parent_span_id(span, trace, self.identity),
            "file_id": file_id,
            "position": span.position,
            "started_at": span.started_ns,
            "ended_at": span.ended_ns,
            "tools": tools,
            "prompt": prompt,
            "output": output,
            "content_state": "redacted" if has_media and span.content_state == "full" else span.content_state,
            "finish_reason": span.finish_reason or None,
            "token_state": None,
            "altered": cleaned.altered or any(self._messages[key]["altered"] for key in (*prompt, *output)),
            "sequence": record_ids.sequence(span.sequence, self.identity),
            **{name: getattr(span, name) for name in COPIED},
            **{name: plausible(getattr(span, name)) for name in COUNTS},
        }
        self._keep_span(row)
        self._note(cleaned, "spans", f"{trace}:{span_id}", SPAN_PLACES)

    def _keep_span(self, row: Row) -> None:
        """Keep one row a span, made of all that its records say."""
        key = (row["trace_id"], row["span_id"])
        before = self._spans.get(key)
        self._spans[key] = row if before is None else merged(before, row)

    def _clean_feedback(self, feedback: Feedback, trace: str) -> None:
        cleaned = self.deidentifier.clean(feedback_values(feedback), [trace])
        key, label, comment = (valid_text(value) for value in cleaned.value)
        row_id = record_ids.feedback_id(feedback, trace, self.identity)
        other = self._feedback.get(row_id)
        if other and (other["created_at"] or 0) > (feedback.created_ns or 0):
            return  # one verdict, changed since: its last word stays, in whichever order files are read
        self._feedback[row_id] = {
            "day": self.day,
            "feedback_id": row_id,
            "trace_id": trace,
            "span_id": record_ids.judged_span_id(feedback, self.identity),
            "key": key,
            "score": None if self.deidentifier.clean([feedback.score], [trace]).altered else feedback.score,
            "label": label or None,
            "comment": comment or None,
            "annotator": feedback.annotator,
            "created_at": feedback.created_ns,
        }
        self._note(cleaned, "feedback", f"feedback:{row_id}", FEEDBACK_PLACES)

    def _message_id(self, message: Message) -> bytes:
        message_id = self.identity.message(message)
        if message_id not in self._messages:
            cleaned = self.deidentifier.clean(message_values(message), self._holders[message_id])
            row = message_row(message, cleaned.value, self.identity)
            self._messages[message_id] = {
                "day": self.day, "message_id": message_id, **row, "altered": cleaned.altered
            }  # fmt: skip
            self._note(cleaned, "messages", message_id.hex(), MESSAGE_PLACES)
        return message_id

    def _clean_tools(self, span: Span, trace: str, span_id: str) -> str | None:
        key = (trace, _compact(span.tools))
        if span.tools and not self._tools[key]:
            cleaned = self.deidentifier.clean(span.tools, [trace])
            self._tools[key] = to_json(cleaned.value)
            self._note(cleaned, "spans", f"{trace}:{span_id}", ("tools",) * len(span.tools))
        return self._tools[key] if span.tools else None

    def _note(self, cleaned: Cleaned[Any], table: str, row_id: str, places: tuple[str, ...]) -> None:
        for found in cleaned.findings:
            first = FIRST_INDEX.match(found.path)
            place, path = (first[1], found.path[first.end() :]) if first else ("0", found.path)
            key = (f"{table}.{places[int(place)]}", row_id, path, found.start)
            self._findings.setdefault(key, {
                "day": self.day, **dict(zip(PII_FINDINGS.key, key, strict=True)), "length": found.length,
                "entity": found.entity, "recogniser": found.recogniser, "score": found.score,
            })  # fmt: skip

    def _audit(self) -> None:
        """Look for what should be gone; clean what leaks once more, then quarantine the traces that still leak."""
        rows = {row_id: (table, row, traces) for table, row_id, row, traces in self._audited()}
        leaks = self.deidentifier.audit((row_id, _texts(row)) for row_id, (_, row, _) in rows.items())
        leaking = {leak.row_id: rows[leak.row_id] for leak in leaks}
        for row_id, (table, row, traces) in leaking.items():
            try:
                self._clean_again(table, row_id, row)
            except Unscannable as problem:
                for trace in traces:
                    self._quarantined.setdefault(trace, f"unscannable_{problem.reason}")
        left = self.deidentifier.audit((row_id, _texts(row)) for row_id, (_, row, _) in leaking.items())
        for leak in left:
            for trace in leaking[leak.row_id][2]:
                self._quarantined.setdefault(trace, f"leak_{leak.entity.lower()}")
        if self._quarantined:
            self._drop_quarantined()

    def _audited(self) -> Iterator[tuple[str, str, Row, set[str]]]:
        """Every cleaned row: its table, its id there, and the traces that hold it."""
        for message_id, row in self._messages.items():
            yield "messages", message_id.hex(), row, self._holders[message_id]
        for (trace, span_id), row in self._spans.items():
            yield "spans", f"{trace}:{span_id}", row, {trace}
        for feedback_id, row in self._feedback.items():
            yield "feedback", f"feedback:{feedback_id}", row, {row["trace_id"]}

    def _clean_again(self, table: str, row_id: str, row: Row) -> None:
        """Clean a row with what any trace of the day knows: what is personal in one is personal in all."""
        for place, text in [(name, text) for name, text in row.items() if isinstance(text, str) and name not in IDS]:
            cleaned = self.deidentifier.clean([text], self._traces)
            self._note(cleaned, table, row_id, (place,))
            row[place] = cleaned.value[0]
            if "altered" in row:
                row["altered"] |= cleaned.altered

    def _drop_quarantined(self) -> None:
        for key, row in list(self._spans.items()):
            if key[0] in self._quarantined:
                self._reject(row["file_id"], row["position"], self._quarantined[key[0]])
                del self._spans[key]
        self._feedback = {key: row for key, row in self._feedback.items() if row["trace_id"] not in self._quarantined}
        cleared = {key for key, traces in self._holders.items() if traces - set(self._quarantined)}
        self._messages = {key: row for key, row in self._messages.items() if key in cleared}
        kept = {key.hex() for key in self._messages} | {f"{t}:{s}" for t, s in self._spans}
        kept |= {f"feedback:{key}" for key in self._feedback}
        self._findings = {key: row for key, row in self._findings.items() if row["row_id"] in kept}

    def _reject(self, file_id: str, position: int, reason: str) -> None:
        self._rejects[file_id, position, reason] = {
            "day": self.day, "file_id": file_id, "position": position, "reason": reason, "bytes": None
        }  # fmt: skip


FIRST_INDEX = re.compile(r"\.(\d+)")  # of the list of a record's values, which tells the column
IDS = ("trace_id", "span_id", "parent_span_id", "file_id", "feedback_id")
COPIED = ("source", "dialect", "kind", "status", "flags")
COUNTS = ("trial", "input_tokens", "output_tokens", "cache_read_tokens", "reasoning_tokens")


def _compact(tools: list[dict[str, Any]]) -> bytes:
    """What tells one list of tools from another; every call of a trace repeats it."""
    try:
        return msgspec.json.encode(tools)
    except (OverflowError, TypeError, RecursionError):  # integers beyond 64 bits, lone surrogates, deep nesting
        return to_json(tools).encode()


def _texts(row: Row) -> list[str]:
    return [value for name, value in row.items() if isinstance(value, str) and name not in IDS]
