"""Contrastive hindsight: how much likelier an action is under the news of success than under that of failure.

By Bayes, log π(a|s, success) - log π(a|s, failure) = logit Q(s, a) - logit V(s), for a model that knows how outcomes
depend on actions. What makes an action likely in any case, its length and the choice there was, cancels; failures
are told step by step, too. A model that was never trained under such news knows nothing of it (docs/credit.md): compare
with `anchor_td` before relying on it.
"""

from __future__ import annotations

import polars as pl

from transforms.credit.baselines import expected
from transforms.credit.rows import flagged
from transforms.credit.spec import ContrastiveCredit

REVISION = 1  # of the formula

SURE = 0.02
"""How close to 0 and 1 an expectation may be: beyond, evidence moves nothing."""


def contrastive(rows: pl.DataFrame, spec: ContrastiveCredit) -> pl.DataFrame:
    """A_t = σ(logit V + δ_t) - V for rows with `success`, `failure` and `tokens` (of `with_scores`), rewards 0 to 1.

    δ_t is the difference of log-probs, within `cap`; V the rollout's baseline (`baselines.expected`). Steps that were
    not scored get nothing. Adds return, baseline (V), advantage, contrast (δ), logprob (under success).
    """
    difference = pl.col("success") - pl.col("failure")
    if spec.reduce == "mean":
        difference = difference / pl.col("tokens")
    known = rows.with_columns(
        expected(rows, "reward", spec.shrinkage).clip(SURE, 1 - SURE).alias("baseline"),
        difference.clip(-spec.cap, spec.cap).alias("contrast"),
        (pl.col("success") / pl.col("tokens")).alias("logprob"),
    )
    return known.with_columns(
        informed(pl.col("baseline"), pl.col("contrast").fill_null(0.0)).alias("return"),
        flagged("unscored", pl.col("contrast").is_null()),
    ).with_columns((pl.col("return") - pl.col("baseline")).alias("advantage"))


def informed(value: pl.Expr, contrast: pl.Expr) -> pl.Expr:
    """A probability after evidence of so many nats: σ(logit p + δ)."""
    odds = value / (1 - value) * contrast.exp()
    return odds / (1 + odds)
