"""Temporal differences over anchors: they telescope, and an anchor nobody else saw says what the task says."""

from itertools import pairwise

import numpy as np
import pytest
from credit_samples import Told, by_rollout, evidence, method, world
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.credit.audit import CreditError, audit

FORK = [Told("t", r, 2, saw=["start", side]) for r, side in ((1, "good"), (1, "good"), (0, "bad"), (0, "bad"))]

PLAIN = {"method": "anchor_td", "lam": 0.0, "leave_one_out": False}
LEFT_OUT = {"method": "anchor_td", "lam": 0.0, "leave_one_out": True}


def test_the_step_that_led_to_the_better_place_gets_the_credit():
    rows = world(*FORK).credit(**PLAIN, shrinkage=1e-9)
    assert by_rollout(rows) == [pytest.approx(row, abs=1e-6) for row in [[0.5, 0], [0.5, 0], [-0.5, 0], [-0.5, 0]]]
    assert evidence(rows, "value")[0] == pytest.approx([0.5, 1.0], abs=1e-6)
    assert evidence(rows, "next_value")[0] == pytest.approx([1.0, 0.0], abs=1e-6)


def test_values_are_worked_out_by_hand():
    # the others of the first rollout got 1, 0, 0, so that its task is worth (1 + 1/3 + 1/3 ... ) as the chain has it
    rows = world(*FORK).credit(**PLAIN)
    everything = 1 / 3
    family = (3 * (1 / 3) + everything) / 4
    task = (3 * (1 / 3) + family) / 4
    assert evidence(rows, "value")[0] == pytest.approx([(4 * 0.5 + task) / 5, (2 * 1.0 + task) / 3], abs=1e-12)
    left_out = world(*FORK).credit(**LEFT_OUT)
    assert evidence(left_out, "value")[0] == pytest.approx([(3 * (1 / 3) + task) / 4, (1.0 + task) / 2], abs=1e-12)


def test_an_anchor_that_nobody_else_saw_says_what_the_task_says():
    rows = world(*FORK, Told("t", 1, 3, saw=["start", "odd", "odder"])).credit(**LEFT_OUT)
    baseline = world(*FORK, Told("t", 1, 1)).credit(method="return_to_go")["baseline"][-1]
    assert evidence(rows, "value")[-1][1:] == pytest.approx([baseline] * 2)
    assert by_rollout(rows)[-1][1] == pytest.approx(0, abs=1e-12)


def test_a_rollout_that_runs_in_circles_counts_once():
    rows = world(Told("t", 1, 4, saw=["x"] * 4), Told("t", 0, 1, saw=["x"])).credit(**PLAIN, shrinkage=1e-9)
    assert evidence(rows, "value")[0] == pytest.approx([0.5] * 4, abs=1e-6)
    left = world(Told("t", 1, 4, saw=["x"] * 4), Told("t", 0, 1, saw=["x"])).credit(**LEFT_OUT, shrinkage=1e-9)
    assert evidence(left, "value")[0] == pytest.approx([0.0] * 4, abs=1e-6)


def test_alone_in_the_world_there_is_nothing_to_expect():
    rows = world(Told("t", 1.0, 2)).credit(**LEFT_OUT)
    assert by_rollout(rows) == [[0.0, 0.0]]
    assert by_rollout(world(Told("t", 1.0, 2)).credit(**PLAIN)) == [pytest.approx([0.0, 0.0])]


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from([0, 0.3, 1]), st.text("abc", min_size=1, max_size=5)), min_size=2, max_size=6),
    st.booleans(), st.sampled_from([0.9, 1.0]), st.sampled_from([0.0, 0.7, 1.0]),
)  # fmt: skip
def test_credit_adds_up_to_the_outcome_less_what_was_expected_at_the_start(told, left_out, gamma, lam):
    made = world(*[Told("t", reward, len(saw), saw=[*saw]) for reward, saw in told])
    rows = made.credit(method="anchor_td", leave_one_out=left_out, gamma=gamma, lam=lam)
    for credit, values, (reward, saw) in zip(by_rollout(rows), evidence(rows, "value"), told, strict=True):
        deltas = [now - gamma * lam * then for now, then in pairwise([*credit, 0.0])]
        total = sum(delta * gamma**at for at, delta in enumerate(deltas))
        assert total == pytest.approx(reward * gamma ** (len(saw) - 1) - values[0], abs=1e-9)


def test_credit_that_does_not_telescope_is_not_sealed():
    made, spec = world(*FORK), method(method="anchor_td")
    rows = made.credit(method="anchor_td")
    noise = np.where(np.arange(rows.height) == 3, 0.01, 0.0)
    moved = rows.with_columns(rows["advantage"] + noise, rows["return"] + noise)
    with pytest.raises(CreditError, match="1 trajectories whose credit is not outcome less expectation"):
        audit(moved, made.cut, made.steps, spec)
