"""Rollouts that two systems exported: one run of an app, traced by both, in traces that know nothing of each other.

Counted twice, a run would weigh twice in baselines and losses, and lie in a group with itself.
"""

from __future__ import annotations

from datetime import timedelta

import polars as pl

from transforms.datasets.one_to_one import OneToOne
from transforms.datasets.union import Union

SAME_RESPONSE = timedelta(minutes=1)
"""How far apart two records of one response may have begun; a cache gives a response's id out again, but later."""

SAME_CONTENT = timedelta(seconds=2)
"""The same for calls that only content tells: clocks of one machine, and exporters that cut milliseconds off."""

CROWD = 400
"""Calls with one id or one content that began together, beyond which neither tells any more which of them are one."""

SHARED = 0.5
"""Least share of the shorter one's calls that two records of one run have in common; exporters lose some."""

CALLS = ("span_id", "trace_id", "response_id", "result_id", "dialect")
"""What is asked of SPANS."""

SAME_RUNS = {"rollout_id": pl.String, "run": pl.String}


def same_runs(trajectories: pl.DataFrame, steps: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Rollouts that are records of one run (SAME_RUNS): those of a run name the first of them.

    Two calls are one where both have one response's id, or where at least one has none, another system wrote each,
    prompt and answer are equal, and they began together; content ties a call to one of each system, in the rollout
    that has more in common with its own, else the nearest in time. `spans` are CALLS, of the steps at least.
    """
    calls = (
        steps.select("trajectory_id", "trace_id", "span_id", "started_at")
        .join(trajectories.select("trajectory_id", "rollout_id", "source"), on="trajectory_id")
        .join(spans.select(CALLS).group_by("trace_id", "span_id").agg(pl.all().max()), on=["trace_id", "span_id"])
        .with_columns(
            pl.col("response_id").fill_null(""), pl.concat_str("source", "dialect", separator=" ").alias("system")
        )
        .with_row_index("call")
    )
    matched, union = OneToOne(calls["system"].to_list(), calls["response_id"].to_list()), Union()
    joined = list[str]()
    for one, other, least, pairs in _likely(calls).iter_rows():
        free = matched.free((pair["call"], pair["call_right"], pair["by_response"]) for pair in pairs)
        if len({call for call, _, _ in free}) >= least:
            matched.join(free)
            union.join((one, other))
            joined += [one, other]
    return pl.DataFrame([(one, union.find(one)) for one in sorted(set(joined))], schema=SAME_RUNS, orient="row")


def _likely(calls: pl.DataFrame) -> pl.DataFrame:
    """(rollout_id, other, least, pairs): pairs of rollouts that have enough in common, the likeliest first."""
    count = calls.group_by("rollout_id").len("calls")
    pairs = (
        pl.concat([_by_response(calls), _by_content(calls)])
        .sort(~pl.col("by_response"), "apart", "call", "call_right")
        .group_by("rollout_id", "other", maintain_order=True)
        .agg(
            pl.struct("call", "call_right", "by_response").alias("pairs"),
            pl.min_horizontal(pl.col("call").n_unique(), pl.col("call_right").n_unique()).alias("shared"),
            pl.col("by_response").any().alias("told"), pl.col("apart").mean(),
        )
    )  # fmt: skip
    for name in ("rollout_id", "other"):
        pairs = pairs.join(count.rename({"rollout_id": name, "calls": f"calls_{name}"}), on=name)
    shorter = pl.min_horizontal("calls_rollout_id", "calls_other")
    enough = pairs.with_columns((SHARED * shorter).alias("least")).filter(pl.col("shared") >= pl.col("least"))
    likeliest = enough.sort(~pl.col("told"), -(pl.col("shared") / shorter), "apart", "rollout_id", "other")
    return likeliest.select("rollout_id", "other", "least", "pairs")


def _by_response(calls: pl.DataFrame) -> pl.DataFrame:
    met = _met(calls.filter(pl.col("response_id") != ""), "response_id", SAME_RESPONSE, pl.lit(value=True))
    return met.with_columns(by_response=pl.lit(value=True))


def _by_content(calls: pl.DataFrame) -> pl.DataFrame:
    several = pl.col("system").n_unique().over("result_id") > 1
    told = calls.filter(pl.col("result_id").is_not_null() & pl.col("started_at").is_not_null()).filter(several)
    untold = (pl.col("response_id") == "") | (pl.col("response_id_right") == "")
    met = _met(told, "result_id", SAME_CONTENT, untold & (pl.col("system") != pl.col("system_right")))
    return met.with_columns(by_response=pl.lit(value=False))


def _met(calls: pl.DataFrame, name: str, within: timedelta, also: pl.Expr) -> pl.DataFrame:
    """(rollout_id, other, call, call_right, apart): calls with one `name`, of two rollouts, that began together.

    Calls meet within their stretch of time and the neighbouring ones, and no crowd meets, so that what is said again
    and again costs no square; those without a time meet any.
    """
    asked = calls.select("call", "rollout_id", "started_at", "response_id", "result_id", "system")
    several = asked.filter(pl.col("rollout_id").n_unique().over(name) > 1)
    stretch = pl.col("started_at").dt.epoch("us") // (within // timedelta(microseconds=1))
    few = several.with_columns(stretch.alias("stretch")).filter(pl.len().over(name, "stretch") <= CROWD)
    timed, untimed = few.drop_nulls("stretch"), few.filter(pl.col("stretch").is_null()).drop("stretch")
    met = pl.concat([
        *(timed.with_columns(pl.col("stretch") + by).join(timed, on=[name, "stretch"], suffix="_right").drop("stretch")
          for by in (-1, 0, 1)),
        untimed.join(few.drop("stretch"), on=name, suffix="_right"),
        timed.drop("stretch").join(untimed, on=name, suffix="_right"),
    ])  # fmt: skip
    apart = (pl.col("started_at") - pl.col("started_at_right")).abs().fill_null(timedelta())
    together = met.filter((pl.col("rollout_id") < pl.col("rollout_id_right")) & (apart <= within)).filter(also)
    return together.select(
        "rollout_id", pl.col("rollout_id_right").alias("other"), "call", "call_right", apart.alias("apart")
    )
