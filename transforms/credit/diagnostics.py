"""What a release's credit says, and what it may say by mistake: measured before it is sealed, asked for in SQL."""

from __future__ import annotations

from typing import Any

import polars as pl

from transforms.credit.assign import assign_credit
from transforms.credit.echo_trap import collapses
from transforms.credit.spec import AnchorTdCredit, GigpoCredit, HcapoCredit, Method, OutcomeCredit, ReturnToGoCredit
from transforms.datasets.conversations import message_bodies
from warehouse.schemas import CREDIT_DIAGNOSTICS

PEERS: tuple[Method, ...] = (OutcomeCredit(), ReturnToGoCredit(), GigpoCredit(), AnchorTdCredit())
"""Methods that need nothing but the release, which any credit can be compared with."""

Measure = tuple[str, str, float | None, int]


def diagnose(
    credit: pl.DataFrame, cut: pl.DataFrame, steps: pl.DataFrame, rewards: pl.DataFrame, messages: pl.DataFrame,
    spec: Method,
) -> pl.DataFrame:  # fmt: skip
    """CREDIT_DIAGNOSTICS of CREDIT, which `spec` made of the other tables."""
    if credit.is_empty():
        return CREDIT_DIAGNOSTICS.empty()
    rows = _described(credit, cut, steps, messages)
    found = [*_signal(rows), *_confounds(rows, spec), *_last_steps(rows), *_echoes(rows)]
    measures: list[Measure] = [(name, spec.method, value, count) for name, value, count in found]
    for peer in PEERS:
        if peer.method != spec.method:
            other = assign_credit("", cut, steps, rewards, messages, peer)
            measures += _agreement(rows, other, peer.method)
    frame = pl.DataFrame(measures, schema=["measure", "method", "value", "count"], orient="row")
    known = frame.with_columns(
        pl.col("value").cast(pl.Float64).fill_nan(None).round(12), release=pl.lit(credit["release"][0])
    ).select(list(CREDIT_DIAGNOSTICS.columns))
    return CREDIT_DIAGNOSTICS.enforce(known)


Found = tuple[str, float | None, int]


def _described(credit: pl.DataFrame, cut: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """CREDIT with `day`, `position`, `length` (characters of the action), `said` (what it says, as a number)."""
    own = ["trajectory_id", "step"]
    days = cut.select("trajectory_id", pl.col("revision").alias("day"))
    body = pl.col("message").struct
    calls = body.field("tool_calls").list.eval(
        pl.concat_str(pl.element().struct.field("function").struct.field("name", "arguments"), separator=" ")
    ).list.join(" ")  # fmt: skip
    text = pl.concat_str(body.field("content").fill_null(""), calls.fill_null(""), separator=" ")
    actions = steps.join(days, left_on=["trajectory_id", "revision"], right_on=["trajectory_id", "day"], how="semi")
    texts = message_bodies(messages.join(actions, left_on="message_id", right_on="action", how="semi")).select(
        pl.col("message_id").alias("action"), text.str.len_chars().cast(pl.Float64).alias("length"),
        text.hash(seed=0).alias("said"),
    )  # fmt: skip
    shown = actions.select(*own, "action").join(texts, on="action", how="left")
    return (
        credit.join(days, on="trajectory_id", how="left").join(shown, on=own, how="left").sort(own)
        .with_columns(
            pl.int_range(pl.len()).over("trajectory_id").cast(pl.Float64).alias("position"),
            pl.col("evidence").struct.field("entropy").alias("entropy"),
            pl.col("trajectory_id").rle_id().alias("trajectory"),
        )
    )  # fmt: skip


def _signal(rows: pl.DataFrame) -> list[Found]:
    """How much there is to learn from."""
    rollouts = rows.unique("rollout_id", maintain_order=True)
    groups = rollouts.filter(pl.col("group_size") > 1).group_by("task_id", maintain_order=True)
    spread = groups.agg(pl.col("reward").std(ddof=1).alias("spread"))
    silent = rows.group_by("task_id", maintain_order=True).agg((pl.col("advantage") == 0).all().alias("silent"))
    found: list[Found] = [
        ("group_spread", _mean(spread, pl.col("spread")), spread.height),
        ("silent_groups", _mean(silent, pl.col("silent")), silent.height),
    ]
    for flag in ("singleton", "no_spread", "no_baseline", "lone_anchor", "untold", "unscored"):
        found.append((f"share_{flag}", _mean(rows, pl.col("flags").list.contains(flag)), rows.height))
    return found


def _confounds(rows: pl.DataFrame, spec: Method) -> list[Found]:
    """Rank correlation of credit with what it should not follow, within trajectories and over all steps; and of
    hindsight's log-probs."""
    found: list[Found] = []
    for what in ("length", "position", "entropy"):
        found.append(within(rows, "advantage", what, f"advantage_by_{what}"))
        found.append((f"advantage_by_{what}_across", *_across(rows, "advantage", what)))
    if isinstance(spec, HcapoCredit):
        told = rows.with_columns(
            pl.col("evidence").struct.field("logprob").alias("logprob"),
            pl.col("evidence").struct.field("ratio").alias("ratio"),
            pl.col("evidence").struct.field("tokens").cast(pl.Float64).alias("tokens"),
        ).filter(pl.col("logprob").is_not_null())
        bound = (pl.col("ratio") <= spec.clip[0]) | (pl.col("ratio") >= spec.clip[1])
        found += [
            within(told, "logprob", "tokens", "logprob_by_length"),
            within(told, "logprob", "position", "logprob_by_position"),
            ("ratio_spread", _mean(told, pl.col("ratio"), "std"), told.height),
            ("ratio_clipped", _mean(told, bound), told.height),
        ]
    return found


def _last_steps(rows: pl.DataFrame) -> list[Found]:
    """How much of the credit lies on last steps, which the end explains by itself."""
    several = rows.group_by("trajectory_id", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("advantage").abs().last().alias("last"),
        pl.col("advantage").abs().sum().alias("all"),
        (pl.col("advantage").last() >= pl.col("advantage").max()).alias("top"),
        (pl.col("advantage").max() - pl.col("advantage").min()).alias("spread"),
    ).filter((pl.col("n") > 1) & (pl.col("all") > 0))  # fmt: skip
    differing = several.filter(pl.col("spread") > 0)
    return [
        ("final_turn_share", _mean(several, pl.col("last") / pl.col("all")), several.height),
        ("final_turn_even_share", _mean(several, 1 / pl.col("n")), several.height),
        ("final_turn_top", _mean(differing, pl.col("top")), differing.height),
    ]


def _echoes(rows: pl.DataFrame) -> list[Found]:
    """Signs of the echo trap in the data: agents that repeat themselves, spread and entropy that fall over the days."""
    told = rows.drop_nulls("said")
    again = told.select(~pl.struct("trajectory", "said").is_first_distinct().alias("again"))
    groups = rows.unique("rollout_id", maintain_order=True).group_by("day", "task_id", maintain_order=True).agg(
        pl.col("reward").std(ddof=1).alias("spread")
    )  # fmt: skip
    found: list[Found] = [("repeated_actions", _mean(again, pl.col("again")), told.height)]
    for name, frame, column in (("spread", groups, "spread"), ("entropy", rows, "entropy")):
        days = frame.drop_nulls(column).group_by("day", maintain_order=True).agg(pl.col(column).mean()).sort("day")
        collapsed = float(len(collapses(days[column].to_list()))) if days.height else None
        found.append((f"echo_trap_days_{name}", collapsed, days.height))
    return found


def _agreement(rows: pl.DataFrame, other: pl.DataFrame, method: str) -> list[Measure]:
    """Rank correlation with another method's credit of the same steps, over all and within trajectories."""
    both = rows.join(
        other.select("trajectory_id", "step", pl.col("advantage").alias("other")), on=["trajectory_id", "step"]
    )
    name, value, count = within(both, "advantage", "other", "agreement_within")
    return [("agreement", method, *_across(both, "advantage", "other")), (name, method, value, count)]


def within(rows: pl.DataFrame, one: str, other: str, name: str) -> Found:
    """Mean over trajectories of the rank correlation (Spearman) of two columns, where both of them vary in one."""
    known = rows.drop_nulls([one, other])
    ranks = known.select(
        "trajectory",
        pl.col(one).round(9).rank().over("trajectory").alias("one"),
        pl.col(other).round(9).rank().over("trajectory").alias("other"),
    )
    each = ranks.group_by("trajectory", maintain_order=True).agg(pl.corr("one", "other").alias("r"))
    told = each.filter(pl.col("r").is_finite())
    return name, _mean(told, pl.col("r")), told.height


def _across(rows: pl.DataFrame, one: str, other: str) -> tuple[float | None, int]:
    """Rank correlation (Spearman) of two columns over all rows that have both; null where one of them is the same."""
    known = rows.drop_nulls([one, other])
    found: Any = known.select(pl.corr(pl.col(one).round(9), pl.col(other).round(9), method="spearman")).item()
    return found, known.height


def _mean(frame: pl.DataFrame, value: pl.Expr, how: str = "mean") -> float | None:
    found: Any = frame.select(value.std() if how == "std" else value.mean()).item()
    return None if found is None else float(found)
