"""What people, judges and code said, as a component: the last word of each, averaged or as a posterior."""

from __future__ import annotations

import polars as pl

from transforms.rewards.spec import Component
from transforms.rewards.subjects import WHOLE

_TARGET = ("trace_id", "span_id")


def feedback_rows(
    trajectories: pl.DataFrame, steps: pl.DataFrame, feedback: pl.DataFrame, component: Component
) -> list[pl.DataFrame]:
    """Rows of a component: of every trajectory, and of the steps that were judged by themselves.

    A verdict counts for the whole rollout of its trace. Of a component's keys, the first that has a value on a
    target counts there. The last word of an annotator on a target and key wins,
    annotators are averaged, then targets: verdicts on whole traces (a conversation may have several), and only
    where there is none those on spans. A verdict on a step's own span is a row of that step too.
    With `smoothing` every such word is a vote, and the value is the posterior mean, in units of `range`.
    """
    targets = _placed(_values(_last_words(feedback), component), trajectories, steps)
    return [_of_trajectories(targets, trajectories, component), _of_steps(targets, component)]


def _last_words(feedback: pl.DataFrame) -> pl.DataFrame:
    ordered = feedback.sort("created_at", "day", "feedback_id", nulls_last=False)
    return ordered.unique((*_TARGET, "key", "annotator"), keep="last", maintain_order=True)


def _values(verdicts: pl.DataFrame, component: Component) -> pl.DataFrame:
    """(trace_id, span_id, value, rank, feedback_id, w, wy); a known label counts before a score."""
    worth = {label.lower(): value for label, value in component.labels.items()}
    word = pl.col("label").str.to_lowercase()
    none = pl.lit(None, pl.Float64)
    labelled = word.replace_strict(worth, default=None, return_dtype=pl.Float64) if worth else none
    finite = pl.when(pl.col("score").is_finite()).then(pl.col("score"))
    own = verdicts.filter(
        pl.col("key").is_in(component.feedback) & (pl.col("score").is_not_null() | word.is_not_null())
    )
    ranks = {key: rank for rank, key in enumerate(component.feedback)}
    rank = pl.col("key").replace_strict(ranks, default=None, return_dtype=pl.Int64)
    votes = component.smoothing.votes if component.smoothing else {}
    weight = pl.col("annotator").replace_strict(votes, default=1.0, return_dtype=pl.Float64) if votes else pl.lit(1.0)
    value, (low, high) = pl.coalesce(labelled, finite), component.range
    return own.select(
        *_TARGET, value.alias("value"), rank.alias("rank"), "feedback_id", weight.alias("w")
    ).with_columns((pl.col("w") * ((pl.col("value") - low) / (high - low)).clip(0.0, 1.0)).alias("wy"))


def _placed(values: pl.DataFrame, trajectories: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """One row a target: (rollout_id, trajectory_id, step, value, w, wy, evidence), summed up over annotators.

    `trajectory_id` and `step` are null unless the target is a step's span; a span that is in no step, as the
    root of a trace is, stands for its trace.
    """
    traces = (
        trajectories.select("rollout_id", pl.col("trace_ids").alias("trace_id"))
        .explode("trace_id", empty_as_null=False)
        .unique()
    )
    inside = steps.select("trajectory_id", "step", *_TARGET)
    found = values.join(inside, on=_TARGET, how="left").join(traces, on="trace_id", how="inner")
    target = ("rollout_id", "trace_id", "trajectory_id", "step")
    best = pl.when(pl.col("value").is_not_null()).then("rank").min().over(target)
    known = pl.col("value").is_not_null()
    return (
        found.filter((pl.col("rank") == best).fill_null(value=True))
        .group_by(target)
        .agg(
            pl.col("value").sort_by("feedback_id").mean(),
            *(pl.col(name).filter(known).sort_by(pl.col("feedback_id").filter(known)).sum() for name in ("w", "wy")),
            pl.col("feedback_id").unique().sort().alias("evidence"),
        )
    )


def _of_trajectories(targets: pl.DataFrame, trajectories: pl.DataFrame, component: Component) -> pl.DataFrame:
    whole = targets.filter(pl.col("step").is_null())
    spans = targets.filter(pl.col("step").is_not_null()).join(whole, on="rollout_id", how="anti")
    order = ("trace_id", "trajectory_id", "step")
    rollouts = pl.concat([whole, spans]).group_by("rollout_id").agg(
        *(pl.col(name).sort_by(order).mean() if name == "value" else pl.col(name).sort_by(order).sum()
          for name in ("value", "w", "wy")),
        pl.col("evidence").explode(empty_as_null=False).unique().sort(),
    )  # fmt: skip
    rows = trajectories.select("trajectory_id", "rollout_id").join(rollouts, on="rollout_id", how="left")
    return _verdict(rows.with_columns(step=pl.lit(WHOLE, pl.Int64)), component)


def _of_steps(targets: pl.DataFrame, component: Component) -> pl.DataFrame:
    return _verdict(targets.filter(pl.col("step").is_not_null()), component)


def _verdict(rows: pl.DataFrame, component: Component) -> pl.DataFrame:
    judged = pl.col("evidence").is_not_null()
    verdict = pl.when(pl.col("value").is_not_null()).then(pl.lit("ok")).when(judged).then(pl.lit("error"))
    return rows.select(
        "trajectory_id", "step",
        _posterior(component).alias("value"),
        verdict.otherwise(pl.lit("missing")).alias("verdict"),
        pl.col("evidence").fill_null(pl.lit([], pl.List(pl.String))),
        pl.lit("feedback").alias("source"),
        (pl.col("w") if component.smoothing else pl.lit(None, pl.Float64)).alias("votes"),
    )  # fmt: skip


def _posterior(component: Component) -> pl.Expr:
    """(a + Σwy) / (a + b + Σw) as a value of the range; without smoothing the mean."""
    if component.smoothing is None:
        return pl.col("value")
    (a, b), (low, high) = component.smoothing.prior, component.range
    mean = (a + pl.col("wy")) / (a + b + pl.col("w"))
    return pl.when(pl.col("value").is_not_null()).then(low + (high - low) * mean)
