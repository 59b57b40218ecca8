"""What came back for each tool call: by id, then by name and arguments, then by order."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from transforms.identity import canonical_arguments
from transforms.records import ToolCall
from transforms.trajectories.assignment import Step, Thread
from transforms.trajectories.calls import Node

# Frameworks hand a failed tool's exception to the model as text or as an object with an `error`.
_ERROR_TEXT = re.compile(
    r"\s*(error\b|traceback \(most recent|[\w.]*(error|exception|timeout|failure|exceeded|denied)\b\s*[:(])",
    re.IGNORECASE,
)

_Place = TypeVar("_Place", int, str)


@dataclass(frozen=True, slots=True)
class Body:
    """A cleaned message, as far as threads need it; text is kept only where it is not the model's."""

    role: str
    content: str
    calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    media: bool = False


@dataclass(slots=True)
class Joined:
    """A tool call with the message and the span that answer it."""

    call: ToolCall
    result_id: bytes | None = None
    span: Node | None = None
    rule: str = "missing"
    is_error: bool = False


class ToolRuns:
    """The tool spans of a trace that no call has claimed yet. `spans` come in order, each with its scope's key."""

    def __init__(self, spans: Iterable[tuple[Node, str]]) -> None:
        self._by_id: dict[str, list[Node]] = defaultdict(list)
        self._by_tool: dict[tuple[str, str], list[Node]] = defaultdict(list)
        self._scopes: dict[str, str] = {}
        self._askers: dict[str, set[str]] = defaultdict(set)
        self._claimed: set[str] = set()
        for span, scope in spans:
            if span.tool_call_id:
                self._by_id[span.tool_call_id].append(span)
            self._by_tool[scope, span.tool_name or span.name].append(span)
            self._scopes[span.span_id] = scope

    def expect(self, scope: str, call_id: str) -> None:
        """Note that a call of `scope` bears that id."""
        self._askers[call_id].add(scope)

    def shared(self, call_id: str) -> bool:
        """Whether calls of several scopes bear that id."""
        return len(self._askers[call_id]) > 1

    def of_call(self, scope: str, call_id: str, wanted: Callable[[Node], bool]) -> Node | None:
        """The first span that says that it answers a call of that id, and is `wanted`; where calls of several scopes
        bear the id, one of this scope before one of a scope that has no such call."""
        spans = self._by_id.get(call_id, [])
        if not self.shared(call_id):
            return self._claim(spans, wanted)
        askers = self._askers[call_id]
        own = self._claim(spans, lambda span: self._scopes[span.span_id] == scope and wanted(span))
        return own or self._claim(spans, lambda span: self._scopes[span.span_id] not in askers and wanted(span))

    def of_tool(self, scope: str, tool: str, wanted: Callable[[Node], bool]) -> Node | None:
        """The first run of `tool` in `scope` that is `wanted`."""
        return self._claim(self._by_tool.get((scope, tool), []), wanted)

    def _claim(self, spans: list[Node], wanted: Callable[[Node], bool]) -> Node | None:
        spans[:] = (span for span in spans if span.span_id not in self._claimed)
        found = next((span for span in spans if wanted(span)), None)
        if found is not None:
            self._claimed.add(found.span_id)
        return found


def expect_runs(threads: Iterable[Thread], bodies: Mapping[bytes, Body], runs: Mapping[str, ToolRuns]) -> None:
    """Tell the `runs` of each trace which ids the calls of its threads bear, before any of them is joined."""
    for step in (step for thread in threads for step in thread.steps):
        body, ran = bodies.get(step.call.span.output[0]), runs.get(step.call.span.trace_id)
        if body is not None and ran is not None:
            for call in body.calls:
                ran.expect(step.call.scope.key, call.id)


def join_results(thread: Thread, bodies: Mapping[bytes, Body], runs: Mapping[str, ToolRuns]) -> list[list[Joined]]:
    """For each step of `thread` its tool calls, each with what answered it."""
    said = [bodies.get(step.call.span.output[0]) for step in thread.steps]
    joined = [[Joined(call) for call in (body.calls if body else ())] for body in said]
    asked = Counter(item.call.id for calls in joined for item in calls)
    for index, (step, calls) in enumerate(zip(thread.steps, joined, strict=True)):
        if calls:
            _by_message(calls, _answers(thread, index, bodies), bodies)
            _by_span(calls, step, thread, index, runs.get(step.call.span.trace_id), asked)
            for item in calls:
                item.is_error = _failed(item, bodies)
    return joined


def _answers(thread: Thread, index: int, bodies: Mapping[bytes, Body]) -> list[bytes]:
    """Tool messages that the thread was shown between this step and its next."""
    step, later = thread.steps[index], thread.steps[index + 1 :]
    following = next((other for other in later if other.segment == step.segment), None) or next(iter(later), None)
    if following is None:
        return []
    shown = following.observed
    if following.segment != step.segment:
        last_action = max((i for i, m in enumerate(shown) if m in bodies and bodies[m].role == "assistant"), default=-1)
        shown = shown[last_action + 1 :]
    return [message for message in shown if message in bodies and bodies[message].role == "tool"]


def _by_message(calls: Sequence[Joined], answers: list[bytes], bodies: Mapping[bytes, Body]) -> None:
    left = list(answers)

    def take(wanted: Callable[[Joined, Body], bool], rule: str) -> None:
        for item in calls:
            found = next((m for m in left if item.result_id is None and wanted(item, bodies[m])), None)
            if found is not None:
                left.remove(found)
                item.result_id, item.rule = found, rule

    take(lambda item, body: bool(item.call.id) and body.tool_call_id == item.call.id, "id")
    take(lambda item, body: _may_answer(item, body) and body.name == item.call.name, "order")
    take(lambda item, body: _may_answer(item, body) and not body.name, "order")


def _may_answer(item: Joined, body: Body) -> bool:
    """Two ids that differ speak against it."""
    return not (item.call.id and body.tool_call_id)


def _by_span(
    calls: Sequence[Joined], step: Step, thread: Thread, index: int, runs: ToolRuns | None, asked: Mapping[str, int]
) -> None:
    """By id; where models give ids out again, among spans that ran between this call and the next, and the same."""
    if runs is None:
        return
    in_window = _window(step, thread.steps[index + 1] if index + 1 < len(thread.steps) else None)
    scope = step.call.scope.key

    def same_arguments(call: ToolCall, span: Node) -> bool:
        return _may_run(call, span) and in_window(span) and _same_arguments(call, span)

    def same_tool(call: ToolCall, span: Node) -> bool:
        return _may_run(call, span) and in_window(span)

    def same_run(call: ToolCall, span: Node) -> bool:
        told = not span.tool_arguments or _same_arguments(call, span)
        return in_window(span) and span.tool_name in (None, "", call.name) and told

    for item in (item for item in calls if item.call.id):
        again = asked[item.call.id] > 1 or runs.shared(item.call.id)
        _found(item, runs.of_call(scope, item.call.id, partial(same_run, item.call) if again else _anything), "id")
    for rule, wanted in (("arguments", same_arguments), ("order", same_tool)):
        for item in (item for item in calls if item.span is None):
            _found(item, runs.of_tool(scope, item.call.name, partial(wanted, item.call)), rule)


def _anything(span: Node) -> bool:
    return True


def _found(item: Joined, span: Node | None, rule: str) -> None:
    item.span = span
    if span is not None and item.rule == "missing":
        item.rule = rule


def _window(step: Step, following: Step | None) -> Callable[[Node], bool]:
    """Whether a tool ran between a step and the next one of its trace: by times, and by place where none has a time."""
    call, after = step.call.span, following.call.span if following else None
    until = after if after is not None and after.trace_id == call.trace_id else None

    def within(span: Node) -> bool:
        if span.started_at is None:
            return _within(span.place, _place(call), _place(until))
        return _within(span.started_at, call.started_at, until.started_at if until else None)

    return within


def _place(call: Node | None) -> str | None:
    return call.place if call is not None and call.started_at is None else None


def _within(at: _Place, begin: _Place | None, until: _Place | None) -> bool:
    return (begin is None or at >= begin) and (until is None or at <= until)


def _may_run(call: ToolCall, span: Node) -> bool:
    """Two ids that differ speak against it."""
    return not (call.id and span.tool_call_id)


def _same_arguments(call: ToolCall, span: Node) -> bool:
    ran = ToolCall("", "", span.tool_arguments or "")
    return bool(canonical_arguments(call) == canonical_arguments(ran))


def _failed(item: Joined, bodies: Mapping[bytes, Body]) -> bool:
    if item.span is not None and item.span.status == "error":
        return True
    if item.result_id is not None:
        return says_error(bodies[item.result_id].content)
    return item.span is not None and says_error(item.span.tool_result or "")


def says_error(text: str) -> bool:
    """Whether a tool's answer tells that the tool failed: an exception's text, or an object with an error."""
    if not text.lstrip().startswith("{"):
        return _ERROR_TEXT.match(text) is not None
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    flagged = answer.get("is_error") is True or answer.get("isError") is True
    return bool(answer.get("error")) or flagged or answer.get("status") == "error"
