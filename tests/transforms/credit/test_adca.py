"""Judge flags against the figures of the authors' code."""

import pytest
from credit_samples import Told, by_rollout, evidence, world

FLAGS = [[1, 1, 0], [0, 1], [0, 0, 0]]


def _published(**spec):
    told = [Told("t", r, len(f), told={"judge": f}) for r, f in zip((1, 0, 0), FLAGS, strict=True)]
    return world(*told).credit(method="adca", flags="judge", **spec)


def _close(expected):
    return [pytest.approx(row, abs=1e-9) for row in expected]


def test_advantages_are_those_of_the_authors_code():
    rows = _published()
    up, down = 1.2535661762137875, -0.7977239303178647
    assert evidence(rows, "local") == _close([[up, up, down], [down, up], [down, down, down]])
    assert evidence(rows, "episode")[0] == pytest.approx([1.4142135623730953] * 3, abs=1e-9)
    assert by_rollout(rows) == _close([
        [3.1236219844798057, 1.8700558082660181, 0.6164896320522306],
        [-0.25126453528912474, 0.54645939502874],
        [-3.1002785721386417, -2.3025546418207767, -1.5048307115029123],
    ])  # fmt: skip


def test_flags_weigh_as_told_and_without_weight_the_outcome_is_left():
    rows = _published(weight=0)
    assert by_rollout(rows)[0] == pytest.approx([2**0.5] * 3) and by_rollout(rows)[1] == pytest.approx(
        [-(0.5**0.5)] * 2
    )


def test_a_group_of_one_gets_nothing_whatever_the_judge_says():
    rows = world(Told("t", 1, 3, told={"judge": [1, 0, 1]})).credit(method="adca", flags="judge")
    assert by_rollout(rows) == [[0.0] * 3]


def test_a_step_without_a_flag_counts_for_nothing_and_says_so():
    rows = world(
        Told("t", 1, 3, told={"judge": [1, None, 0]}), Told("t", 0, 2, told={"judge": [None, None]})
    ).credit(method="adca", flags="judge")  # fmt: skip
    assert by_rollout(rows, "flags")[0] == [[], ["untold"], []]
    assert evidence(rows, "local")[0] == [pytest.approx(1.0, abs=1e-6), None, pytest.approx(-1.0, abs=1e-6)]
    assert by_rollout(rows)[0][1] == pytest.approx(by_rollout(rows)[0][2])


def test_stars_are_flags_from_the_value_that_means_good():
    told = [Told("t", r, 2, told={"stars": s}) for r, s in ((1, [5, 2]), (0, [4, 1]))]
    rows = world(*told).credit(method="adca", flags="stars", good_from=4)
    assert evidence(rows, "local")[1] == pytest.approx([1, -1], abs=1e-6)


def test_equal_outcomes_leave_the_flags_alone():
    told = [Told("t", 1, 1, told={"judge": [flag]}) for flag in (1, 0)]
    rows = world(*told).credit(method="adca", flags="judge")
    assert by_rollout(rows) == [pytest.approx([1], abs=1e-6), pytest.approx([-1], abs=1e-6)]
