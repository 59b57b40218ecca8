"""Spans become trajectories: whose call is whose, what continues what, and what is no step at all."""

import json
from datetime import timedelta

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.trajectories.threads import build_threads


def test_a_run_is_one_trajectory_with_its_steps_in_order(traffic):
    day = traffic()
    day.run("t", tools=("check", "refund"), task="7", dataset="d", trial=2)
    threads = day.threads()
    row = threads.trajectories.row(0, named=True)
    assert (row["steps"], row["segments"], row["tool_calls"], row["agent"], row["trial"]) == (3, 1, 2, "support", 2)
    assert row["trajectory_id"] == row["rollout_id"] and row["parent_trajectory_id"] is None
    assert (row["termination"], row["trainable"], row["flags"]) == ("finished", True, [])
    assert (row["task"], row["task_rule"], row["input_tokens"]) == ("7", "explicit", 30)
    assert threads.steps["span_id"].to_list() == ["t-0", "t-1", "t-end"]
    assert threads.steps["observed"].list.len().to_list() == [2, 1, 1]
    assert threads.steps["segment_rule"].to_list() == ["start", None, None]
    assert threads.left_out.is_empty()


def test_an_observation_never_repeats_the_action_before_it(traffic):
    day = traffic()
    whole = day.run("t")
    steps = day.threads().steps
    told = [m for row in steps.iter_rows(named=True) for m in (*row["observed"], row["action"])]
    assert told == whole


def test_a_prompt_is_told_by_the_span_it_continues(traffic):
    day = traffic()
    system, user, answer = day.say("system", "s"), day.say("user", "u"), day.say("assistant", "a")
    more, end = day.say("user", "v"), day.say("assistant", "b")
    day.call("t", "one", [system, user], answer)
    day.call("t", "two", [system, user, answer, more], end, base_span_id="one", base_length=3, prompt_suffix=[more])
    steps = day.threads().steps
    assert steps["segment"].to_list() == [0, 0]
    assert steps["observed"].to_list() == [[system, user], [more]]


def test_a_prompt_whose_base_never_arrived_is_left_out(traffic):
    day = traffic()
    day.call("t", "two", [day.say("user", "u")] * 3, day.say("assistant", "b"), base_span_id="gone", base_length=2)
    threads = day.threads()
    assert threads.steps.is_empty()
    assert threads.left_out["reason"].to_list() == ["no_content"]


def test_edited_history_begins_a_segment_of_the_same_trajectory(traffic):
    day = traffic()
    user = day.say("user", "u")
    thread = day.call("t", "one", [day.say("system", "Today is Monday."), user], day.say("assistant", "a"))
    day.call(
        "t",
        "two",
        [day.say("system", "Today is Tuesday."), *thread[1:], day.say("user", "v")],
        day.say("assistant", "b"),
    )
    threads = day.threads()
    assert threads.trajectories["segments"].to_list() == [2]
    assert threads.trajectories["flags"].to_list() == [["edited_context"]]
    assert threads.steps["segment_rule"].to_list() == ["start", "edited"]
    assert threads.steps["observed"].list.len().to_list() == [2, 4]


def test_a_prompt_that_is_asked_once_more_begins_a_segment_as_a_retry(traffic):
    day = traffic()
    thread = day.call("t", "one", [day.say("user", "u")], day.say("assistant", "a"))
    asked = [*thread, day.say("user", "v")]
    day.call("t", "two", asked, day.say("assistant", "not what was wanted"))
    again = day.call("t", "again", asked, day.say("assistant", "b"))
    day.call("t", "end", [*again, day.say("user", "w")], day.say("assistant", "c"))
    threads = day.threads()
    assert threads.steps["segment_rule"].to_list() == ["start", None, "retry", None]
    assert threads.steps["segment"].to_list() == [0, 0, 1, 1]
    assert threads.trajectories["flags"].to_list() == [["retried"]]


def test_other_tools_begin_a_segment(traffic):
    day = traffic()
    thread = day.call("t", "one", [day.say("user", "u")], day.say("assistant", "a"))
    day.call("t", "two", [*thread, day.say("user", "v")], day.say("assistant", "b"), tools="[]")
    assert day.threads().steps["segment_rule"].to_list() == ["start", "tools"]


def test_a_call_in_between_does_not_cut_the_thread_in_two(traffic):
    day = traffic()
    thread = day.call("t", "one", [day.say("user", "u")], day.say("assistant", "a"))
    day.call("t", "title", [day.say("system", "Name this talk.")], day.say("assistant", "A talk"))
    day.call("t", "two", [*thread, day.say("user", "v")], day.say("assistant", "b"))
    assert day.threads().steps["segment"].to_list() == [0, 1, 0]


def test_a_chat_over_several_traces_is_one_trajectory(traffic):
    day = traffic()
    thread = [day.say("system", "s")]
    for turn in range(3):
        prompt = [*thread, day.say("user", f"question {turn}")]
        thread = day.call(f"trace{turn}", f"call{turn}", prompt, day.say("assistant", f"{turn}"), conversation_id="c")
    row = day.threads().trajectories.row(0, named=True)
    assert row["trace_ids"] == ["trace0", "trace1", "trace2"]
    assert (row["steps"], row["segments"]) == (3, 1)


def test_traces_of_a_conversation_that_do_not_continue_each_other_stay_apart(traffic):
    day = traffic()
    day.call("a", "1", [day.say("user", "u")], day.say("assistant", "a"), conversation_id="c")
    day.call("b", "2", [day.say("user", "u")], day.say("assistant", "b"), conversation_id="c")
    assert day.threads().trajectories.height == 2


def test_a_sub_agent_is_its_own_trajectory_of_the_same_rollout(traffic):
    day = traffic()
    day.span("t", "boss", "agent", agent="boss")
    user = day.say("user", "u")
    asked = day.say("assistant", "", [("c1", "research", "{}")])
    thread = day.call("t", "one", [user], asked, parent_span_id="boss")
    day.span("t", "tool", "tool", parent_span_id="boss", tool_call_id="c1", tool_name="research")
    day.span("t", "helper", "agent", agent="helper", parent_span_id="tool")
    day.call("t", "sub", [day.say("system", "Research."), user], day.say("assistant", "found"), parent_span_id="helper")
    told = day.say("tool", "found", answers="c1")
    day.call("t", "two", [*thread, told], day.say("assistant", "done"), parent_span_id="boss")
    rows = {row["agent"]: row for row in day.threads().trajectories.iter_rows(named=True)}
    assert rows["helper"]["parent_trajectory_id"] == rows["boss"]["trajectory_id"] == rows["helper"]["rollout_id"]
    assert rows["helper"]["task_id"] == rows["boss"]["task_id"]
    assert (rows["boss"]["steps"], rows["helper"]["steps"], rows["boss"]["segments"]) == (2, 1, 1)


def test_wrappers_failures_judges_copies_and_empty_calls_are_no_steps(traffic):
    day = traffic()
    user, answer = day.say("user", "u"), day.say("assistant", "a")
    day.call("t", "wrapper", [user], answer, at=0)
    day.call("t", "real", [user], answer, at=0.1, parent_span_id="wrapper", response_id="r1")
    day.call("t", "copy", [user], answer, at=0.2, response_id="r1")
    day.call("t", "retry", [user], None, status="error")
    day.call("t", "running", [user], None, status="pending")
    day.span("t", "grade", "evaluator")
    day.call("t", "judge", [user], day.say("assistant", "good"), parent_span_id="grade")
    day.call("t", "silent", [user], None)
    day.call("t", "bare", [], None, content_state="absent")
    threads = day.threads()
    assert threads.steps["span_id"].to_list() == ["real"]
    assert dict(threads.left_out.select("span_id", "reason").iter_rows()) == {
        "wrapper": "wrapper", "copy": "duplicate", "retry": "failed", "running": "pending", "judge": "judge",
        "silent": "no_output", "bare": "no_content",
    }  # fmt: skip


def test_the_most_complete_copy_of_a_span_counts(traffic):
    early, late = traffic(), traffic()
    early.call("t", "s", [early.say("user", "u")], None, status="pending", ended_at=None)
    late.day += timedelta(days=1)
    late.call("t", "s", [late.say("user", "u")], late.say("assistant", "a"))
    spans = pl.concat([late.frames()[0], early.frames()[0]])
    threads = build_threads(spans, late.frames()[1], late.identity, late.day)
    assert threads.steps["span_id"].to_list() == ["s"]
    assert threads.trajectories["revision"].to_list() == [late.day]


def test_later_turns_do_not_rename_a_trajectory(traffic):
    day = traffic()
    thread = day.call("a", "1", [day.say("user", "u")], day.say("assistant", "a"), conversation_id="c")
    before = day.threads().trajectories["trajectory_id"].to_list()
    day.call("b", "2", [*thread, day.say("user", "v")], day.say("assistant", "b"), conversation_id="c")
    assert day.threads().trajectories["trajectory_id"].to_list() == before


def test_how_a_thread_ended(traffic):
    def ended(**last):
        day = traffic()
        root = {"status": last.pop("root", "ok"), "error_type": last.pop("error_type", None), **last.pop("span", {})}
        day.span("t", "root", "agent", agent="a", **root)
        calls = last.pop("calls", ())
        day.call("t", "1", [day.say("user", "u")], day.say("assistant", "x", calls), parent_span_id="root", **last)
        return day.threads().trajectories["termination"].item()

    asks = {"calls": [("c", "check", "{}")], "finish_reason": "tool_calls"}
    assert ended() == "finished"
    assert ended(finish_reason="length") == "truncated"
    assert ended(finish_reason="content_filter") == "error"
    assert ended(root="error", error_type="ValueError") == "error"
    assert ended(root="error", error_type="GraphRecursionError", **asks) == "limit"
    assert ended(root="error", error_type="UsageLimitExceeded", **asks) == "limit"
    assert ended(root="error", error_type="RateLimitError", **asks) == "error"
    assert ended(**asks) == "limit"
    assert ended(span={"ended_at": None}, **asks) == "limit"
    assert ended(root="unknown", span={"ended_at": None}, **asks) == "abandoned"
    assert ended(root="pending", span={"ended_at": None}, **asks) == "abandoned"


def test_an_agent_that_hands_over_or_submits_has_finished(traffic):
    def ended(*tools, error=False):
        day = traffic()
        day.span("t", "root", "agent", agent="a")
        asked = day.say("assistant", "", [(f"c{number}", tool, "{}") for number, tool in enumerate(tools)])
        day.call("t", "1", [day.say("user", "u")], asked, parent_span_id="root", finish_reason="tool_calls")
        for number, tool in enumerate(tools):
            day.span("t", f"ran{number}", "tool", parent_span_id="root", tool_call_id=f"c{number}", tool_name=tool,
                     status="error" if error else "ok")  # fmt: skip
        return day.threads().trajectories["termination"].item()

    ending = (
        "transfer_to_human_agents", "submit", "final_answer", "Finish", "final_result", "escalate-to-human",
        "functions.done", "handoff_to_a_live_person", "complete_task", "transfer_call_to_human_agent",
    )  # fmt: skip
    assert {name: ended(name) for name in ending} == dict.fromkeys(ending, "finished")
    others = (
        "submit_order",
        "transfer_to_account",
        "transfer_to_billing_agent",
        "complete_purchase",
        "undone",
        "search",
    )
    assert {name: ended(name) for name in others} == dict.fromkeys(others, "limit")
    assert ended("submit", "search") == ended("submit", error=True) == "limit"


def test_a_limit_is_told_by_words_where_no_exception_is_named(traffic):
    def ended(error, **root):
        day = traffic()
        day.span("t", "root", "agent", agent="a", status="error", error=error, **root)
        asked = day.say("assistant", "", [("c", "check", "{}")])
        day.call("t", "1", [day.say("user", "u")], asked, parent_span_id="root")
        return day.threads().trajectories["termination"].item()

    assert ended("Max turns exceeded: {'max_turns': 5}") == "limit"
    assert ended("Recursion limit of 10 reached without hitting a stop condition.") == "limit"
    assert ended("The tool failed") == ended("Rate limit exceeded") == "error"
    assert ended("x" * 200 + " maximum steps") == "error"
    assert ended("Max turns exceeded", error_type="RateLimitError") == "error"


def test_an_agent_is_named_by_its_span_where_nothing_else_names_it(traffic):
    day = traffic()
    day.span("t", "root", "agent", name="refund_agent")
    day.call("t", "1", [day.say("user", "u")], day.say("assistant", "x"), parent_span_id="root")
    day.span("s", "outer", "agent", name="workflow", agent="desk")
    day.span("s", "inner", "agent", name="run", parent_span_id="outer")
    day.call("s", "2", [day.say("user", "u")], day.say("assistant", "y"), parent_span_id="inner")
    day.span("chat", "whole", "agent", name="trial")
    day.call("chat", "4", [day.say("user", "u")], day.say("assistant", "w"), parent_span_id="whole")
    day.call("alone", "3", [day.say("user", "u")], day.say("assistant", "z"))
    named = {row["trace_ids"][0]: row["agent"] for row in day.threads().trajectories.iter_rows(named=True)}
    assert named == {"t": "refund_agent", "s": "desk", "chat": None, "alone": None}


def test_a_failed_call_after_the_last_step_ends_in_error(traffic):
    day = traffic()
    thread = day.run("t")
    day.call("t", "failed", thread, None, status="error", parent_span_id="t-agent")
    assert day.threads().trajectories["termination"].item() == "error"


def test_what_is_not_there_in_full_is_not_trained_on(traffic):
    day = traffic()
    day.run("whole")
    day.run("cut")
    day.spans[-1]["content_state"] = "truncated"
    day.run("picture")
    day.messages[day.spans[-1]["output"][0]]["media"] = json.dumps([{"modality": "image"}])
    day.run("lost")
    del day.messages[day.spans[-1]["output"][0]]
    rows = {row["trace_ids"][0]: row for row in day.threads().trajectories.iter_rows(named=True)}
    assert {trace: row["trainable"] for trace, row in rows.items()} == {
        "whole": True, "cut": False, "picture": False, "lost": False,
    }  # fmt: skip
    assert rows["picture"]["flags"] == ["media"] and rows["lost"]["flags"] == ["missing_message"]


@st.composite
def days(draw, traffic):
    """A few traces of calls that continue, edit, nest and fail at random."""
    day = traffic()
    for trace in range(draw(st.integers(1, 3))):
        contexts = [[day.say("system", "s"), day.say("user", f"u{draw(st.integers(0, 1))}")]]
        ids = [None]
        for number in range(draw(st.integers(1, 6))):
            kind = draw(st.sampled_from(["llm", "llm", "llm", "agent", "tool", "evaluator"]))
            span, parent = f"{trace}-{number}", draw(st.sampled_from(ids))
            ids.append(span)
            if kind != "llm":
                day.span(f"t{trace}", span, kind, parent_span_id=parent, agent=draw(st.sampled_from([None, "a", "b"])))
                continue
            prompt = draw(st.sampled_from(contexts))
            output = draw(st.sampled_from([None, *(day.say("assistant", text) for text in "xyz")]))
            status = draw(st.sampled_from(["ok", "ok", "error", "pending"]))
            made = day.call(
                f"t{trace}", span, prompt, output, at=draw(st.integers(0, 3)), parent_span_id=parent, status=status,
                conversation_id=draw(st.sampled_from([None, "c"])), response_id=draw(st.sampled_from([None, "r"])),
            )  # fmt: skip
            contexts.append([*made, day.say("user", "more")])
    return day


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_every_model_call_is_in_exactly_one_place_whatever_the_order_of_rows(traffic, data):
    day = data.draw(days(traffic))
    spans, messages = day.frames()
    threads = build_threads(spans, messages, day.identity, day.day)
    placed = [*threads.steps["span_id"], *threads.left_out["span_id"]]
    assert sorted(placed) == sorted(spans.filter(pl.col("kind") == "llm")["span_id"])
    order = data.draw(st.permutations(range(spans.height)))
    shuffled = pl.concat([spans[order], spans.head(2)])
    again = build_threads(shuffled, messages.reverse(), day.identity, day.day)
    for name in ("trajectories", "steps", "tool_calls", "left_out"):
        assert getattr(again, name).equals(getattr(threads, name))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_segment_told_message_by_message_is_every_prompt_in_it(traffic, data):
    day = data.draw(days(traffic))
    steps = day.threads().steps
    prompts = {row["span_id"]: row["prompt_suffix"] for row in day.spans}
    for segment in steps.partition_by("trajectory_id", "segment"):
        told = []
        for row in segment.sort("step").iter_rows(named=True):
            told = told + row["observed"]
            assert told == prompts[row["span_id"]]
            told = [*told, row["action"]]
