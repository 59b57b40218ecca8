"""Counts what records tell: calls of models, which of them can be trained on, and why the others cannot."""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from transforms.readers.otlp_logs import FROM_LOGS
from transforms.records import Feedback, Message, Record, Reject, Span
from transforms.trajectories.calls import Node, Trace, left_out_reasons

MOST_SPANS = 100_000
"""Spans that are held at once, some 100 MB; beyond that the traces that were touched longest ago are counted off."""

MOST_VERDICTS = 1_000_000
"""Verdicts of which it is remembered that they were told."""

FIRST_POSITIONS = 5
"""Positions that are told of each reason for a reject."""


@dataclass(slots=True)
class _Held:
    """A trace that may still grow: its spans, calls of tools that each wrote, and what else was told of it."""

    trace: Trace
    tool_calls: dict[str, int] = field(default_factory=dict)
    judged: bool = False
    grouped: bool = False


@dataclass
class Survey:
    """What one file, or several together, hold.

    `components` maps keys of feedback to the names of the rewards that rest on them. Records are forgotten but for
    ids and hashes, and these too once more than `MOST_SPANS` spans are held: a trace that comes back after that is
    one trace still, but its calls are told apart from the earlier ones no longer.
    """

    components: Mapping[str, str]
    rejects: Counter[str] = field(default_factory=Counter)
    positions: dict[str, list[int]] = field(default_factory=dict)
    spans: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    states: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    feedback: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    tool_calls: int = 0
    trainable: int = 0
    rewarded: int = 0
    grouped: int = 0
    _open: OrderedDict[str, _Held] = field(default_factory=OrderedDict, repr=False)
    _held_spans: int = 0
    _known_traces: array[int] = field(default_factory=lambda: array("q"), repr=False)
    _verdicts: set[int] = field(default_factory=set, repr=False)
    _judged_spans: set[int] = field(default_factory=set, repr=False)

    def add(self, record: Record) -> None:
        """Count a record."""
        if isinstance(record, Reject):
            self.rejects[record.reason] += 1
            positions = self.positions.setdefault(record.reason, [])
            if len(positions) < FIRST_POSITIONS:
                positions.append(record.position)
        elif isinstance(record, Feedback):
            self._add_verdict(record)
        else:
            self._add_span(record)

    def finish(self) -> None:
        """Count off what is still held."""
        while self._open:
            self._close()

    @property
    def traces(self) -> int:
        """Distinct traces that were told of, by spans or by verdicts."""
        self._known_traces = array("q", np.unique(np.array(self._known_traces, dtype=np.int64)).tolist())
        return len(self._known_traces)

    @property
    def llm_calls(self) -> int:
        """Spans of models, whether they count or not."""
        return self.trainable + self.left_out.total()

    def _add_verdict(self, verdict: Feedback) -> None:
        told = hash((verdict.trace_id, verdict.trace_identity, verdict.span_id, verdict.key, verdict.feedback_id))
        if told in self._verdicts:
            return
        if len(self._verdicts) < MOST_VERDICTS:
            self._verdicts.add(told)
        self.feedback[self.components.get(verdict.key, "")] += 1
        if verdict.trace_id or verdict.trace_identity:
            self._trace(verdict).judged = True
        else:
            self._judged_spans.add(hash(verdict.span_id))

    def _add_span(self, span: Span) -> None:
        self.flags.update(span.flags)
        held = self._trace(span)
        held.grouped = held.grouped or bool(span.task)
        node = _node(span)
        known = held.trace.spans.get(node.span_id)
        if known is None:
            self._held_spans += 1
            self.spans[span.kind] += 1
        elif FROM_LOGS not in span.flags:
            self.repeated += 1
        held.trace.spans[node.span_id] = node if known is None else _joined(known, node, span.flags)
        calls = sum(len(said.tool_calls) for said in span.output)
        held.tool_calls[node.span_id] = max(calls, held.tool_calls.get(node.span_id, 0))
        while self._held_spans > MOST_SPANS and len(self._open) > 1:
            self._close()

    def _trace(self, record: Span | Feedback) -> _Held:
        key = record.trace_id or "\0".join(record.trace_identity)
        held = self._open.get(key)
        if held is None:
            held = self._open[key] = _Held(Trace(key))
            self._known_traces.append(hash(key))
            if len(self._known_traces) > 2 * MOST_SPANS:
                _ = self.traces
        self._open.move_to_end(key)
        return held

    def _close(self) -> None:
        _, held = self._open.popitem(last=False)
        spans = held.trace.spans
        self._held_spans -= len(spans)
        readable = {span.span_id for span in spans.values() if span.prompt_length}
        reasons = left_out_reasons(held.trace, readable)
        judged = held.judged or any(hash(span_id) in self._judged_spans for span_id in spans)
        for span in (span for span in spans.values() if span.kind == "llm"):
            reason = _reason(span, reasons.get(span.span_id, ""))
            self.states[span.content_state] += 1
            self.tool_calls += 0 if reason in ("wrapper", "duplicate") else held.tool_calls[span.span_id]
            self.left_out.update([reason] if reason else [])
            self.trainable += not reason
            self.rewarded += not reason and judged
            self.grouped += not reason and held.grouped


def _reason(span: Node, left_out: str) -> str:
    """Why a call cannot be trained on: it makes no step, or not all of it is there; empty where it can."""
    if left_out in ("", "no_content", "no_output") and span.content_state != "full":
        return span.content_state
    return "absent" if left_out == "no_content" else left_out


def _joined(known: Node, new: Node, flags: list[str]) -> Node:
    """Two records of a span, `new` read later: the fuller one, completed by the other; logged parts add up."""
    fuller, other = (new, known) if _fullness(new) >= _fullness(known) else (known, new)
    if FROM_LOGS in flags and not (known.prompt_length and new.prompt_length):
        fuller.prompt_length += other.prompt_length
        fuller.output = known.output + new.output
    for name in ("parent_span_id", "started_at", "response_id"):
        setattr(fuller, name, getattr(fuller, name) or getattr(other, name))
    fuller.status = other.status if fuller.status in ("unknown", "pending") else fuller.status
    fuller.content_state = other.content_state if fuller.content_state == "absent" else fuller.content_state
    return fuller


def _fullness(span: Node) -> tuple[bool, int, int]:
    return span.status != "pending", len(span.output), span.prompt_length


def _node(span: Span) -> Node:
    """A span without its texts: hashes stand for what a model said."""
    values: dict[str, Any] = dict.fromkeys(Node.__dataclass_fields__)
    values |= {
        "day": date.min, "trace_id": "", "span_id": span.span_id or span.sequence,
        "parent_span_id": span.parent_span_id or span.parent_sequence, "sequence": span.sequence, "kind": span.kind,
        "started_at": span.started_ns, "status": span.status, "response_id": span.response_id,
        "prompt_length": len(span.prompt), "output": [_told(said) for said in span.output],
        "content_state": span.content_state,
    }  # fmt: skip
    return Node(**values)


def _told(said: Message) -> bytes:
    calls = tuple((call.id, call.name, call.arguments) for call in said.tool_calls)
    return hash((said.role, said.content, calls)).to_bytes(8, "little", signed=True)
