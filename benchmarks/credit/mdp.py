"""A small world whose advantages are known exactly: eight steps, of which one in four matters.

Each task has its own. One stands on one of three levels, begins on the middle one, and where one ends decides how
likely success is. In a step that matters, what one does leads up, down or nowhere; in the others it changes nothing,
however unlikely it is. There are two to six actions to choose from. What a scoring model would know is worked out by
Bayes: under success an action has π(a|s)·Q/V, under failure π(a|s)·(1-Q)/(1-V).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.credit.frames import Rollout, Sample, Step, sample, told_apart

STEPS, GROUP = 8, 8
CRITICAL = 0.25
SUCCESS = (0.02, 0.5, 0.98)
"""Chance of success by the level one ends on."""
MOVES, ODDS = (-1, 0, 1), (0.4, 0.2, 0.4)


@dataclass(frozen=True)
class World:
    """One task: policy [step][level] over actions, the level each leads to, and the chance of success by level."""

    policy: list[list[Any]]
    leads: list[list[Any]]
    success: Any

    def values(self) -> tuple[list[Any], list[list[Any]]]:
        """V [step + 1][level] and Q [step][level][action] under the policy."""
        values: list[Any] = [self.success]
        actions: list[list[Any]] = []
        for layer in reversed(range(STEPS)):
            q = [values[0][leads] for leads in self.leads[layer]]
            values.insert(0, np.array([p @ row for p, row in zip(self.policy[layer], q, strict=True)]))
            actions.insert(0, q)
        return values, actions


def worlds(tasks: int, group: int = GROUP, seed: int = 7, noise: float = 0.0, apart: float = 0.0) -> Sample:
    """`group` rollouts of each of `tasks` worlds; `noise` nats are added to the oracle's log-probs (contrastive).

    The share `apart` of all observations after the first is told from every other.
    """
    rng = np.random.default_rng(seed)
    rollouts = [r for task in range(tasks) for r in _rollouts(make_world(rng), f"task {task}", group, noise, rng)]
    return sample(told_apart(rollouts, apart, rng))


def make_world(rng: np.random.Generator) -> World:
    policy, leads = [], []
    levels = range(len(SUCCESS))
    for critical in rng.random(STEPS) < CRITICAL:
        counts = rng.integers(2, 7, len(SUCCESS))
        policy.append([rng.dirichlet(np.ones(count)) for count in counts])
        moves = [rng.choice(MOVES, count, p=ODDS) if critical else np.zeros(count, int) for count in counts]
        leads.append([np.clip(level + moves[level], 0, levels[-1]) for level in levels])
    return World(policy, leads, np.array(SUCCESS))


def _rollouts(world: World, task: str, group: int, noise: float, rng: np.random.Generator) -> list[Rollout]:
    values, actions = world.values()
    made = []
    for _ in range(group):
        state, steps = len(SUCCESS) // 2, []
        for layer in range(STEPS):
            policy, q, v = world.policy[layer][state], actions[layer][state], values[layer][state]
            action = int(rng.choice(len(policy), p=policy))
            under = {
                "success": math.log(policy[action] * q[action] / v) + noise * rng.standard_normal(),
                "failure": math.log(policy[action] * (1 - q[action]) / (1 - v)),
                "plain": math.log(policy[action]),
                "hindsight": math.log(policy[action] * q[action] / v),
            }
            good = bool(q[action] >= v)
            steps.append(Step(f"{task} {layer} {state}", f"{action}", float(q[action] - v), under,
                              float(values[layer + 1][world.leads[layer][state][action]]), good))  # fmt: skip
            state = int(world.leads[layer][state][action])
        made.append(Rollout(task, float(rng.random() < world.success[state]), steps))
    return made
