"""Where prompts continue each other, for all traces at once: segments, and what each call was shown that is new.

What a day's spans store is a tree: each context belongs to the first span that holds it, and a prompt names the span
whose context it goes on from. So the longest beginning of a prompt that is the result of an earlier call is found by
going from base to base, and no message is looked at. The traces in which this could be otherwise are given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from transforms.trajectories.trace_rows import MOST_LEVELS, NONE, Array, TraceRows, mixed

RULES = (None, "start", "edited", "tools", "retry")
CONTINUED, START, EDITED, TOOLS, RETRY = range(len(RULES))


@dataclass
class Prompts:
    """Messages by place: a row's suffix is at `begin[row]` to `begin[row + 1]`, its first output at `out[row]`.

    `keys` tells by place which messages are the same; `shared` is how many of the prompt's `length` the base has.
    """

    keys: Array
    begin: Array
    out: Array
    shared: Array
    length: Array

    @cached_property
    def fresh(self) -> Array:
        counts: Array = np.diff(self.begin)
        return counts

    def asked_again(self, rows: Array, base: Array) -> Array:
        """Which of `rows`, trace by trace in order, have the same prompt as one before: it names the span that holds it
        (`base` by row), which is the row itself where that is the first."""
        whole = (self.fresh[rows] == 0) & (base[rows] != NONE)
        key = mixed(np.where(whole, base[rows], rows), self.length[rows])
        again: Array = ~pl.Series(key).is_first_distinct().to_numpy()
        return again

    @cached_property
    def said(self) -> Array:
        """The key of each row's first output; 0 where it has none."""
        said: Array = np.where(self.out == NONE, np.uint64(0), self.keys[self.out] if len(self.keys) else np.uint64(0))
        return said


@dataclass
class Segments:
    """Of each counted call: its segment, why it begins one (RULES), and how many messages the thread had before."""

    segment: Array
    rule: Array
    known: Array


def check_bases(spans: TraceRows, prompts: Prompts) -> None:
    """Give up traces with a prompt that rests on a span which is not there, or does not fit it."""
    base, shared, fresh = spans.base, prompts.shared, prompts.fresh
    named = spans.says("base_span_id")
    rows = np.flatnonzero(named)
    spans.give_up(rows[base[rows] == NONE])
    rows = rows[base[rows] != NONE]
    below = base[rows]
    reach = prompts.length[below] + (spans.outputs[below] > 0)
    own = np.where(base[below] == NONE, 0, shared[below])
    spans.give_up(rows[(shared[rows] > reach) | (shared[rows] <= own)])
    begun = np.where(named, shared, 0)
    spans.give_up(np.flatnonzero(prompts.length != begun + fresh))
    _check_tree(spans, prompts)


def _check_tree(spans: TraceRows, prompts: Prompts) -> None:
    """Give up traces in which what a prompt adds to its base is held by another span already."""
    base, shared, length = spans.base, prompts.shared, prompts.length
    rows = np.flatnonzero(prompts.fresh)
    first = prompts.keys[prompts.begin[rows]]
    below = np.where(base[rows] == NONE, spans.frame.height + spans.trace[rows], base[rows])
    key = pl.Series(mixed(below, np.where(base[rows] == NONE, 0, shared[rows]), first))
    spans.give_up(rows[key.is_duplicated().to_numpy()])
    rows, first = rows[base[rows] != NONE], first[base[rows] != NONE]
    below, at = base[rows], shared[rows]
    said = np.flatnonzero((at == length[below]) & (prompts.out[below] != NONE))
    spans.give_up(rows[said[prompts.said[below[said]] == first[said]]])
    begun = np.where(base[below] == NONE, 0, shared[below])
    inside = np.flatnonzero((at < length[below]) & (at >= begun))
    following = prompts.keys[prompts.begin[below[inside]] + (at - begun)[inside]]
    spans.give_up(rows[inside[following == first[inside]]])


def predecessors(spans: TraceRows, prompts: Prompts, counted: Array) -> Array:
    """For each counted call the row of the earlier one with whose result its prompt begins; NONE without one.

    Gives up traces with a prompt that goes on from a call which comes later by its times (`assignment.in_order`).
    """
    base, shared, length = spans.base, prompts.shared, prompts.length
    place = np.full(spans.frame.height, NONE, dtype=np.int64)
    place[counted] = np.arange(len(counted))
    alias = _results(spans, prompts, counted, place)
    found = np.full(len(counted), NONE, dtype=np.int64)
    at, asking = counted, np.arange(len(counted))
    for _ in range(MOST_LEVELS):
        below = base[at]
        there = below != NONE
        at, below, asking = at[there], below[there], asking[there]
        if not len(at):
            return found
        result = np.where(shared[at] == length[below] + 1, alias[below], NONE)
        earlier = result != NONE
        spans.give_up(at[earlier & (place[result] >= asking)])
        found[asking[earlier]] = result[earlier]
        at, asking = below[~earlier], asking[~earlier]
    spans.give_up(counted[asking])
    return found


def _results(spans: TraceRows, prompts: Prompts, counted: Array, place: Array) -> Array:
    """By row the counted call that has the same result: itself, or one that says the same after the same prompt."""
    base, shared, length, out = spans.base, prompts.shared, prompts.length, prompts.said
    alias = np.where(place != NONE, np.arange(spans.frame.height), NONE)
    repeats = (prompts.fresh == 0) & (base != NONE) & (spans.outputs > 0)
    rows = np.flatnonzero(repeats)
    if not len(rows):
        return alias
    inside = (place[rows] != NONE) & (shared[rows] < length[base[rows]])
    spans.give_up(rows[inside])
    told = mixed(base[rows], shared[rows], out[rows])
    going_on = np.flatnonzero((prompts.fresh > 0) & (base != NONE))
    first = prompts.keys[prompts.begin[going_on]]
    held = pl.Series(mixed(base[going_on], shared[going_on], first))
    spans.give_up(rows[pl.Series(told).is_in(held.implode()).to_numpy()])
    owners = np.unique(base[rows[shared[rows] == length[base[rows]]]])
    owners = owners[spans.outputs[owners] > 0]
    everyone = np.concatenate([rows, owners])
    key = np.concatenate([told, mixed(owners, length[owners], out[owners])])
    order = np.lexsort((place[everyone] == NONE, key))  # those that count first
    everyone, key = everyone[order], key[order]
    same = key[1:] == key[:-1]
    spans.give_up(everyone[1:][same & (place[everyone[1:]] != NONE)])  # two calls that count: one result, two steps
    group = np.cumsum(np.concatenate([[True], ~same])) - 1
    firsts = everyone[np.concatenate([[True], ~same])]
    alias[everyone] = np.where(place[firsts[group]] != NONE, firsts[group], NONE)
    return alias


def segments(spans: TraceRows, counted: Array, before: Array, length: Array, mixed_scopes: Array) -> Segments:
    """The segments of counted calls, one thread a trace. `before` are their predecessors.

    Gives up the traces (`mixed_scopes`) whose calls are of several scopes and do not all continue each other.
    """
    trace = spans.trace[counted]
    first = np.concatenate([[True], trace[1:] != trace[:-1]])[: len(counted)]
    previous = np.concatenate([[NONE], counted[:-1]])[: len(counted)]
    tools = spans.frame["tools"][counted]
    changed = np.concatenate([[False], tools[1:].ne_missing(tools[:-1]).to_numpy()])[: len(counted)] & ~first
    rule = np.where(first, START, np.where(changed, TOOLS, CONTINUED)).astype(np.uint8)
    begins = np.cumsum(rule != CONTINUED)
    start_of = np.flatnonzero(first)
    which = np.cumsum(first) - 1
    found = Segments(begins - begins[start_of][which], rule, np.where(rule == CONTINUED, length[previous] + 1, 0))
    crooked = np.zeros(len(spans.plain), dtype=bool)
    crooked[trace[~first & (before != previous)]] = True
    spans.plain[crooked & mixed_scopes] = False
    found.known[crooked[trace]] = 0
    places = np.flatnonzero((crooked & spans.plain)[trace])
    if len(places):
        _one_by_one(places, counted, trace, before, _codes(tools[places]), length, found)
    return found


def _codes(texts: pl.Series) -> list[int]:
    """Equal numbers for equal texts."""
    return texts.fill_null("\0").cast(pl.Categorical).to_physical().to_list()


def _one_by_one(
    places: Array, counted: Array, trace: Array, before: Array, tools: list[int], length: Array, found: Segments
) -> None:
    """What `Assignment` does, for traces of one thread."""
    tips: list[list[int]] = []  # of each segment its last call and its tools
    segment_of: dict[int, int] = {}
    latest = NONE
    for place, row, number, earlier, offered in zip(
        places.tolist(), counted[places].tolist(), trace[places].tolist(), before[places].tolist(), tools, strict=True
    ):
        if number != latest:
            tips, segment_of, latest = [], {}, number
        segment = segment_of.get(earlier, NONE)
        continued = segment != NONE and tips[segment][0] == earlier
        if continued and tips[segment][1] == offered:
            rule = CONTINUED
        else:
            rule = TOOLS if continued else EDITED if tips else START
            segment = len(tips)
            tips.append([row, offered])
        tips[segment][0] = row
        segment_of[row] = segment
        found.segment[place], found.rule[place] = segment, rule
        found.known[place] = length[earlier] + 1 if rule == CONTINUED else 0


def observed(spans: TraceRows, prompts: Prompts, counted: Array, known: Array) -> tuple[Array, Array]:
    """The places of the messages of each counted call's prompt behind the first `known`: where each call's begin, and
    all of them in a row."""
    base, shared, length = spans.base, np.where(spans.base == NONE, 0, prompts.shared), prompts.length
    count = length[counted] - known
    begin = np.concatenate([[0], np.cumsum(count)])
    shown = np.zeros(int(begin[-1]), dtype=np.int64)
    at, asking, until = counted, np.arange(len(counted)), length[counted]
    for _ in range(int(length.max(initial=0)) + 1):
        left = until > known[asking]
        at, asking, until = at[left], asking[left], until[left]
        if not len(at):
            return begin, shown
        since = np.minimum(np.maximum(known[asking], shared[at]), until)
        _copy(prompts, at, since, until, shared[at], shown, begin[:-1][asking] + since - known[asking])
        until = np.minimum(until, shared[at])
        at = base[at]
        going = at != NONE
        at, asking, until = at[going], asking[going], until[going]
    return begin, shown


def _copy(prompts: Prompts, rows: Array, since: Array, until: Array, shared: Array, shown: Array, to: Array) -> None:
    """Messages number `since` to `until` of rows, which are their own, to places in `shown`."""
    output = until > prompts.length[rows]  # a base gives its first output, too
    shown[to[output] + (until - since)[output] - 1] = prompts.out[rows[output]]
    until = until - output
    count = until - since
    step = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    shown[np.repeat(to, count) + step] = np.repeat(prompts.begin[rows] + since - shared, count) + step
