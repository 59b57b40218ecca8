"""What a release's credit says by mistake is seen before anybody trains on it."""

from datetime import timedelta

import polars as pl
import pytest
from credit_samples import DAY, Told, method, scores, world

from transforms.credit.diagnostics import diagnose
from transforms.credit.echo_trap import collapses


def _measured(made, told=None, **spec):
    credit = made.credit(told, **spec)
    frame = diagnose(credit, made.cut, made.steps, made.rewards, made.messages, method(**spec))
    return {(row["measure"], row["method"]): (row["value"], row["count"]) for row in frame.to_dicts()}


def test_groups_without_signal_are_counted():
    made = world(Told("a", 1), Told("a", 0), Told("b", 1), Told("c", 1), Told("c", 1), Told("d", 0))
    found = _measured(made, method="outcome")
    assert found["silent_groups", "outcome"] == (pytest.approx(3 / 4), 4)
    assert found["share_singleton", "outcome"] == (pytest.approx(2 / 6), 6)
    assert found["share_no_spread", "outcome"] == (pytest.approx(2 / 6), 6)
    assert found["group_spread", "outcome"] == (pytest.approx(0.5**0.5 / 2), 2)


def test_credit_that_follows_length_or_position_is_seen():
    long, short = "x" * 400, "x" * 10
    made = world(*[Told("t", r, 3, did=[long, short, "x" * 90]) for r in (1, 0)])
    told = scores(success=[[-1.0, -2.0, -1.5]] * 2, failure=[[-2.0, -1.0, -1.5]] * 2)
    found = _measured(made, told, method="contrastive")
    assert found["advantage_by_length", "contrastive"] == (pytest.approx(1.0), 2)
    assert found["advantage_by_position", "contrastive"] == (pytest.approx(-0.5), 2)
    outcome = _measured(made, method="outcome")
    assert outcome["advantage_by_length", "outcome"] == (None, 0)
    assert outcome["advantage_by_length_across", "outcome"] == (pytest.approx(0.0), 6)
    terse = world(Told("t", 1, 1, did=[short]), Told("t", 0, 1, did=[long]))
    assert _measured(terse, method="outcome")["advantage_by_length_across", "outcome"] == (pytest.approx(-1.0), 2)


def test_the_guards_of_hcapo_tell_length_position_and_the_clip():
    made = world(*[Told("t", r, 3) for r in (1, 0)])
    told = scores(hindsight=[[-0.1, -9.0, -0.2]] * 2).with_columns(
        tokens=pl.Series([2, 60, 4] * 2, dtype=pl.Int64), logprob=pl.Series([-0.2, -540.0, -0.8] * 2)
    )
    found = _measured(made, told, method="hcapo")
    assert found["logprob_by_length", "hcapo"] == (pytest.approx(-1.0), 2)
    assert found["logprob_by_position", "hcapo"][1] == 2
    assert found["ratio_clipped", "hcapo"] == (pytest.approx(1.0), 6)
    assert found["ratio_spread", "hcapo"][0] > 0.1


def test_credit_on_last_steps_is_compared_with_an_even_share():
    made = world(Told("t", 1, 4, saw=list("abcd")), Told("t", 0, 4, saw=list("efgh")), Told("t", 1))
    found = _measured(made, method="anchor_td", lam=0.0)
    assert found["final_turn_share", "anchor_td"] == (pytest.approx(1.0), 2)
    assert found["final_turn_even_share", "anchor_td"] == (pytest.approx(0.25), 2)
    assert found["final_turn_top", "anchor_td"] == (pytest.approx(0.5), 2)  # that of the failure is the lowest
    assert _measured(made, method="outcome")["final_turn_share", "outcome"][0] == pytest.approx(0.25)


def test_agents_that_repeat_themselves_and_days_that_lose_their_spread_are_seen():
    def day(number, apart):
        return [Told(f"t{number}", r, 2, did=["go", "go"], day=DAY + timedelta(number)) for r in apart]

    spread = [(1, 0)] * 3 + [(0.5, 0.6)] * 2
    made = world(*[one for number, rewards in enumerate(spread) for one in day(number, rewards)])
    found = _measured(made, method="outcome")
    assert found["repeated_actions", "outcome"] == (pytest.approx(0.5), 20)
    assert found["echo_trap_days_spread", "outcome"] == (2.0, 5)


def test_an_echo_trap_is_seen_where_it_was_published():
    assert collapses([0.48, 0.49, 0.47, 0.45, 0.38, 0.29, 0.2, 0.12, 0.07, 0.05]) == [6, 7, 8, 9]
    assert collapses([1.1, 1.08, 1.05, 1.0, 0.9, 0.75, 0.55, 0.4, 0.3, 0.25]) == [7, 8, 9]
    assert collapses([]) == []


def test_methods_are_compared_with_each_other():
    made = world(*[Told("t", r, 2, saw=["x", "y"]) for r in (1, 0, 1, 0)])
    found = _measured(made, method="outcome")
    assert {other for measure, other in found if measure == "agreement"} == {"return_to_go", "gigpo", "anchor_td"}
    assert found["agreement", "return_to_go"] == (pytest.approx(1.0), 8)
    assert found["agreement_within", "gigpo"] == (None, 0)


def test_an_empty_release_has_nothing_to_measure():
    made = world(Told("t", None, gated=True))
    credit = made.credit(method="outcome")
    assert diagnose(credit, made.cut, made.steps, made.rewards, made.messages, method(method="outcome")).is_empty()
