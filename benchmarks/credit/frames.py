"""Rollouts of a simulated environment as the tables of a release, beside the advantages that are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import polars as pl

from transforms.credit.scores import SCORES
from warehouse.schemas import CUT, MESSAGES, REWARDS, STEPS

DAY = date(2026, 11, 30)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was shown, what was done, and its true advantage under the policy that acted.

    `told` holds sums of log-probs of the action by context, as a scoring model would give them; `progress` is what a
    checker would say of the task after the step, 0 to 1.
    """

    saw: str
    did: str
    advantage: float
    told: dict[str, float]
    progress: float = 0.0
    good: bool = True
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class Rollout:
    """One attempt at a task."""

    task: str
    reward: float
    steps: list[Step]
    family: str = "family"


@dataclass(frozen=True)
class Sample:
    """The tables that methods take, SCORES, and `truth` (trajectory_id, step, task_id, true)."""

    cut: pl.DataFrame
    trajectories: pl.DataFrame
    steps: pl.DataFrame
    rewards: pl.DataFrame
    messages: pl.DataFrame
    scores: pl.DataFrame
    truth: pl.DataFrame
    rollouts: list[Rollout]


def sample(rollouts: list[Rollout]) -> Sample:
    """Tables of `rollouts`; an observation of a task has one message, since it says the same whoever sees it."""
    ids = [f"{number:06d}" for number in range(len(rollouts))]
    flat = [(name, at, rollout, step) for name, rollout in zip(ids, rollouts, strict=True)
            for at, step in enumerate(rollout.steps)]  # fmt: skip
    cut = CUT.frame([
        {
            "release": "study", "trajectory_id": name, "revision": DAY, "rollout_id": name, "task_id": rollout.task,
            "task_family": rollout.family, "component": rollout.task, "split": "train",
            "reward": rollout.reward, "gated": False,
        }
        for name, rollout in zip(ids, rollouts, strict=True)
    ])  # fmt: skip
    steps = STEPS.frame([
        {
            "revision": DAY, "trajectory_id": name, "step": at, "trace_id": name, "span_id": f"{name}-{at}",
            "segment": 0, "observed": [_message("tool" if at else "user", step.saw)],
            "action": _message("assistant", step.did), "prompt_length": 2 * at + 1,
            "content_state": "full",
        }
        for name, at, _, step in flat
    ])  # fmt: skip
    rewards = REWARDS.frame([
        {
            "revision": DAY, "trajectory_id": name, "step": at, "component": component, "source": "feedback",
            "version": "v", "value": value, "verdict": "ok", "evidence": [],
        }
        for name, at, _, step in flat for component, value in (("progress", step.progress), ("judge", float(step.good)))
    ])  # fmt: skip
    texts = dict.fromkeys(
        said for _, at, _, step in flat for said in (("tool" if at else "user", step.saw), ("assistant", step.did))
    )
    messages = MESSAGES.frame([
        {"day": DAY, "message_id": _message(*said), "role": said[0], "content": said[1], "altered": False}
        for said in texts
    ])  # fmt: skip
    scores = [
        (name, at, context, value, step.tokens, None)
        for name, at, _, step in flat
        for context, value in step.told.items()
    ]
    truth = [(name, at, rollout.task, step.advantage) for name, at, rollout, step in flat]
    trajectories = cut.select("trajectory_id", "revision", pl.col("task_id").alias("task"))
    return Sample(
        cut, trajectories, steps, rewards, messages, pl.DataFrame(scores, schema=SCORES, orient="row"),
        pl.DataFrame(truth, schema=["trajectory_id", "step", "task_id", "true"], orient="row"), rollouts,
    )  # fmt: skip


def told_apart(rollouts: list[Rollout], share: float, rng: np.random.Generator) -> list[Rollout]:
    """`rollouts`, of whose observations after the first so many bear a number, as clocks and request ids do it."""
    made = []
    for number, rollout in enumerate(rollouts):
        marked = [
            replace(step, saw=f"{step.saw} (request {number}.{at})") if at and rng.random() < share else step
            for at, step in enumerate(rollout.steps)
        ]
        made.append(replace(rollout, steps=marked))
    return made


def _message(role: str, text: str) -> bytes:
    return f"{role}: {text}".encode()
