"""The cut of a release: what is in, in which split, and why the rest is not."""

import polars as pl
import pytest

from transforms.datasets.cut import funnel
from transforms.datasets.release_spec import Refused


def _two_tasks(day):
    for task in ("x", "y"):
        for attempt, reward in enumerate((1.0, 0.0)):
            day.run(f"{task}{attempt}", task=task)
            day.judge(f"{task}{attempt}", reward)
    return day


def _by_trace(made):
    names = dict(made.threads.trajectories.select("trajectory_id", pl.col("trace_ids").list.first()).rows())
    return {names[row["trajectory_id"]]: row for row in made.cut.iter_rows(named=True)}


def test_what_is_left_out_says_by_which_rule(traffic, release):
    day = _two_tasks(traffic())
    day.run("unjudged", task="x")
    day.run("torn", task="x", tools=())
    day.judge("torn", 1.0)
    day.spans[-1]["content_state"] = "truncated"
    made = release(day)
    rows = _by_trace(made)
    assert (rows["unjudged"]["dropped"], rows["torn"]["dropped"], rows["x0"]["dropped"]) == (
        "no_reward",
        "not_trainable",
        None,
    )
    assert rows["unjudged"]["split"] is None and rows["x0"]["split"] in ("train", "test")
    assert funnel(made.cut) == [
        {"rule": "where", "left": 6}, {"rule": "exported_twice", "left": 6}, {"rule": "not_trainable", "left": 5},
        {"rule": "no_reward", "left": 4},
    ]  # fmt: skip


def test_a_task_lies_in_one_split(traffic, release):
    made = release(_two_tasks(traffic()))
    assert made.cut.group_by("task_id").agg(pl.col("split").n_unique())["split"].to_list() == [1, 1]


def test_a_gap_that_sums_of_weights_leave_is_no_difference_of_outcome(traffic, release):
    day = traffic()
    for task in ("x", "y"):
        for attempt, reward in enumerate((0.3, 0.1 + 0.2)):
            day.run(f"{task}{attempt}", task=task)
            day.judge(f"{task}{attempt}", reward)
    with pytest.raises(Refused, match="no_mixed_task"):
        release(day)


def test_gated_rollouts_stay_without_a_reward(traffic, release):
    day = _two_tasks(traffic())
    day.run("bad", tools=("refund",), task="x")
    day.judge("bad", 1.0)
    rows = _by_trace(release(day, gates={"r": {"tool": "refund", "unless_before": "check"}}))
    assert rows["bad"]["gated"] and rows["bad"]["reward"] is None and rows["bad"]["split"] == rows["x0"]["split"]


def test_sub_agents_share_the_reward_and_the_gate_of_their_rollout(traffic, release):
    day = _two_tasks(traffic())
    day.run("big", tools=("check",), task="x")
    day.span("big", "inner", "agent", agent="inner", parent_span_id="big-0-tool")
    asked = day.say("assistant", "", [("i", "refund", '{"deep": true}')])
    day.call("big", "sub", [day.say("user", "do")], asked, parent_span_id="inner")
    day.judge("big", 1.0)
    made = release(day)
    rows = made.cut.filter(pl.col("rollout_id").is_duplicated())
    assert rows["reward"].to_list() == [1.0, 1.0] and rows["split"].n_unique() == 1
    made = release(day, gates={"r": {"tool": "refund", "when_arguments": {"deep": {"equals": True}}}})
    assert made.cut.filter(pl.col("rollout_id").is_duplicated())["gated"].to_list() == [True, True]


def test_nothing_to_compare_is_refused_with_the_counts(traffic, release):
    day = traffic()
    for trace in ("a", "b", "c"):
        day.run(trace, task=trace)
        day.judge(trace, 1.0)
    with pytest.raises(Refused, match="no_mixed_task") as refused:
        release(day)
    assert refused.value.counts["tasks"] == 3 and refused.value.counts["mixed tasks"] == 0


def test_one_task_is_refused(traffic, release):
    day = traffic()
    for attempt, reward in enumerate((1.0, 0.0)):
        day.run(f"x{attempt}", task="x")
        day.judge(f"x{attempt}", reward)
    with pytest.raises(Refused, match="too_few_tasks"):
        release(day)


def test_an_empty_window_is_refused(traffic, release):
    with pytest.raises(Refused, match="too_few_tasks"):
        release(traffic())
