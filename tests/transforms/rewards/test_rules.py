"""Rules over the trace: cost, time, length, errors, repetition, giving up too soon."""

from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter, ValidationError

from transforms.rewards.rule_spec import AnyRule
from transforms.rewards.rules import measure, overlong

SPEC = TypeAdapter(AnyRule)


def _measure(day: Any, **rule: Any) -> dict[str, tuple[float | None, str]]:
    threads = day.threads()
    rows = measure(
        SPEC.validate_python(rule), threads.trajectories, threads.steps, threads.tool_calls, day.frames()[1]
    )  # fmt: skip
    traces = dict(threads.trajectories.select("rollout_id", pl.col("trace_ids").list.first()).iter_rows())
    return {traces[row["rollout_id"]]: (row["value"], row["verdict"]) for row in rows.iter_rows(named=True)}


@pytest.mark.parametrize(
    ("length", "worth"),
    [(16_000, 0.0), (16_384, 0.0), (17_408, -0.25), (18_432, -0.5), (20_480, -1.0), (20_481, -1.0)],
)
def test_overlong_answers_are_punished_as_dapo_says(length: int, worth: float) -> None:
    told = pl.DataFrame({"n": [length]}).select(overlong(pl.col("n").cast(pl.Float64), 20_480, 4_096))
    assert told.item() == pytest.approx(worth, abs=1e-9)


def test_tokens_steps_and_time_are_those_of_the_whole_rollout(traffic: Any) -> None:
    day = traffic()
    day.run("t", tools=("check", "refund"))
    assert _measure(day, method="tokens") == {"t": (36.0, "ok")}
    assert _measure(day, method="tokens", of="output") == {"t": (6.0, "ok")}
    assert _measure(day, method="steps") == {"t": (3.0, "ok")}
    calls = [span for span in day.spans if span["kind"] == "llm"]
    seconds = (calls[-1]["ended_at"] - calls[0]["started_at"]).total_seconds()
    assert _measure(day, method="latency") == {"t": (seconds, "ok")}
    assert _measure(day, method="overlong", longest=2, cache=1) == {"t": (-1.0, "ok")}


def test_what_a_trace_does_not_tell_is_missing_and_never_0(traffic: Any) -> None:
    day = traffic()
    day.run("t")
    next(span for span in day.spans if span["kind"] == "llm")["output_tokens"] = None
    assert _measure(day, method="tokens") == {"t": (None, "missing")}
    assert _measure(day, method="tokens", of="input") == {"t": (30.0, "ok")}
    price = {"m": {"input": 1_000_000, "output": 0}}
    assert _measure(day, method="cost", models=price) == {"t": (None, "missing")}
    assert _measure(day, method="cost", models={"other": price["m"]}) == {"t": (None, "missing")}


def test_a_rollout_costs_what_its_models_and_tools_do(traffic: Any) -> None:
    day = traffic()
    day.run("t", tools=("check", "refund", "other"))
    price = {"m": {"input": 2.0, "output": 10.0}}
    bill = {"t": (pytest.approx((40 * 2.0 + 8 * 10.0) / 1e6 + 0.5 + 2 * 0.1), "ok")}
    assert _measure(day, method="cost", models=price, tools={"check": 0.5}, any_tool=0.1) == bill
    assert _measure(day, method="cost", any_tool=1) == {"t": (3.0, "ok")}


def test_failed_and_repeated_calls_are_counted(traffic: Any) -> None:
    day = traffic()
    day.run("t", tools=("check", "check", "refund", "check"))
    day.run("none", tools=())
    assert _measure(day, method="repeats") == {"t": (2.0, "ok"), "none": (0.0, "ok")}
    assert _measure(day, method="repeats", tools=["refund"])["t"] == (0.0, "ok")
    asked = day.say("assistant", "", [("a", "check", "{}")])
    thread = day.call("f", "one", [day.say("user", "u")], asked)
    day.call("f", "two", [*thread, day.say("tool", "Error: none", answers="a")], day.say("assistant", "No."))
    assert _measure(day, method="errors") == {"t": (0.0, "ok"), "none": (0.0, "ok"), "f": (1.0, "ok")}


def test_handing_over_is_needless_unless_something_made_it_needful(traffic: Any) -> None:
    day = traffic()
    day.run("soon", tools=("hand_over",))
    day.run("checked", tools=("check", "hand_over"))
    day.run("wished", tools=("hand_over",), user="Give me a human, please")
    day.run("never", tools=("check",))
    rule = {"method": "escalation", "tools": ["hand_over"]}
    values = {name: value for name, (value, _) in _measure(day, **rule).items()}
    assert values == {"soon": 1.0, "checked": 1.0, "wished": 1.0, "never": 0.0}
    values = {name: value for name, (value, _) in _measure(day, **rule, unless_after=["check"]).items()}
    assert values == {"soon": 1.0, "checked": 0.0, "wished": 1.0, "never": 0.0}
    values = {name: value for name, (value, _) in _measure(day, **rule, unless_asked="(?i)human").items()}
    assert values == {"soon": 1.0, "checked": 1.0, "wished": 0.0, "never": 0.0}
    for message in day.messages.values():
        message["altered"] = message["role"] == "user"
    told = _measure(day, **rule, unless_asked="(?i)human")
    assert told == {
        "soon": (None, "altered"),
        "checked": (None, "altered"),
        "wished": (0.0, "ok"),
        "never": (0.0, "ok"),
    }


def test_a_hand_over_after_a_call_that_failed_is_no_fault(traffic: Any) -> None:
    day = traffic()
    asked = day.say("assistant", "", [("a", "check", "{}")])
    thread = day.call("f", "one", [day.say("user", "u")], asked)
    over = day.say("assistant", "", [("b", "hand_over", "{}")])
    day.call("f", "two", [*thread, day.say("tool", "Error: none", answers="a")], over)
    rule = {"method": "escalation", "tools": ["hand_over"]}
    assert _measure(day, **rule)["f"] == (0.0, "ok")
    assert _measure(day, **rule, unless_failed=False)["f"] == (1.0, "ok")


def test_sub_agents_count_for_their_rollout(traffic: Any) -> None:
    day = traffic()
    day.span("t", "boss", "agent", agent="boss")
    asked = day.say("assistant", "", [("a", "helper", "{}")])
    day.call("t", "one", [day.say("user", "u")], asked, parent_span_id="boss")
    day.span("t", "tool", "tool", parent_span_id="boss")
    day.span("t", "helper", "agent", agent="helper", parent_span_id="tool")
    day.call("t", "sub", [day.say("user", "do it")], day.say("assistant", "done"), parent_span_id="helper")
    assert day.threads().trajectories.height == 2
    assert _measure(day, method="tokens") == {"t": (24.0, "ok")}


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "overlong", "longest": 10, "cache": 10},
        {"method": "escalation", "tools": []},
        {"method": "escalation", "tools": ["x"], "unless_asked": "(?=x)"},
        {"method": "latency", "unit": "ms"},
    ],
)
def test_a_wrong_rule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SPEC.validate_python(wrong)


def test_time_is_null_where_no_call_has_one(traffic: Any) -> None:
    day = traffic()
    day.run("t")
    for span in day.spans:
        span |= {"started_at": None, "ended_at": None}
    assert _measure(day, method="latency") == {"t": (None, "missing")}
