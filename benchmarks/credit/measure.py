"""How well credit ranks steps as their true advantages do, within trajectories and across, with errors over tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

CRITICAL = 0.05
"""Least true advantage, in rewards, of a step whose sign is asked for."""

DRAWS = 400
"""Bootstrap draws over tasks."""


@dataclass(frozen=True)
class Measured:
    """Means, and their standard errors over tasks."""

    within: float
    within_error: float
    across: float
    across_error: float
    sign: float
    groups: int


def measure(credit: pl.DataFrame, truth: pl.DataFrame, seed: int = 0, alone: bool = False) -> Measured:
    """Rank correlation (Spearman) of `advantage` with the truth, over mixed groups, or over all (`alone`).

    `within`: mean over trajectories whose true advantages differ; a method that gives all steps the same has 0 there.
    `across`: over all steps of all groups. `sign`: share of right signs among steps that matter; 0 is half right.
    """
    own = ["trajectory_id", "step"]
    mixed = credit.filter(((pl.col("reward").max() - pl.col("reward").min()).over("task_id") > 0) | alone)
    rows = mixed.select(*own, "task_id", pl.col("advantage").round(9)).join(
        truth.select(*own, pl.col("true").round(9)), on=own
    )
    each = (
        rows.group_by("task_id", "trajectory_id", maintain_order=True)
        .agg(pl.corr("advantage", "true", method="spearman").fill_nan(0.0).fill_null(0.0).alias("r"),
             pl.col("true").n_unique().alias("levels"))
        .filter(pl.col("levels") > 1)
        .group_by("task_id", maintain_order=True)
        .agg(pl.col("r").sum(), pl.len().alias("n"))
    )  # fmt: skip
    matter = rows.filter(pl.col("true").abs() >= CRITICAL)
    right = matter.select(((pl.col("advantage").sign() * pl.col("true").sign() + 1) / 2).mean()).item()
    rng = np.random.default_rng(seed)
    sums, counts = each["r"].to_numpy(), each["n"].to_numpy()
    drawn = rng.integers(0, len(sums), (DRAWS, len(sums)))
    within = sums[drawn].sum(1) / counts[drawn].sum(1)
    across = [_across(part) for part in _resampled(rows, rng)]
    return Measured(
        float(sums.sum() / counts.sum()), float(within.std()), _across(rows), float(np.std(across)), right, each.height
    )


def _across(rows: pl.DataFrame) -> float:
    found: Any = rows.select(pl.corr("advantage", "true", method="spearman")).item()
    return 0.0 if found is None or np.isnan(found) else float(found)


def _resampled(rows: pl.DataFrame, rng: np.random.Generator, draws: int = 40) -> list[pl.DataFrame]:
    """Fewer draws than for means, since each is ranked anew."""
    tasks = rows.partition_by("task_id", maintain_order=True)
    return [pl.concat([tasks[number] for number in rng.integers(0, len(tasks), len(tasks))]) for _ in range(draws)]
