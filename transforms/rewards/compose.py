"""Feedback, verifiers and rules to rewards: components per trajectory and step, and the one composed of them."""

from __future__ import annotations

import polars as pl

from transforms.rewards.composition import composed
from transforms.rewards.feedback import feedback_rows
from transforms.rewards.spec import RewardSpec
from transforms.rewards.subjects import WHOLE as WHOLE
from warehouse.schemas import REWARDS

_ROW = (
    "trajectory_id", "step", "component", "source", "version", "value", "verdict", "coverage", "evidence", "verifier",
    "evidence_hash", "votes", "duration",
)  # fmt: skip


def score(
    trajectories: pl.DataFrame,
    steps: pl.DataFrame,
    feedback: pl.DataFrame,
    gates: pl.DataFrame,
    spec: RewardSpec,
    checked: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """REWARDS: every component of every trajectory and the composed `reward`, and components of single steps.

    A verdict counts for the whole rollout of its trace. `checked` holds what verifiers and rules said, as `check`
    of `checks.py` gives it. `reward` is composed as `composed` of `composition.py` says; where a gate is violated
    anywhere in the rollout, the verdict is `gated` and there is no value.
    """
    parts = [
        rows.with_columns(component=pl.lit(name))
        for name, component in spec.components.items()
        if component.feedback
        for rows in feedback_rows(trajectories, steps, feedback, component)
    ]
    told = [part.with_columns(version=pl.lit(spec.version)) for part in parts]
    if checked is not None:
        told += [_whole(checked, trajectories), _single(checked, trajectories)]
    blank = REWARDS.empty().select(_ROW)
    components = pl.concat([blank, *(_filled(part) for part in told)])
    whole = composed(components, trajectories, gates, spec).with_columns(version=pl.lit(spec.version))
    revisions = trajectories.select("trajectory_id", "revision")
    return REWARDS.enforce(
        pl.concat([components, _filled(whole)])
        .join(revisions, on="trajectory_id")
        .select(list(REWARDS.columns))
    )  # fmt: skip


def _whole(checked: pl.DataFrame, trajectories: pl.DataFrame) -> pl.DataFrame:
    """What was said of a rollout, for each of its trajectories; nothing said is `missing`."""
    said = checked.filter(pl.col("step") == WHOLE).drop("trajectory_id")
    asked = checked.select("component", "source", "version", "verifier").unique()
    every = trajectories.select("trajectory_id", "rollout_id").join(asked, how="cross")
    rows = every.join(said.drop("source", "version", "verifier"), on=["rollout_id", "component"], how="left")
    return rows.with_columns(
        pl.col("verdict").fill_null("missing"),
        pl.col("evidence").fill_null(pl.lit([], pl.List(pl.String))),
        pl.lit(WHOLE, pl.Int64).alias("step"),
    )


def _single(checked: pl.DataFrame, trajectories: pl.DataFrame) -> pl.DataFrame:
    return checked.filter(
        (pl.col("step") != WHOLE) & pl.col("trajectory_id").is_in(trajectories["trajectory_id"].implode())
    )


def _filled(rows: pl.DataFrame) -> pl.DataFrame:
    schema = REWARDS.schema
    return rows.with_columns(
        pl.lit(None, schema[name]).alias(name) for name in _ROW if name not in rows.columns
    ).select(pl.col(name).cast(schema[name]) for name in _ROW)  # fmt: skip
