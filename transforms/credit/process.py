"""Rewards that are told on single steps: what judges, checkers and people said of them, imported with the traces."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from transforms.credit.spec import StepReward
from transforms.datasets.release_spec import Refused
from transforms.rewards.compose import WHOLE


def with_process(rows: pl.DataFrame, rewards: pl.DataFrame, components: Mapping[str, StepReward]) -> pl.DataFrame:
    """`rows` with `process`: Σ w·clip01((value - lo) / (hi - lo)) over the components that REWARDS tells of the step.

    Null where none has a value: nobody said anything, which is no 0.
    """
    if not components:
        return rows.with_columns(process=pl.lit(None, pl.Float64))
    parts = [step_values(rewards, name, part.range).with_columns(pl.col("value") * part.weight)
             for name, part in components.items()]  # fmt: skip
    sums = pl.concat(parts).group_by("trajectory_id", "step", maintain_order=True).agg(pl.col("value").sum())
    return _joined(rows, sums, "process")


def with_value(
    rows: pl.DataFrame, rewards: pl.DataFrame, component: str, bounds: tuple[float, float] | None = None
) -> pl.DataFrame:
    """`rows` with `process`: one component's value on the step, null for none; within its bounds it is 0 to 1."""
    return _joined(rows, step_values(rewards, component, bounds), "process")


def step_values(rewards: pl.DataFrame, component: str, bounds: tuple[float, float] | None) -> pl.DataFrame:
    """(trajectory_id, step, value) of a component where it has a value on a step. Raises Refused where it has none."""
    told = rewards.filter(
        (pl.col("component") == component) & (pl.col("step") != WHOLE) & pl.col("value").is_not_null()
    )
    if told.is_empty():
        known = rewards.filter(pl.col("step") != WHOLE)["component"].n_unique()
        advice = f"no step has a value of `{component}`; components are named in `rewards` of tracemill.yaml"
        raise Refused("credit", advice, {"components told on steps": known})
    scaled = pl.col("value")
    if bounds:
        scaled = ((scaled - bounds[0]) / (bounds[1] - bounds[0])).clip(0.0, 1.0)
    return told.sort("trajectory_id", "step").select("trajectory_id", "step", scaled)


def _joined(rows: pl.DataFrame, values: pl.DataFrame, name: str) -> pl.DataFrame:
    return rows.join(values.rename({"value": name}), on=["trajectory_id", "step"], how="left", maintain_order="left")
