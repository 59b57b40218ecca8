"""Reads results of tau-bench: one object a trial, with its chat and its reward, and no ids or times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from transforms.readers.messages import read_message
from transforms.readers.values import mapping, number, text, whole
from transforms.records import Feedback, Message, Span

ROOT = "000000"


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
    identity = ("tau_bench", dataset, task, text(trial), _digest(fields))
    root = _span(position, identity, "agent", "trial", dataset, task, trial)
    root.sequence, root.content_state, root.status = ROOT, "full", "ok"
    failure = text(mapping(fields.get("info")).get("error"))
    if failure:
        root.status, root.error = "error", failure
    yield root
    yield from _calls(chat, root)
    reward = number(fields["reward"])
    if reward is not None and (chat or not failure):
        yield Feedback(position, "", "reward", trace_identity=identity, score=reward, annotator="env")


def _calls(chat: list[Any], root: Span) -> Iterator[Span]:
    seen: list[Message] = []
    odd: set[str] = set()
    for number_of_message, item in enumerate(chat, start=1):
        said = read_message(item, odd)
        if said and said[-1].role == "assistant":
            span = _span(root.position, root.trace_identity, "llm", "assistant", root.dataset, root.task, root.trial)
            span.sequence, span.parent_sequence = f"{number_of_message:06d}", ROOT
            span.prompt, span.output, span.status = list(seen), said, "ok"
            span.content_state = "full" if seen and not odd - {"reasoning_hidden"} else "unparsed"
            span.flags = sorted(odd)
            yield span
        seen += said


def _span(
    position: int, identity: tuple[str, ...], kind: str, name: str, dataset: str, task: str, trial: int | None
) -> Span:
    span = Span("tau_bench", "tau_bench", position, "", "", kind, name)
    span.trace_identity, span.dataset, span.task, span.trial = identity, dataset, task, trial
    return span


def _digest(fields: dict[str, Any]) -> str:
    content = json.dumps([fields["traj"], fields["reward"]], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()
