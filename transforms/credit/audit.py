"""Whether credit adds up as its method says: asked of the finished table, before anything is sealed."""

from __future__ import annotations

import polars as pl

from transforms.credit.rows import rewarded
from transforms.credit.spec import (
    AdcaCredit,
    AnchorTdCredit,
    ContrastiveCredit,
    GigpoCredit,
    HcapoCredit,
    IgpoCredit,
    Method,
    OutcomeCredit,
    ReturnToGoCredit,
    ShapingCredit,
)

TOLERANCE = 1e-6
"""What sums may be off by, in the units of the reward."""


class CreditError(ValueError):
    """Credit that does not add up: which sum, and in how many places. Never a value."""


def audit(credit: pl.DataFrame, cut: pl.DataFrame, steps: pl.DataFrame, spec: Method) -> None:
    """Check CREDIT against CUT, STEPS and the identities of its method. Raises CreditError."""
    _covers(credit, cut, steps)
    numbers = [pl.col(name).fill_null(0.0).is_finite().not_().sum() for name in ("return", "baseline", "advantage")]
    _none("values that are no numbers", sum(credit.select(numbers).row(0)))
    _none("steps without a baseline that have credit", _count(credit, pl.col("baseline").is_null() & _off("advantage")))
    match spec:
        case OutcomeCredit():
            _constant(credit)
            _zero_sum_over_rollouts(credit, pl.col("advantage"))
        case GigpoCredit() | HcapoCredit():
            parts = _field("episode") + spec.weight * _field("local")
            _none("advantages that are not the sum of their parts", _count(credit, _off(pl.col("advantage") - parts)))
            _zero_sum_over_rollouts(credit, _field("episode"))
            if isinstance(spec, GigpoCredit):
                _zero_sum(credit, ["task_id", "anchor"], _field("local"))
        case AnchorTdCredit():
            _less_baseline(credit)
            if not spec.process:
                _telescopes(credit, spec.gamma, spec.lam)
        case ShapingCredit():
            _less_baseline(credit)
            _telescopes(credit, spec.gamma, spec.lam)
        case AdcaCredit():
            _sums_to_go(credit, spec.weight * _field("local").fill_null(0.0), 1.0, _field("episode"))
            _zero_sum_over_rollouts(credit, _field("episode"))
            _zero_sum(_means_of_rollouts(credit), ["task_id"], pl.col("value"))
        case IgpoCredit():
            _sums_to_go(credit, _field("local").fill_null(0.0), spec.gamma, pl.lit(0.0))
            _zero_sum(credit, ["task_id"], _field("local").fill_null(0.0))
        case ContrastiveCredit():
            _less_baseline(credit)
            against = pl.col("advantage") * _field("contrast") < -TOLERANCE
            _none("advantages that point against their evidence", _count(credit, against))
        case ReturnToGoCredit():
            _less_baseline(credit)
            known = pl.col("baseline")
            beyond = pl.max_horizontal(pl.col("return").min() - known, known - pl.col("return").max())
            _none("baselines outside of what was ever got", _count(credit, beyond > TOLERANCE))


def _covers(credit: pl.DataFrame, cut: pl.DataFrame, steps: pl.DataFrame) -> None:
    """Every step of every rewarded rollout has one row, and nothing else has."""
    own = ["trajectory_id", "revision"]
    due = steps.select(*own, "step").join(rewarded(cut).select(own), on=own, how="semi")
    given = credit.select("trajectory_id", "step")
    _none("steps without credit", due.join(given, on=["trajectory_id", "step"], how="anti").height)
    _none("steps that should have none", given.join(due, on=["trajectory_id", "step"], how="anti").height)


def _constant(credit: pl.DataFrame) -> None:
    spread = credit.group_by("rollout_id").agg((pl.col("advantage").max() - pl.col("advantage").min()).alias("spread"))
    _none("rollouts whose steps differ", _count(spread, pl.col("spread") > 0))


def _less_baseline(credit: pl.DataFrame) -> None:
    gained = pl.col("return") - pl.col("baseline")
    _none("advantages that are not return less baseline", _count(credit, _off(pl.col("advantage") - gained)))


def _telescopes(credit: pl.DataFrame, gamma: float, lam: float) -> None:
    """Σ_t γ^t δ_t is the discounted outcome less the value at the start, where δ_t = A_t - γλ·A_{t+1}."""
    ordered = credit.filter(pl.col("baseline").is_not_null()).sort("trajectory_id", "step").with_columns(
        (pl.col("advantage") - gamma * lam * pl.col("advantage").shift(-1).over("trajectory_id").fill_null(0.0))
        .alias("delta"),
        pl.int_range(pl.len()).over("trajectory_id").alias("position"),
    )  # fmt: skip
    sums = ordered.group_by("trajectory_id").agg(
        (pl.col("delta") * gamma ** pl.col("position")).sum().alias("found"),
        (pl.col("reward").first() * gamma ** (pl.len() - 1) - pl.col("baseline").first()).alias("due"),
    )
    _none("trajectories whose credit is not outcome less expectation",
          _count(sums, _off(pl.col("found") - pl.col("due"))))  # fmt: skip


def _sums_to_go(credit: pl.DataFrame, own: pl.Expr, gamma: float, end: pl.Expr) -> None:
    """A_t - γ·A_{t+1} is what the step itself is given; `end` stands after the last one."""
    ordered = credit.sort("trajectory_id", "step")
    after = pl.col("advantage").shift(-1).over("trajectory_id").fill_null(end)
    gap = ordered.select((pl.col("advantage") - gamma * after - own).alias("gap"))
    _none("steps whose credit is not the sum of what follows", _count(gap, _off("gap")))


def _means_of_rollouts(credit: pl.DataFrame) -> pl.DataFrame:
    return credit.group_by("task_id", "rollout_id").agg(_field("local").mean().fill_null(0.0).alias("value"))


def _zero_sum_over_rollouts(credit: pl.DataFrame, value: pl.Expr) -> None:
    """The sum over the rollouts of each task is 0; a rollout has one value."""
    rollouts = credit.group_by("task_id", "rollout_id").agg(value.first().alias("value"))
    _zero_sum(rollouts, ["task_id"], pl.col("value"))


def _zero_sum(rows: pl.DataFrame, group: list[str], value: pl.Expr) -> None:
    sums = rows.group_by(group).agg(value.sum().alias("value"), pl.len().alias("n"))
    _none("groups whose credit is not zero in sum", _count(sums, pl.col("value").abs() > TOLERANCE * pl.col("n")))


def _field(name: str) -> pl.Expr:
    return pl.col("evidence").struct.field(name)


def _off(value: pl.Expr | str) -> pl.Expr:
    return (pl.col(value) if isinstance(value, str) else value).abs() > TOLERANCE


def _count(frame: pl.DataFrame, condition: pl.Expr) -> int:
    return frame.filter(condition).height


def _none(what: str, count: int) -> None:
    if count:
        raise CreditError(f"credit does not add up: {count:,} {what}")
