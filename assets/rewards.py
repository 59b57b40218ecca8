"""`gates` and `rewards`: hard rules, and what a trajectory was worth."""

from collections.abc import Mapping
from datetime import date

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.lake_io import DayScans, DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.references import references_of
from transforms.rewards.checks import check, needs_checks
from transforms.rewards.compose import score
from transforms.rewards.gates import apply_gates
from transforms.rewards.spec import GateSpec, RewardSpec
from warehouse.schemas import FEEDBACK, REWARDS

Frames = Mapping[str, pl.DataFrame]
"""`trajectories`, `steps` and `tool_calls`."""


@dg.asset(partitions_def=days, group_name="rewards", kinds={"polars"}, io_manager_key="lake_io", deps=["clean_spans"])
def gates(context: dg.AssetExecutionContext, mill: MillResource, trajectories: DayScans) -> DayTables:
    """Verdicts of the hard rules and of people: what breaks one has no price and is never a positive."""
    with told_safely():
        opened, day = mill.open(), date.fromisoformat(context.partition_key)
        return DayTables({"gates": gated(opened, _frames(trajectories), opened.settings.gates, day)})


@dg.asset(partitions_def=days, group_name="rewards", kinds={"polars"}, io_manager_key="lake_io", deps=["clean_spans"])
def rewards(
    context: dg.AssetExecutionContext, mill: MillResource, trajectories: DayScans, gates: DayScans
) -> DayTables:
    """Reward components and the composed reward; what is missing is null, never zero."""
    with told_safely():
        opened, day = mill.open(), date.fromisoformat(context.partition_key)
        spec = opened.settings.rewards
        return DayTables({"rewards": scored(opened, _frames(trajectories), gates["gates"].collect(), spec, day)})


def gated(mill: Mill, frames: Frames, spec: GateSpec, through: date) -> pl.DataFrame:
    """GATES of trajectories, by what the lake holds up to a day; no export is read."""
    if not (spec.reads_feedback or spec.reads_text):
        return apply_gates(**frames, spec=spec)
    feedback = _feedback(mill, frames, through) if spec.reads_feedback else None
    messages = _messages(mill, frames, through) if spec.reads_text else None
    return apply_gates(**frames, spec=spec, feedback=feedback, messages=messages)


def scored(mill: Mill, frames: Frames, gates: pl.DataFrame, spec: RewardSpec, through: date) -> pl.DataFrame:
    """REWARDS of trajectories, by what the lake holds up to a day; no export is read.

    A verifier's verdict of an earlier run is taken over where its version and what it judged are the same.
    """
    checked = None
    if needs_checks(spec):
        before = mill.lake.scan(REWARDS, through).filter(pl.col("source") == "verifier")
        own = frames["trajectories"].lazy().select("trajectory_id")
        checked = check(
            **frames, messages=_messages(mill, frames, through), spec=spec, references=references_of(mill, spec),
            before=before.join(own, on="trajectory_id", how="semi").collect(),
        )  # fmt: skip
    feedback = _feedback(mill, frames, through)
    return score(frames["trajectories"], frames["steps"], feedback, gates, spec, checked)


def _frames(trajectories: DayScans) -> Frames:
    return {name: trajectories[name].collect() for name in ("trajectories", "steps", "tool_calls")}


def _feedback(mill: Mill, frames: Frames, through: date) -> pl.DataFrame:
    traces = (
        frames["trajectories"]
        .lazy()
        .select(pl.col("trace_ids").alias("trace_id"))
        .explode("trace_id", empty_as_null=False)
    )
    return mill.lake.scan(FEEDBACK, through=through).join(traces, on="trace_id", how="semi").collect()


def _messages(mill: Mill, frames: Frames, through: date) -> pl.DataFrame:
    """What was said in the steps, and what tools brought."""
    shown = frames["steps"].lazy().select(pl.col("observed").list.concat("action").alias("message_id"))
    brought = frames["tool_calls"].lazy().select(pl.col("result_id").alias("message_id")).drop_nulls()
    return mill.lake.newest_messages(pl.concat([shown.explode("message_id", empty_as_null=False), brought]), through)
