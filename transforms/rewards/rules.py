"""Rules over the trace: what a rollout cost, how long it took, what it repeated, and whether it gave up too soon."""

from __future__ import annotations

import polars as pl

from transforms.rewards.rule_spec import (
    AnyRule,
    Cost,
    Errors,
    Escalation,
    Latency,
    Length,
    Overlong,
    Price,
    Repeats,
    Tokens,
)
from transforms.rewards.subjects import WHOLE
from transforms.rewards.verify import VERDICTS

MILLION = 1_000_000


def measure(
    rule: AnyRule, trajectories: pl.DataFrame, steps: pl.DataFrame, tool_calls: pl.DataFrame, messages: pl.DataFrame
) -> pl.DataFrame:
    """VERDICTS: one row a rollout. What the trace does not tell, such as tokens, is null and `missing`."""
    rollouts = trajectories.select("rollout_id").unique().sort("rollout_id")
    names = trajectories.select("trajectory_id", "rollout_id")
    own = steps.join(names, on="trajectory_id")
    calls = tool_calls.join(names, on="trajectory_id")
    match rule:
        case Latency():
            values = own.group_by("rollout_id").agg(
                ((pl.col("ended_at").max() - pl.col("started_at").min()).dt.total_nanoseconds() / 1e9).alias("value")
            )
        case Tokens():
            values = own.group_by("rollout_id").agg(_all_known(_tokens(rule)).alias("value"))
        case Overlong():
            values = own.group_by("rollout_id").agg(pl.col("output_tokens").max().cast(pl.Float64)).select(
                "rollout_id", overlong(pl.col("output_tokens"), rule.longest, rule.cache).alias("value")
            )  # fmt: skip
        case Length():
            values = _counted(rollouts, own)
        case Errors():
            values = _counted(rollouts, calls.filter("is_error"))
        case Repeats():
            values = _counted(rollouts, _repeated(calls, rule))
        case Cost():
            values = _cost(rollouts, own, calls, rule)
        case Escalation():
            values = _escalated(rollouts, own, calls, messages, rule)
    return _verdicts(rollouts.join(values, on="rollout_id", how="left"))


def overlong(length: pl.Expr, longest: int, cache: int) -> pl.Expr:
    """0 up to longest - cache, -1 from longest on, linear between."""
    return ((longest - cache - length) / cache).clip(-1.0, 0.0)


def _tokens(rule: Tokens) -> pl.Expr:
    parts = {"input": ("input_tokens",), "output": ("output_tokens",), "all": ("input_tokens", "output_tokens")}
    return pl.sum_horizontal(parts[rule.of], ignore_nulls=False)


def _all_known(values: pl.Expr) -> pl.Expr:
    """Their sum; null where any is null, since part of a bill is no bill."""
    return pl.when(values.is_not_null().all()).then(values.sum().cast(pl.Float64))


def _counted(rollouts: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    counts = found.group_by("rollout_id").agg(pl.len().cast(pl.Float64).alias("value"))
    return rollouts.join(counts, on="rollout_id", how="left").with_columns(pl.col("value").fill_null(0.0))


def _repeated(calls: pl.DataFrame, rule: Repeats) -> pl.DataFrame:
    wanted = calls.filter(pl.col("name").is_in(rule.tools)) if rule.tools else calls
    same = pl.struct("trajectory_id", "name", "arguments")
    return wanted.sort("trajectory_id", "step", "call").filter(~same.is_first_distinct())


def _cost(rollouts: pl.DataFrame, steps: pl.DataFrame, calls: pl.DataFrame, rule: Cost) -> pl.DataFrame:
    paid = calls.select(
        "rollout_id",
        pl.col("name").replace_strict(rule.tools, default=rule.any_tool, return_dtype=pl.Float64).alias("value")
        if rule.tools
        else pl.lit(rule.any_tool).alias("value"),
    )
    parts = [rollouts.with_columns(value=pl.lit(0.0)), paid]
    if rule.models:
        asked, said = (_price(rule.models, side) for side in ("input", "output"))
        bill = (pl.col("input_tokens") * asked + pl.col("output_tokens") * said) / MILLION
        parts.append(steps.select("rollout_id", bill.alias("value")))
    return pl.concat(parts).group_by("rollout_id").agg(_all_known(pl.col("value")))


def _price(models: dict[str, Price], side: str) -> pl.Expr:
    prices = {name: getattr(price, side) for name, price in models.items()}
    return pl.col("model").replace_strict(prices, default=None, return_dtype=pl.Float64)


def _escalated(
    rollouts: pl.DataFrame, steps: pl.DataFrame, calls: pl.DataFrame, messages: pl.DataFrame, rule: Escalation
) -> pl.DataFrame:
    """1 for a hand-over before which nothing made it needful; null where cleaning hid what the user said."""
    handed = calls.filter(pl.col("name").is_in(rule.tools)).select("rollout_id", "trajectory_id", "step")
    need = pl.col("name").is_in(rule.unless_after) | (pl.col("is_error") & rule.unless_failed)
    needs = calls.filter(need).group_by("trajectory_id").agg(pl.col("step").min().alias("since"))
    needless = handed.join(needs, on="trajectory_id", how="left").filter(
        ~(pl.col("since") < pl.col("step")).fill_null(value=False)
    )
    if rule.unless_asked is None:
        return _counted(rollouts, needless.unique("rollout_id"))
    heard = _heard(steps, messages, rule.unless_asked)
    asked = heard.group_by("trajectory_id").agg(
        pl.col("step").filter("asks").min().alias("asked_since"), pl.col("step").filter("altered").min().alias("hidden")
    )
    left = needless.join(asked, on="trajectory_id", how="left")
    before = [(pl.col(name) <= pl.col("step")).fill_null(value=False) for name in ("asked_since", "hidden")]
    worth = pl.when(~before[0] & ~before[1]).then(1.0).when(~before[0]).then(None).otherwise(0.0)
    told = left.with_columns(worth.alias("worth")).group_by("rollout_id").agg(
        pl.when((pl.col("worth") == 1.0).any()).then(1.0)
        .when(pl.col("worth").is_null().any()).then(None).otherwise(0.0).alias("worth"),
        pl.lit(value=True).alias("handed"),
    )  # fmt: skip
    return rollouts.join(told, on="rollout_id", how="left").select(
        "rollout_id",
        pl.when(pl.col("handed").is_null()).then(0.0).otherwise("worth").alias("value"),
        pl.when(pl.col("handed") & pl.col("worth").is_null()).then(pl.lit("altered")).alias("why"),
    )


def _heard(steps: pl.DataFrame, messages: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """What users said in each step: whether it asks for a person, and whether cleaning changed it."""
    said = messages.filter(pl.col("role") == "user").sort("day").unique("message_id", keep="last")
    shown = steps.select("trajectory_id", "step", pl.col("observed").alias("message_id"))
    return (
        shown.explode("message_id", empty_as_null=False)
        .join(said.select("message_id", "content", "altered"), on="message_id")
        .with_columns(pl.col("content").str.contains(pattern).alias("asks"))
    )


def _verdicts(values: pl.DataFrame) -> pl.DataFrame:
    why = pl.col("why") if "why" in values.columns else pl.lit(None, pl.String)
    return values.select(
        "rollout_id",
        pl.col("rollout_id").alias("trajectory_id"),
        pl.lit(WHOLE, pl.Int64).alias("step"),
        pl.col("value").cast(pl.Float64),
        pl.when(pl.col("value").is_not_null()).then(pl.lit("ok")).otherwise(pl.coalesce(why, pl.lit("missing")))
        .alias("verdict"),
        pl.lit([], pl.List(pl.String)).alias("evidence"),
        pl.lit(None, pl.String).alias("evidence_hash"),
        pl.lit(None, pl.Float64).alias("duration"),
    ).select(list(VERDICTS))  # fmt: skip
