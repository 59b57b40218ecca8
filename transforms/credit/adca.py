"""Imported judge flags: good or bad on each step, beside the outcome (ADCA-GRPO, AgentEvolver)."""

from __future__ import annotations

import polars as pl

from transforms.credit.outcome import group_relative
from transforms.credit.returns import to_go
from transforms.credit.rows import flagged
from transforms.credit.spec import AdcaCredit

REVISION = 1  # of the formula

BASE = 0.2
"""What a good step counts, and a bad one less nothing; only the sign survives the normalisation."""

VARIANCE_FLOOR = 1e-8
"""What the authors' code adds to the variance of the flags."""


def adca(rows: pl.DataFrame, spec: AdcaCredit) -> pl.DataFrame:
    """A_t = Σ_{k≥t} (α·z_k + [k is last]·Z) for rows with `process`, what the judge's component says of the step.

    z standardises ±0.2 over the task, each rollout weighing the same however many steps it has; Z standardises the
    outcome over the rollouts (ddof 0). A step without a flag gets no z, a group of one nothing at all.
    Adds return, baseline (0: the group's is taken out already), advantage, episode (Z), local (z).
    """
    flag = pl.when(pl.col("process") >= spec.good_from).then(BASE).when(pl.col("process").is_not_null()).then(-BASE)
    told = rows.with_columns(flag.alias("flag"))
    share = pl.when(pl.col("flag").is_not_null()).then(1 / pl.col("flag").count().over("rollout"))
    known = told.with_columns(share.alias("share")).with_columns(_mean_of_rollouts(pl.col("flag")).alias("mu"))
    variance = _mean_of_rollouts((pl.col("flag") - pl.col("mu")) ** 2)
    z = (pl.col("flag") - pl.col("mu")) / (variance + VARIANCE_FLOOR).sqrt()
    rollouts = known.filter(pl.col("lead") & (pl.col("left") == 0))
    outcome = group_relative("reward", ("task",), "std", 0.0, ddof=0)[0]
    of_rollouts = rollouts.select("rollout", outcome.fill_nan(0.0).alias("episode"))
    company = pl.col("group_size") > 1
    credited = known.join(of_rollouts, on="rollout", how="left", maintain_order="left").with_columns(
        pl.when(company).then(z).alias("local")
    )
    step = spec.weight * pl.col("local").fill_null(0.0) + pl.when(pl.col("left") == 0).then("episode").otherwise(0.0)
    return credited.with_columns(to_go(step, 1.0).alias("advantage")).with_columns(
        pl.col("advantage").alias("return"),
        pl.lit(0.0).alias("baseline"),
        flagged("untold", pl.col("process").is_null()),
    )


def _mean_of_rollouts(value: pl.Expr) -> pl.Expr:
    """Mean over the task's rollouts of the means over their flagged steps; the `share`s of a rollout add up to one."""
    return (value * pl.col("share")).sum().over("task") / pl.col("share").sum().over("task")
