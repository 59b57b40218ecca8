"""GiGPO (arXiv 2505.10978): outcome credit, and a comparison among the steps of a task that saw the same."""

from __future__ import annotations

import polars as pl

from transforms.credit.anchors import ANCHOR
from transforms.credit.outcome import group_relative
from transforms.credit.returns import returns, rewards_of_steps, to_go
from transforms.credit.rows import flagged
from transforms.credit.spec import GigpoCredit

REVISION = 1  # of the formula

EPSILON = 1e-6
"""What the authors' code adds to a standard deviation."""


def gigpo(rows: pl.DataFrame, spec: GigpoCredit) -> pl.DataFrame:
    """A_t = A^E + ω·A^S_t for rows with `process` and anchors: adds return, baseline, advantage, episode, local.

    A^E compares the rollout's total with those of its task (once a rollout, as `outcome`), A^S the discounted return
    of the step with those of all steps of the task at the same anchor. Alone, either is 0: the authors' code gives
    a group of one its raw reward as A^E.
    """
    process = bool(spec.process)
    total = to_go(rewards_of_steps(process), 1.0) if process else pl.col("reward")
    known = rows.with_columns(returns(spec.gamma, process).alias("return"), total.alias("total"))
    rollouts = known.filter(pl.col("lead") & (pl.col("position") == 0))
    episode, mean = group_relative("total", ("task",), spec.scale, spec.std_floor, EPSILON)
    of_rollouts = rollouts.select("rollout", mean.alias("baseline"), episode.alias("episode"))
    local, _ = group_relative("return", ANCHOR, spec.scale, spec.std_floor, EPSILON)
    return (
        known.with_columns(local.alias("local"))
        .join(of_rollouts, on="rollout", how="left", maintain_order="left")
        .with_columns(
            (pl.col("episode") + spec.weight * pl.col("local")).alias("advantage"),
            flagged("lone_anchor", pl.col("anchor_size") == 1),
        )
    )
