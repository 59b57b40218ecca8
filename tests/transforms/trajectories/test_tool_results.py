"""Tool calls are joined to what came back: by id, by name and arguments, by order, or told as missing."""

import pytest

from transforms.identity import canonical_arguments
from transforms.records import ToolCall
from transforms.trajectories.tool_results import says_error


def _joined(day):
    return day.threads().tool_calls.to_dicts()


def _talk(day, calls, answers):
    asked = day.say("assistant", "", calls)
    thread = day.call("t", "one", [day.say("user", "u")], asked)
    told = [day.say("tool", text, answers=call_id) for call_id, text in answers]
    day.call("t", "two", [*thread, *told], day.say("assistant", "done"))
    return told


def test_parallel_calls_find_their_results_by_id_in_whatever_order(traffic):
    day = traffic()
    told = _talk(day, [("a", "check", "{}"), ("b", "check", "{}")], [("b", "second"), ("a", "first")])
    first, second = _joined(day)
    assert (first["result_id"], second["result_id"]) == (told[1], told[0])
    assert (first["step"], first["call"], second["call"], first["join_rule"]) == (0, 0, 1, "id")


def test_results_without_ids_are_joined_in_order(traffic):
    day = traffic()
    told = _talk(day, [("a", "check", "{}"), ("b", "refund", "{}")], [("", "first"), ("", "second")])
    assert [row["result_id"] for row in _joined(day)] == told
    assert {row["join_rule"] for row in _joined(day)} == {"order"}


def test_a_result_with_another_id_is_nobodys(traffic):
    day = traffic()
    _talk(day, [("a", "check", "{}")], [("z", "what?")])
    assert [row["join_rule"] for row in _joined(day)] == ["missing"]
    assert day.threads().trajectories["flags"].to_list() == [["missing_result"]]


def test_a_result_that_no_call_was_shown_is_found_in_the_tools_span(traffic):
    day = traffic()
    asked = day.say("assistant", "", [("", "check", '{"b": 1, "a": 2}'), ("", "check", "{}")])
    day.call("t", "one", [day.say("user", "u")], asked)
    day.span("t", "plain", "tool", tool_name="check", tool_arguments="{ }")
    day.span("t", "sorted", "tool", tool_name="check", tool_arguments='{"a":2,"b":1}', status="error")
    first, second = _joined(day)
    assert (first["tool_span_id"], first["join_rule"], first["is_error"]) == ("sorted", "arguments", True)
    assert (second["tool_span_id"], second["join_rule"], second["is_error"]) == ("plain", "arguments", False)


def test_an_id_that_is_given_out_again_names_the_run_after_its_own_call(traffic):
    day = traffic()
    thread = [day.say("user", "u")]
    for number, tool in enumerate(("check", "check", "refund")):
        asked = day.say("assistant", f"{number}", [("call_0", tool, f'{{"n": {number}}}')])
        thread = [*day.call("t", f"{number}", thread, asked), day.say("tool", f"told {number}", answers="call_0")]
        if number:  # the first run was not exported
            day.span("t", f"ran {number}", "tool", tool_call_id="call_0", tool_name=tool)
    day.call("t", "end", thread, day.say("assistant", "done"))
    assert [row["tool_span_id"] for row in _joined(day)] == [None, "ran 1", "ran 2"]
    for span in day.spans:  # as chats recorded whole, which tell no times
        span["started_at"] = span["ended_at"] = None
        if span["kind"] == "tool":
            span["tool_arguments"] = f'{{"n":{span["span_id"][-1]}}}'
    assert [row["tool_span_id"] for row in _joined(day)] == [None, "ran 1", "ran 2"]


def test_a_run_without_a_time_is_of_the_call_that_it_stands_behind(traffic):
    for early, late in ((None, "ran"), ("ran", None)):  # one call twice, by one id
        day = traffic()
        asked = [("call_0", "check", '{"order": 7}')]
        ran = {"tool_call_id": "call_0", "tool_name": "check", "tool_arguments": '{"order": 7}', "sequence": "000002.0"}
        thread = day.call("t", "0", [day.say("user", "u")], day.say("assistant", "", asked), sequence="000002")
        thread = [*thread, day.say("tool", "not yet", answers="call_0")]
        day.call("t", "1", thread, day.say("assistant", "again", asked), sequence="000010")
        day.span("t", "ran", "tool", **ran | ({"sequence": "000010.0"} if late else {}))
        for span in day.spans:
            span["started_at"] = span["ended_at"] = None
        assert [row["tool_span_id"] for row in _joined(day)] == [early, late]
        assert _joined(day)[1]["join_rule"] == ("id" if late else "missing")


@pytest.mark.parametrize("above", ["sub", "gone"])
def test_an_id_that_two_agents_give_out_names_each_ones_own_run(traffic, above):
    day = traffic()
    for agent in ("root", "sub"):
        day.span("t", agent, "agent", agent=agent)
    delegate = day.say("assistant", "", [("call_0", "delegate", "{}")])
    thread = day.call("t", "r0", [day.say("user", "u")], delegate, parent_span_id="root")
    search = day.say("assistant", "", [("call_0", "search", '{"q": 1}')])
    day.call("t", "s0", [day.say("user", "sub task")], search, parent_span_id="sub")
    day.span("t", "ran", "tool", tool_call_id="call_0", tool_name="search", parent_span_id=above)
    thread = [*thread, day.say("tool", "sub done", answers="call_0")]
    day.call("t", "r1", thread, day.say("assistant", "ok"), parent_span_id="root")
    found = {row["name"]: (row["tool_span_id"], row["join_rule"]) for row in _joined(day)}
    assert found == {"delegate": (None, "id"), "search": ("ran", "id")}


def test_one_tool_span_answers_one_call(traffic):
    day = traffic()
    asked = day.say("assistant", "", [("", "check", "{}"), ("", "check", "{}")])
    day.call("t", "one", [day.say("user", "u")], asked)
    day.span("t", "only", "tool", tool_name="check", tool_arguments="{}")
    assert [row["tool_span_id"] for row in _joined(day)] == ["only", None]


@pytest.mark.parametrize(
    "text",
    [
        "Error: no such order",
        "sqlite3.OperationalError: no such column",
        "PaymentGatewayTimeout: upstream did not answer",
        "Traceback (most recent call last):\n ...",
        '{"error": "boom"}',
        '{"is_error": true, "content": "x"}',
        '{"status": "error"}',
    ],
)
def test_a_tool_that_failed_is_told_by_its_answer(text):
    assert says_error(text)


@pytest.mark.parametrize(
    "text", ["", "done", "No errors found", '{"error": null}', '{"status": "ok"}', "{torn", "Errors: 0"]
)
def test_a_tool_that_worked_is_not(text):
    assert not says_error(text)


def test_json_that_is_nested_too_deep_to_read_is_text():
    deep = '{"error":' * 100_000 + "1" + "}" * 100_000
    assert not says_error(deep)
    assert canonical_arguments(ToolCall("a", "check", deep)) == deep
