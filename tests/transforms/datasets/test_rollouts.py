"""What offline GRPO reads: one row a segment, actions and advantages aligned."""

import polars as pl


def _day(traffic):
    day = traffic()
    for task in ("x", "y"):
        for attempt, reward in enumerate((1.0, 0.0)):
            day.run(f"{task}{attempt}", task=task)
            day.judge(f"{task}{attempt}", reward)
    return day


def test_a_row_is_the_prompt_and_all_that_followed(traffic, release):
    made = release(_day(traffic))
    row = next(r for r in made.rollouts.iter_rows(named=True) if "x0-0" in r["span_ids"])
    assert [m["role"] for m in row["prompt"]] == ["system", "user"]
    assert [m["role"] for m in row["completion"]] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert row["actions"] == [0, 2, 4] and row["steps"] == [0, 1, 2] and row["span_ids"] == ["x0-0", "x0-1", "x0-end"]
    assert row["advantages"] == [0.5] * 3 and row["mixed"] and row["group_size"] == 2 and row["models"] == ["m"]


def test_every_segment_is_a_row_with_its_own_steps(traffic, release):
    day = _day(traffic)
    child = {"parent_span_id": "x0-agent"}
    day.call(
        "x0", "extra", [day.say("system", "Summarise."), day.say("user", "all")], day.say("assistant", "ok"), **child
    )
    rows = release(day).rollouts.filter(
        pl.col("span_ids").list.contains("x0-0") | pl.col("span_ids").list.contains("extra")
    )
    assert rows.sort("segment").select("segment", "steps", "actions").rows() == [
        (0, [0, 1, 2], [0, 2, 4]),
        (1, [3], [0]),
    ]
    assert rows["trajectory_id"].n_unique() == 1


def test_gated_and_unrewarded_rollouts_are_no_rows(traffic, release):
    day = _day(traffic)
    day.run("bad", tools=("refund",), task="x")
    day.judge("bad", 1.0)
    day.run("unjudged", task="x")
    made = release(day, gates={"r": {"tool": "refund", "unless_before": "check"}})
    spans = set(made.rollouts["span_ids"].explode(empty_as_null=False))
    assert "x0-0" in spans and not {"bad-0", "unjudged-0"} & spans
    assert set(made.rollouts["group_size"]) == {2}


def test_a_group_without_spread_is_not_mixed(traffic, release):
    day = _day(traffic)
    for trace in ("z0", "z1"):
        day.run(trace, task="z")
        day.judge(trace, 1.0)
    rows = release(day).rollouts
    assert rows.filter(pl.col("span_ids").list.contains("z0-0"))["mixed"].to_list() == [False]
