"""An agent at a desk with a database: real SQL, real errors, and advantages that are known exactly.

A task is a question about a small SQLite database. The agent looks at the schema, queries (rightly, wrongly, or with a
column that is not there, which SQLite refuses in its own words), chats, and answers with the last number it got. What
it does is drawn from a policy that depends on what it knows, so that values and advantages follow by recursion; what
it is shown is what the database said. The same words may meet it in different states: a schema says nothing of
whether the right number is already known.
"""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from benchmarks.credit.frames import Rollout, Sample, Step, sample, told_apart

GROUP, LIMIT = 8, 8
ACTIONS = ("look", "guess", "wrong", "right", "chat", "answer")
BLIND = (0.30, 0.30, 0.12, 0.06, 0.12, 0.10)
SEEING = (0.05, 0.05, 0.30, 0.35, 0.10, 0.15)
ANSWERING = {"right": 6.0, "wrong": 4.0}
"""How many times likelier it is to answer with a number in hand."""

PEOPLE = ("Ada", "Bo", "Cy", "Di", "Ed", "Flo", "Gus", "Hal")
AMOUNTS = ("total_paid", "net_sum", "charge", "price_eur")
CHATTER = "Let me think about that for a moment."


@dataclass(frozen=True)
class State:
    """What the agent knows: whether it has seen the schema, what its last query gave, how many steps are left."""

    knows: bool = False
    last: str = "none"
    left: int = LIMIT

    def after(self, action: str) -> State:
        """Where an action leads; `answer` ends it."""
        last = {"guess": "error", "wrong": "wrong", "right": "right"}.get(action, self.last)
        return State(self.knows or action == "look", last, self.left - 1)


@dataclass(frozen=True, eq=False)
class Desk:
    """One task: its database, its question, and how the agent is inclined."""

    name: str
    database: sqlite3.Connection
    person: str
    amount: str
    habit: Any

    def policy(self, state: State) -> dict[str, float]:
        """Chance of each action; at the last step there is nothing left but to answer."""
        if state.left == 1:
            return {"answer": 1.0}
        weights = np.array(SEEING if state.knows else BLIND) * self.habit[int(state.knows)]
        weights[-1] *= ANSWERING.get(state.last, 1.0)
        return dict(zip(ACTIONS, (weights / weights.sum()).tolist(), strict=True))

    def words(self, action: str) -> str:
        """The action as the agent writes it."""
        column = {"right": self.amount, "wrong": self.amount, "guess": "amount"}
        if action in column:
            where = "" if action == "wrong" else f" WHERE customer = '{self.person}'"
            return f"query: SELECT sum({column[action]}) FROM orders{where}"
        return {"look": "schema", "chat": CHATTER, "answer": "answer"}[action]

    def says(self, action: str) -> str:
        """What the environment says to it."""
        if action == "chat":
            return "ok"
        sql = self.words(action).removeprefix("query: ")
        if action == "look":
            sql = "SELECT sql FROM sqlite_schema"
        try:
            return str(self.database.execute(sql).fetchall())
        except sqlite3.OperationalError as error:
            return f"error: {error}"


def desks(tasks: int, group: int = GROUP, seed: int = 11, noise: float = 0.0, apart: float = 0.0) -> Sample:
    """`group` rollouts of each of `tasks` questions; `noise` nats are added to the oracle's log-probs (contrastive).

    The share `apart` of all observations after the first is told from every other.
    """
    rng = np.random.default_rng(seed)
    rollouts = [r for task in range(tasks) for r in _rollouts(make_desk(f"question {task}", rng), group, noise, rng)]
    return sample(told_apart(rollouts, apart, rng))


def make_desk(name: str, rng: np.random.Generator) -> Desk:
    amount = str(rng.choice(AMOUNTS))
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE orders (id INTEGER, customer TEXT, {amount} REAL)")
    rows = [(number, PEOPLE[number % len(PEOPLE)], round(float(rng.uniform(5, 500)), 2)) for number in range(40)]
    database.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    return Desk(name, database, str(rng.choice(PEOPLE)), amount, rng.gamma(2.0, 0.5, (2, len(ACTIONS))))


def action_values(desk: Desk) -> Any:
    """Q(state, action): the chance that the answer is right."""

    @cache
    def value(state: State) -> float:
        return sum(p * worth(state, action) for action, p in desk.policy(state).items())

    def worth(state: State, action: str) -> float:
        return float(state.last == "right") if action == "answer" else value(state.after(action))

    return worth


def _rollouts(desk: Desk, group: int, noise: float, rng: np.random.Generator) -> list[Rollout]:
    worth = action_values(desk)
    question = f"{desk.name}: what did {desk.person} spend?"
    made = []
    for _ in range(group):
        state, saw, steps = State(), question, []
        while True:
            policy = desk.policy(state)
            action = str(rng.choice(list(policy), p=list(policy.values())))
            q, v = worth(state, action), sum(p * worth(state, a) for a, p in policy.items())
            step = Step(saw, desk.words(action), q - v, _told(policy[action], q, v, noise * rng.standard_normal()))
            after = state.after(action)
            progress = 0.6 if after.last in ("right", "wrong") else 0.3 if after.knows else 0.0
            good = action not in ("guess", "chat")
            steps.append(replace(step, progress=progress, good=good, tokens=max(1, len(desk.words(action)) // 4)))
            if action == "answer":
                break
            state, saw = after, desk.says(action)
        made.append(Rollout(desk.name, float(state.last == "right"), steps))
    return made


def _told(p: float, q: float, v: float, noise: float) -> dict[str, float]:
    """Log-probs of an action as a model would give them that knows the policy and how outcomes depend on it."""
    sure = 1e-3
    q, v = min(max(q, sure), 1 - sure), min(max(v, sure), 1 - sure)
    return {
        "plain": math.log(p), "hindsight": math.log(p * q / v),
        "success": math.log(p * q / v) + noise, "failure": math.log(p * (1 - q) / (1 - v)),
    }  # fmt: skip
