"""HCAPO (arXiv 2603.08754): outcome credit, and how likely an action is once its end is known.

As published, equations 3 and 5 to 8 and appendix A. What it cannot do follows from them: failures have Q = 0 at
every step, so that no step of a failure is told from another; the ratio compares likelihoods of different states, so
that steps with many sensible actions look bad; and the end explains the last step by itself.
"""

from __future__ import annotations

import polars as pl

from transforms.credit.outcome import group_relative
from transforms.credit.rows import flagged
from transforms.credit.spec import HcapoCredit

REVISION = 1  # of the formula

EPSILON = 1e-6
"""Added to standard deviations."""

LEAST_STEPS = 4
"""Steps of a trajectory below which lengths explain log-probs by chance."""


def hcapo(rows: pl.DataFrame, spec: HcapoCredit) -> pl.DataFrame:
    """A_t = A^GRPO + ω·(Q̃_t - μ)/σ for rows with `hindsight` and `tokens` (of `with_scores`).

    π_t = exp(mean log-prob / temperature), ρ_t = clip(π_t / mean of π over the trajectory), Q_t = ρ_t·γ^{T-t}·R,
    Q̃_t = α·Q_t + (1-α)·Q_{t+1}; μ and σ (ddof 0) over all steps of the group. In a success no step loses by it
    (`do_no_harm`). Steps that were not scored have a ratio of 1; a group of one gets nothing.
    Adds return (Q̃), baseline (μ), advantage, episode, local, ratio, logprob.
    """
    mean = pl.col("hindsight") / pl.col("tokens")
    counted = (pl.col("left") > 0) | (pl.len().over("trajectory") == 1) if spec.exclude_final else pl.lit(value=True)
    told = rows.with_columns(mean.alias("logprob")).with_columns(
        pl.when(counted).then(without_length() if spec.residual else "logprob").alias("likely")
    )
    likelihood = (pl.col("likely") / spec.temperature).exp()
    ratio = (likelihood / likelihood.mean().over("trajectory")).clip(*spec.clip).fill_null(1.0)
    valued = told.with_columns(ratio.alias("ratio")).with_columns(
        (pl.col("ratio") * spec.gamma ** pl.col("left") * pl.col("reward")).alias("value")
    )
    after = pl.col("value").shift(-1).over("trajectory").fill_null(pl.col("value"))
    smooth = valued.with_columns((spec.smoothing * pl.col("value") + (1 - spec.smoothing) * after).alias("return"))
    return _normalised(smooth.drop("value"), spec)


def without_length() -> pl.Expr:
    """`logprob` less what log(tokens) explains of it within the trajectory (least squares), from LEAST_STEPS on."""
    length, logprob = pl.col("tokens").cast(pl.Float64).log(), pl.col("logprob")
    apart = length - length.mean().over("trajectory")
    slope = pl.cov(length, logprob).over("trajectory") / length.var().over("trajectory")
    enough = logprob.count().over("trajectory") >= LEAST_STEPS
    return pl.when(enough & slope.is_finite()).then(logprob - slope * apart).otherwise(logprob)


def _normalised(rows: pl.DataFrame, spec: HcapoCredit) -> pl.DataFrame:
    rollouts = rows.filter(pl.col("lead") & (pl.col("position") == 0))
    episode, _ = group_relative("reward", ("task",), "std", 0.0, EPSILON)
    of_rollouts = rollouts.select("rollout", episode.alias("episode"))
    mean = pl.col("return").mean().over("task")
    local = (pl.col("return") - mean) / (pl.col("return").std(ddof=0).over("task") + EPSILON)
    if spec.do_no_harm:
        local = pl.when((local < 0) & (pl.col("reward") >= spec.success)).then(0.0).otherwise(local)
    return (
        rows.join(of_rollouts, on="rollout", how="left", maintain_order="left")
        .with_columns(
            pl.when(pl.col("group_size") > 1).then(local).otherwise(0.0).alias("local"), mean.alias("baseline")
        )
        .with_columns(
            (pl.col("episode") + spec.weight * pl.col("local")).alias("advantage"),
            flagged("unscored", pl.col("hindsight").is_null()),
        )
    )
