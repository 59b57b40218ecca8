"""Log-probs of a local model, as columns: transforms never load one."""

from __future__ import annotations

import polars as pl

SCORES = pl.Schema(
    {
        "trajectory_id": pl.String(),
        "step": pl.Int64(),
        "context": pl.String(),  # what the model was told: hindsight, success, failure, answer
        "logprob": pl.Float64(),  # sum over the tokens scored, nats
        "tokens": pl.Int64(),
        "entropy": pl.Float64(),  # mean at these tokens, nats
    }
)
"""One row a step and context. For `answer` the tokens are those of the right answer in the action's place."""


def with_scores(rows: pl.DataFrame, scores: pl.DataFrame, *contexts: str) -> pl.DataFrame:
    """`rows` with `CONTEXT` (sum of log-probs) of each, and tokens and entropy of the first one; null for none."""
    joined = rows
    for context in contexts:
        kept = ["logprob"] if context != contexts[0] else ["logprob", "tokens", "entropy"]
        own = scores.filter((pl.col("context") == context) & (pl.col("tokens") > 0))
        own = own.select("trajectory_id", "step", *kept).rename({"logprob": context})
        joined = joined.join(own, on=["trajectory_id", "step"], how="left", maintain_order="left")
    return joined
