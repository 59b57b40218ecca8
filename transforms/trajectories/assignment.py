"""Which thread each model call belongs to, and where a thread's prompts stop continuing each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from transforms.trajectories.calls import Node, Scope
from transforms.trajectories.context_tree import Context, messages_after, nearest


@dataclass(slots=True, eq=False)
class Call:
    """A model call that counts: its prompt, and its prompt with what it produced."""

    span: Node
    scope: Scope
    prompt: Context
    result: Context


@dataclass(slots=True, eq=False)
class Segment:
    """A stretch of a thread: `tip` is the context that its next prompt must begin with."""

    index: int
    tip: Context
    tools: str | None


@dataclass(slots=True)
class Step:
    """A call in its thread; `rule` says why it begins a segment, if it does."""

    call: Call
    segment: int
    rule: str | None
    observed: list[bytes]


@dataclass(slots=True, eq=False)
class Thread:
    """One agent's calls in order."""

    scope: Scope
    steps: list[Step] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    prompts: set[bytes] = field(default_factory=set)

    @property
    def first(self) -> Node:
        return self.steps[0].call.span

    @property
    def trace_ids(self) -> list[str]:
        return list(dict.fromkeys(step.call.span.trace_id for step in self.steps))


def in_order(calls: list[Call]) -> list[Call]:
    """Calls of a trace, given by their times, with each behind the one it goes on from, whatever the clocks said."""
    if all(before.prompt.length <= after.prompt.length for before, after in pairwise(calls)):
        return calls
    waiting = {call.result.id: call for call in reversed(calls)}
    ordered: dict[int, Call] = {}
    for call in calls:
        chain = []
        before: Call | None = call
        while before is not None and id(before) not in ordered:
            chain.append(before)
            if waiting.get(before.result.id) is before:
                del waiting[before.result.id]
            beginning = nearest(before.prompt, lambda context: context.id in waiting)
            before = waiting[beginning.id] if beginning is not None else None
        ordered |= {id(one): one for one in reversed(chain)}
    return list(ordered.values())


@dataclass(slots=True)
class Assignment:
    """The threads of one conversation so far. Feed `place` its calls: trace after trace, each in order."""

    threads: list[Thread] = field(default_factory=list)
    _by_result: dict[bytes, list[tuple[Thread, Segment]]] = field(default_factory=dict)
    _by_scope: dict[tuple[str, str], Thread] = field(default_factory=dict)

    def place(self, call: Call) -> None:
        """To the thread whose chain the prompt extends, else to its scope's latest, else to a new one."""
        beginning = nearest(call.prompt, lambda context: context.id in self._by_result)
        if beginning is not None:
            thread, segment = self._best(call, beginning)
            continued = segment if segment.tip is beginning else None
        else:
            thread, continued = self._of_scope(call), None
        self._append(thread, call, continued)

    def _best(self, call: Call, beginning: Context) -> tuple[Thread, Segment]:
        """Several threads may hold the same messages: this trace's and scope's first, then the latest."""

        def rank(hit: tuple[Thread, Segment]) -> tuple[bool, bool, bool]:
            thread, segment = hit
            same_trace = thread.steps[-1].call.span.trace_id == call.span.trace_id
            return same_trace, thread.scope.key == call.scope.key, segment.tip is beginning

        return max(reversed(self._by_result[beginning.id]), key=rank)

    def _of_scope(self, call: Call) -> Thread:
        thread = self._by_scope.get((call.span.trace_id, call.scope.key))
        if thread is None:
            thread = Thread(call.scope)
            self.threads.append(thread)
        return thread

    def _append(self, thread: Thread, call: Call, continued: Segment | None) -> None:
        if continued is not None and continued.tools == call.span.tools:
            observed, rule = messages_after(call.prompt, continued.tip), None
            segment = continued
        else:
            anew = "retry" if call.prompt.id in thread.prompts else "edited"
            rule = "tools" if continued else anew if thread.steps else "start"
            observed = messages_after(call.prompt)
            segment = Segment(len(thread.segments), call.result, call.span.tools)
            thread.segments.append(segment)
        segment.tip = call.result
        thread.prompts.add(call.prompt.id)
        thread.steps.append(Step(call, segment.index, rule, observed))
        self._by_result.setdefault(call.result.id, []).append((thread, segment))
        self._by_scope[call.span.trace_id, call.scope.key] = thread
