"""Gates of a run that two systems exported: a person's word lies in the system in which they gave it."""

from __future__ import annotations

import polars as pl

from transforms.rewards.human_gates import GATING

UNSAID = ("violated", "needs_approval")
"""What a rule that needs a person's word says where there is none. Of another rule nothing is ever `approved`."""


def approved_elsewhere(trajectories: pl.DataFrame, gates: pl.DataFrame, same_runs: pl.DataFrame) -> pl.DataFrame:
    """(rollout_id, rule): records for which nobody's word was found, of runs that were approved in another record.

    The other record has to hold no fewer tool calls: one that lost a call has no word about it. What was denied or
    edited in any record stays so.
    """
    told = gates.join(trajectories.select("trajectory_id", "rollout_id", "tool_calls"), on="trajectory_id")
    records = told.join(same_runs, on="rollout_id").group_by("run", "rule", "rollout_id").agg(
        pl.col("tool_calls").sum(),
        pl.col("verdict").is_in(UNSAID).any().alias("unsaid"),
        ((pl.col("verdict") == "approved").any() & ~pl.col("verdict").is_in(GATING).any()).alias("approved"),
    )  # fmt: skip
    heard = pl.col("tool_calls").filter("approved").max().over("run", "rule") >= pl.col("tool_calls")
    return records.filter(pl.col("unsaid") & heard).select("rollout_id", "rule")
