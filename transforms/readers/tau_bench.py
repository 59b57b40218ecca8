"""Reads results of tau-bench: one object a trial, with its chat and its reward, and no ids or times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.rollouts import call_spans, digest, reward, root_span, turns
from transforms.readers.values import mapping, number, text, whole
from transforms.records import Feedback, Span


def is_trial(fields: dict[str, Any]) -> bool:
    """Whether an object is the result of one trial."""
    return "task_id" in fields and "reward" in fields and "traj" in fields


def read_trial(fields: dict[str, Any], position: int, dataset: str) -> Iterator[Span | Feedback]:
    """An agent's span, a span for each message of the assistant, and the reward.

    `info` is left out: it holds the instruction of the simulated user, which the agent never saw. The tools that
    were offered are not in the file. A trial that crashed before its first message has no reward worth the name.
    """
    chat = fields["traj"]
    if not isinstance(chat, list):
        raise TypeError
    task, trial = text(fields["task_id"]), whole(fields.get("trial"))
    identity = ("tau_bench", dataset, task, text(trial), digest(chat, fields["reward"]))
    root = root_span("tau_bench", "trial", position, identity=identity)
    root.dataset, root.task, root.trial = dataset, task, trial
    failure = text(mapping(fields.get("info")).get("error"))
    if failure:
        root.status, root.error = "error", failure
    yield root
    yield from call_spans(root, turns(chat))
    if chat or not failure:
        yield from reward(root, "reward", number(fields["reward"]))
