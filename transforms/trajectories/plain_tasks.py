"""Which task each thread attempts, for all at once."""

from __future__ import annotations

import numpy as np
import polars as pl

from transforms.identity import Identity, framed
from transforms.trajectories.plain_calls import in_order
from transforms.trajectories.plain_masks import masked_texts
from transforms.trajectories.plain_messages import Messages
from transforms.trajectories.plain_results import Shown
from transforms.trajectories.tasks import framed_task, mask, tool_names
from transforms.trajectories.trace_rows import NONE, Array, TraceRows, at


def tasks(
    spans: TraceRows, first: Array, begins: Array, shown: Shown, messages: Messages, identity: Identity
) -> pl.DataFrame:
    """Source, data set, task and trial of threads. `first` are the rows of their first calls, `begins` their numbers
    among the counted ones."""
    trace = spans.trace[first]
    named = {name: _first_said(spans, name)[trace] for name in ("dataset", "task", "trial")}
    columns = {"source": spans.frame["source"][first]}
    columns |= {name: at(spans.frame[name], rows).rename(name) for name, rows in named.items()}
    explicit = zip(*(columns[name].to_list() for name in ("source", "dataset", "task")), strict=True)
    systems, users = _prompts(begins, shown, messages)
    offered = spans.frame["tools"][first].to_list()
    names = {tools: framed(*tool_names(tools)) for tools in set(offered)}
    told = [
        framed_task(identity, (source, dataset or "", task) if task else None, system, user, names[tools])
        for (source, dataset, task), system, user, tools in zip(explicit, systems, users, offered, strict=True)
    ]
    return pl.DataFrame(columns).with_columns(
        task_id=pl.Series([task.task_id for task in told], dtype=pl.String),
        task_rule=pl.Series([task.rule for task in told], dtype=pl.String),
        task_family=pl.Series([task.family for task in told], dtype=pl.String),
    )


def _first_said(spans: TraceRows, name: str) -> Array:
    """By trace the first row in order that says something; NONE without one."""
    column = spans.frame[name]
    rows = np.flatnonzero(spans.says(name) if column.dtype == pl.String else column.is_not_null().to_numpy())
    found = np.full(len(spans.plain), NONE, dtype=np.int64)
    said, trace = column[rows], spans.trace[rows]
    found[trace] = rows
    other = (said[1:] != said[:-1]).to_numpy() & (trace[1:] == trace[:-1])
    if other.any():
        several = np.zeros(len(spans.plain), dtype=bool)
        several[trace[1:][other]] = True
        ordered = in_order(spans, rows[several[trace]])[::-1]
        found[spans.trace[ordered]] = ordered
    return found


def _prompts(begins: Array, shown: Shown, messages: Messages) -> tuple[list[bytes], list[bytes]]:
    """The system's and the first user's text of each thread's first prompt, masked and framed."""
    count = shown.begin[begins + 1] - shown.begin[begins]
    owner = np.repeat(np.arange(len(begins)), count)
    place = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count) + np.repeat(shown.begin[begins], count)
    said = shown.messages[place]
    asked = messages.users[said]
    user = np.full(len(begins), NONE, dtype=np.int64)
    user[owner[asked][::-1]] = said[asked][::-1]
    told = messages.systems[said]
    systems: list[list[int]] = [[] for _ in begins]
    for thread, number in zip(owner[told].tolist(), said[told].tolist(), strict=True):
        systems[thread].append(number)
    return _joined(systems, messages), _masked(user, messages)


def _masked(numbers: Array, messages: Messages) -> list[bytes]:
    distinct = np.unique(numbers[numbers != NONE])
    texts = masked_texts(messages.frame["text"][distinct]).to_list()
    known = {number: framed(text) for number, text in zip(distinct.tolist(), texts, strict=True)}
    known[NONE] = framed(mask(""))
    return [known[number] for number in numbers.tolist()]


def _joined(numbers: list[list[int]], messages: Messages) -> list[bytes]:
    distinct = sorted({number for several in numbers for number in several})
    texts = dict(zip(distinct, messages.frame["text"][distinct].to_list(), strict=True))
    keys = [tuple(several) for several in numbers]
    known = {several: framed(mask("\n".join(texts[number] for number in several))) for several in {*keys}}
    return [known[several] for several in keys]
