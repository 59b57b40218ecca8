"""Compares the trajectories that an export becomes with what really happened, aspect by aspect."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any

from benchmarks.conformance.agreement import LONG, Cell, Pair, cell_of
from benchmarks.conformance.captures import OF_CONVERSATION, OF_RUN, Export
from benchmarks.conformance.tables import Threaded
from benchmarks.conformance.wire import Lost, as_read, as_sent, parsed
from transforms.records import Message

_AGENTS = re.compile(r"refund|sql|code|rag|none")
_LIMITS = re.compile(r"GraphRecursion|MaxTurns|UsageLimit")


class Runs:
    """What became of each run that an export holds."""

    def __init__(self, made: Threaded) -> None:
        present = set(made.spans["trace_id"])
        self.made = made
        self.calling = {trace for trace, kind in made.spans.select("trace_id", "kind").iter_rows() if kind == "llm"}
        self.runs = [run for run in made.expected["runs"] if present.issuperset(map(_bare, run["trace_ids"]))]
        self._of_trace: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for row in made.threads.trajectories.iter_rows(named=True):
            for trace in row["trace_ids"]:
                self._of_trace[trace][row["trajectory_id"]] = row
        self._steps = _grouped(made.threads.steps.iter_rows(named=True))
        self._calls = _grouped(made.threads.tool_calls.iter_rows(named=True))

    def trajectories(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        """The trajectories of a run in the order of its traces."""
        found = {key: row for trace in run["trace_ids"] for key, row in self._of_trace[_bare(trace)].items()}
        return sorted(found.values(), key=lambda row: [_bare(t) for t in run["trace_ids"]].index(row["trace_ids"][0]))

    def steps(self, run: dict[str, Any]) -> list[dict[str, Any]]:
        """Its steps in order."""
        return [step for row in self.trajectories(run) for step in self._steps[row["trajectory_id"]]]

    def calls(self, run: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
        """Its tool calls in order, each with the number of its step in the run."""
        found, before = [], 0
        for row in self.trajectories(run):
            found += [(before + call["step"], call) for call in self._calls[row["trajectory_id"]]]
            before += row["steps"]
        return found

    def shown(self, run: dict[str, Any], number: int) -> list[Message]:
        """What the model was shown in a step: all of its segment up to it."""
        steps = self.steps(run)
        step = steps[number]
        same = [one for one in steps if all(one[name] == step[name] for name in ("trajectory_id", "segment"))]
        ids: list[bytes] = []
        for one in same[: same.index(step) + 1]:
            ids += [*one["observed"], one["action"]]
        return [self.made.raw[message] for message in ids[:-1]]


def compare_threads(made: Threaded, lost: Lost) -> dict[str, Cell]:
    """One cell an aspect. `lost` names what the library does not export."""
    runs = Runs(made)
    return {name: cell_of(partial(facts, runs), lost) for name, facts in THREADS.items()}


def needless_threads(made: Threaded, export: Export) -> list[str]:
    """Of what is said to be lost for threads alone, that without which everything agrees as well."""
    return [
        one
        for one in sorted(export.lost_threads)
        if all(cell.state != "DIFFERS" for cell in compare_threads(made, export.all_lost - {one}).values())
    ]


def _grouped(rows: Iterator[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:  # in order of the table's key
        found[row["trajectory_id"]].append(row)
    return found


def _bare(trace: str) -> str:
    return trace.removeprefix("trace_").removeprefix("tr-").lower()


def _whole(runs: Runs, run: dict[str, Any], lost: Lost) -> bool:
    """Whether the export holds the run's messages, and which calls are its."""
    pictures = "prompts with pictures" in lost and "[image]" in str(run["first_call_messages"])
    return "messages" not in lost and OF_RUN not in lost and not pictures


def _threads(runs: Runs, lost: Lost) -> Iterator[Pair]:
    """A run is one agent's thread and a rollout of its own, over its traces in order."""
    for run in filter(lambda one: _whole(runs, one, lost), runs.runs):
        made = runs.trajectories(run)
        traces = [trace for trace in map(_bare, run["trace_ids"]) if trace in runs.calling]
        yield len({row["rollout_id"] for row in made}), len(traces) if OF_CONVERSATION in lost else 1
        yield [row["trace_ids"] for row in made], [[t] for t in traces] if OF_CONVERSATION in lost else [traces]
        yield {row["parent_trajectory_id"] for row in made}, {None}
        yield sum(row["segments"] for row in made) == len(made) or LONG in lost, True


def _steps(runs: Runs, lost: Lost) -> Iterator[Pair]:
    """Its steps are the calls on the wire, in order; all other model spans are left out with a reason."""
    for run in filter(lambda one: _whole(runs, one, lost), runs.runs):
        billed = [counts["output"] for counts in run["usage_per_call"]]
        yield from zip_longest((step["output_tokens"] for step in runs.steps(run)), billed)
        yield [one["segment_rule"] for one in runs.steps(run)][:1], ["start"]
    threads, spans = runs.made.threads, runs.made.spans
    placed = [*threads.steps["span_id"], *threads.left_out["span_id"]]
    yield sorted(placed), sorted(span for span, kind in spans.select("span_id", "kind").iter_rows() if kind == "llm")


def _prompts(runs: Runs, lost: Lost) -> Iterator[Pair]:
    """The first prompt, the last prompt and the last answer, put together again out of observations and actions."""
    for run in filter(lambda one: _whole(runs, one, lost), runs.runs):
        steps = runs.steps(run)
        yield bool(steps), True
        if not steps or (LONG in lost and steps[-1]["content_state"] == "truncated"):
            continue
        for number, sent in ((0, run["first_call_messages"]), (len(steps) - 1, run["last_call_messages"])):
            read = [as_read(message, lost) for message in runs.shown(run, number)]
            yield from zip_longest(read, [as_sent(message, lost) for message in sent])
        yield as_read(runs.made.raw[steps[-1]["action"]]), as_sent(run["last_call_output"])


def _joins(runs: Runs, lost: Lost) -> Iterator[Pair]:
    """Each tool call stands in its step, with what was sent to the model as its result, and says whether it failed."""
    for run in filter(lambda one: _whole(runs, one, lost), runs.runs):
        yield from zip_longest(
            (_joined(runs, step, call, lost) for step, call in runs.calls(run)),
            (_expected(call, lost) for call in run["tool_calls_detail"]),
        )


def _joined(runs: Runs, step: int, call: dict[str, Any], lost: Lost) -> tuple[Any, ...]:
    result = runs.made.raw.get(call["result_id"])
    said = as_read(result, lost)[1] if result else None
    # Arguments were cleaned: which values they hold is compared where prompts are.
    return step, call["name"], [*parsed(call["arguments"])], said, call["is_error"], call["join_rule"] == "missing"


def _expected(call: dict[str, Any], lost: Lost) -> tuple[Any, ...]:
    sent = call["sent_to_model"]
    told = as_sent({"role": "tool", "content": sent}, lost)[1] if sent is not None else None
    return call["llm_call_index"], call["name"], [*parsed(call["arguments"])], told, call["error"] is not None, False


def _agents(runs: Runs, lost: Lost) -> Iterator[Pair]:
    """One agent a run, with the name that its spans bear."""
    for run in filter(lambda one: _whole(runs, one, lost), runs.runs):
        names = {row["agent"] for row in runs.trajectories(run)}
        yield len(names), 1
        word = _AGENTS.search(run["root_span_names"][0]) if run["llm_calls"] > 1 else None
        if word:
            yield {word.group() in (name or "") for name in names}, {True}


def _groups(runs: Runs, lost: Lost) -> Iterator[Pair]:
    """Attempts at one task have one task id and one family, and no other run has."""
    known = [run for run in runs.runs if _whole(runs, run, lost)]
    for name in ("task_id", "task_family"):
        ids = defaultdict(set)
        for run in known:
            ids[run["task_id"]] |= {row[name] for row in runs.trajectories(run)[:1]}
        yield from ((len(found), 1) for found in ids.values())
        yield len({one for found in ids.values() for one in found}), len(ids)
    for run in known:
        rules = {row["task_rule"] for row in runs.trajectories(run)}
        yield rules, {"prompt" if "tasks" in lost else "explicit"}
        said = {(row["task"], row["trial"]) for row in runs.trajectories(run)}
        yield said, {(None if "tasks" in lost else run["task_id"], None if "attempts" in lost else run["attempt"])}


def _ends(runs: Runs, lost: Lost) -> Iterator[Pair]:
    for run in filter(lambda one: _whole(runs, one, lost), runs.runs):
        told = "limit" if run["last_call_output"].get("tool_calls") else "finished"
        if run["exception"]:
            told = "limit" if _LIMITS.search(run["exception"]) else "error"
        yield [row["termination"] for row in runs.trajectories(run)][-1:], [told]


THREADS: dict[str, Callable[[Runs, Lost], Iterator[Pair]]] = {
    "threads": _threads,
    "steps": _steps,
    "observed": _prompts,
    "joins": _joins,
    "agents": _agents,
    "groups": _groups,
    "ends": _ends,
}
"""What is compared, in the order of the table."""
