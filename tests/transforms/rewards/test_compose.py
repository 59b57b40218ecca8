"""Feedback becomes rewards; what is missing is null, and a gate has no price."""

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from transforms.rewards.compose import score
from transforms.rewards.gates import apply_gates
from transforms.rewards.spec import GateSpec, RewardSpec
from warehouse.schemas import GATES


def _score(day, spec=None, gates=None):
    threads = day.threads()
    broken = apply_gates(threads.trajectories, threads.steps, threads.tool_calls, GateSpec.model_validate(gates or {}))
    return score(
        threads.trajectories, threads.steps, day.verdicts(), broken, RewardSpec.model_validate(spec or {})
    )  # fmt: skip


def _one(rows, component="reward", step=-1):
    return rows.filter((pl.col("component") == component) & (pl.col("step") == step)).row(0, named=True)


def _spec(**components):
    return {"components": components}


def test_one_component_gives_itself(traffic):
    day = traffic()
    day.run("t")
    day.judge("t", 0.8)
    rows = _score(day)
    assert _one(rows)["value"] == 0.8 and _one(rows)["coverage"] == 1.0 and _one(rows)["source"] == "composed"
    assert _one(rows, "outcome")["evidence"] == ["fb0"] == _one(rows)["evidence"]


def test_a_missing_reward_is_null_and_never_zero(traffic):
    day = traffic()
    day.run("t")
    rows = _score(day)
    assert rows["value"].to_list() == [None, None]
    assert rows["verdict"].to_list() == ["missing", "missing"]
    assert _one(rows)["coverage"] == 0.0


def test_components_are_normalised_weighted_and_clipped(traffic):
    day = traffic()
    day.run("t")
    day.judge("t", 4.0, key="stars")
    day.judge("t", 90.0, key="seconds")
    spec = _spec(
        stars={"feedback": "stars", "range": [1, 5], "weight": 2},
        speed={"feedback": "seconds", "range": [0, 60], "direction": "lower"},
        unseen={"feedback": "nothing", "weight": 5},
    )
    rows = _score(day, spec)
    assert _one(rows)["value"] == pytest.approx((2 * 0.75 + 1 * 0.0) / 3)
    assert _one(rows)["coverage"] == pytest.approx(3 / 8)
    assert _one(rows, "speed")["value"] == 90.0 and _one(rows, "unseen")["verdict"] == "missing"


def test_of_several_keys_the_first_that_has_a_value_counts(traffic):
    day = traffic()
    for trace in ("both", "second only", "first unreadable"):
        day.run(trace)
    day.judge("both", 0.9, key="reward")
    day.judge("both", 1.0, key="task_success")
    day.judge("second only", 0.7, key="task_success")
    day.judge("first unreadable", None, key="reward", label="who knows")
    day.judge("first unreadable", 0.5, key="task_success")
    rows = _score(day, _spec(outcome={"feedback": ["reward", "task_success"]}))
    values = rows.filter(pl.col("component") == "reward")["value"]
    assert sorted(values) == [0.5, 0.7, 0.9]


def test_lower_is_better_turns_the_range_round(traffic):
    day = traffic()
    day.run("t")
    day.judge("t", 15.0, key="seconds")
    assert (
        _one(_score(day, _spec(speed={"feedback": "seconds", "range": [0, 60], "direction": "lower"})))["value"] == 0.75
    )


def test_verdicts_in_words_are_worth_what_the_spec_says(traffic):
    day = traffic()
    for trace, label in (("a", "Success"), ("b", "failure"), ("c", "unheard of")):
        day.run(trace)
        day.judge(trace, None, label=label)
    rows = _score(day).join(day.threads().trajectories.select("trajectory_id", "trace_ids"), on="trajectory_id")
    told = {row["trace_ids"][0]: row for row in rows.filter(pl.col("component") == "outcome").iter_rows(named=True)}
    assert (told["a"]["value"], told["b"]["value"], told["c"]["value"]) == (1.0, 0.0, None)
    assert told["c"]["verdict"] == "error"


def test_the_last_word_of_each_annotator_counts_and_annotators_are_averaged(traffic):
    day = traffic()
    day.run("t")
    first = day.spans[0]["started_at"]
    day.judge("t", 0.0, created_at=first)
    day.judge("t", 1.0, created_at=first + timedelta(hours=1))
    day.judge("t", 0.5, annotator="llm")
    assert _one(_score(day))["value"] == 0.75


def test_a_conversation_gets_the_mean_of_its_traces(traffic):
    day = traffic()
    thread = day.call("a", "1", [day.say("user", "u")], day.say("assistant", "a"), conversation_id="c")
    day.call("b", "2", [*thread, day.say("user", "v")], day.say("assistant", "b"), conversation_id="c")
    day.judge("a", 1.0)
    day.judge("b", 0.0)
    assert _one(_score(day))["value"] == 0.5


def test_a_verdict_on_a_step_is_a_row_of_the_step_and_counts_where_the_trace_has_none(traffic):
    day = traffic()
    day.run("t")
    day.judge("t", 0.25, span_id="t-1")
    rows = _score(day)
    assert _one(rows, "outcome", step=1)["value"] == 0.25 == _one(rows)["value"]
    day.judge("t", 1.0)
    rows = _score(day)
    assert _one(rows)["value"] == 1.0 and _one(rows, "outcome", step=1)["value"] == 0.25


def test_a_verdict_on_the_root_span_is_about_the_trace(traffic):
    day = traffic()
    day.run("t")
    day.judge("t", 1.0, span_id="t-agent")
    assert _one(_score(day))["value"] == 1.0


def test_a_violated_gate_leaves_no_reward(traffic):
    day = traffic()
    day.run("t", tools=("refund",))
    day.judge("t", 1.0)
    rows = _score(day, gates={"rules": {"r": {"tool": "refund"}}})
    assert _one(rows)["value"] is None and _one(rows)["verdict"] == "gated"
    assert _one(rows, "outcome")["value"] == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        _spec(reward={"feedback": "x"}),
        _spec(a={"feedback": "x", "range": [1, 0]}),
        _spec(a={"feedback": []}),
        _spec(a={"feedback": "x", "weight": -1}),
        _spec(a={"feedback": "x", "wieght": 1}),
    ],
)
def test_a_wrong_spec_is_refused(wrong):
    with pytest.raises(ValidationError):
        RewardSpec.model_validate(wrong)


def test_equal_specs_have_equal_versions():
    one, other = _spec(a={"feedback": "x"}, b={"feedback": "y"}), _spec(b={"feedback": "y"}, a={"feedback": ["x"]})
    assert RewardSpec.model_validate(one).version == RewardSpec.model_validate(other).version
    assert RewardSpec.model_validate(one).version != RewardSpec().version


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.floats(-2, 2), st.sampled_from(["human", "llm"])), max_size=6),
    st.randoms(),
)
def test_rewards_do_not_depend_on_the_order_or_repetition_of_rows(traffic, verdicts, random):
    day = traffic()
    day.run("a")
    day.run("b")
    for trace, value, annotator in verdicts:
        day.judge(trace, value, annotator=annotator)
    threads, feedback = day.threads(), day.verdicts()
    shuffled = feedback.sample(fraction=1, shuffle=True, seed=random.randint(0, 99))
    gates = GATES.empty()
    first = score(threads.trajectories, threads.steps, feedback, gates, RewardSpec())
    again = score(threads.trajectories.reverse(), threads.steps, pl.concat([shuffled, feedback]), gates, RewardSpec())
    assert first.equals(again)
    composed = first.filter(pl.col("component") == "reward")["value"].drop_nulls()
    assert composed.is_between(0, 1).all()


def test_a_component_that_weighs_nothing_is_kept_beside_the_reward(traffic):
    day = traffic()
    day.run("t")
    day.judge("t", 1.0)
    day.judge("t", 0.2, key="judge", span_id="t-0")
    spec = _spec(outcome={"feedback": "reward"}, judge={"feedback": "judge", "weight": 0})
    rows = _score(day, spec)
    assert _one(rows)["value"] == 1.0 and _one(rows)["coverage"] == 1.0
    assert _one(rows, "judge", step=0)["value"] == 0.2
    assert _one(_score(day, _spec(judge={"feedback": "judge", "weight": 0})))["verdict"] == "missing"
