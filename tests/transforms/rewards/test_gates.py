"""Hard rules: forbidden tools, forbidden arguments, and what must come first."""

from datetime import timedelta

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transforms.rewards.compose import score
from transforms.rewards.gates import GATING, apply_gates
from transforms.rewards.spec import GateSpec, RewardSpec
from warehouse.schemas import GATES


def _gate(day, **rule):
    threads = day.threads()
    spec = GateSpec.model_validate({"rules": {"r": rule}})
    return apply_gates(threads.trajectories, threads.steps, threads.tool_calls, spec)


def _verdicts(day, **rule):
    names = day.threads().trajectories.select("trajectory_id", "trace_ids").rows()
    rows = {row["trajectory_id"]: row for row in _gate(day, **rule).iter_rows(named=True)}
    return {trace_ids[0]: rows[trajectory_id]["verdict"] for trajectory_id, trace_ids in names}


def test_a_forbidden_tool_is_a_violation_at_its_first_step(traffic):
    day = traffic()
    day.run("t", tools=("check", "refund", "refund"))
    row = _gate(day, tool="refund").row(0, named=True)
    assert (row["verdict"], row["step"], row["span_id"]) == ("violated", 1, "t-1")


def test_every_rule_has_a_verdict_on_every_trajectory(traffic):
    day = traffic()
    day.run("a")
    day.run("b", tools=())
    assert _verdicts(day, tool="refund") == {"a": "violated", "b": "kept"}


@pytest.mark.parametrize("pattern", ["[", "(?=ahead)"])
def test_a_pattern_that_cannot_be_matched_is_told_before_a_day_is_run(pattern):
    rule = {"tool": "refund", "when_arguments": {"why": {"matches": pattern}}}
    with pytest.raises(ValueError, match=r"rules\.r\.when_arguments\.why\.matches\n.*not a regular expression"):
        GateSpec.model_validate({"rules": {"r": rule}})


def test_without_rules_there_are_no_verdicts(traffic):
    day = traffic()
    day.run("t")
    threads = day.threads()
    gates = apply_gates(threads.trajectories, threads.steps, threads.tool_calls, GateSpec())
    assert gates.equals(GATES.empty())


def test_what_was_checked_in_an_earlier_step_is_allowed(traffic):
    day = traffic()
    day.run("checked", tools=("check", "refund"))
    day.run("late", tools=("refund", "check"))
    day.run("never", tools=("refund",))
    rule = {"tool": "refund", "unless_before": "check"}
    assert _verdicts(day, **rule) == {"checked": "kept", "late": "violated", "never": "violated"}


def test_a_parallel_check_comes_too_late(traffic):
    day = traffic()
    asked = day.say("assistant", "", [("a", "check", "{}"), ("b", "refund", "{}")])
    day.call("t", "one", [day.say("user", "u")], asked)
    assert _verdicts(day, tool="refund", unless_before="check") == {"t": "violated"}


def test_a_check_that_failed_allows_nothing(traffic):
    day = traffic()
    asked = day.say("assistant", "", [("a", "check", "{}")])
    thread = day.call("t", "one", [day.say("user", "u")], asked)
    told = day.say("tool", "Error: no policy", answers="a")
    day.call("t", "two", [*thread, told], day.say("assistant", "", [("b", "refund", "{}")]))
    assert _verdicts(day, tool="refund", unless_before="check") == {"t": "violated"}


def test_a_check_by_a_caller_counts_for_its_sub_agent(traffic):
    day = traffic()
    day.span("t", "boss", "agent", agent="boss")
    day.call(
        "t", "one", [day.say("user", "u")], day.say("assistant", "", [("a", "check", "{}")]), parent_span_id="boss"
    )
    day.span("t", "tool", "tool", parent_span_id="boss")
    day.span("t", "helper", "agent", agent="helper", parent_span_id="tool")
    asked = day.say("assistant", "", [("b", "refund", "{}")])
    day.call("t", "sub", [day.say("user", "do it")], asked, parent_span_id="helper")
    assert set(_gate(day, tool="refund", unless_before="check")["verdict"]) == {"kept"}
    assert sorted(_gate(day, tool="refund")["verdict"]) == ["kept", "violated"]


@pytest.mark.parametrize(
    ("test", "broken"),
    [
        ({"amount": {"above": 100}}, True),
        ({"amount": {"above": 200}}, False),
        ({"amount": {"below": 200, "above": 100}}, True),
        ({"amount": {"equals": 149.3}}, True),
        ({"currency": {"equals": "USD"}}, True),
        ({"currency": {"matches": "^E"}}, False),
        ({"force": {"equals": True}}, True),
        ({"absent": {}}, False),
        ({"amount": {"above": 100}, "currency": {"equals": "EUR"}}, False),
        ({"it's": {"equals": "x"}}, True),
    ],
)
def test_only_calls_whose_arguments_pass_count(traffic, test, broken):
    day = traffic()
    arguments = '{"amount": 149.3, "currency": "USD", "force": true, "it\'s": "x"}'
    day.call("t", "one", [day.say("user", "u")], day.say("assistant", "", [("a", "refund", arguments)]))
    day.call("u", "two", [day.say("user", "u")], day.say("assistant", "", [("a", "refund", "{torn")]))
    verdicts = _verdicts(day, tool="refund", when_arguments=test)
    assert verdicts == {"t": "violated" if broken else "kept", "u": "kept"}


def _asked(day, rules):
    """Verdicts by trace, and what the rollout's reward is."""
    threads, feedback = day.threads(), day.verdicts()
    spec = GateSpec.model_validate({"rules": rules})
    frames = (threads.trajectories, threads.steps, threads.tool_calls)
    gates = apply_gates(*frames, spec, feedback, day.frames()[1])
    rewards = score(threads.trajectories, threads.steps, feedback, gates, RewardSpec())
    composed = rewards.filter((pl.col("component") == "reward") & (pl.col("step") == -1))
    rows = gates.join(threads.trajectories.select("trajectory_id", "trace_ids"), on="trajectory_id")
    rows = rows.join(composed.select("trajectory_id", "value"), on="trajectory_id")
    return {row["trace_ids"][0]: (row["verdict"], row["value"]) for row in rows.iter_rows(named=True)}


APPROVED = {"r": {"tool": "refund", "needs_approval": {}}}


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ({"label": "approved"}, "approved"), ({"label": "Accept"}, "approved"), ({"score": 1.0}, "approved"),
        ({"label": "denied"}, "denied"), ({"score": 0.0}, "denied"), ({"label": "edit"}, "edited"),
        ({"label": "who knows"}, "violated"), ({"label": "approved", "annotator": "llm"}, "violated"),
        ({"label": "approved", "key": "other"}, "violated"), ({"score": 0.5}, "violated"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["t-1", "t-1-tool", None])
def test_an_action_that_needs_approval_is_what_a_person_said_of_it(traffic, word, verdict, target):
    day = traffic()
    day.run("t")
    day.run("harmless", tools=("check",))
    for trace in ("t", "harmless"):
        day.judge(trace, 1.0)
    day.judge("t", **{"score": None, "key": "approval", "span_id": target} | word)
    told = _asked(day, APPROVED)
    assert told == {"t": (verdict, 1.0 if verdict == "approved" else None), "harmless": ("kept", 1.0)}


def test_what_waits_for_a_word_is_no_violation_and_no_example(traffic):
    day = traffic()
    asked = day.say("assistant", "", [("a", "refund", "{}")])
    day.call("t", "one", [day.say("user", "u")], asked)
    day.judge("t", 1.0)
    assert _asked(day, APPROVED) == {"t": ("needs_approval", None)}


def test_the_last_word_of_a_person_counts_and_one_on_the_call_counts_before_one_on_the_trace(traffic):
    day = traffic()
    day.run("t")
    first = day.spans[0]["started_at"]
    day.judge("t", None, key="approval", label="denied", span_id="t-1", created_at=first)
    day.judge("t", None, key="approval", label="approved", span_id="t-1", created_at=first + timedelta(hours=1))
    day.judge("t", None, key="approval", label="denied", created_at=first + timedelta(hours=2))
    assert _asked(day, APPROVED)["t"][0] == "approved"


def test_of_several_actions_the_worst_verdict_counts(traffic):
    day = traffic()
    day.run("t", tools=("refund", "refund"))
    day.judge("t", None, key="approval", label="approved", span_id="t-0")
    day.judge("t", None, key="approval", label="denied", span_id="t-1")
    assert _asked(day, APPROVED)["t"][0] == "denied"


def test_only_actions_above_a_limit_need_approval(traffic):
    day = traffic()
    asked = day.say("assistant", "", [("a", "refund", '{"amount": 50}')])
    day.call("t", "one", [day.say("user", "u")], asked)
    rule = {"tool": "refund", "needs_approval": {}, "when_arguments": {"amount": {"above": 100}}}
    assert _asked(day, {"r": rule})["t"][0] == "kept"


def test_what_may_not_be_said_is_found_in_text_and_in_arguments(traffic):
    day = traffic()
    day.run("t")
    day.run("u", tools=("check",))
    assert _asked(day, {"r": {"says": "(?i)done, T"}}) == {"t": ("violated", None), "u": ("kept", None)}
    assert _asked(day, {"r": {"says": "order.*7"}})["u"][0] == "violated"
    assert _asked(day, {"r": {"says": "money back"}})["u"][0] == "kept"  # a user said it


@pytest.mark.parametrize("rule", [{}, {"tool": "x", "says": "y"}, {"says": "("}, {"says": "y", "needs_approval": {}}])
def test_a_rule_is_about_a_tool_or_about_what_is_said(rule):
    with pytest.raises(ValueError, match=r"rules\.r"):
        GateSpec.model_validate({"rules": {"r": rule}})


_RUN = st.tuples(
    st.sampled_from([(), ("check",), ("refund",), ("check", "refund"), ("refund", "check")]),
    st.sampled_from([None, 0.0, 0.4, 1.0]),
    st.sampled_from([None, "approved", "denied", "edited"]),
)


FINE = ("check", "refund"), "approved"


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(runs=st.lists(_RUN, min_size=2, max_size=7))
def test_a_gated_trajectory_is_never_a_positive_anywhere(traffic, release, runs):
    """Through the cut, credit, pairs and rollouts, whatever its feedback: at most the worse side of a pair."""
    day = traffic()
    for number, (tools, reward, word) in enumerate(runs):
        day.run(f"t{number}", tools=tools)
        if reward is not None:
            day.judge(f"t{number}", reward)
        if word is not None:
            day.judge(f"t{number}", None, key="approval", label=word)
    for number in range(2):
        day.run(f"x{number}", tools=("check",), user=f"Where is my parcel? It was to come on day {number}")
        day.judge(f"x{number}", float(number))
    day.run("y", tools=("check",), user="Which lounge may I use with this card")
    day.judge("y", 1.0)
    rules = {"order": {"tool": "refund", "unless_before": "check"}, **APPROVED}
    made = release(day, gates=rules)
    gated = set(made.gates.filter(pl.col("verdict").is_in(GATING))["trajectory_id"])
    assert len(gated) == sum("refund" in tools and (tools, word) != FINE for tools, _, word in runs)
    composed = made.rewards.filter(pl.col("trajectory_id").is_in(gated) & (pl.col("component") == "reward"))
    assert composed["value"].null_count() == composed.height == len(gated)
    assert not gated & set(made.pairs["chosen_trajectory_id"])
    assert not gated & set(made.rollouts["trajectory_id"]) and not gated & set(made.credit["trajectory_id"])
    assert set(made.cut.filter("gated")["trajectory_id"]) == gated
