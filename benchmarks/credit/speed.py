"""CPU seconds that crediting a million steps takes, method by method, its table and its audit included.

    python -m benchmarks.credit.speed [--steps 1000000] [--method gigpo]

Traffic as production has it: most tasks are done once, some a few times, a few a thousand times, and a third of the
observations of a task recur. The frames stand in memory; reading and sealing them is measured elsewhere.
"""

from __future__ import annotations

import argparse
import time
from datetime import date
from typing import Any

import numpy as np
import polars as pl

from transforms.credit.assign import UNSCORED, Scored, assign_credit
from transforms.credit.scores import SCORES
from transforms.datasets.release_spec import ReleaseSpec
from warehouse.schemas import CUT, MESSAGES, REWARDS, STEPS, Table

DAY = date(2026, 11, 30)
LENGTH = 10
METHODS: dict[str, dict[str, Any]] = {
    "outcome": {},
    "return_to_go": {},
    "return_to_go, discounted, with step rewards": {"gamma": 0.95, "process": {"judge": {"weight": 0.1}}},
    "gigpo": {},
    "gigpo, memory 1": {"memory": 1},
    "anchor_td": {},
    "shaping": {"potential": "judge"},
    "adca": {"flags": "judge"},
    "hcapo, scores given": {},
    "contrastive, scores given": {},
    "igpo, scores given": {"answers": "answers.jsonl"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--method", help="only methods whose name begins so")
    options = parser.parse_args()
    frames = traffic(options.steps)
    counts = f"{frames['steps'].height:,} steps, {frames['cut'].height:,} rollouts"
    print(f"{counts}, {frames['cut']['task_id'].n_unique():,} tasks, {frames['messages'].height:,} messages")
    for name, more in METHODS.items():
        if not options.method or name.startswith(options.method):
            spec = ReleaseSpec.model_validate({"credit": {"method": name.partition(",")[0], **more}}).credit
            scored = Scored(scores(frames["steps"])) if "scores" in name else UNSCORED
            start = time.process_time()
            assign_credit("r", frames["cut"], frames["steps"], frames["rewards"], frames["messages"], spec, scored)
            print(f"{name:<45} {time.process_time() - start:6.2f} CPU s")


def traffic(steps: int, seed: int = 0) -> dict[str, pl.DataFrame]:
    """CUT, STEPS, REWARDS and MESSAGES of about so many steps."""
    rng = np.random.default_rng(seed)
    lengths = 1 + rng.poisson(LENGTH - 1, steps // LENGTH)
    tasks = _tasks(len(lengths), rng)
    cut = _cut(tasks, rng)
    made = _steps(lengths, tasks, rng)
    rewards = made.select(
        "revision", "trajectory_id", "step", component=pl.lit("judge"), source=pl.lit("feedback"), version=pl.lit("v"),
        value=pl.Series(rng.random(made.height).round(2)), verdict=pl.lit("ok"),
        evidence=pl.lit([], pl.List(pl.String)),
    )  # fmt: skip
    return {"cut": cut, "steps": made, "rewards": _whole(REWARDS, rewards), "messages": _messages(made)}


def scores(steps: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """SCORES of all steps in every context."""
    rng, height = np.random.default_rng(seed), steps.height
    contexts = [
        steps.select(
            "trajectory_id", "step", context=pl.lit(context), logprob=pl.Series(-20 * rng.random(height)),
            tokens=pl.Series(rng.integers(1, 80, height)), entropy=pl.lit(1.0),
        )
        for context in ("hindsight", "success", "failure", "answer")
    ]  # fmt: skip
    return pl.concat(contexts).select(list(SCORES))


def _tasks(rollouts: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """The task of each rollout: six in ten alone, three in ten in groups of eight, the rest in groups of a thousand."""
    sizes = np.concatenate([np.ones(rollouts * 6 // 10), np.full(rollouts * 3 // 80 + 1, 8), [1000] * rollouts])
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes.astype(int))[:rollouts])


def _cut(tasks: np.ndarray[Any, Any], rng: np.random.Generator) -> pl.DataFrame:
    ids = pl.Series([f"{number:032x}" for number in range(len(tasks))])
    rows = pl.DataFrame({"trajectory_id": ids, "task": tasks}).select(
        pl.lit("r").alias("release"), "trajectory_id", pl.lit(DAY).alias("revision"),
        pl.col("trajectory_id").alias("rollout_id"), pl.format("task {}", "task").alias("task_id"),
        pl.format("family {}", pl.col("task") % 97).alias("task_family"),
        pl.format("task {}", "task").alias("component"),
        pl.when(pl.col("task") % 5 == 0).then(pl.lit("test")).otherwise(pl.lit("train")).alias("split"),
        pl.lit(None, pl.String).alias("dropped"), pl.Series("reward", rng.integers(0, 2, len(tasks)) * 1.0),
        pl.lit(value=False).alias("gated"),
    )  # fmt: skip
    return CUT.enforce(rows.with_columns(copy_of=pl.lit(None, dtype=pl.String)))


def _steps(lengths: np.ndarray[Any, Any], tasks: np.ndarray[Any, Any], rng: np.random.Generator) -> pl.DataFrame:
    rollout = np.repeat(np.arange(len(lengths)), lengths)
    step = np.arange(len(rollout)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    common = rng.random(len(rollout)) < 1 / 3
    own = np.arange(len(rollout)) + 10**9
    seen = np.where(common | (step == 0), tasks[rollout] * 64 + np.minimum(step, 63), own)
    rows = pl.DataFrame({"rollout": rollout, "step": step, "seen": seen}).select(
        pl.lit(DAY).alias("revision"), pl.col("rollout").map_elements(lambda n: f"{n:032x}", pl.String).alias(
            "trajectory_id"), "step", pl.lit("trace").alias("trace_id"), pl.format("{}-{}", "rollout", "step").alias(
            "span_id"), pl.lit(0).alias("segment"),
        pl.concat_list(pl.format("message {}", "seen").cast(pl.Binary)).alias("observed"),
        pl.lit(b"action").alias("action"), (pl.col("step") + 1).alias("prompt_length"),
        pl.lit("full").alias("content_state"),
    )  # fmt: skip
    return _whole(STEPS, rows)


def _messages(steps: pl.DataFrame) -> pl.DataFrame:
    ids = steps.select(pl.col("observed").list.first().alias("message_id")).unique(maintain_order=True)
    rows = ids.with_columns(
        day=pl.lit(DAY), role=pl.lit("tool"), content=pl.col("message_id").cast(pl.String), altered=pl.lit(value=False)
    )
    return _whole(MESSAGES, rows)


def _whole(table: Table, rows: pl.DataFrame) -> pl.DataFrame:
    """`rows` as a table; columns that they lack are null."""
    absent = [pl.lit(None).alias(name) for name in table.columns if name not in rows.columns]
    return table.enforce(rows.with_columns(absent).select(list(table.columns)))


if __name__ == "__main__":
    main()
