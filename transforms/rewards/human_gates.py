"""Actions that need a person's word: approved, denied, edited, done without, or still waiting."""

from __future__ import annotations

import polars as pl

from transforms.rewards.spec import Approval

GATING = ("violated", "denied", "edited", "needs_approval")
"""Verdicts that leave a rollout without a reward, worst first: only what was approved may be learnt from."""


def asked(calls: pl.DataFrame, feedback: pl.DataFrame, approval: Approval) -> pl.DataFrame:
    """(trajectory_id, step, span_id, verdict): what became of each call that needed a person's word.

    The word is feedback on the call's own span, else on the span of its step, else on its trace where the trace has
    none on a span; the last one counts. Without one, a call that was carried out is `violated`, another waits
    (`needs_approval`). How long a person took is no reward.
    """
    words = _words(feedback, approval)
    own = words.drop_nulls("span_id").unique(("trace_id", "span_id"), keep="last", maintain_order=True)
    on_trace = words.filter(pl.col("span_id").is_null()).join(own, on="trace_id", how="anti")
    of_trace = on_trace.unique("trace_id", keep="last", maintain_order=True)
    found = calls
    for name, key in (("of_call", "tool_span_id"), ("of_step", "span_id")):
        side = own.select("trace_id", pl.col("span_id").alias(key), pl.col("word").alias(name))
        found = found.join(side, on=["trace_id", key], how="left")
    found = found.join(of_trace.select("trace_id", pl.col("word").alias("of_trace")), on="trace_id", how="left")
    done = pl.col("result_id").is_not_null() | pl.col("tool_span_id").is_not_null()
    silent = pl.when(done).then(pl.lit("violated")).otherwise(pl.lit("needs_approval"))
    verdict = pl.coalesce("of_call", "of_step", "of_trace", silent)
    return found.select("trajectory_id", "step", "span_id", verdict.alias("verdict"))


def _words(feedback: pl.DataFrame, approval: Approval) -> pl.DataFrame:
    """(trace_id, span_id, word) in the order in which they were said; what is no word is left out."""
    label = pl.col("label").str.strip_chars().str.to_lowercase()
    known = {
        word.lower(): verdict
        for verdict, words in (
            ("approved", approval.approved),
            ("denied", approval.denied),
            ("edited", approval.edited),
        )
        for word in words
    }
    scored = pl.when(pl.col("score") >= 1).then(pl.lit("approved")).when(pl.col("score") <= 0).then(pl.lit("denied"))
    word = pl.coalesce(label.replace_strict(known, default=None, return_dtype=pl.String), scored)
    own = feedback.filter(pl.col("key").is_in(approval.feedback) & pl.col("annotator").is_in(approval.by))
    ordered = own.sort("created_at", "day", "feedback_id", nulls_last=False)
    return ordered.select("trace_id", "span_id", word.alias("word")).drop_nulls("word")
