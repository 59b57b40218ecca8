"""Threads as the tables of trajectories, steps and tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import polars as pl

from transforms.identity import Identity
from transforms.trajectories.assignment import Thread
from transforms.trajectories.calls import Node, Trace
from transforms.trajectories.rollout_links import parents, rollouts, root
from transforms.trajectories.tasks import Task, identify
from transforms.trajectories.termination import is_ending, termination
from transforms.trajectories.tool_results import Body, Joined, ToolRuns, expect_runs, join_results
from warehouse.schemas import LEFT_OUT, STEPS, TOOL_CALLS, TRAJECTORIES

OF_SPAN = (
    "tools", "model", "finish_reason", "started_at", "ended_at", "input_tokens", "output_tokens", "content_state",
)  # fmt: skip
_OF_THREAD = {
    name: TRAJECTORIES.columns[name].dtype
    for name in (
        "trajectory_id", "rollout_id", "trace_ids", "parent_trajectory_id", "source", "dataset", "agent", "task_id",
        "task", "task_rule", "task_family", "trial", "segments", "tool_calls", "termination", "flags",
    )
}  # fmt: skip
_OF_STEP = {
    name: STEPS.columns[name].dtype
    for name in (
        "trajectory_id", "step", "trace_id", "span_id", "segment", "segment_rule", "observed", "action",
        "prompt_length",
    )
}  # fmt: skip
# With any of these the exact prompt or action cannot be told, so that nothing may be trained on it.
_UNTRAINABLE = ("missing_message", "media")


@dataclass(frozen=True)
class Threads:
    """What `build_threads` gives: TRAJECTORIES, STEPS, TOOL_CALLS and LEFT_OUT."""

    trajectories: pl.DataFrame
    steps: pl.DataFrame
    tool_calls: pl.DataFrame
    left_out: pl.DataFrame


@dataclass
class ThreadTables:
    """Rows of many conversations, one `add` each; `finish` joins them to their spans' columns."""

    identity: Identity
    revision: date
    bodies: Mapping[bytes, Body]
    _trajectories: list[dict[str, Any]] = field(default_factory=list)
    _steps: list[dict[str, Any]] = field(default_factory=list)
    _tool_calls: list[dict[str, Any]] = field(default_factory=list)
    _left_out: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        threads: Sequence[Thread],
        left_out: Sequence[tuple[Node, str]],
        traces: Mapping[str, Trace],
        runs: Mapping[str, ToolRuns],
    ) -> None:
        """The rows of one conversation."""
        for span, reason in left_out:
            row = {"revision": self.revision, "trace_id": span.trace_id, "span_id": span.span_id, "reason": reason}
            self._left_out.append(row)
        failed = [span for span, reason in left_out if reason == "failed"]
        callers = {id(threads[at]): caller for at, caller in parents(threads).items()}
        expect_runs(threads, self.bodies, runs)
        for rollout in rollouts(threads):
            main = root(rollout, [thread for thread in rollout if id(thread) in callers])
            shared = {"rollout_id": self._id(main), **self._task(main, rollout, traces)}
            for thread in rollout:
                caller = callers.get(id(thread))
                trace = traces[thread.steps[-1].call.span.trace_id]
                joined = join_results(thread, self.bodies, runs)
                self._add_thread(thread, joined, shared | {
                    "parent_trajectory_id": self._id(caller) if caller is not None else None,
                    "agent": traces[thread.first.trace_id].agent_name(thread.first),
                    "termination": termination(
                        thread, trace, [s for s in failed if s.trace_id == trace.trace_id],
                        any(item.is_error or not is_ending(item.call.name) for item in joined[-1]),
                    ),
                })  # fmt: skip

    def finish(self, spans: pl.DataFrame) -> Threads:
        """The tables. `spans` holds each span once, in its most complete copy."""
        steps = pl.DataFrame(self._steps, schema=_OF_STEP).join(
            spans.select("trace_id", "span_id", *OF_SPAN), on=["trace_id", "span_id"], how="left"
        )
        threads = pl.DataFrame(self._trajectories, schema=_OF_THREAD)
        trajectories = trainable(threads.join(sums(steps, "trajectory_id"), on="trajectory_id", how="left"))
        revision = pl.lit(self.revision).alias("revision")
        return Threads(
            TRAJECTORIES.enforce(trajectories.with_columns(revision)),
            STEPS.enforce(steps.with_columns(revision)),
            TOOL_CALLS.frame(self._tool_calls),
            LEFT_OUT.frame(self._left_out),
        )

    def _id(self, thread: Thread) -> str:
        """Named for its first span, so that what arrives later does not rename it."""
        return self.identity.text("trajectory", thread.first.trace_id, thread.first.span_id)

    def _task(self, main: Thread, rollout: Sequence[Thread], traces: Mapping[str, Trace]) -> dict[str, Any]:
        trace_ids = dict.fromkeys(trace_id for thread in (main, *rollout) for trace_id in thread.trace_ids)
        spans = [s for trace_id in trace_ids for s in sorted(traces[trace_id].spans.values(), key=lambda s: s.order)]
        dataset = next((span.dataset for span in spans if span.dataset), None)
        named = next((span.task for span in spans if span.task), None)
        source = main.first.source
        explicit = (source, dataset or "", named) if named else None
        task = self._identify(main, explicit)
        return {
            "source": source,
            "dataset": dataset,
            "task": named,
            "trial": next((span.trial for span in spans if span.trial is not None), None),
            "task_id": task.task_id,
            "task_rule": task.rule,
            "task_family": task.family,
        }

    def _identify(self, main: Thread, explicit: tuple[str, str, str] | None) -> Task:
        prompt = [self.bodies[m] for m in main.steps[0].observed if m in self.bodies]
        system = "\n".join(body.content for body in prompt if body.role == "system")
        user = next((body.content for body in prompt if body.role == "user"), "")
        return identify(self.identity, explicit, system, user, main.steps[0].call.span.tools)

    def _add_thread(self, thread: Thread, joined: list[list[Joined]], known: Mapping[str, Any]) -> None:
        trajectory_id = self._id(thread)
        self._trajectories.append(dict(known) | {
            "trajectory_id": trajectory_id,
            "trace_ids": thread.trace_ids,
            "segments": len(thread.segments),
            "tool_calls": sum(map(len, joined)),
            "flags": self._flags(thread, joined),
        })  # fmt: skip
        for number, (step, calls) in enumerate(zip(thread.steps, joined, strict=True)):
            span = step.call.span
            self._steps.append({
                "trajectory_id": trajectory_id,
                "step": number,
                "trace_id": span.trace_id,
                "span_id": span.span_id,
                "segment": step.segment,
                "segment_rule": step.rule,
                "observed": step.observed,
                "action": span.output[0],
                "prompt_length": step.call.prompt.length,
            })  # fmt: skip
            for position, item in enumerate(calls):
                self._add_call(trajectory_id, number, position, item)

    def _add_call(self, trajectory_id: str, step: int, position: int, item: Joined) -> None:
        self._tool_calls.append({
            "revision": self.revision,
            "trajectory_id": trajectory_id,
            "step": step,
            "call": position,
            "call_id": item.call.id or None,
            "name": item.call.name,
            "arguments": item.call.arguments,
            "result_id": item.result_id,
            "tool_span_id": item.span.span_id if item.span is not None else None,
            "join_rule": item.rule,
            "is_error": item.is_error,
        })  # fmt: skip

    def _flags(self, thread: Thread, joined: list[list[Joined]]) -> list[str]:
        shown = {m for step in thread.steps for m in (*step.observed, step.call.span.output[0])}
        known = [self.bodies[message] for message in shown if message in self.bodies]
        rules = {step.rule for step in thread.steps}
        found = {
            "missing_result": any(item.rule == "missing" for calls in joined for item in calls),
            "edited_context": "edited" in rules,
            "retried": "retry" in rules,
            "changed_tools": "tools" in rules,
            "missing_message": len(known) < len(shown),
            "media": any(body.media for body in known),
        }
        return sorted(flag for flag, present in found.items() if present)


def trainable(trajectories: pl.DataFrame) -> pl.DataFrame:
    """`trajectories` with what their flags say about `trainable`."""
    defect = pl.any_horizontal(pl.col("flags").list.contains(flag) for flag in _UNTRAINABLE)
    return trajectories.with_columns(pl.col("trainable") & ~defect)


def sums(steps: pl.DataFrame, thread: str) -> pl.DataFrame:
    """What a trajectory's columns sum up of its steps; `thread` names the column that tells whose a step is."""

    def total(name: str) -> pl.Expr:
        """Null where a call does not say, since a sum over the others would pass for the whole."""
        return pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name)

    models = steps.select(thread, "model").drop_nulls().unique().sort(thread, "model")
    told = models.group_by(thread, maintain_order=True).agg(pl.col("model").alias("models"))
    found = steps.group_by(thread, maintain_order=True).agg(
        pl.col("started_at").min(),
        pl.col("ended_at").max(),
        pl.len().cast(pl.Int64).alias("steps"),
        total("input_tokens"),
        total("output_tokens"),
        (pl.col("content_state") == "full").all().alias("trainable"),
    )
    return found.join(told, on=thread, how="left").with_columns(pl.col("models").fill_null([]))
