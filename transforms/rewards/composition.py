"""The one reward out of its components: normalised, weighted, in stages, and never where a gate is broken."""

from __future__ import annotations

import polars as pl

from transforms.rewards.gates import GATING
from transforms.rewards.spec import COMPOSED, RewardSpec
from transforms.rewards.subjects import WHOLE

GDPO_EPSILON = 1e-4
"""Added to a group's deviation, as GDPO's published code does (arXiv 2601.05242)."""


def composed(
    components: pl.DataFrame, trajectories: pl.DataFrame, gates: pl.DataFrame, spec: RewardSpec
) -> pl.DataFrame:
    """One row a trajectory: `reward` out of the components of the whole trajectory.

    x = clip01((value - lo) / (hi - lo)), turned round where lower is better. A mean is Σwx / Σw over the components
    with a value, a sum is Σwx over them; `coverage` is the share of all |w| that had a value, and below
    `least_coverage` there is no reward. Before a stage is reached, what does not belong to it or an earlier one has
    x = 0; where it cannot be told whether it was, there is no reward.
    """
    present = scaled(components, spec).filter(pl.col("w") != 0)
    present, unsure = _staged(present, trajectories, spec)
    whole = pl.col("w").sum() if spec.combine == "mean" else 1.0
    sums = present.sort("trajectory_id", "component").group_by("trajectory_id").agg(
        ((pl.col("x") * pl.col("w")).sum() / whole + 0.0).alias("value"),  # and no -0.0
        pl.col("w").abs().sum().alias("have"),
        pl.col("evidence").explode(empty_as_null=False).unique().sort(),
    )  # fmt: skip
    rows = trajectories.select("trajectory_id", "rollout_id").join(sums, on="trajectory_id", how="left")
    gated = pl.col("rollout_id").is_in(gated_rollouts(trajectories, gates).implode())
    coverage = pl.col("have").fill_null(0.0) / (sum(map(abs, spec.weights.values())) or 1.0)
    told = (coverage >= spec.least_coverage) & ~pl.col("trajectory_id").is_in(unsure.implode())
    value = pl.when(told).then("value")
    return rows.select(
        "trajectory_id",
        pl.lit(WHOLE, pl.Int64).alias("step"),
        pl.lit(COMPOSED).alias("component"),
        pl.lit("composed").alias("source"),
        pl.when(~gated).then(value).alias("value"),
        pl.when(gated).then(pl.lit("gated")).when(value.is_null()).then(pl.lit("missing"))
        .otherwise(pl.lit("ok")).alias("verdict"),
        coverage.alias("coverage"),
        pl.col("evidence").fill_null(pl.lit([], pl.List(pl.String))),
    )  # fmt: skip


def scaled(components: pl.DataFrame, spec: RewardSpec) -> pl.DataFrame:
    """Components of whole trajectories that have a value, with `x` from 0 to 1 and their weight `w`."""
    weights = pl.DataFrame(
        [(name, spec.weights[name], *c.range, c.direction == "lower") for name, c in spec.components.items()],
        schema={"component": pl.String, "w": pl.Float64, "lo": pl.Float64, "hi": pl.Float64, "lower": pl.Boolean},
        orient="row",
    )
    x = ((pl.col("value") - pl.col("lo")) / (pl.col("hi") - pl.col("lo"))).clip(0.0, 1.0)
    whole = components.filter((pl.col("step") == WHOLE) & pl.col("value").is_not_null())
    return whole.join(weights, on="component").with_columns(
        pl.when("lower").then(1.0 - x).otherwise(x).alias("x")
    )  # fmt: skip


def _staged(present: pl.DataFrame, trajectories: pl.DataFrame, spec: RewardSpec) -> tuple[pl.DataFrame, pl.Series]:
    """`present` with x = 0 where a stage before was not reached, and trajectories of which that cannot be told."""
    reached = trajectories.select("trajectory_id", pl.lit(value=True).alias("open"))
    seen: set[str] = set()
    for stage in spec.stages:
        seen |= {*stage.components}
        inside = present.filter(pl.col("component").is_in(stage.components))
        mean = inside.group_by("trajectory_id").agg(
            ((pl.col("x") * pl.col("w").abs()).sum() / pl.col("w").abs().sum() >= stage.least - 1e-12).alias("held"),
            (pl.len() == len(stage.components)).alias("whole"),
        )
        held = pl.when("whole").then("held").otherwise(None)
        rest = ~pl.col("component").is_in(sorted(seen))
        reached = reached.join(mean, on="trajectory_id", how="left").select(
            "trajectory_id", (pl.col("open") & held).alias("open")
        )
        closed = reached.filter(~pl.col("open"))["trajectory_id"]
        x = pl.when(pl.col("trajectory_id").is_in(closed.implode()) & rest).then(0.0).otherwise("x")
        present = present.with_columns(x.alias("x"))
    return present, reached.filter(pl.col("open").is_null())["trajectory_id"]


def gdpo(rewards: pl.DataFrame, trajectories: pl.DataFrame, spec: RewardSpec) -> pl.DataFrame:
    """REWARDS of a release whose composed value is Σ w·z, z the z-score of x among the task's rollouts.

    As GDPO normalises before it sums (arXiv 2601.05242), so that a component with a small spread is not drowned by
    one with a large. Gated rollouts count in no group; where all are alike, z is 0. Deviations are those of samples.
    """
    composed_here = (pl.col("component") == COMPOSED) & (pl.col("step") == WHOLE)
    valued = rewards.filter(composed_here & pl.col("value").is_not_null()).select("trajectory_id")
    names = trajectories.select("trajectory_id", "rollout_id", "task_id")
    inside = scaled(rewards.filter(~composed_here), spec).join(valued, on="trajectory_id", how="semi")
    known = inside.join(names, on="trajectory_id")
    group = ("task_id", "component")
    roots = known.filter(pl.col("trajectory_id") == pl.col("rollout_id"))
    spread = roots.group_by(group).agg(pl.col("x").mean().alias("mean"), pl.col("x").std().fill_null(0.0).alias("std"))
    z = (pl.col("x") - pl.col("mean")) / (pl.col("std") + GDPO_EPSILON)
    sums = (
        known.join(spread, on=group)
        .sort("trajectory_id", "component")
        .group_by("trajectory_id")
        .agg((pl.col("w") * z).sum().alias("normalised"))
    )
    changed = rewards.join(sums, on="trajectory_id", how="left", maintain_order="left")
    value = pl.when(composed_here & pl.col("value").is_not_null()).then("normalised").otherwise("value")
    return changed.with_columns(value.alias("value")).drop("normalised")


def gated_rollouts(trajectories: pl.DataFrame, gates: pl.DataFrame) -> pl.Series:
    """Rollouts of which any trajectory broke a hard rule, or did what a person did not let pass."""
    broken = gates.filter(pl.col("verdict").is_in(GATING)).select("trajectory_id").unique()
    return trajectories.join(broken, on="trajectory_id", how="semi")["rollout_id"].unique()
