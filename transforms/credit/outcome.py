"""Outcome credit: every step of a rollout gets what the rollout did better than its group."""

from __future__ import annotations

import polars as pl

from transforms.credit.rows import credit_table, credited_steps
from transforms.credit.spec import OutcomeCredit, method_version
from transforms.datasets.release_spec import ReleaseSpec
from transforms.rewards.spec import SAME

REVISION = 1  # of the formula


def outcome(release: str, cut: pl.DataFrame, steps: pl.DataFrame, spec: ReleaseSpec) -> pl.DataFrame:
    """CREDIT of every step of every rollout with a reward; gated and dropped ones have none. As `outcome_credit`."""
    chosen = spec.credit if isinstance(spec.credit, OutcomeCredit) else OutcomeCredit()
    rows = outcome_credit(credited_steps(cut, steps), chosen)
    return credit_table(release, rows, chosen.method, method_version(chosen, REVISION))


def outcome_credit(rows: pl.DataFrame, spec: OutcomeCredit) -> pl.DataFrame:
    """Rows of `credited_steps` with return, baseline, advantage.

    The unit is the rollout, never the row: a rollout of ten trajectories counts once in its group, the task.
    A_i = R_i - mean(R), the group-relative advantage without its divisor (Dr. GRPO, arXiv 2503.20783); with
    `scale: std` it is divided by max(std(R), std_floor), ddof 1 (GRPO, arXiv 2402.03300, whose epsilon blows a
    gap of 0.0001 up to 0.29). A group of one or without spread gives 0.
    """
    rollouts = rows.filter("lead").unique("rollout", maintain_order=True)
    advantage, mean = group_relative("reward", ("task",), spec.scale, spec.std_floor)
    credited = rollouts.select("rollout", mean.alias("baseline"), advantage.alias("advantage"))
    return rows.with_columns(pl.col("reward").alias("return")).join(
        credited, on="rollout", how="left", maintain_order="left"
    )


def group_relative(
    value: str, group: tuple[str, ...], scale: str, floor: float, epsilon: float = 0.0, ddof: int = 1
) -> tuple[pl.Expr, pl.Expr]:
    """What a row's value is over its group's mean, in `scale`'s units, and that mean; 0 without company or spread."""
    values = pl.col(value)
    mean = values.mean().over(group)
    spread = (values.max() - values.min()).over(group)
    divisor = values.std(ddof=ddof).over(group).clip(lower_bound=floor) + epsilon if scale == "std" else pl.lit(1.0)
    alone = (pl.len().over(group) == 1) | (spread <= SAME)
    return pl.when(alone).then(0.0).otherwise((values - mean) / divisor), mean
