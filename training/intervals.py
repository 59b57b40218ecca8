"""95 % intervals for means over pairs whose tasks repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

Z = 1.959963984540054
"""Normal quantile of a two-sided 95 % interval."""

RESAMPLES = 2000

FEWEST_TASKS = 10
"""Below this a bootstrap over tasks is too narrow (it draws from too few); a task then counts as one observation."""


@dataclass(frozen=True)
class Interval:
    """A mean and its 95 % interval."""

    mean: float
    low: float
    high: float


def share(hits: Sequence[bool], tasks: Sequence[str]) -> Interval:
    """A share of pairs: the wider of the bootstrap over tasks and Wilson's interval, which knows that 20 of 20 is not
    certainty. With fewer than FEWEST_TASKS tasks, Wilson's with as many observations as there are tasks."""
    mean, count = float(np.mean(hits)), len(set(tasks))
    if count < FEWEST_TASKS:
        return Interval(mean, *wilson(mean, count))
    drawn, exact = cluster_bootstrap(np.asarray(hits, float), tasks), wilson(mean, len(hits))
    return Interval(mean, min(drawn[0], exact[0]), max(drawn[1], exact[1]))


def change(differences: Sequence[int], tasks: Sequence[str]) -> Interval:
    """Mean of paired differences of -1, 0 or 1: bootstrap over tasks; with few of them Wilson's, stretched to [-1, 1],
    which no such differences can be wider than."""
    mean, count = float(np.mean(differences)), len(set(tasks))
    if count < FEWEST_TASKS:
        low, high = wilson((mean + 1) / 2, count)
        return Interval(mean, 2 * low - 1, 2 * high - 1)
    return Interval(mean, *cluster_bootstrap(np.asarray(differences, float), tasks))


def wilson(mean: float, count: int) -> tuple[float, float]:
    """Wilson's score interval of a share; Wilson 1927, JASA 22."""
    centre = (mean + Z**2 / (2 * count)) / (1 + Z**2 / count)
    half = Z * sqrt(mean * (1 - mean) / count + Z**2 / (4 * count**2)) / (1 + Z**2 / count)
    return max(0.0, centre - half), min(1.0, centre + half)


def cluster_bootstrap(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], clusters: Sequence[str]
) -> tuple[float, float]:
    """Percentile interval of the mean, whole clusters drawn with replacement; the generator is seeded with 0."""
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(cluster, values), np.bincount(cluster)
    drawn = np.random.default_rng(0).integers(0, len(sizes), (RESAMPLES, len(sizes)))
    means = sums[drawn].sum(1) / sizes[drawn].sum(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)
