"""GiGPO against the figures of its authors' code, and what counts as having seen the same."""

import pytest
from credit_samples import Told, by_rollout, evidence, world

SEEN = [["s0", "s1", "s2"], ["s0", "s3", "s1", "s4"], ["s0", "s1"], ["s0", "s3"]]
REWARDS = [1, 0, 1, 0]


def _published():
    return world(*[Told("g", r, len(saw), saw=saw) for r, saw in zip(REWARDS, SEEN, strict=True)])


def _close(expected):
    return [pytest.approx(row, abs=1e-9) for row in expected]


def test_advantages_are_those_of_the_authors_code_without_a_divisor():
    rows = _published().credit(method="gigpo")
    returns = [[0.9025, 0.95, 1.0], [0.0] * 4, [0.95, 1.0], [0.0] * 2]
    local = [[0.439375, 0.3, 0.0], [-0.463125, 0.0, -0.65, 0.0], [0.486875, 0.35], [-0.463125, 0.0]]
    total = [[0.939375, 0.8, 0.5], [-0.963125, -0.5, -1.15, -0.5], [0.986875, 0.85], [-0.963125, -0.5]]
    assert by_rollout(rows, "return") == _close(returns)
    assert evidence(rows, "local") == _close(local)
    assert by_rollout(rows) == _close(total)


def test_advantages_are_those_of_the_authors_code_over_standard_deviations():
    rows = _published().credit(method="gigpo", scale="std")
    assert evidence(rows, "episode") == [
        pytest.approx([sign * 0.8660239037870368] * len(saw), abs=1e-9)
        for sign, saw in zip((1, -1, 1, -1), SEEN, strict=True)
    ]
    expected = [
        [1.687096566134528, 1.398436864556492, 0.8660239037870368],
        [-1.7314788722073655, -0.8660239037870368, -2.0195853187875237, -0.8660239037870368],
        [1.775861178280203, 1.487172358018068],
        [-1.7314788722073655, -0.8660239037870368],
    ]
    assert by_rollout(rows) == _close(expected)


def test_steps_that_saw_the_same_are_named_by_the_first_of_them():
    rows = _published().credit(method="gigpo")
    sizes = [[4, 3, 1], [4, 2, 3, 1], [4, 3], [4, 2]]
    assert evidence(rows, "anchor_size") == sizes
    assert by_rollout(rows, "anchor")[1] == ["r00-0", "r01-1", "r00-1", "r01-3"]
    assert by_rollout(rows, "flags")[1] == [[], [], [], ["lone_anchor"]]


def test_a_task_and_an_anchor_seen_once_give_nothing():
    rows = world(Told("a", 1.0, 2, saw=["x", "y"]), Told("b", 0.0, 2, saw=["x", "y"])).credit(method="gigpo")
    assert by_rollout(rows) == [[0.0, 0.0], [0.0, 0.0]]
    assert by_rollout(rows, "flags")[0] == [["singleton", "lone_anchor"]] * 2


def test_with_memory_equal_observations_after_different_ones_are_not_compared():
    made = world(Told("t", 1, 3, saw=["x", "a", "same"]), Told("t", 0, 3, saw=["x", "b", "same"]))
    assert evidence(made.credit(method="gigpo"), "anchor_size") == [[2, 1, 2]] * 2
    assert evidence(made.credit(method="gigpo", memory=1), "anchor_size") == [[2, 1, 1]] * 2


def test_clocks_and_request_ids_may_be_left_aside():
    made = world(Told("t", 1, 2, saw=["x", "sent at 12:04, id a7"]), Told("t", 0, 2, saw=["x", "sent at 9:30, id b81"]))
    assert evidence(made.credit(method="gigpo"), "anchor_size") == [[2, 1]] * 2
    assert evidence(made.credit(method="gigpo", mask_numbers=True), "anchor_size") == [[2, 2]] * 2


def test_visits_of_one_rollout_count_each_as_in_the_authors_code():
    rows = world(Told("t", 1, 2, saw=["x", "x"]), Told("t", 0, 1, saw=["x"])).credit(method="gigpo", gamma=1.0)
    assert evidence(rows, "local") == _close([[1 / 3, 1 / 3], [-2 / 3]])


def test_the_order_of_rows_changes_no_bit():
    made = world(*[
        Told(f"t{n % 5}", n % 3 / 2, 4, saw=[f"{n % 5}", f"{n % 4}", f"{n % 3}", "end"]) for n in range(40)
    ])  # fmt: skip
    for method in ("gigpo", "anchor_td"):
        assert made.credit(method=method).equals(made.shuffled(4).credit(method=method))
