"""What was to be expected: means of other rollouts, of the task as far as it has any, else of wider groups.

Most production tasks are done once. A mean over nothing, or a raw reward, is no baseline: each level's mean is
drawn towards the wider one's by κ rollouts' weight, and never counts the rollout itself:

    b_level = (n·x̄ + κ·b_wider) / (n + κ),   n and x̄ over the other rollouts of the level.

Levels above the task count rollouts of the train split only, so that what is held out teaches nothing.
"""

from __future__ import annotations

import polars as pl

LEVELS = ("all", "family", "task")
"""From wide to narrow."""


def expected(rows: pl.DataFrame, value: str, kappa: float) -> pl.Series:
    """Baseline of column `value` at each row of `credited_steps`; null where no other rollout tells anything.

    A rollout counts once, with its lead trajectory. Where values differ from step to step, others count with theirs
    at the same position, and with their last one where they were over by then: groups do not thin out towards the
    end, and a value that is the same at every step has one baseline.
    """
    moves = pl.col(value) - pl.col(value).last().over("trajectory")
    known = rows.select(
        "rollout", "position", "family", "task", "train", pl.lit(0).alias("all"),
        pl.when(pl.col("lead") & (pl.col("left") == 0)).then(value).alias("final"),
        pl.when("lead").then(moves).alias("moved"),
    )  # fmt: skip
    own = pl.col("final").sum().over("rollout") + pl.col("moved").sum().over("rollout", "position")
    means = known.with_columns(own.alias("own")).with_columns(
        expression for level in LEVELS for expression in _others(level)
    )
    return means.select(_chain(kappa).alias("expected"))["expected"]


def shrunk(mean: pl.Expr, count: pl.Expr, wider: pl.Expr, kappa: float) -> pl.Expr:
    """`mean` of `count` rollouts, drawn towards `wider` by the weight of `kappa` rollouts; either may be missing."""
    drawn = (count * mean + kappa * wider) / (count + kappa)
    return pl.when(count == 0).then(wider).when(wider.is_null()).then(mean).otherwise(drawn)


def _others(level: str) -> list[pl.Expr]:
    """Mean and number of the other rollouts of a row's group at a level."""
    counts = pl.lit(value=True) if level == "task" else pl.col("train")
    finals = pl.when(counts).then("final")
    total = finals.sum().over(level) + pl.when(counts).then("moved").sum().over(level, "position")
    others = finals.count().over(level).cast(pl.Int64) - counts.cast(pl.Int64)
    mean = (total - counts.cast(pl.Float64) * pl.col("own")) / others
    return [mean.alias(f"mean_{level}"), others.alias(f"others_{level}")]


def _chain(kappa: float) -> pl.Expr:
    known = pl.lit(None, pl.Float64)
    for level in LEVELS:
        known = shrunk(pl.col(f"mean_{level}"), pl.col(f"others_{level}"), known, kappa)
    return known
