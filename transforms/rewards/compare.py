"""Two versions of a reward side by side: which trajectories change, by how much, and who overtakes whom."""

from __future__ import annotations

from typing import Any

import polars as pl

from transforms.rewards.spec import COMPOSED, SAME
from transforms.rewards.subjects import WHOLE


def compare(trajectories: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """One row a rollout, greatest change first: `before`, `after`, `change`, both verdicts, and both ranks.

    `before` and `after` are REWARDS. A rank is that of the value among the task's rollouts, 1 the best, equal ones
    alike; null where there is no value. `changed`: the value moved, came or went, or the verdict is another.
    """
    roots = trajectories.filter(pl.col("trajectory_id") == pl.col("rollout_id"))
    rows = roots.select("trajectory_id", "task_id", "task", pl.len().over("task_id").alias("group_size"))
    for side, rewards in (("before", before), ("after", after)):
        whole = rewards.filter((pl.col("component") == COMPOSED) & (pl.col("step") == WHOLE))
        own = whole.select("trajectory_id", pl.col("value").alias(side), pl.col("verdict").alias(f"verdict_{side}"))
        # sums of weights leave gaps where there is a tie
        rank = pl.col(side).round(9).rank("min", descending=True).over("task_id").cast(pl.Int64)
        rows = rows.join(own, on="trajectory_id", how="left").with_columns(rank.alias(f"rank_{side}"))
    change = pl.col("after") - pl.col("before")
    same = (change.abs() <= SAME).fill_null(pl.col("before").is_null() & pl.col("after").is_null())
    return rows.with_columns(
        change.alias("change"),
        (~same | pl.col("verdict_before").ne_missing(pl.col("verdict_after"))).alias("changed"),
        pl.col("rank_before").ne_missing(pl.col("rank_after")).alias("moved"),
    ).sort(
        "changed", change.abs().fill_null(float("inf")), "trajectory_id", descending=[True, True, False]
    )  # fmt: skip


def summary(rows: pl.DataFrame) -> dict[str, Any]:
    """What a comparison comes to, in numbers."""
    changed = rows.filter("changed")
    return {
        "trajectories": rows.height,
        "changed": changed.height,
        "lost their reward": changed.filter(pl.col("before").is_not_null() & pl.col("after").is_null()).height,
        "got a reward": changed.filter(pl.col("before").is_null() & pl.col("after").is_not_null()).height,
        "newly gated": changed.filter(
            (pl.col("verdict_after") == "gated") & pl.col("verdict_before").ne_missing("gated")
        ).height,
        "mean change": changed["change"].mean(),
        "greatest change": changed["change"].abs().max(),
        "ranks that change": rows.filter("moved").height,
        "pairs that turn round": _turned(rows),
        "groups": rows["task_id"].n_unique(),
        "groups whose order changes": rows.filter("moved")["task_id"].n_unique(),
        "mixed groups before": _mixed(rows, "before"),
        "mixed groups after": _mixed(rows, "after"),
    }


def _mixed(rows: pl.DataFrame, side: str) -> int:
    """Groups in which values differ: the others teach nothing."""
    spread = rows.group_by("task_id").agg((pl.col(side).max() - pl.col(side).min()).alias("spread"))
    return spread.filter(pl.col("spread") > SAME).height


def _turned(rows: pl.DataFrame) -> int:
    """Pairs of a group of which the better one becomes the worse."""
    moved = rows.join(rows.filter("moved").select("task_id").unique(), on="task_id", how="semi")
    sides = moved.select("task_id", "trajectory_id", "before", "after").drop_nulls()
    both = sides.join(sides, on="task_id", suffix="_other")
    gained = (pl.col("before") < pl.col("before_other") - SAME) & (pl.col("after") > pl.col("after_other") + SAME)
    return both.filter(gained).height
