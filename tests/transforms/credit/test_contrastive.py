"""Contrastive hindsight is exact where the model knows, and IGPO gives the figures of its paper."""

import math

import polars as pl
import pytest
from credit_samples import Told, by_rollout, evidence, scores, world

from transforms.credit.contrastive import informed

COUNTS = {"a": (40, 10), "b": (20, 30)}
"""Failures and successes after two actions of one state."""


def _hindsight(outcome):
    total = sum(count[outcome] for count in COUNTS.values())
    return {action: count[outcome] / total for action, count in COUNTS.items()}


def test_the_ratio_under_success_is_the_action_value_over_the_state_value():
    failure, success = _hindsight(0), _hindsight(1)
    assert [success[a] / 0.5 for a in "ab"] == pytest.approx([0.2 / 0.4, 0.6 / 0.4], abs=1e-12)
    assert [failure[a] / 0.5 for a in "ab"] == pytest.approx([0.8 / 0.6, 0.4 / 0.6], abs=1e-12)


def test_with_a_model_that_knows_it_is_the_true_advantage():
    deltas = [math.log(_hindsight(1)[action] / _hindsight(0)[action]) for action in "ab"]
    assert deltas == pytest.approx([-0.9808292530117262, 0.8109302162163288], abs=1e-12)
    frame = pl.DataFrame({"v": [0.4, 0.4], "d": deltas})
    found = frame.select(informed(pl.col("v"), pl.col("d")) - pl.col("v"))["v"].to_list()
    assert found == pytest.approx([-0.2, 0.2], abs=1e-12)


def test_failures_are_told_step_by_step():
    made = world(Told("t", 1, 2), Told("t", 0, 2), Told("t", 1, 2), Told("t", 0, 2))
    told = scores(success=[[-1.0, -1.0]] * 4, failure=[[-1.0, -1.0], [-0.5, -3.0], [-2.0, -1.0], [-1.0, -1.0]])
    rows = made.credit(told, method="contrastive")
    credit = by_rollout(rows)
    assert credit[1][0] < 0 < credit[1][1] and credit[0] == pytest.approx([0, 0]) and credit[2][0] > 0
    assert evidence(rows, "contrast")[1] == [-0.5, 2.0]


def test_what_makes_an_action_likely_in_any_case_cancels():
    made = world(Told("t", 1, 2), Told("t", 0, 2))
    success, failure = [[-1.0, -2.0], [-3.0, -0.5]], [[-1.5, -1.0], [-2.0, -0.5]]
    plain = made.credit(scores(success=success, failure=failure), method="contrastive")
    shifted = [[[value - 7.0 for value in row] for row in told] for told in (success, failure)]
    longer = made.credit(scores(success=shifted[0], failure=shifted[1]), method="contrastive")
    assert by_rollout(plain) == [pytest.approx(row, abs=1e-12) for row in by_rollout(longer)]


def test_no_action_tells_more_than_the_cap_and_the_unscored_tell_nothing():
    made = world(Told("t", 1, 2), Told("t", 0, 2), Told("t", 0, 2))
    rows = made.credit(scores(success=[[-1.0, None]], failure=[[-90.0, -1.0]]), method="contrastive", cap=2.0)
    assert evidence(rows, "contrast")[0] == [2.0, None]
    assert by_rollout(rows)[0][1] == 0.0 and by_rollout(rows, "flags")[0] == [[], ["unscored"]]


def test_by_token_long_actions_do_not_tell_more():
    made = world(Told("t", 1), Told("t", 0))
    told = scores(success=[[-4.0], [-1.0]], failure=[[-8.0], [-1.0]]).with_columns(tokens=pl.lit(8, pl.Int64))
    rows = made.credit(told, method="contrastive", reduce="mean")
    assert evidence(rows, "contrast")[0] == [0.5] and evidence(rows, "tokens")[0] == [8]


ANSWERED = [[0.05, 0.2, 0.15, 0.6], [0.05, 0.06, 0.3]]


def _igpo(answered, outcomes=(1, 0), **spec):
    made = world(*[Told("t", r, len(p)) for r, p in zip(outcomes, answered, strict=True)])
    told = [[None if p is None else math.log(p) for p in row] for row in answered]
    return made.credit(scores(answer=told), method="igpo", answers="answers.jsonl", **spec)


def test_a_step_is_worth_how_much_likelier_it_made_the_answer():
    rows = _igpo(ANSWERED)
    assert evidence(rows, "process") == [
        pytest.approx(row, abs=1e-12) for row in [[0.15, -0.05, 0.45, 1.0], [0.01, 0.24, 0.0]]
    ]
    assert by_rollout(rows) == [
        pytest.approx(row, abs=1e-9)
        for row in [
            [1.5213087722590355, 1.8339064651889743, 2.7300198515881324, 2.1673440043142427],
            [-1.5213087722590355, -0.8002500939006433, -0.7502344630318531],
        ]
    ]


def test_what_could_not_be_scored_has_no_gain_and_is_said():
    rows = _igpo([[0.05, None, 0.3], [0.1, 0.2]])
    assert evidence(rows, "local")[0][:2] == [None, None]
    assert by_rollout(rows, "flags")[0] == [["unscored"], ["unscored"], []]


def test_a_group_of_one_gets_nothing_from_answers():
    assert by_rollout(_igpo(ANSWERED[:1], outcomes=(1,))) == [[0.0] * 4]
