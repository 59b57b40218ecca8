"""Several records of one span become one row that says all that they say."""

import time
from itertools import permutations
from typing import Any

from transforms.duplicates import merged


def row(**fields: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "ended_at": None, "output": [], "prompt": [], "flags": [], "altered": False, "status": "unknown",
        "kind": "other", "model": None, "tool_arguments": None, "tool_result": None, "attributes": "{}",
        "content_state": "absent", "started_at": None,
    }  # fmt: skip
    return empty | fields


def test_halves_that_were_sent_apart_become_the_whole_in_either_order() -> None:
    begun = row(prompt=[b"q"], kind="llm", flags=["partial"], content_state="full")
    ended = row(output=[b"a"], ended_at=5, status="ok", model="m", flags=["partial"])
    for whole in (merged([begun, ended]), merged([ended, begun])):
        assert (whole["prompt"], whole["output"], whole["status"]) == ([b"q"], [b"a"], "ok")
        assert (whole["kind"], whole["model"], whole["content_state"]) == ("llm", "m", "full")
        assert whole["flags"] == []


def test_the_record_that_ended_wins_over_the_pending_copy() -> None:
    pending, ended = row(prompt=[b"q"], status="pending"), row(prompt=[b"q"], output=[b"a"], ended_at=5, status="ok")
    for whole in (merged([pending, ended]), merged([ended, pending])):
        assert whole["status"] == "ok" and whole["output"] == [b"a"] and whole["flags"] == ["duplicate_merged"]


def test_events_that_were_logged_apart_are_put_together_around_their_span() -> None:
    asked = row(prompt=[b"system"], flags=["from_logs"], content_state="full")
    span = row(ended_at=5, status="ok", kind="llm", model="m")
    answered = row(prompt=[b"q"], output=[b"a"], flags=["from_logs"])
    whole = merged([asked, span, answered])
    assert (whole["prompt"], whole["output"], whole["model"]) == ([b"system", b"q"], [b"a"], "m")
    assert whole["content_state"] == "full" and whole["flags"] == ["from_logs"]


def test_logged_events_stand_in_the_order_of_their_times_and_those_that_came_twice_once() -> None:
    asked = row(prompt=[b"system", b"q"], flags=["from_logs"], started_at=10)
    told = row(prompt=[b"told"], flags=["from_logs"], started_at=20)
    answered = row(output=[b"a"], flags=["from_logs"], started_at=30)
    span = row(started_at=5, ended_at=40, status="ok", kind="llm")
    for order in permutations([asked, told, answered, span, told, asked]):
        whole = merged(order)
        assert (whole["prompt"], whole["output"]) == ([b"system", b"q", b"told"], [b"a"])
        assert (whole["started_at"], whole["ended_at"]) == (5, 40)
    assert merged([answered, asked])["started_at"] == 10


def test_events_without_a_time_that_came_twice_count_once() -> None:
    asked, told = (row(prompt=[message], flags=["from_logs"]) for message in (b"q", b"told"))
    for order in permutations([asked, asked, told]):
        assert sorted(merged(order)["prompt"]) == [b"q", b"told"]


def test_the_many_logs_of_one_call_are_put_together_in_a_moment() -> None:
    parts = [row(prompt=[b"%d" % place], flags=["from_logs"], started_at=place + 1) for place in range(20_000)]
    began = time.process_time()
    assert len(merged(parts)["prompt"]) == 20_000
    assert time.process_time() - began < 0.5


def test_what_a_span_says_itself_is_not_said_again_by_logs() -> None:
    span = row(prompt=[b"q"], output=[b"a"], started_at=5, ended_at=40, status="ok", kind="llm")
    logged = [row(prompt=[b"q"], flags=["from_logs"], started_at=10), row(output=[b"a"], flags=["from_logs"])]
    for order in permutations([span, *logged]):
        whole = merged(order)
        assert (whole["prompt"], whole["output"]) == ([b"q"], [b"a"])


def test_records_that_contradict_each_other_are_marked_and_the_later_one_counts() -> None:
    one, two = (
        row(prompt=[b"q"], output=[b"a"], ended_at=5),
        row(prompt=[b"q"], output=[b"b"], ended_at=5, altered=True),
    )
    whole = merged([one, two])
    assert whole["output"] == [b"b"] and whole["flags"] == ["duplicate_conflict"] and whole["altered"]


def test_it_does_not_matter_when_a_second_whole_record_came() -> None:
    begun = row(prompt=[b"q"], flags=["partial"])
    ended = row(output=[b"a"], ended_at=5, flags=["partial"])
    one, two = (row(prompt=[b"q"], output=[answer], ended_at=5) for answer in (b"a", b"b"))
    for order in permutations([begun, ended, one, two]):
        assert merged(order)["flags"] == ["duplicate_conflict"]
        assert merged([record for record in order if record is not two])["flags"] == []
