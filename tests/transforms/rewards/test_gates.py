"""Hard rules: forbidden tools, forbidden arguments, and what must come first."""

import pytest

from transforms.rewards.gates import apply_gates
from transforms.rewards.spec import GateSpec
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
