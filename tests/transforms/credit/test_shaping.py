"""Progress told on steps moves credit between them and never changes its sum."""

import polars as pl
import pytest
from credit_samples import Told, by_rollout, evidence, world

from transforms.credit.returns import advantages


@pytest.mark.parametrize(("gamma", "expected"), [(1.0, [0.1, 0.0, 0.2, 0.7]), (0.95, [0.095, -0.005, 0.185, 0.65])])
def test_a_potential_pays_for_the_way_made(gamma, expected):
    states = [0.0, 0.1, 0.1, 0.3, 1.0]
    frame = pl.DataFrame({"trajectory": [0] * 4, "left": [3, 2, 1, 0], "before": states[:-1], "after": states[1:]})
    found = frame.select(advantages(pl.lit(0.0), pl.col("before"), pl.col("after"), gamma, 0.0).alias("a"))["a"]
    assert found.to_list() == pytest.approx(expected, abs=1e-12)
    assert gamma < 1 or found.sum() == pytest.approx(1.0)


def _two(told, outcome=1.0, **spec):
    made = world(Told("t", outcome, len(told), told={"done": told}), Told("t", 1 - outcome, 1))
    return made.credit(method="shaping", potential="done", shrinkage=1e-9, **spec)


def test_the_step_that_made_progress_gets_the_credit_and_the_last_one_the_surprise():
    rows = _two([0.0, 0.8, 0.8, None])
    assert by_rollout(rows)[0] == pytest.approx([0.0, 0.8, 0.0, 0.2], abs=1e-6)
    failed = _two([0.0, 0.8, 0.8, 1.0], outcome=0.0)
    assert by_rollout(failed)[0] == pytest.approx([0.0, 0.0, 0.0, -1.0], abs=1e-6)  # nothing was to be gained over 1


@pytest.mark.parametrize(
    "told", [[None, None, None, 0.1], [0.1, 0.5, 0.9, 1.0], [1.0, 0.0, 1.0, 0.0], [0.0, 0.3, None, 0.2]]
)
@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_whatever_is_told_of_progress_the_sum_stays_the_same(told, outcome):
    rows = _two(told, outcome=outcome, weight=0.7)
    assert sum(by_rollout(rows)[0]) == pytest.approx(2 * outcome - 1, abs=1e-6)


def test_what_nobody_told_changed_nothing_and_says_so():
    rows = _two([0.4, None, 0.6, None])
    assert by_rollout(rows, "flags")[0] == [[], ["untold"], [], ["untold"]]
    assert by_rollout(rows)[0][1] == pytest.approx(0, abs=1e-6)


def test_progress_is_read_in_its_own_units():
    rows = world(Told("t", 1, 2, told={"tests": [5.0, 10.0]}), Told("t", 0, 1)).credit(
        method="shaping", potential="tests", range=[0, 10], shrinkage=1e-9
    )
    assert evidence(rows, "process")[0] == [0.5, 1.0]
