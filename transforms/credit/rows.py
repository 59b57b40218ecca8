"""The steps that get credit, in the shape that every method takes, and the table that every method gives."""

from __future__ import annotations

import polars as pl

from transforms.rewards.spec import SAME
from warehouse.schemas import CREDIT

ID_COLUMNS = ("trajectory_id", "rollout_id", "task_id", "task_family")
EVIDENCE = CREDIT.schema["evidence"]


def rewarded(cut: pl.DataFrame) -> pl.DataFrame:
    """Trajectories of CUT whose rollout has a reward; gated and dropped ones have none.

    Added: `rollout`, `task`, `family` (numbers that stand for the ids, since joins on text cost several times as
    much), `train`, and `lead`, which is true of one trajectory a rollout: its root where that is there.
    """
    kept = cut.filter(pl.col("dropped").is_null() & ~pl.col("gated") & pl.col("reward").is_not_null())
    leading = kept.sort("rollout_id", pl.col("trajectory_id") != pl.col("rollout_id"), "trajectory_id")
    return leading.with_columns(
        pl.col("rollout_id").rle_id().alias("rollout"),
        pl.col("rollout_id").is_first_distinct().alias("lead"),
        pl.col("task_id").rank("dense").alias("task"),
        pl.col("task_family").first().over("rollout_id").rank("dense").alias("family"),
        (pl.col("split") == "train").alias("train"),
    ).with_columns(*_group())


def credited_steps(cut: pl.DataFrame, steps: pl.DataFrame) -> pl.DataFrame:
    """One row a step (STEPS) of every trajectory that `rewarded` leaves of CUT, by trajectory and step.

    Added to the columns of `rewarded`: step, span_id, `position` (from 0) and `left` (steps after it) in the
    trajectory, `trajectory` (its number).
    """
    own = ["trajectory_id", "revision"]
    known = rewarded(cut).select(
        *own, "rollout_id", "task_id", "reward", "rollout", "task", "family", "train", "lead", "group_size", "flags"
    )
    rows = steps.select(*own, "step", "span_id").join(known, on=own).sort("trajectory_id", "step")
    numbered = rows.with_columns(pl.col("trajectory_id").rle_id().alias("trajectory"))
    return numbered.with_columns(
        pl.int_range(pl.len()).over("trajectory").alias("position"),
        (pl.len().over("trajectory") - 1 - pl.int_range(pl.len()).over("trajectory")).cast(pl.Int64).alias("left"),
    )


def credit_table(release: str, rows: pl.DataFrame, method: str, version: str) -> pl.DataFrame:
    """CREDIT of rows of `credited_steps` with return, baseline, advantage, and what of the evidence there is.

    A step without a baseline has an advantage of 0 and says so.
    """
    fields = [
        (pl.col(field.name) if field.name in rows.columns else pl.lit(None)).cast(field.dtype).alias(field.name)
        for field in EVIDENCE.fields  # type: ignore[attr-defined]
    ]
    anchor = pl.col("anchor") if "anchor" in rows.columns else pl.lit(None, pl.String).alias("anchor")
    known = pl.col("baseline").is_not_null()
    return CREDIT.enforce(
        rows.with_columns(
            pl.col("advantage").fill_null(0.0),
            pl.when(known).then("flags").otherwise(pl.concat_list("flags", pl.lit("no_baseline"))).alias("flags"),
            pl.struct(fields).alias("evidence"),
            anchor,
            release=pl.lit(release),
            method=pl.lit(method),
            version=pl.lit(version),
        ).select(list(CREDIT.columns))
    )


def flagged(flag: str, where: pl.Expr) -> pl.Expr:
    """`flags` with one more where a condition holds."""
    return pl.when(where).then(pl.concat_list("flags", pl.lit(flag))).otherwise("flags").alias("flags")


def _group() -> list[pl.Expr]:
    """Rollouts in the task's group, and what keeps their rewards from saying anything."""
    lead = pl.when("lead").then("reward")
    size = pl.col("lead").sum().over("task")
    spread = (lead.max() - lead.min()).over("task")
    flag = pl.when(size == 1).then(pl.lit("singleton")).when(spread <= SAME).then(pl.lit("no_spread"))
    return [size.cast(pl.Int64).alias("group_size"), pl.concat_list(flag).list.drop_nulls().alias("flags")]
