"""Temporal differences over anchors: by how much a step raised what was to be expected."""

from __future__ import annotations

import polars as pl

from transforms.credit.anchors import ANCHOR
from transforms.credit.baselines import expected, shrunk
from transforms.credit.returns import advantages, returns, rewards_of_steps
from transforms.credit.rows import flagged
from transforms.credit.spec import AnchorTdCredit

REVISION = 1  # of the formula


def anchor_td(rows: pl.DataFrame, spec: AnchorTdCredit) -> pl.DataFrame:
    """A_t = r_t + γ·V(o_{t+1}) - V(o_t) for rows with `process` and anchors; the outcome stands for what follows the
    end, so that a trajectory's credit adds up to its return less V(o_0).

    V of an anchor is the mean return of the rollouts that came through it, each once, drawn towards the baseline of
    the rollout's task (`baselines.expected`): an anchor that nobody else saw says what the task says. Adds return (what
    the step led to), baseline (V), advantage, value, next_value.
    """
    process = bool(spec.process)
    known = rows.with_columns(returns(spec.gamma, process).alias("to_go"))
    known = known.with_columns(expected(known, "to_go", spec.shrinkage).alias("wider"))
    visits = known.with_columns((1 / pl.len().over(*ANCHOR, "rollout")).alias("visit"))  # a rollout's add up to one
    valued = visits.with_columns((pl.col("to_go") * pl.col("visit")).alias("share")).with_columns(
        _value(spec).alias("value")
    )
    valued = valued.with_columns(
        pl.when(pl.col("left") > 0)
        .then(pl.col("value").shift(-1).over("trajectory"))
        .otherwise(0.0)
        .alias("next_value")
    )
    advantage = advantages(rewards_of_steps(process), pl.col("value"), pl.col("next_value"), spec.gamma, spec.lam)
    return valued.with_columns(advantage.alias("advantage")).with_columns(
        pl.col("value").alias("baseline"),
        (pl.col("advantage") + pl.col("value")).alias("return"),
        flagged("lone_anchor", pl.col("anchor_size") == 1),
    )


def _value(spec: AnchorTdCredit) -> pl.Expr:
    total, count = pl.col("share").sum().over(ANCHOR), pl.col("visit").sum().over(ANCHOR).round()
    if spec.leave_one_out:
        total, count = total - pl.col("share").sum().over(*ANCHOR, "rollout"), count - 1
    return shrunk(total / count, count, pl.col("wider"), spec.shrinkage)
