"""Intervals against published numbers, and honest where tasks are few."""

import numpy as np
import pytest

from training import intervals


def test_wilson_is_the_published_interval() -> None:
    assert intervals.wilson(0.8, 10) == pytest.approx((0.49016247153664183, 0.9433178485456247), abs=1e-9)
    assert intervals.wilson(0.8, 100) == pytest.approx((0.7111708344068411, 0.8666330666689676), abs=1e-9)


def test_the_cluster_bootstrap_is_the_published_interval() -> None:
    candidate = np.array([1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0])
    baseline = np.array([1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1])
    tasks = [f"task-{number}" for number in range(4) for _ in range(3)]
    found = intervals.cluster_bootstrap((candidate - baseline).astype(float), tasks)
    assert found == pytest.approx((0.0, 1 / 3), abs=1e-12)


def test_many_pairs_of_few_tasks_are_few_observations() -> None:
    few = intervals.share([True] * 40, ["a", "b"] * 20)
    many = intervals.share([True] * 40, [str(task) for task in range(40)])
    assert few.low < 0.5 < many.low
    change = intervals.change([1] * 40, ["a", "b"] * 20)
    assert change.low < 0 < intervals.change([1] * 40, [str(task) for task in range(40)]).low


def test_a_share_of_all_is_not_certainty() -> None:
    assert intervals.share([True] * 20, [str(task) for task in range(20)]).low < 0.9
