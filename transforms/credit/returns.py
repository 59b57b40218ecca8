"""Returns: what is still to come at a step.

The frames are those of `credited_steps`, in order; `left` is the number of steps after a step.
"""

from __future__ import annotations

import polars as pl


def to_go(values: pl.Expr, gamma: float) -> pl.Expr:
    """G_t = v_t + gamma * G_{t+1} within each trajectory; gamma from 0 to 1.

    Below 1 it is an exponentially weighted mean, read backwards, times the sum of its weights: no power of gamma
    that could underflow is divided by.
    """
    if gamma == 0:
        return values
    if gamma == 1:
        return values.cum_sum(reverse=True).over("trajectory")
    weights = (1 - gamma ** (pl.col("left") + 1)) / (1 - gamma)
    mean = values.reverse().ewm_mean(alpha=1 - gamma, adjust=True).reverse().over("trajectory")
    return mean * weights


def rewards_of_steps(has_process: bool) -> pl.Expr:
    """A step's own reward: `process` where there is one, and at the last step of a trajectory the outcome."""
    outcome = pl.when(pl.col("left") == 0).then("reward").otherwise(0.0)
    return outcome + pl.col("process").fill_null(0.0) if has_process else outcome


def returns(gamma: float, has_process: bool) -> pl.Expr:
    """Return-to-go of the outcome at a trajectory's end and of the step rewards before it."""
    if has_process:
        return to_go(rewards_of_steps(has_process), gamma)
    return pl.col("reward") * gamma ** pl.col("left") if gamma < 1 else pl.col("reward")


def advantages(rewards: pl.Expr, value: pl.Expr, next_value: pl.Expr, gamma: float, lam: float) -> pl.Expr:
    """Generalised advantage: Σ_l (gamma·lam)^l δ_{t+l}, δ_t = r_t + gamma·V_{t+1} - V_t (arXiv 1506.02438, eq. 16)."""
    return to_go(rewards + gamma * next_value - value, gamma * lam)
