"""Which model calls count and whose they are, for all traces at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from transforms.trajectories.calls import NAMELESS
from transforms.trajectories.trace_rows import (
    AGENT,
    EVALUATOR,
    LLM,
    MOST_LEVELS,
    NONE,
    TOOL,
    Array,
    TraceRows,
    at,
    mixed,
    true_in,
)

REASONS = ("", "judge", "pending", "failed", "no_content", "no_output", "wrapper", "duplicate")
COUNTS, JUDGE, PENDING, FAILED, NO_CONTENT, NO_OUTPUT, WRAPPER, DUPLICATE = range(len(REASONS))


@dataclass
class Above:
    """What is above each of some rows: the row of the span that names its agent, of the nearest agent's span, of the
    one span that is a scope, and of the one that is a model call (NONE without), and whether an evaluator is."""

    agent: Array
    agent_span: Array
    scope: Array
    scopes: Array
    call: Array
    calls: Array
    evaluator: Array


@dataclass
class PlainCalls:
    """Model spans of plain traces in order (`rows`), why each is no step (`reason`, 0 for those that are), the row of
    the span that names its agent and of the nearest agent's span, and by trace whether its calls are of several scopes
    (`mixed`)."""

    rows: Array
    reason: Array
    agent: Array
    agent_span: Array
    mixed: Array

    @property
    def counted(self) -> Array:
        """Rows of the calls that are steps, trace by trace in order."""
        counted: Array = self.rows[self.reason == COUNTS]
        return counted


def look_above(spans: TraceRows, rows: Array) -> Above:
    """Climb from `rows`, all at once, level by level."""
    size = len(rows)
    nowhere, never = np.full(size, NONE, dtype=np.int64), np.zeros(size, dtype=np.uint8)
    found = Above(
        nowhere, nowhere.copy(), nowhere.copy(), never, nowhere.copy(), never.copy(), np.zeros(size, dtype=bool)
    )
    named, kind, parent = spans.says("agent"), spans.kind, spans.parent
    called = ~spans.frame["name"].is_in(NAMELESS).to_numpy()
    own = named[rows]
    found.agent[own] = rows[own]
    at, place = parent[rows], np.arange(size)
    for _ in range(MOST_LEVELS):
        going = at != NONE
        at, place = at[going], place[going]
        if not len(at):
            return found
        kinds = kind[at]
        scope = (kinds == AGENT) | (kinds == TOOL)
        first = scope & (found.scopes[place] == 0)
        found.scope[place[first]] = at[first]
        found.scopes[place] = np.minimum(found.scopes[place] + scope, 2)
        call = kinds == LLM
        found.call[place[call]] = at[call]
        found.calls[place[call]] = np.minimum(found.calls[place[call]] + 1, 2)
        found.evaluator[place[kinds == EVALUATOR]] = True
        of_agent = (kinds == AGENT) & called[at] & (found.agent_span[place] == NONE)
        found.agent_span[place[of_agent]] = at[of_agent]
        agent = named[at] & (found.agent[place] == NONE)
        found.agent[place[agent]] = at[agent]
        at = parent[at]
    spans.give_up(rows[place[at != NONE]])
    return found


def in_order(spans: TraceRows, rows: Array) -> Array:
    """`rows`, which ascend, trace by trace in the order of `Node.order`."""
    started = spans.numbers("started_at", missing=np.iinfo(np.int64).max)[rows]
    trace = spans.trace[rows]
    order = np.lexsort((started, trace))
    tied = (started[order][1:] == started[order][:-1]) & (trace[order][1:] == trace[order][:-1])
    if tied.any():
        tied_rows = np.zeros(len(rows), dtype=bool)
        tied_rows[order[1:][tied]] = tied_rows[order[:-1][tied]] = True
        part = pl.element()
        padded = pl.when(part.str.contains(r"^\d+$")).then(part.str.zfill(20)).otherwise(part)
        told = spans.looked_up("sequence", rows[tied_rows]).str.split(".").list.eval(padded).list.join(".")
        sequence = np.zeros(len(rows), dtype=np.int64)
        sequence[tied_rows] = told.rank("dense").to_numpy()
        order = np.lexsort((sequence, started, trace))
    ordered: Array = rows[order]
    return ordered


def plain_calls(spans: TraceRows, out: Array) -> PlainCalls:
    """The model calls of all traces. `out` is the id of each row's first output, as one number.

    Gives up traces in which that cannot be told by looking at each call and the spans above it.
    """
    rows = in_order(spans, np.flatnonzero(spans.kind == LLM))
    above = look_above(spans, rows)
    reason = _own_reasons(spans, rows, above)
    spans.give_up(rows[above.calls > 1])
    _wrappers(spans, rows, reason, above, out)
    _duplicates(spans, rows, reason, out)
    mixed_scopes = _mixed_scopes(spans, rows, above, reason)
    kept = spans.plain[spans.trace[rows]]
    return PlainCalls(rows[kept], reason[kept], above.agent[kept], above.agent_span[kept], mixed_scopes)


def _mixed_scopes(spans: TraceRows, rows: Array, above: Above, reason: Array) -> Array:
    """By trace whether its calls are of several scopes; gives up those with calls below a tool, or below an agent below
    another, and those in which it matters whose the last failure was."""
    asked = (reason == COUNTS) | (reason == FAILED)
    nested = (above.scopes > 1) | ((above.scopes == 1) & (spans.kind[above.scope] == TOOL))
    spans.give_up(rows[asked & nested])
    below = (above.scopes == 1)[asked]
    row = np.where(above.scopes == 1, above.scope, above.agent)[asked]
    trace, reason = spans.trace[rows[asked]], reason[asked]
    together = trace[1:] == trace[:-1]
    other = np.flatnonzero(together & ((row[1:] != row[:-1]) | (below[1:] != below[:-1]))) + 1
    mixed_scopes = np.zeros(len(spans.plain), dtype=bool)
    if len(other):
        names = at(spans.frame["agent"], row)
        agent = pl.when(names != "").then(names)
        own = pl.when(pl.Series(below)).then(at(spans.frame["name"], row))
        scope = pl.select(pl.coalesce(agent, own, pl.lit(""))).to_series()
        mixed_scopes[trace[other[(scope[other] != scope[other - 1]).to_numpy()]]] = True
    last = np.append(~together, True)[: len(trace)]
    spans.plain[trace[last & (reason == FAILED) & mixed_scopes[trace]]] = False
    return mixed_scopes


def _own_reasons(spans: TraceRows, rows: Array, above: Above) -> Array:
    silent = spans.outputs[rows] == 0
    reason = np.where(silent, NO_OUTPUT, COUNTS).astype(np.uint8)
    unread = spans.equals("content_state", "absent")[rows] | (spans.numbers("prompt_length")[rows] == 0)
    reason[unread] = NO_CONTENT
    reason[spans.equals("status", "error")[rows] & silent] = FAILED
    reason[spans.equals("status", "pending")[rows]] = PENDING
    reason[above.evaluator] = JUDGE
    return reason


def _wrappers(spans: TraceRows, rows: Array, reason: Array, above: Above, out: Array) -> None:
    below = np.flatnonzero((above.call != NONE) & (reason == COUNTS))
    if not len(below):
        return
    place = np.zeros(spans.frame.height, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    outer = place[above.call[below]]
    below, outer = below[reason[outer] == COUNTS], outer[reason[outer] == COUNTS]
    response = spans.frame["response_id"]
    one, other = response[rows[below]], response[rows[outer]]
    same = true_in((one == other) & (one != ""))
    reason[outer[same | (out[rows[below]] == out[rows[outer]])]] = WRAPPER


def _duplicates(spans: TraceRows, rows: Array, reason: Array, out: Array) -> None:
    asked = np.flatnonzero((reason == COUNTS) & spans.says("response_id")[rows])
    response = spans.frame["response_id"][rows[asked]]
    key = pl.Series(mixed(response.hash().to_numpy(), out[rows[asked]], spans.trace[rows[asked]]))
    several = np.flatnonzero(key.is_duplicated().to_numpy())
    if not len(several):
        return
    exact = pl.DataFrame({
        "trace": spans.trace[rows[asked[several]]], "out": out[rows[asked[several]]],
        "response": response[several],
    })  # fmt: skip
    again = ~exact.select(pl.struct("trace", "out", "response").is_first_distinct()).to_series().to_numpy()
    reason[asked[several[again]]] = DUPLICATE
