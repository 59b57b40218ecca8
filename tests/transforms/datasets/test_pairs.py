"""Preference pairs: same task, different outcome, one shared prefix."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

GATE = {"r": {"tool": "refund", "unless_before": "check"}}


def _day(traffic, x=(1.0, 0.0), **run):
    day = traffic()
    for task, rewards in {"x": x, "y": (1.0, 0.0)}.items():
        for attempt, reward in enumerate(rewards):
            day.run(f"{task}{attempt}", task=task, **run)
            day.judge(f"{task}{attempt}", reward)
    return day


def _of(made, task="x"):
    names = dict(made.threads.trajectories.select("trajectory_id", pl.col("trace_ids").list.first()).rows())
    rows = [
        row | {"pair": (names[row["chosen_trajectory_id"]], names[row["rejected_trajectory_id"]])}
        for row in made.pairs.iter_rows(named=True)
    ]
    return [row for row in rows if row["pair"][0].startswith(task)]


def test_a_pair_is_a_prompt_and_two_ways_on(traffic, release):
    (row,) = _of(release(_day(traffic)))
    assert row["pair"] == ("x0", "x1") and (row["rule"], row["margin"], row["shared_messages"]) == ("outcome", 1.0, 2)
    assert [m["role"] for m in row["prompt"]] == ["system", "user"] and row["shares_user_turn"]
    assert row["chosen_actions"] == [0, 2, 4] == row["rejected_actions"]
    assert row["chosen_span_ids"] == ["x0-0", "x0-1", "x0-end"]
    assert [row["chosen"][i]["role"] for i in row["chosen_actions"]] == ["assistant"] * 3
    assert row["tools"] and row["models"] == ["m"] and row["length_gap"] == 0


@pytest.mark.parametrize(("rewards", "pairs"), [((1.0, 0.8), 0), ((1.0, 0.5), 1), ((1.0, 0.0), 1), ((1.0, 1.0), 0)])
def test_rewards_must_lie_apart(traffic, release, rewards, pairs):
    assert len(_of(release(_day(traffic, x=rewards)))) == pairs


def test_users_who_say_different_things_share_only_the_system_message(traffic, release):
    day = traffic()
    for task in "xy":
        for attempt, reward in enumerate((1.0, 0.0)):
            day.run(f"{task}{attempt}", task=task, user=f"Hello {task} {attempt}")
            day.judge(f"{task}{attempt}", reward)
    (row,) = _of(release(day))
    assert (row["shared_messages"], row["shares_user_turn"]) == (1, False)
    assert row["chosen_actions"] == [1, 3, 5]


def _two_answers(day, task, first, second):
    """Two runs of one question: each list of texts alternates between the model and the user."""
    for trace, reward, texts in ((f"{task}0", 1.0, first), (f"{task}1", 0.0, second)):
        thread = [day.say("user", f"Question of {task}")]
        for number, text in enumerate(texts):
            if number % 2:
                thread = [*thread, day.say("user", text)]
            else:
                thread = day.call(trace, f"{trace}-{number}", thread, day.say("assistant", text), task=task)
        day.judge(trace, reward)


def test_the_prefix_may_hold_equal_actions_but_never_a_whole_side(traffic, release):
    day = traffic()
    _two_answers(day, "x", ["Which one?", "That.", "Good."], ["Which one?", "That.", "Bad."])
    _two_answers(day, "y", ["Sure."], ["Sure.", "And?", "No."])
    made = release(day)
    (diverging,), (whole,) = _of(made), _of(made, "y")
    assert diverging["shared_messages"] == 3
    assert [m["content"] for m in (*diverging["chosen"], *diverging["rejected"])] == ["Good.", "Bad."]
    assert whole["shared_messages"] == 1
    assert [m["content"] for m in whole["chosen"]] == ["Sure."]
    assert [m["content"] for m in whole["rejected"]] == ["Sure.", "And?", "No."]


def test_two_sides_that_say_the_same_are_no_pair(traffic, release):
    day = traffic()
    _two_answers(day, "x", ["Same."], ["Same."])
    _two_answers(day, "y", ["Yes."], ["No."])
    assert _of(release(day)) == []


def test_what_the_environment_alone_made_different_is_no_pair(traffic, release):
    day = _day(traffic)
    for trace, reward, result in (("z0", 1.0, "found"), ("z1", 0.0, "lost")):
        asked = day.say("assistant", "", [("c", "check", "{}")])
        thread = day.call(trace, f"{trace}-0", [day.say("user", "do it")], asked, task="z")
        told = day.say("tool", result, answers="c")
        day.call(trace, f"{trace}-1", [*thread, told], day.say("assistant", "Done."), task="z")
        day.judge(trace, reward)
    assert _of(release(day), "z") == []


def test_opposite_verdicts_on_the_same_words_give_one_pair_at_most(traffic, release):
    day = _day(traffic)
    for number, (text, reward) in enumerate([("Yes.", 1.0), ("No.", 0.0), ("No.", 1.0), ("Yes.", 0.0)]):
        day.call(f"z{number}", f"z{number}", [day.say("user", "do it")], day.say("assistant", text), task="z")
        day.judge(f"z{number}", reward)
    assert len(_of(release(day), "z")) == 1


def test_sides_that_differ_in_call_ids_alone_say_the_same(traffic, release):
    day = _day(traffic)
    for trace, reward in (("z0", 1.0), ("z1", 0.0)):
        asked = day.say("assistant", "", [(f"id-{trace}", "check", "{}")])
        day.call(trace, f"{trace}-0", [day.say("user", "do it")], asked, task="z")
        day.judge(trace, reward)
    assert _of(release(day), "z") == []


def test_a_gated_trajectory_is_only_ever_rejected(traffic, release):
    day = traffic()
    for task in "xy":
        for attempt, (reward, tools) in enumerate([(1.0, ("check", "refund")), (1.0, ("refund",)), (0.0, ("check",))]):
            day.run(f"{task}{attempt}", tools=tools, task=task)
            day.judge(f"{task}{attempt}", reward)
    rows = {row["pair"]: row for row in _of(release(day, gates=GATE))}
    assert set(rows) == {("x0", "x1"), ("x0", "x2")}
    gated = rows["x0", "x1"]
    assert (gated["rule"], gated["rejected_reward"], gated["margin"]) == ("gate", None, None)


def test_a_task_gives_at_most_so_many_pairs_closest_lengths_first(traffic, release):
    day = _day(traffic, x=())
    for trace, reward, words in (("x0", 1.0, 5), ("x1", 0.0, 50), ("x2", 0.0, 6), ("x3", 0.0, 20)):
        day.call(trace, f"{trace}-0", [day.say("user", "u")], day.say("assistant", "word " * words), task="x")
        day.judge(trace, reward)
    assert {row["pair"] for row in _of(release(day, pairs={"max_per_task": 2}))} == {("x0", "x2"), ("x0", "x3")}
    assert {row["pair"] for row in _of(release(day, pairs={"max_length_ratio": 2}))} == {("x0", "x2")}


def test_trajectories_of_several_segments_and_of_other_tools_are_not_paired(traffic, release):
    day = _day(traffic)
    day.call("x0", "extra", [day.say("user", "sum up")], day.say("assistant", "ok"), parent_span_id="x0-agent")
    for span in day.spans:
        if span["trace_id"] == "y0" and span["kind"] == "llm":
            span["tools"] = "[]"
    assert release(day).pairs.is_empty()


FIXTURE = {  # steps and reward of six attempts at one task
    "A": (["a1", "b1", "c1"], 1.0), "B": (["a1", "b2", "c2"], 0.0), "C": (["a1", "b1", "c3"], 1.0),
    "D": (["a1", "b2", "c4"], 0.0), "E": (["a2", "d1"], 0.0), "F": (["a1", "b1", "c5"], 0.0),
}  # fmt: skip


def test_all_pairs_of_a_worked_example_come_longest_prefix_first(traffic, release):
    day = _day(traffic, x=())
    for trace, (texts, reward) in FIXTURE.items():
        thread = [day.say("user", "u")]
        for number, text in enumerate(texts):
            thread = day.call(f"x{trace}", f"{trace}{number}", thread, day.say("assistant", text), task="x")
        day.judge(f"x{trace}", reward)
    found = {row["pair"]: row["shared_messages"] for row in _of(release(day, pairs={"max_per_task": 20}))}
    assert found == {
        (f"x{chosen}", f"x{rejected}"): {"F": 3, "E": 1}.get(rejected, 2) for chosen in "AC" for rejected in "BDEF"
    }
    best = {row["pair"] for row in _of(release(day, pairs={"max_per_task": 2}))}
    assert best == {("xA", "xF"), ("xC", "xF")}


REWARDS = st.sampled_from([None, 0.0, 0.5, 1.0])
TOOLS_USED = st.sampled_from([(), ("check", "refund"), ("refund",)])


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("xyz"), REWARDS, TOOLS_USED), min_size=1, max_size=8), st.integers(0, 9))
def test_what_must_hold_of_every_release(traffic, release, runs, seed):
    day = traffic()
    fixed = [("v", 1.0, ("check",)), ("v", 0.0, ()), ("w", 1.0, ("check",)), ("w", 0.0, ())]
    for number, (task, reward, tools) in enumerate([*fixed, *runs]):
        day.run(f"t{number}", tools=tools, task=task)
        if reward is not None:
            day.judge(f"t{number}", reward)
    made, again = release(day, gates=GATE), release(day, gates=GATE, shuffle=seed)
    for name in ("cut", "credit", "pairs", "rollouts"):
        assert getattr(made, name).equals(getattr(again, name))
    gated = set(made.cut.filter("gated")["trajectory_id"])
    assert not gated & {
        *made.pairs["chosen_trajectory_id"],
        *made.rollouts["trajectory_id"],
        *made.credit["trajectory_id"],
    }
    assert made.cut.drop_nulls("split").group_by("task_id").agg(pl.col("split").n_unique())["split"].max() == 1
    splits = dict(made.cut.select("trajectory_id", "split").rows())
    for row in made.pairs.iter_rows(named=True):
        assert row["chosen"] != row["rejected"] and row["chosen"] and row["rejected"]
        assert row["chosen_actions"] and row["rejected_actions"]
        assert splits[row["chosen_trajectory_id"]] == row["split"] == splits[row["rejected_trajectory_id"]]
        for side in ("chosen", "rejected"):
            assert len(row[f"{side}_actions"]) == len(row[f"{side}_span_ids"])
            assert all(row[side][position]["role"] == "assistant" for position in row[f"{side}_actions"])
    assert made.pairs.group_by("task_id").len()["len"].max() <= 4
