"""What verifiers judge: a trajectory's answer with its calls, what tools brought, and whether cleaning touched it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import polars as pl

WHOLE = -1
"""The step of what is about a whole trajectory."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call; `arguments` is the JSON text that the model wrote."""

    name: str
    arguments: str
    step: int = 0

    @property
    def parsed(self) -> Any:
        """The arguments, or None where they are no JSON."""
        try:
            return json.loads(self.arguments)
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: the last answer of a rollout's root (`step` -1) or the action of a step.

    `retrieved` holds (tool, text) of what tools brought up to then, `tools` what was offered, as JSON. `altered` and
    `retrieved_altered` say whether cleaning touched the action or what tools brought.
    """

    trajectory_id: str
    rollout_id: str
    step: int
    task_id: str
    task: str | None
    span_id: str
    text: str
    calls: tuple[Call, ...] = ()
    retrieved: tuple[tuple[str, str], ...] = ()
    tools: str | None = None
    altered: bool = False
    retrieved_altered: bool = False
    calls_altered: bool = False
    evidence: tuple[str, ...] = field(default=())


def subjects_of(
    trajectories: pl.DataFrame, steps: pl.DataFrame, tool_calls: pl.DataFrame, messages: pl.DataFrame
) -> list[list[Subject]]:
    """For each rollout the subjects of its root's steps, in order, and last the whole."""
    roots = trajectories.filter(pl.col("trajectory_id") == pl.col("rollout_id")).sort("trajectory_id")
    said = _said(messages)
    calls: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in tool_calls.sort("trajectory_id", "step", "call").iter_rows(named=True):
        calls[row["trajectory_id"], row["step"]].append(row)
    taken: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in steps.sort("trajectory_id", "step").iter_rows(named=True):
        taken[row["trajectory_id"]].append(row)
    return [_rollout(root, taken[root["trajectory_id"]], calls, said) for root in roots.iter_rows(named=True)]


_Said = dict[bytes, tuple[str, bool]]


def _said(messages: pl.DataFrame) -> _Said:
    latest = messages.sort("day").unique("message_id", keep="last", maintain_order=True)
    columns = latest.select("message_id", pl.col("content").fill_null(""), "altered")
    return {message: (content, altered) for message, content, altered in columns.iter_rows()}


def _rollout(
    root: dict[str, Any],
    steps: list[dict[str, Any]],
    calls: dict[tuple[str, int], list[dict[str, Any]]],
    said: _Said,
) -> list[Subject]:
    made: list[Subject] = []
    all_calls: list[Call] = []
    brought: list[tuple[str, str]] = []
    touched = any_touched = False
    for step in steps:
        text, altered = said.get(step["action"], ("", False))
        own = calls[root["trajectory_id"], step["step"]]
        written = [Call(row["name"], row["arguments"], row["step"]) for row in own]
        known = root["trajectory_id"], root["rollout_id"], step["step"], root["task_id"], root["task"], step["span_id"]
        made.append(
            Subject(
                *known, text, tuple(written), tuple(brought), step["tools"], altered, touched, altered,
                (step["span_id"],),
            )
        )  # fmt: skip
        all_calls += written
        any_touched |= altered and bool(own)
        for row in own:
            result, result_altered = said.get(row["result_id"], ("", False))
            brought.append((row["name"], result))
            touched |= result_altered
    if steps:
        last = made[-1]
        spans = tuple(one.span_id for one in made)
        made.append(
            Subject(
                last.trajectory_id, last.rollout_id, WHOLE, last.task_id, last.task, last.span_id, last.text,
                tuple(all_calls), tuple(brought), last.tools, last.altered, touched, any_touched, spans,
            )
        )  # fmt: skip
    return made
