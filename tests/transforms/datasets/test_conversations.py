"""Trajectories as messages that a chat template can read."""

import json

from transforms.datasets.conversations import conversations, message_bodies, with_bodies
from warehouse.schemas import MESSAGE


def test_a_segment_is_its_messages_and_where_the_model_wrote(traffic):
    day = traffic()
    whole = day.run("t", tools=("check", "refund"))
    row = conversations(day.threads().steps.reverse()).row(0, named=True)
    assert row["message_ids"] == whole
    assert row["positions"] == [2, 4, 6]
    assert row["steps"] == [0, 1, 2] and row["span_ids"] == ["t-0", "t-1", "t-end"]


def test_a_message_body_keeps_empty_text_and_has_null_for_what_is_not_there(traffic):
    day = traffic()
    said = day.say("assistant", "", [("c1", "check", '{"a": {"b": [1, "ü"]}}')])
    plain = day.say("user", "")
    day.messages[said]["reasoning"] = "think"
    bodies = {row["message_id"]: row["message"] for row in message_bodies(day.frames()[1]).iter_rows(named=True)}
    call = {"id": "c1", "type": "function", "function": {"name": "check", "arguments": '{"a": {"b": [1, "ü"]}}'}}
    assert bodies[said] == {
        "role": "assistant", "content": "", "reasoning_content": "think", "tool_calls": [call], "tool_call_id": None,
        "name": None,
    }  # fmt: skip
    assert bodies[plain] == {
        "role": "user", "content": "", "reasoning_content": None, "tool_calls": None, "tool_call_id": None, "name": None
    }  # fmt: skip


def test_arguments_stay_text_even_where_they_are_no_json(traffic):
    day = traffic()
    said = day.say("assistant", "", [("c1", "check", "{torn")])
    day.messages[said]["tool_calls"] = json.dumps([{"id": "c1", "name": "check", "arguments": "{torn"}])
    bodies = message_bodies(day.frames()[1])
    assert bodies.schema["message"] == MESSAGE
    assert bodies["message"][0]["tool_calls"][0]["function"]["arguments"] == "{torn"


def test_a_segment_with_a_lost_message_is_left_out(traffic):
    day = traffic()
    day.run("whole")
    day.run("lost")
    del day.messages[day.spans[-1]["output"][0]]
    found = with_bodies(conversations(day.threads().steps), day.frames()[1])
    assert found.height == 1 and found["span_ids"][0][-1] == "whole-end"


def test_the_latest_copy_of_a_message_counts(traffic):
    import polars as pl

    old, new = traffic(), traffic()
    new.day = new.day.replace(day=29)
    said = old.say("user", "cleaned well")
    new.messages[said] = old.messages[said] | {"day": new.day, "content": "cleaned badly"}
    bodies = message_bodies(pl.concat([old.frames()[1], new.frames()[1]]))
    assert bodies["message"].struct.field("content").to_list() == ["cleaned well"]
