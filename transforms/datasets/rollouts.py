"""Rollouts with advantages: what offline GRPO reads, one row a segment."""

from __future__ import annotations

import polars as pl

from transforms.datasets.conversations import SEGMENT, conversations, with_bodies
from warehouse.schemas import ROLLOUTS

SILENT = ["singleton", "no_spread"]
"""Flags of credit that say that the group's rewards do not differ."""


def build_rollouts(
    release: str, cut: pl.DataFrame, credit: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame
) -> pl.DataFrame:
    """ROLLOUTS of every credited trajectory; gated ones and those without a reward have no credit, so no row.

    The prompt is all before the segment's first action; actions, steps, span ids and advantages are aligned.
    """
    own = ["trajectory_id", "revision"]
    kept = cut.filter(pl.col("dropped").is_null()).join(credit.select("trajectory_id").unique(), on="trajectory_id")
    shown = steps.join(kept.select(own), on=own, how="semi")
    segments = with_bodies(conversations(shown), messages)
    first = pl.col("positions").list.first()
    known = kept.select("trajectory_id", "rollout_id", "task_id", "split", "reward")
    rows = (
        segments.join(_advantages(shown, credit), on=SEGMENT, how="inner")
        .join(known, on="trajectory_id")
        .with_columns(
            pl.col("messages").list.head(first).alias("prompt"),
            pl.col("messages").list.slice(first).alias("completion"),
            pl.col("positions").list.eval(pl.element() - pl.element().first()).alias("actions"),
            pl.col("models").list.drop_nulls().list.unique().list.sort(),
            pl.lit(release).alias("release"),
        )
    )
    return ROLLOUTS.enforce(rows.select(list(ROLLOUTS.columns)))


def _advantages(steps: pl.DataFrame, credit: pl.DataFrame) -> pl.DataFrame:
    """Per segment the advantage of each action, and its group's size and whether its rewards differ."""
    columns = credit.select("trajectory_id", "step", "advantage", "group_size", "flags")
    credited = steps.sort("trajectory_id", "step").join(columns, on=["trajectory_id", "step"], maintain_order="left")
    return credited.group_by(SEGMENT, maintain_order=True).agg(
        pl.col("advantage").alias("advantages"),
        pl.col("group_size").first(),
        (pl.col("flags").first().list.set_intersection(SILENT).list.len() == 0).alias("mixed"),
    )
