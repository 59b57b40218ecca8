"""Rollouts that two systems exported: one run of an app, traced by both, in traces that know nothing of each other.

Counted twice, a run would weigh twice in baselines and losses, and lie in a group with itself.
"""

from __future__ import annotations

from datetime import timedelta

import polars as pl

from transforms.datasets.union import Union

SAME_RESPONSE = timedelta(minutes=1)
"""How far apart two records of one response may have begun; a cache gives a response's id out again, but later."""

SAME_CONTENT = timedelta(seconds=2)
"""The same for calls that only content tells: clocks of one machine, and exporters that cut milliseconds off."""

SHARED = 0.5
"""Least share of the shorter one's calls that two records of one run have in common; exporters lose some."""

CALLS = ("span_id", "trace_id", "response_id", "result_id", "dialect")
"""What is asked of SPANS."""

SAME_RUNS = {"rollout_id": pl.String, "run": pl.String}


def same_runs(trajectories: pl.DataFrame, steps: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Rollouts that are records of one run (SAME_RUNS): those of a run name the first of them.

    Two calls are one where both have one response's id, or where at least one has none, another dialect wrote each,
    prompt and answer are equal, and they began together. `spans` are CALLS, of the steps at least.
    """
    calls = (
        steps.select("trajectory_id", "trace_id", "span_id", "started_at")
        .join(trajectories.select("trajectory_id", "rollout_id", "source"), on="trajectory_id")
        .join(spans.select(CALLS).group_by("trace_id", "span_id").agg(pl.all().max()), on=["trace_id", "span_id"])
        .with_row_index("call")
    )
    shared = pl.concat([_by_response(calls), _by_content(calls)]).unique()
    count = calls.group_by("rollout_id").len("calls")
    pairs = shared.group_by("rollout_id", "other").agg(pl.col("call").n_unique().alias("shared"))
    for name in ("rollout_id", "other"):
        pairs = pairs.join(count.rename({"rollout_id": name, "calls": f"calls_{name}"}), on=name)
    enough = pl.col("shared") >= SHARED * pl.min_horizontal("calls_rollout_id", "calls_other")
    same, union = pairs.filter(enough).select("rollout_id", "other").rows(), Union()
    for pair in same:
        union.join(pair)
    rollouts = sorted({rollout for pair in same for rollout in pair})
    return pl.DataFrame([(one, union.find(one)) for one in rollouts], schema=SAME_RUNS, orient="row")


def _by_response(calls: pl.DataFrame) -> pl.DataFrame:
    told = calls.filter(pl.col("response_id").is_not_null() & (pl.col("response_id") != ""))
    return _met(told, "response_id", SAME_RESPONSE, pl.lit(value=True))


def _by_content(calls: pl.DataFrame) -> pl.DataFrame:
    told = calls.filter(pl.col("result_id").is_not_null() & pl.col("started_at").is_not_null())
    ids = [pl.col(name).fill_null("") for name in ("response_id", "response_id_right")]
    untold = (ids[0] == "") | (ids[1] == "")
    elsewhere = (pl.col("source") != pl.col("source_right")) | (pl.col("dialect") != pl.col("dialect_right"))
    return _met(told, "result_id", SAME_CONTENT, untold & elsewhere)


def _met(calls: pl.DataFrame, name: str, within: timedelta, also: pl.Expr) -> pl.DataFrame:
    """(rollout_id, other, call): pairs of calls with one `name`, of two rollouts, that began together.

    Calls meet within their stretch of time and the neighbouring ones, so that what is said again and again over a day
    costs no square; those without a time meet any.
    """
    several = calls.filter(pl.col("rollout_id").n_unique().over(name) > 1)
    stretch = pl.col("started_at").dt.epoch("us") // (within // timedelta(microseconds=1))
    timed = several.filter(pl.col("started_at").is_not_null()).with_columns(stretch.alias("stretch"))
    untimed = several.filter(pl.col("started_at").is_null())
    met = pl.concat([
        *(timed.with_columns(pl.col("stretch") + by).join(timed, on=[name, "stretch"], suffix="_right").drop("stretch")
          for by in (-1, 0, 1)),
        untimed.join(several, on=name, suffix="_right"),
        several.filter(pl.col("started_at").is_not_null()).join(untimed, on=name, suffix="_right"),
    ])  # fmt: skip
    apart = (pl.col("started_at") - pl.col("started_at_right")).abs() > within
    met = met.filter((pl.col("rollout_id") < pl.col("rollout_id_right")) & ~apart.fill_null(value=False))
    return met.filter(also).select("rollout_id", pl.col("rollout_id_right").alias("other"), "call")
