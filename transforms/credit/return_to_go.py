"""Return-to-go with baselines that a task done once has, too."""

from __future__ import annotations

import polars as pl

from transforms.credit.baselines import expected
from transforms.credit.returns import returns
from transforms.credit.spec import ReturnToGoCredit

REVISION = 1  # of the formula


def return_to_go(rows: pl.DataFrame, spec: ReturnToGoCredit) -> pl.DataFrame:
    """A_t = G_t - b_t for rows of `credited_steps` with `process`: adds return, baseline, advantage.

    G_t = Σ_{k≥t} gamma^{k-t} r_k, where r is what was told of the step and, at the end, the outcome; b_t as
    `baselines.expected` has it.
    """
    valued = rows.with_columns(returns(spec.gamma, bool(spec.process)).alias("return"))
    known = valued.with_columns(expected(valued, "return", spec.shrinkage).alias("baseline"))
    return known.with_columns((pl.col("return") - pl.col("baseline")).alias("advantage"))
