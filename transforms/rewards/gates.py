"""Hard rules over tool calls: what was forbidden, and where it was done first."""

from __future__ import annotations

import polars as pl

from transforms.rewards.spec import ArgumentTest, GateRule, GateSpec
from warehouse.schemas import GATES


def apply_gates(
    trajectories: pl.DataFrame, steps: pl.DataFrame, tool_calls: pl.DataFrame, spec: GateSpec
) -> pl.DataFrame:
    """GATES: the verdict of every rule on every trajectory.

    `unless_before` looks at earlier steps of the trajectory, since calls of one step are parallel and have not
    seen each other's results, and at steps of its rollout's other trajectories that began earlier.
    """
    calls = tool_calls.join(
        steps.select("trajectory_id", "step", "span_id", "started_at"), on=["trajectory_id", "step"], how="left"
    ).join(trajectories.select("trajectory_id", "rollout_id"), on="trajectory_id")
    parts = [_verdicts(trajectories, _broken(calls, rule), name) for name, rule in spec.rules.items()]
    if not parts:
        return GATES.empty()
    return GATES.enforce(pl.concat(parts).with_columns(version=pl.lit(spec.version)).select(list(GATES.columns)))


def _broken(calls: pl.DataFrame, rule: GateRule) -> pl.DataFrame:
    """The calls that `rule` forbids."""
    forbidden = calls.filter(pl.col("name") == rule.tool)
    for argument, test in rule.when_arguments.items():
        forbidden = forbidden.filter(_passes(argument, test))
    if rule.unless_before is None:
        return forbidden
    before = calls.filter((pl.col("name") == rule.unless_before) & ~pl.col("is_error"))
    own = before.group_by("trajectory_id").agg(pl.col("step").min().alias("allowed_from"))
    any_ = before.group_by("rollout_id").agg(pl.col("started_at").min().alias("allowed_since"))
    dated = forbidden.join(own, on="trajectory_id", how="left").join(any_, on="rollout_id", how="left")
    here = pl.col("allowed_from") < pl.col("step")
    elsewhere = pl.col("allowed_since") < pl.col("started_at")
    return dated.filter(~(here.fill_null(False) | elsewhere.fill_null(False)))


def _passes(argument: str, test: ArgumentTest) -> pl.Expr:
    """Whether an argument of a call passes; one that is absent, or in arguments that are no JSON, does not."""
    name = argument.replace("\\", "\\\\").replace("'", "\\'")
    value = pl.col("arguments").str.json_path_match(f"$['{name}']")
    number = value.cast(pl.Float64, strict=False)
    passed = value.is_not_null()
    if isinstance(test.equals, bool):
        passed &= value == str(test.equals).lower()
    elif isinstance(test.equals, float):
        passed &= number == test.equals
    elif test.equals is not None:
        passed &= value == test.equals
    if test.above is not None:
        passed &= number > test.above
    if test.below is not None:
        passed &= number < test.below
    if test.matches is not None:
        passed &= value.str.contains(test.matches)
    return passed.fill_null(False)


def _verdicts(trajectories: pl.DataFrame, broken: pl.DataFrame, rule: str) -> pl.DataFrame:
    first = broken.sort("trajectory_id", "step").unique("trajectory_id", keep="first", maintain_order=True)
    found = trajectories.select("revision", "trajectory_id").join(
        first.select("trajectory_id", "step", "span_id"), on="trajectory_id", how="left"
    )
    verdict = pl.when(pl.col("step").is_null()).then(pl.lit("kept")).otherwise(pl.lit("violated"))
    return found.with_columns(rule=pl.lit(rule), verdict=verdict)
