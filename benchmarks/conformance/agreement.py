"""Compares what was read of an export with what really happened, aspect by aspect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any

from benchmarks.conformance.wire import Lost, as_billed, as_counted, as_read, as_sent, parsed, tool_names
from transforms.identity import Identity
from transforms.records import Record, Reject, Span

Pair = tuple[Any, Any]
"""What was read and what it should be."""

LONG = "first messages of calls beyond 128 attributes"


@dataclass(frozen=True)
class Cell:
    """How far one aspect agrees: `=` wholly, `lost` but for what the export leaves out, else `DIFFERS`.

    `count` is how many facts agree, are lost or differ.
    """

    state: str
    count: int


class Reading:
    """What was read of one export, and what really happened in the runs that it holds."""

    def __init__(self, records: list[Record], expected: dict[str, Any], lost: Lost) -> None:
        self.rejects = [record for record in records if isinstance(record, Reject)]
        self.spans = [record for record in records if isinstance(record, Span)]
        self.by_trace: dict[str, list[Span]] = defaultdict(list)
        for span in self.spans:
            if span.kind == "llm" and (span.output or ("messages" in lost and span.response_id)):
                self.by_trace[span.trace_id].append(span)
        for calls in self.by_trace.values():
            calls.sort(key=lambda span: (span.started_ns or 0, span.sequence))
        self.by_id = {(span.trace_id, span.span_id): span for span in self.spans}
        self.traces = {span.trace_id for span in self.spans}
        self.expected = expected
        self.runs = [run for run in expected["runs"] if self.traces.issuperset(map(_bare, run["trace_ids"]))]

    def calls(self, run: dict[str, Any]) -> list[Span]:
        """Calls of a run's traces, in their order."""
        return [span for trace in run["trace_ids"] for span in self.by_trace[_bare(trace)]]

    def tools_of_agent(self, span: Span) -> list[dict[str, Any]]:
        """What the nearest agent above a call offers, as cleaning takes it where no call tells."""
        above: Span | None = span
        while above is not None and above.kind != "agent":
            above = self.by_id.get((above.trace_id, above.parent_span_id))
        return above.tools if above is not None else []


def compare(records: list[Record], expected: dict[str, Any], lost: Lost) -> dict[str, Cell]:
    """One cell an aspect. `lost` names what the library does not export."""
    reading = Reading(records, expected, lost)
    return {name: cell_of(partial(facts, reading), lost) for name, facts in ASPECTS.items()}


def needless(records: list[Record], expected: dict[str, Any], lost: Lost) -> list[str]:
    """Losses that are claimed and that nothing shows: without them everything agrees as well."""
    return [
        one
        for one in sorted(lost)
        if all(cell.state != "DIFFERS" for cell in compare(records, expected, lost - {one}).values())
    ]


def cell_of(facts: Callable[[Lost], Iterator[Pair]], lost: Lost) -> Cell:
    """Whether all facts agree, or do but for what is lost."""
    strict = [read == sent for read, sent in facts(frozenset())]
    if all(strict):
        return Cell("=", len(strict))
    allowed = [read == sent for read, sent in facts(lost)]
    return Cell("lost", strict.count(False)) if all(allowed) else Cell("DIFFERS", allowed.count(False))


def _rejects(reading: Reading, lost: Lost) -> Iterator[Pair]:
    yield from ((reject.reason, None) for reject in reading.rejects)


def _traces(reading: Reading, lost: Lost) -> Iterator[Pair]:
    yield from ((True, True) for _ in range(len(reading.traces) - 1))
    yield len(reading.traces), reading.expected["n_traces"]


def _calls(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        yield from zip_longest([True for _ in reading.calls(run)], [True for _ in range(run["llm_calls"])])
    of_runs = {_bare(trace) for run in reading.runs for trace in run["trace_ids"]}
    yield from ((True, None) for trace in reading.by_trace.keys() - of_runs for _ in reading.by_trace[trace])


def _tool_calls(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run, written in _written(reading, lost):
        said = [(call["name"], parsed(call["arguments"])) for call in run["tool_calls_detail"]]
        yield from zip_longest([(call.name, parsed(call.arguments)) for call in written], _held(said, lost))


def _call_ids(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run, written in _written(reading, lost):
        yield from zip_longest([call.id for call in written], _held(run["tool_call_ids"], lost))


def _written(reading: Reading, lost: Lost) -> Iterator[tuple[dict[str, Any], list[Any]]]:
    for run in reading.runs:
        yield run, [call for span in reading.calls(run) for said in span.output[:1] for call in said.tool_calls]


def _held(messages: list[Any], lost: Lost) -> list[Any]:
    return [] if "messages" in lost else messages


def _first_prompt(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        yield from _prompt(reading.calls(run)[:1], run["first_call_messages"], lost)


def _last_prompt(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        yield from _prompt(reading.calls(run)[-1:], run["last_call_messages"], lost)


def _prompt(call: list[Span], sent: list[dict[str, Any]], lost: Lost) -> Iterator[Pair]:
    gone = LONG in lost and call and call[0].content_state == "truncated"
    if gone or ("prompts with pictures" in lost and "[image]" in str(sent)):
        yield {span.content_state for span in call} <= {"truncated", "absent"}, True
        return
    read = [as_read(message, lost) for span in call for message in span.prompt]
    yield from zip_longest(read, [as_sent(message, lost) for message in _held(sent, lost)])


def _answers(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        said = [as_read(span.output[0]) for span in reading.calls(run)[-1:] if span.output]
        yield from zip_longest(said, _held([as_sent(run["last_call_output"])], lost))


def _offered(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        for span in reading.calls(run):
            if LONG not in lost or span.content_state != "truncated":
                offered = tool_names(span.tools or reading.tools_of_agent(span))
                yield offered, set() if "tools" in lost else set(run["tool_names_offered"])


def _usage(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        billed = [as_billed(counts, run["streamed"], lost) for counts in run["usage_per_call"]]
        yield from zip_longest([as_counted(span, lost) for span in reading.calls(run)], billed)


def _tasks(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        traces = set(map(_bare, run["trace_ids"]))
        said = {span.task for span in reading.spans if span.trace_id in traces and span.task}
        yield said, set() if "tasks" in lost else {run["task_id"]}


def _attempts(reading: Reading, lost: Lost) -> Iterator[Pair]:
    for run in reading.runs:
        traces = set(map(_bare, run["trace_ids"]))
        said = {span.trial for span in reading.spans if span.trace_id in traces and span.trial is not None}
        yield said, set() if "attempts" in lost else {run["attempt"]}


def _tools_run(reading: Reading, lost: Lost) -> Iterator[Pair]:
    """Spans of tools that say which call they answer name what it named."""
    spans = {span.tool_call_id: span for span in reading.spans if span.kind == "tool" and span.tool_call_id}
    blind = {"names of single arguments in spans of tools", "arguments in spans of tools"} & lost
    for call in (call for run in reading.runs for call in run["tool_calls_detail"] if call["id"] in spans):
        span = spans[call["id"]]
        arguments = None if blind else parsed(call["arguments"])
        yield (span.tool_name, None if blind else parsed(span.tool_arguments)), (call["name"], arguments)


def _chained(reading: Reading, lost: Lost) -> Iterator[Pair]:
    """A call's prompt continues the call before it: its answer reads like its echo."""
    identity = Identity(b"k" * 32)
    for calls in reading.by_trace.values():
        for before, after in zip(calls, calls[1:], strict=False):
            if not before.prompt:
                continue
            known = [identity.message(message) for message in (*before.prompt, *before.output[:1])]
            shown = [identity.message(message) for message in after.prompt[: len(known)]]
            yield shown == known or LONG in lost, True


def _found(reading: Reading, lost: Lost) -> Iterator[Pair]:
    """Texts that a plain search finds in the file are in what was read: no loss is claimed that is none."""
    if "messages" in lost:
        return
    said = "\n".join(
        part
        for span in reading.spans
        for message in (*span.prompt, *span.output)
        for part in (message.content, message.tool_call_id, *(call.id for call in message.tool_calls))
    )
    for name, texts in _truths(reading.expected).items():
        for seen in reading.expected.get("seen", {}).get(name, []):
            read = sum(text in said for text in texts)
            yield from zip_longest([True] * min(read, seen), [True] * min(seen, len(texts)))


def _truths(expected: dict[str, Any]) -> dict[str, list[str]]:
    runs = expected["runs"]
    return {
        "tool_call_ids": [one for run in runs for one in run["tool_call_ids"]],
        "first_user": [_first(run, "user") for run in runs],
        "system": [text for run in runs if (text := _first(run, "system"))],
        "final_text": [run["final_text"] for run in runs if run["final_text"]],
    }


def _first(run: dict[str, Any], role: str) -> str:
    told = (message["content"] for message in run["first_call_messages"] if message["role"] == role)
    return str(next(told, "")).replace("[image]", "")


def _bare(trace: str) -> str:
    return trace.removeprefix("trace_").removeprefix("tr-")


ASPECTS: dict[str, Callable[[Reading, Lost], Iterator[Pair]]] = {
    "rejects": _rejects,
    "traces": _traces,
    "LLM calls": _calls,
    "tool calls": _tool_calls,
    "call ids": _call_ids,
    "first prompt": _first_prompt,
    "last prompt": _last_prompt,
    "answer": _answers,
    "offered": _offered,
    "usage": _usage,
    "task": _tasks,
    "attempt": _attempts,
    "tools run": _tools_run,
    "chained": _chained,
    "found": _found,
}
"""What is compared, in the order of the table."""
