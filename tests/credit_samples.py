"""Small cuts for tests of credit: rollouts written down by hand, as the tables that methods take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import polars as pl

from transforms.credit.assign import UNSCORED, Scored, assign_credit
from transforms.credit.scores import SCORES
from transforms.credit.spec import CreditSpec
from transforms.datasets.release_spec import ReleaseSpec
from warehouse.schemas import CUT, MESSAGES, REWARDS, STEPS

DAY = date(2026, 11, 30)


@dataclass(frozen=True)
class Told:
    """A rollout: its task, outcome and steps. `saw` is what each step was shown, `did` what it said, `told` are values
    of components on steps, `parts` trajectories of the same length, `day` its arrival day."""

    task: str
    reward: float | None
    steps: int = 1
    family: str | None = None
    split: str = "train"
    gated: bool = False
    parts: int = 1
    saw: Sequence[str] = ()
    did: Sequence[str] = ()
    day: date = DAY
    told: Mapping[str, Sequence[float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """The tables of a release so far."""

    cut: pl.DataFrame
    steps: pl.DataFrame
    rewards: pl.DataFrame
    messages: pl.DataFrame

    def credit(self, scores: pl.DataFrame | None = None, **spec: Any) -> pl.DataFrame:
        """CREDIT by the method that `spec` describes."""
        scored = UNSCORED if scores is None else Scored(scores, {"model": "m"})
        return assign_credit("r", self.cut, self.steps, self.rewards, self.messages, method(**spec), scored)

    def shuffled(self, seed: int) -> "World":
        frames = (self.cut, self.steps, self.rewards, self.messages)
        return World(*(frame.sample(fraction=1, shuffle=True, seed=seed) for frame in frames))


def method(**spec: Any) -> CreditSpec:
    return ReleaseSpec.model_validate({"credit": spec}).credit


def world(*rollouts: Told) -> World:
    """Rollouts are named r0, r1, ...; their trajectories r0, r0/1, r0/2, ..."""
    cut, steps, rewards = [], [], []
    texts: dict[str, bytes] = {}
    actions: dict[bytes, str] = {}
    for number, rollout in enumerate(rollouts):
        name = f"r{number:02d}"
        for part in range(rollout.parts):
            trajectory = f"{name}/{part}" if part else name
            cut.append({
                "release": "r", "trajectory_id": trajectory, "revision": rollout.day, "rollout_id": name,
                "task_id": rollout.task, "task_family": rollout.family or rollout.task, "component": rollout.task,
                "split": rollout.split, "reward": rollout.reward, "gated": rollout.gated,
            })  # fmt: skip
            for step in range(rollout.steps):
                # a message's id counts the id of the call it answers, so that equal results have other ids
                seen = rollout.saw[step] if rollout.saw else f"{trajectory} {step}"
                message = f"{trajectory}-{step}".encode()
                texts[seen + "\0" + trajectory + str(step)] = message
                said = f"{trajectory}+{step}".encode() if rollout.did else b"a"
                if rollout.did:
                    actions[said] = rollout.did[step]
                steps.append({
                    "revision": rollout.day, "trajectory_id": trajectory, "step": step, "trace_id": name,
                    "span_id": f"{trajectory}-{step}", "segment": 0, "observed": [message], "action": said,
                    "prompt_length": step + 1, "content_state": "full",
                })  # fmt: skip
                for component, values in rollout.told.items():
                    if values[step] is not None:
                        rewards.append({
                            "revision": rollout.day, "trajectory_id": trajectory, "step": step, "component": component,
                            "source": "feedback", "version": "v", "value": values[step], "verdict": "ok",
                            "evidence": [],
                        })  # fmt: skip
    messages = [
        {"day": DAY, "message_id": key, "role": "tool", "content": text.split("\0")[0],
         "tool_call_id": key.decode(), "altered": False}
        for text, key in texts.items()
    ]  # fmt: skip
    messages += [
        {"day": DAY, "message_id": key, "role": "assistant", "content": text, "altered": False}
        for key, text in actions.items()
    ]
    return World(CUT.frame(cut), STEPS.frame(steps), REWARDS.frame(rewards), MESSAGES.frame(messages))


def scores(**contexts: Sequence[Sequence[float | None]]) -> pl.DataFrame:
    """SCORES of one token a step: a list a rollout for each context; null for what was not scored."""
    rows = [
        (f"r{number:02d}", step, context, value, 1, 0.5)
        for context, rollouts in contexts.items()
        for number, values in enumerate(rollouts)
        for step, value in enumerate(values)
        if value is not None
    ]
    return pl.DataFrame(rows, schema=SCORES, orient="row")


def by_rollout(credit: pl.DataFrame, column: str = "advantage") -> list[list[Any]]:
    """A column of CREDIT, a list a trajectory, in order."""
    ordered = credit.sort("trajectory_id", "step").group_by("trajectory_id", maintain_order=True)
    return ordered.agg(pl.col(column))[column].to_list()


def evidence(credit: pl.DataFrame, name: str) -> list[list[Any]]:
    return by_rollout(credit.with_columns(pl.col("evidence").struct.field(name).alias("_")), "_")
