"""IGPO (arXiv 2510.14967): a step is worth how much likelier it made the right answer."""

from __future__ import annotations

import polars as pl

from transforms.credit.returns import to_go
from transforms.credit.rows import flagged
from transforms.credit.spec import IgpoCredit

REVISION = 1  # of the formula

EPSILON = 1e-8
"""Added to standard deviations."""


def igpo(rows: pl.DataFrame, spec: IgpoCredit) -> pl.DataFrame:
    """A_t = Σ_{k≥t} γ^{k-t}·z_k for rows with `answer` and `tokens` (of `with_scores`).

    p_t = exp(mean log-prob of the right answer in place of step t's action), r_t = p_{t+1} - p_t, the last step's r the
    outcome; z standardises r over all steps of the group (ddof 0). Steps of which either p is missing have no r and
    count for nothing; a group of one gets nothing.
    Adds return, baseline (0), advantage, local (z), process (r), logprob.
    """
    known = rows.with_columns((pl.col("answer") / pl.col("tokens")).alias("logprob"))
    gain = pl.col("logprob").exp().shift(-1).over("trajectory") - pl.col("logprob").exp()
    turned = known.with_columns(pl.when(pl.col("left") == 0).then("reward").otherwise(gain).alias("process"))
    turn, company = pl.col("process"), pl.col("group_size") > 1
    z = (turn - turn.mean().over("task")) / (turn.std(ddof=0).over("task") + EPSILON)
    scaled = turned.with_columns(pl.when(company).then(z).alias("local"))
    return scaled.with_columns(to_go(pl.col("local").fill_null(0.0), spec.gamma).alias("advantage")).with_columns(
        pl.col("advantage").alias("return"),
        pl.lit(0.0).alias("baseline"),
        flagged("unscored", pl.col("process").is_null()),
    )
