"""Which threads make one rollout, which of them is its root, and which thread called which."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from transforms.datasets.union import Union
from transforms.trajectories.assignment import Thread


def rollouts(threads: Sequence[Thread]) -> list[list[Thread]]:
    """Threads that share a trace, directly or through others, in the order they began."""
    union = Union()
    for thread in threads:
        union.join(thread.trace_ids)
    grouped: dict[str, list[Thread]] = defaultdict(list)
    for thread in threads:
        grouped[union.find(thread.trace_ids[0])].append(thread)
    return list(grouped.values())


def parents(threads: Sequence[Thread]) -> dict[int, Thread]:
    """The caller of each sub-agent, by position: the latest thread of the scope around it."""
    found = {}
    for position, thread in enumerate(threads):
        scope = thread.scope.parent
        while scope is not None and position not in found:
            caller = _caller(thread, scope.key, threads)
            if caller is not None:
                found[position] = caller
            scope = scope.parent
    return found


def _caller(thread: Thread, scope: str, threads: Sequence[Thread]) -> Thread | None:
    trace_id, order = thread.first.trace_id, thread.first.order
    callers = [
        (step.call.span.order, position)
        for position, other in enumerate(threads)
        if other is not thread
        for step in other.steps
        if step.call.span.trace_id == trace_id and step.call.scope.key == scope
    ]
    before = [caller for caller in callers if caller[0] < order]
    if before:
        return threads[max(before)[1]]
    return threads[min(callers)[1]] if callers else None


def root(threads: Sequence[Thread], called: Iterable[Thread]) -> Thread:
    """The thread that the rollout is named for: of those that nobody called the longest, then the first.

    A guard or a router may come first with a call of its own; what the rollout is about is the longest.
    """
    below = set(map(id, called))
    return max((t for t in threads if id(t) not in below), key=lambda t: len(t.steps), default=threads[0])
