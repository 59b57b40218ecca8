"""What came back for each tool call, for all traces at once, where ids tell it.

The traces in which names, arguments or order would have to tell it are given up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from transforms.trajectories.plain_calls import in_order
from transforms.trajectories.plain_messages import Messages, tells_failure
from transforms.trajectories.trace_rows import NONE, TOOL, Array, TraceRows, at, differ, mixed, true_in

_CALLS = pl.List(pl.Struct({"id": pl.String, "name": pl.String, "arguments": pl.String}))


@dataclass
class ToolCalls:
    """Calls in order: of which counted call (`step`), their number in it (`place`), what they say (`said`: id, name,
    arguments), the message that answers (`result`), the tool's span (`row`), and whether the tool failed."""

    step: Array
    place: Array
    said: pl.DataFrame
    result: Array
    row: Array
    failed: Array


@dataclass
class Shown:
    """What counted calls were shown: that of call `n` is `messages[begin[n] : begin[n + 1]]`."""

    begin: Array
    messages: Array


def tool_calls(
    spans: TraceRows, counted: Array, segment: Array, actions: Array, shown: Shown, messages: Messages
) -> ToolCalls:
    """The calls that `actions`, one message a counted call, make, joined to what came back."""
    step, place, said = _said(actions, messages)
    ids, trace = said["id"], spans.trace[counted]
    spans.give_up(counted[step[(ids == "").to_numpy()]])
    result = _results(spans, counted, _following(trace, segment), step, ids, shown, messages)
    row = _runs(spans, trace[step], ids)
    failed = messages.failed[result]
    alone = np.flatnonzero((result == NONE) & (row != NONE))
    if len(alone):
        failed[alone] = tells_failure(spans.looked_up("tool_result", row[alone]))
    failed |= (row != NONE) & spans.equals("status", "error")[row]
    return ToolCalls(step, place, said, result, row, failed)


def _said(actions: Array, messages: Messages) -> tuple[Array, Array, pl.DataFrame]:
    asking = np.flatnonzero(messages.calls[actions])
    told = messages.frame["tool_calls"][actions[asking]].str.json_decode(_CALLS)
    count = told.list.len().fill_null(0).to_numpy().astype(np.int64)
    step = np.repeat(asking, count)
    place = np.arange(len(step)) - np.repeat(np.cumsum(count) - count, count)
    flat = told.filter(pl.Series(count > 0)).explode(empty_as_null=False).struct.unnest()
    return step, place, flat.with_columns(pl.all().fill_null(""))


def _following(trace: Array, segment: Array) -> tuple[Array, Array]:
    """Of each counted call the next one of its segment, else of its thread (NONE without), and whether it is that."""
    size = len(trace)
    following = np.full(size, NONE, dtype=np.int64)
    following[:-1][trace[1:] == trace[:-1]] = np.flatnonzero(trace[1:] == trace[:-1]) + 1
    same = np.zeros(size, dtype=bool)
    order = np.lexsort((segment, trace))
    one, other = order[:-1], order[1:]
    together = (trace[one] == trace[other]) & (segment[one] == segment[other])
    following[one[together]], same[one[together]] = other[together], True
    return following, same


def _results(
    spans: TraceRows, counted: Array, following: tuple[Array, Array], step: Array, ids: pl.Series, shown: Shown,
    messages: Messages,
) -> Array:  # fmt: skip
    """The message that answers each call: what the next call was shown, told by its id."""
    owner = np.repeat(np.arange(len(counted)), np.diff(shown.begin))
    places = np.flatnonzero(messages.tools[shown.messages])
    told = messages.frame["tool_call_id"][shown.messages[places]]
    spans.give_up(counted[owner[places[~true_in(told != "")]]])
    answers = pl.DataFrame({"key": mixed(told.hash().to_numpy(), owner[places])}).with_row_index("at")
    again = answers["key"].is_duplicated().to_numpy()
    spans.give_up(counted[owner[places[again]]])
    after, same = following
    calls = pl.DataFrame({"key": mixed(ids.hash().to_numpy(), after[step])})
    found = calls.join(answers.filter(~again), on="key", how="left", maintain_order="left")["at"]
    answer = found.cast(pl.Int64).fill_null(NONE).to_numpy()
    spans.give_up(counted[step[differ(at(told, answer), ids)]])
    result = np.append(shown.messages[places], NONE)[np.where(after[step] == NONE, NONE, answer)]
    late = np.flatnonzero((result != NONE) & ~same[step])  # what came before its last action answers an older call
    if len(late):
        actions = np.flatnonzero(messages.assistants[shown.messages])
        last = np.full(len(counted), NONE, dtype=np.int64)
        np.maximum.at(last, owner[actions], actions)
        result[late[places[answer[late]] < last[after[step[late]]]]] = NONE
    return result


def _runs(spans: TraceRows, trace: Array, ids: pl.Series) -> Array:
    """The tool's span of each call, told by its id."""
    tools = np.flatnonzero(spans.kind == TOOL)
    tells = spans.says("tool_call_id")[tools]
    nameless = np.zeros(len(spans.plain), dtype=bool)
    nameless[spans.trace[tools[~tells]]] = True
    tools = tools[tells]
    key = _keys(spans, tools)
    if key.is_duplicated().any():
        tools = in_order(spans, tools)
        key = _keys(spans, tools)
        tools, key = tools[key.is_first_distinct().to_numpy()], key.filter(key.is_first_distinct())
    calls = pl.DataFrame({"key": mixed(ids.hash().to_numpy(), trace)})
    spans.plain[trace[calls["key"].is_duplicated().to_numpy()]] = False
    held = pl.DataFrame({"key": key, "row": tools})
    found = calls.join(held, on="key", how="left", maintain_order="left")["row"]
    row: Array = found.fill_null(NONE).to_numpy()
    spans.plain[trace[differ(at(spans.frame["tool_call_id"], row), ids)]] = False
    spans.plain[trace[(row == NONE) & nameless[trace]]] = False
    return row


def _keys(spans: TraceRows, rows: Array) -> pl.Series:
    return pl.Series(mixed(spans.frame["tool_call_id"][rows].hash().to_numpy(), spans.trace[rows]))
