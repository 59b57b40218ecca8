"""Hard rules over tool calls and what was said: what was forbidden, where it was done first, what people let pass."""

from __future__ import annotations

import polars as pl

from transforms.rewards.human_gates import GATING as GATING
from transforms.rewards.human_gates import asked
from transforms.rewards.spec import ArgumentTest, GateRule, GateSpec
from warehouse.schemas import FEEDBACK, GATES, MESSAGES


def apply_gates(
    trajectories: pl.DataFrame,
    steps: pl.DataFrame,
    tool_calls: pl.DataFrame,
    spec: GateSpec,
    feedback: pl.DataFrame | None = None,
    messages: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """GATES: the verdict of every rule on every trajectory.

    `unless_before` looks at earlier steps of the trajectory, since calls of one step are parallel and have not
    seen each other's results, and at steps of its rollout's other trajectories that began earlier.
    """
    calls = tool_calls.join(
        steps.select("trajectory_id", "step", "span_id", "trace_id", "started_at"), on=["trajectory_id", "step"],
        how="left",
    ).join(trajectories.select("trajectory_id", "rollout_id"), on="trajectory_id")  # fmt: skip
    said = FEEDBACK.empty() if feedback is None else feedback
    spoken = _spoken(steps, MESSAGES.empty() if messages is None else messages)
    parts = []
    for name, rule in spec.rules.items():
        broken = _said(spoken, rule) if rule.says is not None else _broken(calls, rule)
        found = asked(broken, said, rule.needs_approval) if rule.needs_approval else _violated(broken)
        parts.append(_verdicts(trajectories, found, name))
    if not parts:
        return GATES.empty()
    return GATES.enforce(pl.concat(parts).with_columns(version=pl.lit(spec.version)).select(list(GATES.columns)))


def _spoken(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """(trajectory_id, step, span_id, text): what the model said in each step, as cleaning left it."""
    latest = messages.sort("day").unique("message_id", keep="last")
    text = pl.concat_str(pl.col("content").fill_null(""), pl.col("tool_calls").fill_null(""), separator="\n")
    said = latest.select(pl.col("message_id").alias("action"), text.alias("text"))
    return steps.join(said, on="action").select("trajectory_id", "step", "span_id", "text")


def _said(spoken: pl.DataFrame, rule: GateRule) -> pl.DataFrame:
    return spoken.filter(pl.col("text").str.contains(rule.says or ""))


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


def _violated(broken: pl.DataFrame) -> pl.DataFrame:
    return broken.select("trajectory_id", "step", "span_id", pl.lit("violated").alias("verdict"))


def _verdicts(trajectories: pl.DataFrame, found: pl.DataFrame, rule: str) -> pl.DataFrame:
    """The worst verdict on each trajectory, where it first came about; `kept` where the rule had nothing to say."""
    worst = {verdict: rank for rank, verdict in enumerate((*GATING, "approved"))}
    rank = pl.col("verdict").replace_strict(worst, return_dtype=pl.Int64)
    ordered = found.sort("trajectory_id", rank, "step")
    first = ordered.unique("trajectory_id", keep="first", maintain_order=True)
    every = trajectories.select("revision", "trajectory_id").join(first, on="trajectory_id", how="left")
    return every.select(
        "revision", "trajectory_id", "step", "span_id", pl.lit(rule).alias("rule"), pl.col("verdict").fill_null("kept")
    )
