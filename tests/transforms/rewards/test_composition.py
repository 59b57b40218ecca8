"""Components become one reward: sums with prices, stages, phases, votes, and z-scores within a group."""

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from transforms.rewards.checks import check
from transforms.rewards.compose import score
from transforms.rewards.composition import gdpo
from transforms.rewards.gates import apply_gates
from transforms.rewards.spec import GateSpec, RewardSpec
from warehouse.schemas import REWARDS

BANK = {
    "task_success": {"feedback": "task_success", "weight": 2.0},
    "groundedness": {"feedback": "groundedness", "weight": 1.0},
    "customer_resolution": {"feedback": "resolution", "weight": 0.5},
    "tool_cost": {"feedback": "tool_cost", "range": [0, 10], "weight": -0.2},
    "latency": {"feedback": "latency", "range": [0, 60], "weight": -0.1},
    "unnecessary_escalation": {"feedback": "escalated", "weight": -1.0},
}
LOGGED = {"task_success": 1.0, "groundedness": 0.8, "tool_cost": 3.0, "latency": 12.0, "escalated": 0.0}


def _score(day: Any, gates: dict[str, Any] | None = None, **spec: Any) -> pl.DataFrame:
    threads = day.threads()
    frames = (threads.trajectories, threads.steps, threads.tool_calls)
    wanted = RewardSpec.model_validate(spec)
    broken = apply_gates(*frames, GateSpec.model_validate({"rules": gates or {}}))
    checked = check(*frames, day.frames()[1], wanted)
    return score(threads.trajectories, threads.steps, day.verdicts(), broken, wanted, checked)


def _rewards(day: Any, component: str = "reward", column: str = "value", **spec: Any) -> dict[str, Any]:
    rows = _score(day, **spec).filter((pl.col("component") == component) & (pl.col("step") == -1))
    traces = day.threads().trajectories.select("trajectory_id", pl.col("trace_ids").list.first().alias("trace"))
    return dict(rows.join(traces, on="trajectory_id").select("trace", column).iter_rows())


def _judged(traffic: Any, **runs: dict[str, float]) -> Any:
    day = traffic()
    for trace, told in runs.items():
        day.run(trace)
        for key, value in told.items():
            day.judge(trace, value, key=key)
    return day


def test_a_bank_weighs_successes_against_prices_and_skips_what_is_missing(traffic: Any) -> None:
    day = _judged(traffic, t=LOGGED)
    assert _rewards(day, components=BANK, combine="sum")["t"] == pytest.approx(2.7199999999999998, abs=1e-9)
    assert _rewards(day, column="coverage", components=BANK, combine="sum")["t"] == pytest.approx(
        0.8958333333333334, abs=1e-9
    )


def test_a_violation_is_no_price_that_enough_success_pays(traffic: Any) -> None:
    """With -5 as a price it would net 3.5 + 3.0 - 5 = 1.5, more than an honest failure's 0."""
    day = _judged(traffic, t=LOGGED)
    rows = _rewards(day, column="verdict", gates={"r": {"tool": "refund"}}, components=BANK, combine="sum")
    assert rows == {"t": "gated"}
    assert _rewards(day, gates={"r": {"tool": "refund"}}, components=BANK, combine="sum") == {"t": None}
    bonus = {**BANK, "bonus": {"feedback": "task_success", "weight": 3.0}}
    priced = {**bonus, "policy_violation": {"feedback": "task_success", "weight": -5.0}}
    assert _rewards(day, components=priced, combine="sum")["t"] > 0


def test_below_the_coverage_that_is_asked_for_there_is_no_reward(traffic: Any) -> None:
    day = _judged(traffic, t=LOGGED, little={"groundedness": 1.0})
    told = _rewards(day, components=BANK, combine="sum", least_coverage=0.5)
    assert told["t"] is not None and told["little"] is None
    assert _rewards(day, column="verdict", components=BANK, combine="sum", least_coverage=0.5)["little"] == "missing"


def test_verifiers_and_rules_are_components_beside_feedback(traffic: Any) -> None:
    day = _judged(traffic, a={"reward": 1.0}, b={"reward": 0.0})
    parts = {
        "outcome": {"feedback": "reward"},
        "polite": {"verifier": {"method": "regex", "pattern": "Done, a"}},
        "short": {"rule": {"method": "steps"}, "range": [0, 6], "direction": "lower"},
    }
    assert _rewards(day, components=parts) == {"a": pytest.approx((1 + 1 + 0.5) / 3), "b": pytest.approx(0.5 / 3)}
    row = _score(day, components=parts).filter(pl.col("component") == "polite").row(0, named=True)
    assert (row["source"], row["verifier"], row["verdict"]) == ("verifier", "regex", "ok")
    assert row["evidence_hash"] and row["duration"] >= 0 and len(row["evidence"]) == 3
    assert row["version"] != RewardSpec.model_validate({"components": parts}).version


def test_a_verdict_that_is_an_error_lowers_the_coverage_and_not_the_reward(traffic: Any) -> None:
    day = _judged(traffic, t={"reward": 1.0})
    parts = {"outcome": {"feedback": "reward"}, "right": {"verifier": {"method": "function", "function": "json:none"}}}
    assert _rewards(day, "right", "verdict", components=parts) == {"t": "error"}
    assert _rewards(day, components=parts) == {"t": 1.0}
    assert _rewards(day, column="coverage", components=parts) == {"t": 0.5}


STAGED = {
    "components": {name: {"feedback": name} for name in ("format", "grounded", "success")},
    "stages": [{"components": ["format"]}, {"components": ["grounded"], "least": 0.5}],
}


@pytest.mark.parametrize(
    ("told", "reward"),
    [
        ({"format": 1, "grounded": 0.8, "success": 1}, 2.8 / 3),
        ({"format": 1, "grounded": 0.4, "success": 1}, 1.4 / 3),
        ({"format": 0, "grounded": 0.8, "success": 1}, 0.0),
        ({"format": 1, "grounded": 0.8}, 0.9),
        ({"grounded": 0.8, "success": 1}, None),
        ({"format": 1, "success": 1}, None),
        ({"format": 0, "success": 1}, 0.0),
    ],
)
def test_what_comes_after_a_stage_counts_only_once_it_is_reached(
    traffic: Any, told: dict[str, float], reward: float | None
) -> None:
    assert _rewards(_judged(traffic, t=told), **STAGED)["t"] == (None if reward is None else pytest.approx(reward))


def test_a_curriculum_weighs_otherwise_in_each_phase(traffic: Any) -> None:
    day = _judged(traffic, t={"format": 1.0, "success": 0.0})
    spec = {
        "components": {name: {"feedback": name} for name in ("format", "success")},
        "phases": {"early": {"format": 1.0}, "late": {"format": 0.2, "success": 0.8}},
    }
    assert _rewards(day, **spec)["t"] == 0.5
    assert _rewards(day, **spec, phase="early")["t"] == 1.0
    assert _rewards(day, **spec, phase="late")["t"] == pytest.approx(0.2)
    versions = {RewardSpec.model_validate({**spec, "phase": phase}).version for phase in (None, "early", "late")}
    assert len(versions) == 3


def test_votes_are_a_posterior_and_not_a_certainty(traffic: Any) -> None:
    day = traffic()
    day.run("t")
    day.judge("t", 1.0, annotator="human")
    day.judge("t", 0.7, annotator="llm")
    day.judge("t", 0.0, annotator="user")
    part = {"feedback": "reward", "smoothing": {}}
    assert _rewards(day, "outcome", components={"outcome": part})["t"] == pytest.approx(0.5875, abs=1e-9)
    assert _rewards(day, "outcome", "votes", components={"outcome": part})["t"] == 2.0
    stars = {"feedback": "reward", "range": [0, 10], "smoothing": {"votes": {}, "prior": [2, 1]}}
    value = 10 * (2 + 0.1 + 0.07) / (3 + 3)
    assert _rewards(day, "outcome", components={"outcome": stars})["t"] == pytest.approx(value)
    empty = traffic()
    empty.run("t")
    assert _rewards(empty, "outcome", components={"outcome": part}) == {"t": None}


def test_gdpo_normalises_each_component_within_its_group() -> None:
    first, second = [1, 1, 0, 0], [0.2, 0.0, 0.4, 0.0]
    expected = [0.9963655254975011, 0.47440514255030314, -0.21342495107670423, -1.2573457169711002]
    spec = RewardSpec.model_validate({
        "components": {"r1": {"feedback": "r1"}, "r2": {"feedback": "r2", "weight": 0.5}}, "normalise": "gdpo",
    })  # fmt: skip
    rows = [
        {"revision": None, "trajectory_id": f"t{n}", "step": -1, "component": name, "value": float(value),
         "verdict": "ok", "source": "feedback", "version": "v", "evidence": []}
        for name, values in (("r1", first), ("r2", second), ("reward", first)) for n, value in enumerate(values)
    ]  # fmt: skip
    gated = {**rows[0], "trajectory_id": "g", "value": 9.0}
    alone = [{**rows[0], "trajectory_id": "s", "component": name} for name in ("r1", "reward")]
    rewards = pl.DataFrame([*rows, gated, {**gated, "component": "reward", "value": None}, *alone])
    names = [*(f"t{n}" for n in range(4)), "g", "s"]
    trajectories = pl.DataFrame({"trajectory_id": names, "rollout_id": names, "task_id": ["x"] * 5 + ["y"]})
    told = gdpo(rewards, trajectories, spec).filter(pl.col("component") == "reward")
    values = dict(told.select("trajectory_id", "value").iter_rows())
    assert [values[f"t{n}"] for n in range(4)] == pytest.approx(expected, abs=1e-9)
    assert values["g"] is None and values["s"] == 0.0
    assert gdpo(rewards, trajectories, spec).height == rewards.height


def test_fields_that_came_later_leave_old_versions_as_they_were() -> None:
    """A home whose settings say nothing new is not to become stale."""
    assert RewardSpec().version == "e640d20600dc"
    rule = {"rules": {"r": {"tool": "x"}}}
    assert GateSpec.model_validate(rule).version == "23fc636cb3ff"
    assert RewardSpec.model_validate({"combine": "mean", "stages": []}).version == RewardSpec().version
    assert RewardSpec.model_validate({"combine": "sum"}).version != RewardSpec().version
    assert RewardSpec().rests_on == RewardSpec().model_dump(mode="json")


def test_a_changed_file_beside_the_specification_is_another_version(tmp_path: Any) -> None:
    answers = tmp_path / "answers.jsonl"
    spec = {"components": {"right": {"verifier": {"method": "regex", "pattern": "(x)", "references": str(answers)}}}}
    versions = set()
    for text in ("", '{"task": "1", "reference": "x"}', '{"task": "1", "reference": "y"}'):
        answers.write_text(text)
        told = RewardSpec.model_validate(spec)
        versions |= {told.version, told.components["right"].version, str(told.rests_on)}
    assert len(versions) == 9


@pytest.mark.parametrize(
    "wrong",
    [
        {"components": {"a": {"feedback": "x", "weight": -1}}},
        {"components": {"a": {"feedback": "x", "rule": {"method": "latency"}}}},
        {"components": {"a": {"rule": {"method": "latency"}, "smoothing": {}}}},
        {"components": {"a": {}}},
        {"components": {"a": {"feedback": "x"}}, "stages": [{"components": ["b"]}]},
        {"components": {"a": {"feedback": "x"}}, "phase": "late"},
        {"components": {"a": {"feedback": "x"}}, "phases": {"late": {"b": 1}}},
        {"components": {"a": {"feedback": "x"}}, "phases": {"late": {"a": -1}}, "phase": "late"},
    ],
)
def test_a_wrong_composition_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RewardSpec.model_validate(wrong)


def test_what_was_measured_is_no_part_of_the_content() -> None:
    assert REWARDS.measured == ["duration"]
