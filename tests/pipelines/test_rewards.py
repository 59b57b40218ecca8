"""A bank's service agent, from exports to rewards: what it is worth, what nothing pays for, what a new reward does."""

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from mills import QUIET, mill_at
from typer.testing import CliRunner

from assets.datasets import ReleaseConfig, cut_release
from assets.mill import Mill, open_mill
from assets.staleness import is_stale
from pipelines.cli import app
from pipelines.runs import run_day, run_rewards
from warehouse.duck import reader
from warehouse.problem import Problem
from warehouse.schemas import CUT, PREFERENCE_PAIRS, ROLLOUTS

DAY = date(2026, 11, 2)
BANK: dict[str, Any] = {
    "combine": "sum",
    "components": {
        "task_success": {"feedback": "task_success", "weight": 2.0},
        "groundedness": {"feedback": "groundedness", "weight": 1.0},
        "customer_resolution": {"feedback": "resolution", "weight": 0.5},
        "tool_cost": {"rule": {"method": "cost", "any_tool": 1.0}, "range": [0, 10], "weight": -0.2},
        "latency": {"rule": {"method": "latency"}, "range": [0, 60], "weight": -0.1},
        "unnecessary_escalation": {"rule": {"method": "escalation", "tools": ["hand_over"]}, "weight": -1.0},
    },
}
GATES = {
    "rules": {
        "policy": {"tool": "refund", "unless_before": "check"},
        "large_transfer": {"tool": "transfer", "needs_approval": {}, "when_arguments": {"amount": {"above": 1000}}},
    }
}
SETTINGS: dict[str, Any] = {
    "privacy": {"model": None},
    "rewards": BANK,
    "gates": GATES,
    "release": {"split": {"max_component_share": 1}},
}


def uuid(*numbers: int) -> str:
    return f"00000000-0000-4000-8000-{''.join(f'{number:04d}' for number in numbers):0>12}"


def conversation(trace: int, task: str, tools: list[str], answer: str, seconds: int = 12) -> list[dict[str, Any]]:
    """LangSmith's runs of an agent that calls `tools` one by one and then answers."""
    talk: list[dict[str, Any]] = [{"role": "user", "content": f"please help me with {task}"}]
    runs = []
    for turn, tool in enumerate([*tools, ""]):
        called = [{"id": f"c{turn}", "type": "function", "function": {"name": tool, "arguments": '{"amount": 5000}'}}]
        said: dict[str, Any] = {"role": "assistant", "content": "" if tool else answer}
        said |= {"tool_calls": called} if tool else {}
        at, last = turn * 2, not tool
        runs.append({
            "id": uuid(trace, turn + 1), "trace_id": uuid(trace, 0), "parent_run_id": uuid(trace, 0),
            "name": "ChatOpenAI", "run_type": "llm", "start_time": f"2026-11-02T10:{trace:02d}:{at:02d}",
            "end_time": f"2026-11-02T10:{trace:02d}:{seconds if last else at + 1:02d}", "status": "success",
            "inputs": {"messages": list(talk)}, "extra": {"metadata": {"task_id": task}},
            "outputs": {"choices": [{"index": 0, "finish_reason": "stop" if last else "tool_calls", "message": said}]},
            "dotted_order": f"20261102T10{trace:02d}{at:02d}000000Z{uuid(trace, turn + 1)}",
        })  # fmt: skip
        talk += [said, {"role": "tool", "content": "it is 42", "tool_call_id": f"c{turn}"}]
    return runs


def verdict(trace: int, number: int, key: str, score: float | None, **fields: Any) -> dict[str, Any]:
    return {
        "id": uuid(trace, 90 + number), "trace_id": uuid(trace, 0), "run_id": uuid(trace, 0), "key": key,
        "score": score, "created_at": "2026-11-02T11:00:00", "feedback_source": {"type": "app"}, **fields,
    }  # fmt: skip


def records() -> list[dict[str, Any]]:
    """Attempts at two tasks: 1 well done, 2 better but against the policy, 3 an honest failure, 4 not approved."""
    runs = [
        *conversation(1, "card", ["check", "check", "refund"], "The total is 42."),
        *conversation(2, "card", ["refund", "check", "check"], "The total is 42, and I refunded it."),
        *conversation(3, "card", ["check", "check", "hand_over"], "I cannot tell."),
        *conversation(4, "loan", ["check", "transfer"], "I sent 42."),
        *conversation(5, "loan", ["check", "transfer"], "Sent: 42, as your adviser approved."),
        *conversation(6, "loan", ["check"], "No."),
    ]
    told = [(1, 1.0, 0.8), (2, 1.0, 1.0), (3, 0.0, 0.0), (4, 1.0, 1.0), (5, 1.0, 1.0), (6, 0.0, 0.5)]
    for trace, success, grounded in told:
        runs += [verdict(trace, 0, "task_success", success), verdict(trace, 1, "groundedness", grounded)]
    for trace, word in ((4, "denied"), (5, "approved")):
        runs.append(verdict(trace, 2, "approval", None, value=word, run_id=uuid(trace, 2)))
    return runs


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    monkeypatch.chdir(tmp_path)
    Path("tracemill.yaml").write_text(yaml.safe_dump(SETTINGS))
    landing = Path("landing") / DAY.isoformat()
    landing.mkdir(parents=True)
    (landing / "runs.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records()))
    opened = mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")
    run_day(DAY, QUIET)
    return opened


def set_rewards(rewards: dict[str, Any]) -> Mill:
    Path("tracemill.yaml").write_text(yaml.safe_dump(SETTINGS | {"rewards": rewards}))
    return open_mill()


def rewards(mill: Mill, component: str = "reward") -> dict[int, tuple[float | None, str]]:
    query = (
        "SELECT t.trace_ids[1], r.value, r.verdict FROM rewards AS r JOIN trajectories AS t USING (trajectory_id) "
        f"WHERE r.step = -1 AND r.component = '{component}'"
    )
    with reader(mill.home) as connection:
        return {int(trace[-8:-4]): (value, said) for trace, value, said in connection.sql(query).fetchall()}


def test_a_banks_agent_is_worth_its_successes_less_its_prices_and_a_violation_has_no_price(mill: Mill) -> None:
    told = rewards(mill)
    assert told[1] == (pytest.approx(2.72, abs=1e-9), "ok")
    assert told[2] == (None, "gated") and told[4] == (None, "gated")
    assert told[3] == (pytest.approx(-0.2 * 0.3 - 0.1 * 0.2 - 1.0, abs=1e-9), "ok")
    assert told[5][1] == told[6][1] == "ok"
    with reader(mill.home) as connection:
        coverage = connection.sql("SELECT DISTINCT coverage FROM rewards WHERE component = 'reward'").fetchall()
        gates = connection.sql(
            "SELECT t.trace_ids[1], g.rule, g.verdict FROM gates AS g JOIN trajectories AS t USING (trajectory_id)"
        ).fetchall()
    assert coverage == [(pytest.approx(0.8958333333333334, abs=1e-9),)]
    said = {(int(trace[-8:-4]), rule): word for trace, rule, word in gates}
    assert said[2, "policy"] == "violated" and said[1, "policy"] == "kept"
    assert [said[trace, "large_transfer"] for trace in (4, 5, 6)] == ["denied", "approved", "kept"]
    cut_release(mill, "bank", ReleaseConfig())
    gated = mill.releases.read("bank", CUT).filter("gated")["trajectory_id"].to_list()
    pairs, rollouts = (mill.releases.read("bank", table) for table in (PREFERENCE_PAIRS, ROLLOUTS))
    assert len(gated) == 2 and pairs.height > 0
    assert not {*gated} & {*pairs["chosen_trajectory_id"]} and not {*gated} & {*rollouts["trajectory_id"]}
    assert {*gated} <= {*pairs["rejected_trajectory_id"]}


CHECKED: dict[str, Any] = {
    "components": {
        "success": {"feedback": "task_success"},
        "answered": {"verifier": {"method": "regex", "pattern": r"\b42\b"}},
        "grounded": {"verifier": {"method": "citation", "what": ["numbers"]}, "weight": 0},
    }
}


def test_a_new_verifier_scores_what_is_stored_without_the_exports(mill: Mill) -> None:
    shutil.rmtree("landing")
    other = set_rewards(CHECKED)
    assert is_stale(other, "rewards", DAY) and not is_stale(other, "trajectories", DAY)
    run_rewards(DAY, QUIET)
    told = rewards(other)
    assert {trace: value for trace, (value, _) in told.items()} == {1: 1.0, 2: None, 3: 0.0, 4: None, 5: 1.0, 6: 0.0}
    assert rewards(other, "grounded")[1] == (1.0, "ok") and rewards(other, "grounded")[3] == (None, "missing")
    version = other.lake.version_of("rewards", DAY)
    run_rewards(DAY, QUIET)
    assert other.lake.version_of("rewards", DAY) == version and not is_stale(other, "rewards", DAY)
    set_rewards(BANK)
    run_rewards(DAY, QUIET)
    assert rewards(mill)[1][0] == pytest.approx(2.72, abs=1e-9)


def test_the_command_scores_again_and_tells_the_version(mill: Mill) -> None:
    shutil.rmtree("landing")
    version = set_rewards(CHECKED).settings.rewards.version
    told = CliRunner().invoke(app, ["rewards", "run"])
    assert told.exit_code == 0 and version in told.output
    with pytest.raises(Problem, match="no trajectories are stored of 2026-11-05"):
        CliRunner().invoke(app, ["rewards", "run", "--day", "2026-11-05"], catch_exceptions=False)


def test_references_are_cleaned_with_the_traces_key_and_an_altered_one_has_no_verdict(mill: Mill) -> None:
    lines = [("card", "42"), ("loan", "write to jane.roe@example.com")]
    Path("answers.jsonl").write_text("".join(json.dumps({"task": t, "reference": r}) + "\n" for t, r in lines))
    right = {"method": "regex", "pattern": r"is (\d+)", "references": "answers.jsonl"}
    other = set_rewards({"components": {"right": {"verifier": right}}})
    run_rewards(DAY, QUIET)
    told = rewards(other, "right")
    assert told[1] == (1.0, "ok") and told[3] == (0.0, "ok") and told[5] == (None, "altered")
    Path("answers.jsonl").write_text('{"task": "card", "reference": "43"}\n')
    assert is_stale(open_mill(), "rewards", DAY)
    run_rewards(DAY, QUIET)
    assert rewards(other, "right")[1] == (0.0, "ok") and rewards(other, "right")[5] == (None, "missing")
    Path("answers.jsonl").write_text("jane.roe@example.com\n")
    with pytest.raises(Problem, match="answers.jsonl, line 1") as told_of:
        run_rewards(DAY, QUIET)
    assert "jane" not in str(told_of.value)


def diff(*arguments: str) -> dict[str, Any]:
    told = CliRunner().invoke(app, ["rewards", "diff", *arguments, "--format", "json"], catch_exceptions=False)
    assert told.exit_code == 0
    found: dict[str, Any] = json.loads(told.output)
    return found


def test_two_rewards_are_compared_before_anybody_trains_on_one(mill: Mill) -> None:
    shutil.rmtree("landing")
    before = mill.lake.version_of("rewards", DAY)
    assert diff("stored", "now")["changed"] == 0
    Path("new.yaml").write_text(yaml.safe_dump({"rewards": CHECKED}))
    told = diff("now", "new.yaml")
    assert (told["trajectories"], told["changed"], told["newly gated"]) == (6, 4, 0)
    changes = {row["task"]: row for row in told["trajectories_that_change"] if row["before"] and row["before"] > 2.8}
    assert changes["loan"]["change"] == pytest.approx(1.0 - changes["loan"]["before"])
    turned = {"components": {"failure": {"feedback": "task_success", "direction": "lower"}}}
    Path("turned.yaml").write_text(yaml.safe_dump({"rewards": turned, "gates": {}}))
    told = diff("now", "turned.yaml")
    assert told["pairs that turn round"] == 2 and told["groups whose order changes"] == 2
    assert told["got a reward"] == 2  # without the gates
    assert mill.lake.version_of("rewards", DAY) == before  # nothing was kept
    assert diff(told["before"][:6], "now")["changed"] == 0
    shown = CliRunner().invoke(app, ["rewards", "diff", "now", "new.yaml"], catch_exceptions=False).output
    assert "groups whose order changes" in shown and "of 3" in shown
    with pytest.raises(Problem, match="no file and no version"):
        diff("now", "none.yaml")


def test_phases_of_a_curriculum_are_compared_by_name(mill: Mill) -> None:
    phases = {"early": {"answered": 1.0}, "late": {"success": 1.0}}
    set_rewards(CHECKED | {"phases": phases})
    told = diff("now:early", "now:late")
    assert told["changed"] == 0 and told["before"] != told["after"]
    with pytest.raises(Problem, match="no phase `noon`"):
        diff("now:noon", "now:late")


def test_a_release_is_cut_by_normalised_components_where_that_is_asked_for(mill: Mill) -> None:
    plain = cut_release(mill, "plain", ReleaseConfig())
    other = set_rewards(BANK | {"normalise": "gdpo"})
    run_rewards(DAY, QUIET)
    normalised = cut_release(other, "normalised", ReleaseConfig())
    assert plain["rests_on"] != normalised["rests_on"]
    told = other.releases.read("normalised", CUT).filter(pl.col("reward").is_not_null())
    means = told.group_by("task_id").agg(pl.col("reward").mean(), pl.col("reward").max().alias("most"))
    assert means["reward"].to_list() == pytest.approx([0.0, 0.0], abs=1e-6) and means["most"].min() > 0.5
    assert rewards(other)[1][0] == pytest.approx(2.72, abs=1e-9)  # the day's rewards stay what they are
