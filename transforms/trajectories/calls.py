"""Spans of a trace as nodes with ancestors, agents and scopes; and which LLM spans are calls that count."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import date

import polars as pl

SCOPES = ("agent", "tool")  # kinds of span that begin a scope of their own
NAMELESS = ("", "agent", "agent run", "chat", "langsmith", "rollout", "run", "simulation", "trial")
"""Names of agents' spans that name no agent: readers give them to chats recorded whole, frameworks to any of theirs."""


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """A span with the columns that threads need; `started` and `ended` are UTC nanoseconds."""

    day: date
    trace_id: str
    span_id: str
    parent_span_id: str | None
    source: str
    dialect: str
    sequence: str
    kind: str
    name: str
    started_at: int | None
    ended_at: int | None
    status: str
    error_type: str | None
    error: str | None
    agent: str | None
    conversation_id: str | None
    dataset: str | None
    task: str | None
    trial: int | None
    response_id: str | None
    tools: str | None
    finish_reason: str | None
    base_span_id: str | None
    base_length: int
    prompt_suffix: list[bytes]
    prompt_length: int
    output: list[bytes]
    tool_call_id: str | None
    tool_name: str | None
    tool_arguments: str | None
    tool_result: str | None
    content_state: str

    @property
    def order(self) -> tuple[bool, int, str, str]:
        """By start, then by `place`."""
        return (self.started_at is None, self.started_at or 0, self.place, self.span_id)

    @property
    def place(self) -> str:
        """`sequence`, written so that its purely numeric parts compare as numbers."""
        return ".".join(part.zfill(20) if part.isdigit() else part for part in self.sequence.split("."))


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose calls these are: a named agent at the top of a trace, or one invocation below a tool or agent."""

    key: str
    parent: Scope | None = None


@dataclass(slots=True)
class Trace:
    """The spans of one trace, the most complete copy of each."""

    trace_id: str
    spans: dict[str, Node] = field(default_factory=dict)

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Parents from the nearest up; stops at a parent that never arrived or a cycle."""
        seen = {node.span_id}
        while node.parent_span_id and node.parent_span_id not in seen:
            parent = self.spans.get(node.parent_span_id)
            if parent is None:
                return
            seen.add(parent.span_id)
            yield parent
            node = parent

    def agent(self, node: Node) -> str | None:
        """The agent that `node` names, else the nearest one above that does."""
        named = (span.agent for span in (node, *self.ancestors(node)) if span.agent)
        return next(named, None)

    def agent_name(self, node: Node) -> str | None:
        """The name of its agent; where no span tells one, that of the nearest agent's span."""
        spans = (span.name for span in self.ancestors(node) if span.kind == "agent" and span.name not in NAMELESS)
        return self.agent(node) or next(spans, None)

    def scope(self, node: Node) -> Scope:
        """The scope of `node`; an agent's span below one of the same name is no new scope."""
        chain = [span for span in self.ancestors(node) if span.kind in SCOPES]
        invocations: list[str] = []
        for place, span in enumerate(chain):
            above = chain[place + 1] if place + 1 < len(chain) else None
            if above is not None and _same_agent(span, above):
                continue
            if above is None and span.kind == "agent":
                outermost = Scope(f"agent:{_agent_name(span)}")
                break
            invocations.append(span.span_id)
        else:
            outermost = Scope(f"agent:{self.agent(chain[-1] if chain else node) or ''}")
        for span_id in reversed(invocations):
            outermost = Scope(f"span:{span_id}", outermost)
        return outermost


def nodes(spans: pl.DataFrame) -> list[Node]:
    """The rows of a spans frame, times as nanoseconds."""
    columns = [
        pl.col(name).dt.epoch("ns") if name.endswith("_at") else pl.col(name) for name in Node.__dataclass_fields__
    ]
    return [Node(*row) for row in spans.select(columns).iter_rows()]


def left_out_reasons(trace: Trace, readable: Container[str]) -> dict[str, str]:
    """Why each LLM span that makes no step does not: span id to reason.

    `readable` holds the ids of the spans whose whole prompt could be told.
    """
    calls = sorted((span for span in trace.spans.values() if span.kind == "llm"), key=lambda span: span.order)
    reasons = {span.span_id: reason for span in calls if (reason := _own_reason(trace, span, span.span_id in readable))}
    kept = [span for span in calls if span.span_id not in reasons]
    for span in kept:
        for above in trace.ancestors(span):
            if above.kind == "llm" and above.span_id not in reasons and _same_call(above, span):
                reasons[above.span_id] = "wrapper"
    seen: dict[tuple[str, bytes], Node] = {}
    for span in (span for span in kept if span.span_id not in reasons and span.response_id):
        if seen.setdefault((span.response_id or "", span.output[0]), span) is not span:
            reasons[span.span_id] = "duplicate"
    return reasons


def _own_reason(trace: Trace, span: Node, readable: bool) -> str | None:
    if any(above.kind == "evaluator" for above in trace.ancestors(span)):
        return "judge"
    if span.status == "pending":
        return "pending"
    if span.status == "error" and not span.output:
        return "failed"
    if span.content_state == "absent" or not readable:
        return "no_content"
    return None if span.output else "no_output"


def _same_call(one: Node, other: Node) -> bool:
    if one.response_id and one.response_id == other.response_id:
        return True
    return one.output[0] == other.output[0]


def _same_agent(inner: Node, outer: Node) -> bool:
    return inner.kind == outer.kind == "agent" and _agent_name(inner) == _agent_name(outer)


def _agent_name(span: Node) -> str:
    return span.agent or span.name
