"""Spans to trajectories: one agent's thread of calls in one rollout, with its steps and tool calls."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import polars as pl

from transforms.identity import Identity
from transforms.records import ToolCall
from transforms.trajectories.assignment import Assignment, Call, in_order
from transforms.trajectories.calls import Node, Trace, left_out_reasons, nodes
from transforms.trajectories.completion import completed, with_inherited_tools
from transforms.trajectories.context_tree import Context, ContextTree, shorten
from transforms.trajectories.plain_messages import SAID, Messages
from transforms.trajectories.plain_threads import COLUMNS, plain_threads
from transforms.trajectories.thread_tables import Threads, ThreadTables
from transforms.trajectories.tool_results import Body, ToolRuns
from transforms.trajectories.trace_rows import LookUp
from warehouse.schemas import LEFT_OUT, STEPS, TOOL_CALLS, TRAJECTORIES, Table

__all__ = ["Threads", "build_threads"]


def build_threads(spans: pl.DataFrame, messages: pl.DataFrame, identity: Identity, revision: date) -> Threads:
    """The trajectories of all traces in `spans`, as of the day `revision`.

    `spans` (SPANS) holds every row of the traces it touches, of every day up to `revision`, and of the other
    traces of their conversations; `messages` (MESSAGES) the messages they name. Neither order nor repeated
    rows matter. Every LLM span is in exactly one step, or in `left_out` with the reason.
    """
    said = Messages.of(messages.sort("day").select(SAID))
    plain, others = plain_threads(spans.select(COLUMNS), said, looked_up_in(spans.lazy()), identity, revision)
    rest = spans.filter(pl.col("trace_id").is_in(others.implode()))
    held = messages.lazy().join(held_messages(rest.lazy()), on="message_id", how="semi").collect()
    slow = threads_one_by_one(rest, held, identity, revision)
    return put_together([plain, slow] if plain else [slow])


def looked_up_in(spans: pl.LazyFrame) -> LookUp:
    """Looks columns up in `spans` (SPANS) when they are asked for."""

    def look_up(name: str, asked: pl.DataFrame) -> pl.Series:
        key = asked.columns
        told = spans.select(*key, name).join(asked.lazy(), on=key, how="semi").unique(key, keep="any")
        return asked.join(told.collect(), on=key, how="left", maintain_order="left")[name]

    return look_up


def held_messages(spans: pl.LazyFrame) -> pl.LazyFrame:
    """Ids of the messages that spans name (message_id), some of them several times."""
    held = pl.col("prompt_suffix").list.concat("output").alias("message_id")
    return spans.select(held).explode("message_id", empty_as_null=False)


def threads_one_by_one(spans: pl.DataFrame, messages: pl.DataFrame, identity: Identity, revision: date) -> Threads:
    """What `build_threads` gives, trace by trace and call by call: right for every trace, and slow."""
    tables = ThreadTables(identity, revision, bodies(messages))
    copies = spans.unique(["day", "trace_id", "span_id"], keep="any")
    counted = with_inherited_tools(completed(copies))
    copies_of = _by_trace(nodes(copies))
    for conversation in _conversations(_by_trace(nodes(counted))):
        _Conversation(conversation, copies_of).build(tables)
    return tables.finish(counted)


def put_together(parts: list[Threads]) -> Threads:
    """The tables of several parts of a day's traces. The list is emptied, so that memory holds the rows once."""
    frames = {name: [getattr(part, name) for part in parts] for name in ("trajectories", "steps", "tool_calls")}
    left_out = [part.left_out for part in parts]
    parts.clear()
    return Threads(
        _whole(TRAJECTORIES, frames.pop("trajectories")),
        _whole(STEPS, frames.pop("steps")),
        _whole(TOOL_CALLS, frames.pop("tool_calls")),
        _whole(LEFT_OUT, left_out),
    )


def _whole(table: Table, frames: list[pl.DataFrame]) -> pl.DataFrame:
    """The table of several frames, which are emptied. The rows of a thread stand together and in order there: what has
    to be sorted are the threads."""
    frames.append(table.empty())
    threads = pl.concat([frame[table.key[0]] for frame in frames]).rle().struct.unnest()
    places = pl.int_ranges(pl.col("end") - pl.col("len"), "end")
    ordered = threads.with_columns(end=pl.col("len").cum_sum()).sort("value").select(places.explode()).to_series()
    return table.enforce(pl.DataFrame([column[ordered] for column in piled_up(frames)]))


def piled_up(frames: list[pl.DataFrame]) -> Iterator[pl.Series]:
    """The columns of frames that stand one behind the other. They are taken out of the frames one by one, so that
    memory holds the rows once."""
    for name in frames[0].columns:
        yield pl.concat([frame.drop_in_place(name) for frame in frames], rechunk=True)


def bodies(messages: pl.DataFrame) -> dict[bytes, Body]:
    """Each message once, as its latest day has it; a model's own text is left aside."""
    latest = messages.sort("day").unique("message_id", keep="last")
    text = pl.when(pl.col("role") == "assistant").then(pl.lit("")).otherwise(pl.col("content"))
    columns = ("message_id", "role", text.alias("content"), "tool_calls", "tool_call_id", "name", "media")
    return {
        row[0]: Body(row[1], row[2], _calls(row[3]), row[4], row[5], bool(row[6]) and row[6] != "[]")
        for row in latest.select(columns).iter_rows()
    }


def _calls(text: str | None) -> tuple[ToolCall, ...]:
    found = json.loads(text) if text else []
    return tuple(ToolCall(c.get("id") or "", c.get("name") or "", c.get("arguments") or "") for c in found)


def _by_trace(spans: Iterable[Node]) -> dict[str, list[Node]]:
    grouped: dict[str, list[Node]] = defaultdict(list)
    for span in spans:
        grouped[span.trace_id].append(span)
    return grouped


def _conversations(by_trace: Mapping[str, list[Node]]) -> list[list[Trace]]:
    """Traces grouped by conversation, each group in order of its first calls."""
    grouped: dict[tuple[str, str], list[tuple[tuple[object, ...], Trace]]] = defaultdict(list)
    for trace_id in sorted(by_trace):
        spans = by_trace[trace_id]
        named = min((s.conversation_id for s in spans if s.conversation_id), default=None)
        key = ("conversation", min(s.source for s in spans) + "/" + named) if named else ("trace", trace_id)
        first = min((s.order[:2] for s in spans if s.kind == "llm"), default=(True, 0))
        grouped[key].append(((*first, trace_id), Trace(trace_id, {s.span_id: s for s in spans})))
    return [[trace for _, trace in sorted(group, key=lambda item: item[0])] for group in grouped.values()]


@dataclass(slots=True)
class _Conversation:
    """The traces of one conversation, in order, and every day's copies of their spans."""

    traces: list[Trace]
    copies: Mapping[str, list[Node]]

    def build(self, tables: ThreadTables) -> None:
        tree, assignment = ContextTree(), Assignment()
        left_out: list[tuple[Node, str]] = []
        for trace in self.traces:
            prompts = _Prompts(tree, self.copies[trace.trace_id]).of(trace)
            reasons = left_out_reasons(trace, prompts.keys())
            left_out.extend((trace.spans[span_id], reason) for span_id, reason in reasons.items())
            for call in _calls_of(trace, tree, prompts, reasons):
                assignment.place(call)
        tables.add(assignment.threads, left_out, {t.trace_id: t for t in self.traces}, _tool_runs(self.traces))


def _calls_of(
    trace: Trace, tree: ContextTree, prompts: Mapping[str, Context], reasons: Mapping[str, str]
) -> list[Call]:
    spans = (s for s in trace.spans.values() if s.kind == "llm" and s.span_id not in reasons)
    return in_order([
        Call(span, trace.scope(span), prompts[span.span_id], tree.add(prompts[span.span_id], span.output[:1]))
        for span in sorted(spans, key=lambda span: span.order)
    ])  # fmt: skip


def _tool_runs(traces: list[Trace]) -> dict[str, ToolRuns]:
    runs = {}
    for trace in traces:
        tools = sorted((s for s in trace.spans.values() if s.kind == "tool"), key=lambda span: span.order)
        runs[trace.trace_id] = ToolRuns([(span, trace.scope(span).key) for span in tools])
    return runs


class _Prompts:
    """Whole prompts of one trace out of base, shared length and suffix; a base is of the same day."""

    def __init__(self, tree: ContextTree, copies: Iterable[Node]) -> None:
        self._tree = tree
        self._copies = {(span.day, span.span_id): span for span in copies}
        self._known: dict[tuple[date, str], Context | None] = {}

    def of(self, trace: Trace) -> dict[str, Context]:
        """Prompts by span id, without those that are empty or rest on a span that is not there."""
        calls = (span for span in trace.spans.values() if span.kind == "llm")
        found = {span.span_id: self._whole(span) for span in calls}
        return {span_id: prompt for span_id, prompt in found.items() if prompt is not None and prompt.length}

    def _whole(self, span: Node) -> Context | None:
        waiting: list[Node] = []
        node: Node | None = span
        while node is not None and (node.day, node.span_id) not in self._known:
            self._known[node.day, node.span_id] = None  # what a cycle of bases comes to
            waiting.append(node)
            node = self._copies.get((node.day, node.base_span_id)) if node.base_span_id else None
        for node in reversed(waiting):
            self._known[node.day, node.span_id] = self._extended(node)
        return self._known[span.day, span.span_id]

    def _extended(self, span: Node) -> Context | None:
        shared: Context | None = self._tree.root
        if span.base_span_id:
            base = self._copies.get((span.day, span.base_span_id))
            whole = self._known.get((span.day, span.base_span_id))
            if base is None or whole is None:
                return None
            shared = shorten(self._tree.add(whole, base.output[:1]), span.base_length)
        prompt = self._tree.add(shared, span.prompt_suffix) if shared is not None else None
        return prompt if prompt is not None and prompt.length == span.prompt_length else None
