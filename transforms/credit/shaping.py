"""Potential-based shaping (Ng, Harada and Russell 1999): what is known of progress moves credit between steps."""

from __future__ import annotations

import polars as pl

from transforms.credit.baselines import expected
from transforms.credit.returns import advantages, rewards_of_steps
from transforms.credit.rows import flagged
from transforms.credit.spec import ShapingCredit

REVISION = 1  # of the formula


def shaping(rows: pl.DataFrame, spec: ShapingCredit) -> pl.DataFrame:
    """A_t = r_t + γ·Ψ(s_{t+1}) - Ψ(s_t) for rows with `process`, the progress after each step (0 to 1).

    Ψ = b + w·(1 - b)·progress lies between the rollout's baseline b (`baselines.expected` of the outcome), where
    nothing is done, and the best reward, where all is. The outcome stands for what follows the end, so that a
    trajectory's credit adds up to its outcome less b, whatever was told of progress: it cannot be farmed. A step of
    which nothing was told changed nothing. Adds return, baseline (Ψ), advantage, value, next_value.
    """
    known = rows.with_columns(expected(rows, "reward", spec.shrinkage).alias("start"))
    done = known.with_columns(pl.col("process").forward_fill().over("trajectory").fill_null(0.0).alias("done"))
    before = pl.col("done").shift(1, fill_value=0.0).over("trajectory")
    valued = done.with_columns(
        _potential(before, spec.weight).alias("value"),
        pl.when(pl.col("left") > 0).then(_potential(pl.col("done"), spec.weight)).otherwise(0.0).alias("next_value"),
    )
    advantage = advantages(
        rewards_of_steps(has_process=False), pl.col("value"), pl.col("next_value"), spec.gamma, spec.lam
    )
    return valued.with_columns(advantage.alias("advantage")).with_columns(
        pl.col("value").alias("baseline"),
        (pl.col("advantage") + pl.col("value")).alias("return"),
        flagged("untold", pl.col("process").is_null()),
    )


def _potential(progress: pl.Expr, weight: float) -> pl.Expr:
    return pl.col("start") + weight * (1.0 - pl.col("start")) * progress
