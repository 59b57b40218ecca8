"""Outcome credit: every step of a rollout gets what the rollout did better than its group."""

from __future__ import annotations

import polars as pl

from transforms.datasets.release_spec import CreditSpec, ReleaseSpec
from transforms.rewards.spec import SAME
from transforms.spec import version_of
from warehouse.schemas import CREDIT

METHOD = "outcome"
_REVISION = 1  # of the formula


def outcome(release: str, cut: pl.DataFrame, steps: pl.DataFrame, spec: ReleaseSpec) -> pl.DataFrame:
    """CREDIT of every step of every rollout with a reward; gated and dropped ones have none.

    The unit is the rollout, never the row: a rollout of ten trajectories counts once in its group, the task.
    A_i = R_i - mean(R), the group-relative advantage without its divisor (Dr. GRPO, arXiv 2503.20783); with
    `scale: std` it is divided by max(std(R), std_floor), ddof 1 (GRPO, arXiv 2402.03300, whose epsilon blows a
    gap of 0.0001 up to 0.29). A group of one or without spread gives 0.
    """
    rewarded = cut.filter(pl.col("dropped").is_null() & ~pl.col("gated") & pl.col("reward").is_not_null())
    rollouts = rewarded.sort("rollout_id").unique("rollout_id", maintain_order=True)
    credited = rollouts.select("rollout_id", *_advantages(spec.credit))
    rows = (
        rewarded.select("trajectory_id", "rollout_id", "task_id", "reward", "revision")
        .join(credited, on="rollout_id")
        .join(steps.select("trajectory_id", "revision", "step", "span_id"), on=["trajectory_id", "revision"])
        .with_columns(
            release=pl.lit(release), method=pl.lit(METHOD), version=pl.lit(version_of(spec.credit, _REVISION))
        )
    )
    return CREDIT.enforce(rows.select(list(CREDIT.columns)))


def _advantages(spec: CreditSpec) -> list[pl.Expr]:
    reward, task = pl.col("reward"), "task_id"
    size = pl.len().over(task)
    spread = (reward.max() - reward.min()).over(task)
    mean = reward.mean().over(task)
    divisor = reward.std(ddof=1).over(task).clip(lower_bound=spec.std_floor) if spec.scale == "std" else pl.lit(1.0)
    flag = pl.when(size == 1).then(pl.lit("singleton")).when(spread <= SAME).then(pl.lit("no_spread"))
    return [
        mean.alias("baseline"),
        pl.when((size == 1) | (spread <= SAME)).then(0.0).otherwise((reward - mean) / divisor).alias("advantage"),
        size.cast(pl.Int64).alias("group_size"),
        pl.concat_list(flag).list.drop_nulls().alias("flags"),
    ]
