"""How threads ended, for all at once: what `termination` tells of one."""

from __future__ import annotations

import numpy as np

from transforms.trajectories.plain_calls import FAILED, PlainCalls
from transforms.trajectories.termination import tells_limit
from transforms.trajectories.trace_rows import MOST_LEVELS, NONE, Array, TraceRows


def terminations(spans: TraceRows, calls: PlainCalls, last: Array, asks: Array) -> list[str]:
    """finished, error, truncated, limit or abandoned. `last` are the rows of the threads' last calls, `asks` says which
    of them call tools."""
    error, pending = spans.equals("status", "error"), spans.equals("status", "pending")
    ended = spans.equals("status", "ok") | (spans.frame["ended_at"].is_not_null().to_numpy() & ~pending)
    failed, limit, done = (np.zeros(len(last), dtype=bool) for _ in range(3))
    thread, at = np.arange(len(last)), spans.parent[last]
    for _ in range(MOST_LEVELS):
        thread, at = thread[at != NONE], at[at != NONE]
        if not len(at):
            break
        wrong = np.flatnonzero(error[at])
        failed[thread[wrong]] = True
        done[thread[ended[at]]] = True
        if len(wrong):
            told = zip(*(spans.frame[name][at[wrong]].to_list() for name in ("error_type", "error")), strict=True)
            limit[thread[wrong]] |= np.fromiter((tells_limit(*one) for one in told), dtype=bool)
        at = spans.parent[at]
    reason = spans.frame["finish_reason"][last].fill_null("")
    failed |= _trailing(spans, calls, last) | error[last] | reason.is_in(["error", "content_filter"]).to_numpy()
    cut = (reason == "length").to_numpy()
    how = np.select(
        [limit, failed, cut, ~asks, done], ["limit", "error", "truncated", "finished", "limit"], "abandoned"
    )
    return [str(name) for name in how]


def _trailing(spans: TraceRows, calls: PlainCalls, last: Array) -> Array:
    """Whether a call failed after the last one that counts."""
    place = np.zeros(spans.frame.height, dtype=np.int64)
    place[calls.rows] = np.arange(len(calls.rows))
    latest = np.full(len(spans.plain), NONE, dtype=np.int64)
    failed = np.flatnonzero(calls.reason == FAILED)
    latest[spans.trace[calls.rows[failed]]] = failed  # they come in order: the last one stays
    after: Array = latest[spans.trace[last]] > place[last]
    return after
