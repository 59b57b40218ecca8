"""`gates` and `rewards`: hard rules, and what a trajectory was worth."""

from datetime import date

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.lake_io import DayScans, DayTables
from assets.mill import MillResource
from assets.partitions import days
from transforms.rewards.compose import score
from transforms.rewards.gates import apply_gates
from warehouse.schemas import FEEDBACK


@dg.asset(partitions_def=days, group_name="rewards", kinds={"polars"}, io_manager_key="lake_io")
def gates(mill: MillResource, trajectories: DayScans) -> DayTables:
    """Verdicts of the hard rules: what breaks one has no price and is never a positive."""
    with told_safely():
        frames = {name: trajectories[name].collect() for name in ("trajectories", "steps", "tool_calls")}
        return DayTables({"gates": apply_gates(**frames, spec=mill.open().settings.gates)})


@dg.asset(partitions_def=days, group_name="rewards", kinds={"polars"}, io_manager_key="lake_io", deps=["clean_spans"])
def rewards(
    context: dg.AssetExecutionContext, mill: MillResource, trajectories: DayScans, gates: DayScans
) -> DayTables:
    """Reward components and the composed reward; what is missing is null, never zero."""
    with told_safely():
        opened, day = mill.open(), date.fromisoformat(context.partition_key)
        frames = {name: trajectories[name].collect() for name in ("trajectories", "steps")}
        traces = (
            frames["trajectories"]
            .lazy()
            .select(pl.col("trace_ids").alias("trace_id"))
            .explode("trace_id", empty_as_null=False)
        )
        feedback = opened.lake.scan(FEEDBACK, through=day).join(traces, on="trace_id", how="semi").collect()
        spec = opened.settings.rewards
        return DayTables({"rewards": score(**frames, feedback=feedback, gates=gates["gates"].collect(), spec=spec)})
