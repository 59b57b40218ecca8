"""Feedback to rewards: components per trajectory and step, and the one composed of them."""

from __future__ import annotations

import polars as pl

from transforms.rewards.spec import COMPOSED, Component, RewardSpec
from warehouse.schemas import REWARDS

WHOLE = -1  # the step of what is about a whole trajectory
_TARGET = ("trace_id", "span_id")
_ROW = ("trajectory_id", "step", "component", "source", "value", "verdict", "coverage", "evidence")


def score(
    trajectories: pl.DataFrame,
    steps: pl.DataFrame,
    feedback: pl.DataFrame,
    gates: pl.DataFrame,
    spec: RewardSpec,
) -> pl.DataFrame:
    """REWARDS: every component of every trajectory and the composed `reward`, and components of single steps.

    A verdict counts for the whole rollout of its trace. Of a component's keys, the first that has a value on a
    target counts there. The last word of an annotator on a target and key wins,
    annotators are averaged, then targets: verdicts on whole traces (a conversation may have several), and only
    where there is none those on spans. A verdict on a step's own span is a row of that step too.
    `reward` = Σ w·x / Σ w over the components with a value, x = clip01((value - lo) / (hi - lo)), turned round
    where lower is better; `coverage` is the share of all weights that had a value. Where a gate is violated
    anywhere in the rollout, the verdict is `gated` and there is no value.
    """
    verdicts = _last_words(feedback)
    parts = []
    for name, component in spec.components.items():
        targets = _placed(_values(verdicts, component), trajectories, steps)
        parts.append(_of_trajectories(targets, trajectories).with_columns(component=pl.lit(name)))
        parts.append(_of_steps(targets).with_columns(component=pl.lit(name)))
    components = pl.concat(parts) if parts else _no_components()
    composed = _composed(components, trajectories, gates, spec)
    rows = pl.concat([components.with_columns(_none(pl.Float64, "coverage")).select(_ROW), composed.select(_ROW)])
    revisions = trajectories.select("trajectory_id", "revision")
    return REWARDS.enforce(
        rows.join(revisions, on="trajectory_id")
        .with_columns(version=pl.lit(spec.version))
        .select(list(REWARDS.columns))
    )


def _last_words(feedback: pl.DataFrame) -> pl.DataFrame:
    ordered = feedback.sort("created_at", "day", "feedback_id", nulls_last=False)
    return ordered.unique((*_TARGET, "key", "annotator"), keep="last", maintain_order=True)


def _values(verdicts: pl.DataFrame, component: Component) -> pl.DataFrame:
    """(trace_id, span_id, value, rank, feedback_id); a known label counts before a score."""
    worth = {label.lower(): value for label, value in component.labels.items()}
    word = pl.col("label").str.to_lowercase()
    labelled = word.replace_strict(worth, default=None, return_dtype=pl.Float64) if worth else _none(pl.Float64, "")
    finite = pl.when(pl.col("score").is_finite()).then(pl.col("score"))
    own = verdicts.filter(
        pl.col("key").is_in(component.feedback) & (pl.col("score").is_not_null() | word.is_not_null())
    )
    ranks = {key: rank for rank, key in enumerate(component.feedback)}
    rank = pl.col("key").replace_strict(ranks, default=None, return_dtype=pl.Int64)
    return own.select(*_TARGET, pl.coalesce(labelled, finite).alias("value"), rank.alias("rank"), "feedback_id")


def _placed(values: pl.DataFrame, trajectories: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """One row a target: (rollout_id, trajectory_id, step, value, evidence), the last two averaged over annotators.

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
    return (
        found.filter((pl.col("rank") == best).fill_null(value=True))
        .group_by(target)
        .agg(pl.col("value").sort_by("feedback_id").mean(), pl.col("feedback_id").unique().sort().alias("evidence"))
    )


def _of_trajectories(targets: pl.DataFrame, trajectories: pl.DataFrame) -> pl.DataFrame:
    whole = targets.filter(pl.col("step").is_null())
    spans = targets.filter(pl.col("step").is_not_null()).join(whole, on="rollout_id", how="anti")
    rollouts = pl.concat([whole, spans]).group_by("rollout_id").agg(
        pl.col("value").sort_by("trace_id", "trajectory_id", "step").mean(),
        pl.col("evidence").explode(empty_as_null=False).unique().sort(),
    )  # fmt: skip
    rows = trajectories.select("trajectory_id", "rollout_id").join(rollouts, on="rollout_id", how="left")
    return _verdict(rows.with_columns(step=pl.lit(WHOLE, pl.Int64)))


def _of_steps(targets: pl.DataFrame) -> pl.DataFrame:
    return _verdict(targets.filter(pl.col("step").is_not_null()))


def _verdict(rows: pl.DataFrame) -> pl.DataFrame:
    judged = pl.col("evidence").is_not_null()
    verdict = pl.when(pl.col("value").is_not_null()).then(pl.lit("ok")).when(judged).then(pl.lit("error"))
    return rows.select(
        "trajectory_id", "step", "value",
        verdict.otherwise(pl.lit("missing")).alias("verdict"),
        pl.col("evidence").fill_null(pl.lit([], pl.List(pl.String))),
        pl.lit("feedback").alias("source"),
    )  # fmt: skip


def _composed(
    components: pl.DataFrame, trajectories: pl.DataFrame, gates: pl.DataFrame, spec: RewardSpec
) -> pl.DataFrame:
    weights = pl.DataFrame(
        [(name, c.weight, *c.range, c.direction == "lower") for name, c in spec.components.items()],
        schema={"component": pl.String, "w": pl.Float64, "lo": pl.Float64, "hi": pl.Float64, "lower": pl.Boolean},
        orient="row",
    )
    x = ((pl.col("value") - pl.col("lo")) / (pl.col("hi") - pl.col("lo"))).clip(0.0, 1.0)
    x = pl.when("lower").then(1.0 - x).otherwise(x)
    present = components.filter((pl.col("step") == WHOLE) & pl.col("value").is_not_null()).join(weights, on="component")
    sums = present.filter(pl.col("w") > 0).sort("trajectory_id", "component").group_by("trajectory_id").agg(
        ((x * pl.col("w")).sum() / pl.col("w").sum()).alias("value"),
        pl.col("w").sum().alias("have"),
        pl.col("evidence").explode(empty_as_null=False).unique().sort(),
    )  # fmt: skip
    rows = trajectories.select("trajectory_id", "rollout_id").join(sums, on="trajectory_id", how="left")
    gated = pl.col("rollout_id").is_in(_gated_rollouts(trajectories, gates).implode())
    total = sum(component.weight for component in spec.components.values()) or 1.0
    return rows.select(
        "trajectory_id",
        pl.lit(WHOLE, pl.Int64).alias("step"),
        pl.lit(COMPOSED).alias("component"),
        pl.lit("composed").alias("source"),
        pl.when(~gated).then("value").alias("value"),
        pl.when(gated).then(pl.lit("gated")).when(pl.col("value").is_null()).then(pl.lit("missing"))
        .otherwise(pl.lit("ok")).alias("verdict"),
        (pl.col("have").fill_null(0.0) / total).alias("coverage"),
        pl.col("evidence").fill_null(pl.lit([], pl.List(pl.String))),
    )  # fmt: skip


def _gated_rollouts(trajectories: pl.DataFrame, gates: pl.DataFrame) -> pl.Series:
    violated = gates.filter(pl.col("verdict") == "violated").select("trajectory_id").unique()
    return trajectories.join(violated, on="trajectory_id", how="semi")["rollout_id"].unique()


def _no_components() -> pl.DataFrame:
    return REWARDS.empty().select(name for name in _ROW if name != "coverage")


def _none(dtype: type[pl.DataType], name: str) -> pl.Expr:
    return pl.lit(None, dtype).alias(name)
