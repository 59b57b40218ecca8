"""The traps that exports of agents are known for: each has a test of its right answer, here or where its code is.

`TRAPS` is the list; what it names is held to exist. The tests below are those that belong to no single reader.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transforms.contexts import OTHER_CHOICE, link_rows
from transforms.readers.exports import Tally, read_export
from transforms.records import Record, Reject, Span

TESTS = Path(__file__).parents[1]

TRAPS = {
    "attributes beyond 128 are dropped, the oldest first": [
        "transforms/readers/test_conformance.py::test_calls_that_lost_attributes_are_never_full",
        "transforms/readers/test_otlp.py::test_dropped_attributes_and_cut_json_are_never_full",
    ],
    "a value is cut in the middle of its JSON": [
        "transforms/readers/test_otlp.py::test_dropped_attributes_and_cut_json_are_never_full",
    ],
    "content was not captured, or stands in logs": [
        "transforms/readers/test_otlp.py::test_content_that_was_not_captured_is_absent_and_of_another_dialect_is_unparsed",
        "transforms/readers/test_otlp_logs.py::test_a_span_is_joined_with_what_several_requests_told_of_it",
        "transforms/test_traps.py::test_content_that_says_nothing_is_absent",
    ],
    "the root is missing, spans are orphans": [
        "transforms/test_traps.py::test_calls_whose_parent_never_arrived_are_a_trajectory",
    ],
    "several roots in a trace, a cycle, a span that is its own parent": [
        "transforms/test_traps.py::test_parents_in_a_circle_are_no_end_of_the_day",
        "transforms/test_traps.py::test_a_span_that_is_its_own_parent_is_a_root",
    ],
    "one span id told twice: retries, overlapping exports, begin and end": [
        "transforms/test_duplicates.py::test_the_record_that_ended_wins_over_the_pending_copy",
        "transforms/test_duplicates.py::test_records_that_contradict_each_other_are_marked_and_the_later_one_counts",
        "transforms/test_cleaning.py::test_of_two_copies_of_a_span_the_more_complete_one_stays_and_is_flagged",
        "transforms/readers/test_otlp_spans.py::test_copies_that_logfire_sends_when_a_span_begins_are_dropped",
    ],
    "framework and provider both trace one call": [
        "transforms/trajectories/test_threads.py::test_wrappers_failures_judges_copies_and_empty_calls_are_no_steps",
    ],
    "counts of parents sum those of their children": [
        "transforms/test_traps.py::test_counts_of_agents_are_not_read",
    ],
    "records in any order, a trace over several files": [
        "transforms/trajectories/test_threads.py::test_every_model_call_is_in_exactly_one_place_whatever_the_order_of_rows",
        "pipelines/test_days.py::test_late_spans_and_verdicts_re_emit_the_trajectories_they_touch",
    ],
    "clocks disagree; times in s, ms, µs or ns": [
        "transforms/test_traps.py::test_a_call_comes_after_the_one_it_goes_on_from_whatever_the_clocks_say",
        "transforms/readers/test_otlp.py::test_times_are_nanoseconds_whatever_they_were_counted_in",
    ],
    "times without a zone": ["transforms/test_traps.py::test_times_without_a_zone_are_utc"],
    "ids in base64, upper case, with 0x, unpadded": [
        "transforms/readers/test_otlp.py::test_ids_of_every_notation_are_lower_case_hex",
    ],
    "numbered keys sorted as text, with gaps": [
        "transforms/readers/test_otlp_dialects.py::test_numbers_of_messages_are_numbers_and_a_missing_one_is_never_full",
    ],
    "JSON encoded twice or three times; scalars that look like it": [
        "transforms/readers/test_otlp.py::test_messages_encoded_twice_are_read",
        "transforms/readers/test_langsmith_exports.py::test_text_in_a_bulk_row_that_is_encoded_twice_is_opened_and_scalars_are_not",
    ],
    "arguments as object, text, nothing, no JSON, Python": [
        "transforms/readers/test_langsmith.py::test_calls_keep_the_text_that_the_model_wrote_even_where_it_is_no_json",
        "transforms/readers/test_hostile.py::test_arguments_that_python_wrote_hold_nothing_that_json_does_not",
        "transforms/test_traps.py::test_arguments_that_are_no_json_stay_and_are_marked",
    ],
    "parallel calls, results in another order, ids that are missing or used again": [
        "transforms/trajectories/test_tool_results.py::test_parallel_calls_find_their_results_by_id_in_whatever_order",
        "transforms/trajectories/test_tool_results.py::test_results_without_ids_are_joined_in_order",
        "transforms/test_traps.py::test_an_id_of_a_call_that_is_used_again_names_another_call",
    ],
    "results of tools under other roles": [
        "transforms/readers/test_otlp.py::test_results_under_the_role_user_and_the_name_result_become_tool_messages",
        "transforms/readers/test_langsmith.py::test_results_packed_into_a_user_message_become_tool_messages",
        "transforms/readers/test_langsmith.py::test_roles_of_other_times_are_the_four_of_today",
    ],
    "secrets and persons in results, metadata, keys and ids": [
        "transforms/test_hard_values.py::test_ids_orders_and_counts_say_nothing",
        "transforms/test_hard_values.py::test_keys_that_become_one_hold_back_their_trace_alone",
        "pipelines/test_night.py::test_no_planted_value_is_anywhere_in_the_home",
    ],
    "sub-agents, handoffs, agents as tools": [
        "transforms/trajectories/test_threads.py::test_a_sub_agent_is_its_own_trajectory_of_the_same_rollout",
    ],
    "context that was compacted, summarised or copied": [
        "transforms/trajectories/test_threads.py::test_edited_history_begins_a_segment_of_the_same_trajectory",
        "transforms/readers/test_rollouts.py::test_copied_context_is_prompt_and_never_a_call",
    ],
    "a conversation over several traces": [
        "transforms/trajectories/test_threads.py::test_a_chat_over_several_traces_is_one_trajectory",
    ],
    "streams: no counts, chunks, calls that were cancelled": [
        "transforms/readers/test_langsmith.py::test_a_streamed_call_reads_like_any_other",
        "transforms/readers/test_otlp_dialects.py::test_a_stream_that_mlflow_wrote_down_without_its_calls_is_put_together_from_chunks",
    ],
    "several answers to one prompt": [
        "transforms/test_traps.py::test_of_several_answers_the_one_that_was_gone_on_with_counts",
    ],
    "pictures and sounds in attributes": [
        "transforms/readers/test_otlp.py::test_media_of_all_kinds_are_read",
        "transforms/test_cleaning.py::test_media_keep_their_type_and_nothing_else_that_an_export_says_of_them",
    ],
    "NaN, large integers, lone surrogates, NUL, no UTF-8, byte order marks": [
        "transforms/readers/test_documents.py::test_numbers_and_texts_that_strict_parsers_refuse_are_read",
        "transforms/readers/test_documents.py::test_bytes_that_are_not_utf8_and_nul_characters_are_read_and_flagged",
        "pipelines/test_exactness.py::test_what_no_value_can_hold_is_told_by_flags",
    ],
    "reasoning that is hidden or signed": ["transforms/test_traps.py::test_reasoning_that_is_hidden_is_no_text"],
    "token ids that are absent, empty, wrong, or of another length than their log-probabilities": [
        "transforms/readers/test_tokens.py::test_what_cannot_be_what_was_said_is_left_out_and_told",
        "transforms/readers/test_tokens.py::test_empty_lists_are_no_ids",
        "transforms/test_tokens.py::test_a_call_in_which_anything_was_replaced_keeps_none",
        "pipelines/test_token_canary.py::test_no_ids_in_the_home_are_those_of_a_person",
    ],
    "scores without polarity, as bools, as indices of categories, as statistics": [
        "transforms/readers/test_langsmith.py::test_scores_are_numbers_and_words_are_labels",
        "transforms/readers/test_langfuse.py::test_scores_of_each_type_are_feedback",
        "transforms/rewards/test_compose.py::test_lower_is_better_turns_the_range_round",
    ],
    "feedback that is late, on another span, on a session, through a link": [
        "pipelines/test_days.py::test_late_spans_and_verdicts_re_emit_the_trajectories_they_touch",
        "transforms/rewards/test_compose.py::test_a_verdict_on_the_root_span_is_about_the_trace",
        "transforms/readers/test_langfuse.py::test_a_score_of_a_session_says_of_no_trace",
        "transforms/readers/test_otlp_spans.py::test_annotations_are_feedback_on_their_span_or_on_what_an_evaluator_links_to",
        "transforms/rewards/test_compose.py::test_the_last_word_of_each_annotator_counts_and_annotators_are_averaged",
    ],
    "calls of judges in the trace that they judge": [
        "transforms/trajectories/test_threads.py::test_wrappers_failures_judges_copies_and_empty_calls_are_no_steps",
    ],
    "demonstrations in histories": [
        "transforms/readers/test_rollouts.py::test_demonstrations_are_prompt_and_never_a_call",
    ],
    "attempts that failed before one succeeded": [
        "transforms/readers/test_langsmith.py::test_a_failed_call_keeps_its_prompt_and_has_no_output",
        "transforms/trajectories/test_threads.py::test_wrappers_failures_judges_copies_and_empty_calls_are_no_steps",
    ],
    "enumerations in upper case": [
        "transforms/readers/test_langsmith_exports.py::test_a_run_of_the_second_version_reads_like_one_of_the_first",
    ],
    "lines of 100 MB, one giant array": [
        "transforms/readers/test_bounds.py::test_memory_and_time_are_bounded_for",
        "transforms/readers/test_documents.py::test_a_document_too_large_is_passed_over",
    ],
    "a torn end, blank lines, signals mixed in a file": [
        "transforms/readers/test_documents.py::test_an_incomplete_end_is_a_reject_unless_the_file_is_growing",
        "transforms/readers/test_frames.py::test_an_incomplete_end_is_a_reject_unless_the_file_is_growing",
        "transforms/readers/test_frames.py::test_metrics_hold_nothing_and_logs_are_told_from_traces",
    ],
    "latencies whose unit changed": ["transforms/test_traps.py::test_no_latency_is_read_where_times_are_told"],
    "traffic of tests and of development": [
        "transforms/test_traps.py::test_the_environment_is_kept_so_that_a_release_can_ask_for_it",
    ],
}  # fmt: skip


def read(*documents: dict[str, Any]) -> list[Record]:
    lines = "".join(json.dumps(document) + "\n" for document in documents)
    records = list(read_export(io.BytesIO(lines.encode()), Tally()))
    assert not [record for record in records if isinstance(record, Reject)]
    return records


def run(**fields: Any) -> dict[str, Any]:
    """A run of LangSmith."""
    return {
        "id": "10000000-0000-4000-8000-000000000001", "trace_id": "10000000-0000-4000-8000-000000000001",
        "run_type": "llm", "name": "m", "status": "success", "start_time": "2026-11-30T00:00:00",
        "end_time": "2026-11-30T00:00:01", "inputs": {"messages": [{"role": "user", "content": "Is it?"}]},
        "outputs": {"choices": [{"message": {"role": "assistant", "content": "yes"}}]},
    } | fields  # fmt: skip


def request(said: dict[str, Any], resource: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A request of OTLP with one span."""

    def listed(values: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": value}}
            for key, value in values.items()
        ]

    span = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "chat", "startTimeUnixNano": "1796014946000000000",
            "endTimeUnixNano": "1796014947000000000", "attributes": listed(said)} | fields  # fmt: skip
    return {"resourceSpans": [{"resource": {"attributes": listed(resource or {})}, "scopeSpans": [{"spans": [span]}]}]}


def only(records: list[Record]) -> Span:
    (span,) = records
    assert isinstance(span, Span)
    return span


@pytest.mark.parametrize("trap", TRAPS)
def test_every_trap_has_its_test(trap: str) -> None:
    for name in TRAPS[trap]:
        file, test = name.split("::")
        assert f"def {test}(" in (TESTS / file).read_text(), name


@pytest.mark.parametrize("nothing", ["", "[]", "null"])
def test_content_that_says_nothing_is_absent(nothing: str) -> None:
    said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.output.messages": nothing}
    asked = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Is it?"}]}])
    assert only(read(request(said | {"gen_ai.input.messages": nothing}))).content_state == "absent"
    assert only(read(request(said | {"gen_ai.input.messages": asked}))).content_state == "absent"
    assert only(read(run(outputs={"choices": [{"message": {"role": "assistant", "content": ""}}]}))).content_state in (
        "absent", "unparsed",
    )  # fmt: skip


def test_calls_whose_parent_never_arrived_are_a_trajectory(traffic: Callable[..., Any]) -> None:
    day = traffic()
    asked, said, more = day.say("user", "hi"), day.say("assistant", "yes?"), day.say("user", "go on")
    thread = day.call("t", "1", [asked], said, parent_span_id="never-arrived")
    day.call("t", "2", [*thread, more], day.say("assistant", "done"), parent_span_id="nor-did-this")
    threads = day.threads()
    assert threads.trajectories.select("steps", "segments").rows() == [(2, 1)]


@pytest.mark.parametrize("kind", ["tool", "agent", "chain", "evaluator", "llm"])
def test_parents_in_a_circle_are_no_end_of_the_day(traffic: Callable[..., Any], kind: str) -> None:
    day = traffic()
    for name, parent in (("a", "b"), ("b", "c"), ("c", "a")):
        day.span("t", name, kind, parent_span_id=parent)
    day.call("t", "in", [day.say("user", "hi")], day.say("assistant", "yes"), parent_span_id="a")
    day.call("u", "out", [day.say("user", "ho")], day.say("assistant", "no"))
    threads = day.threads()
    judged = kind == "evaluator"
    assert threads.steps["span_id"].to_list() == (["out"] if judged else ["in", "out"])
    reasons = dict(threads.left_out.select("span_id", "reason").iter_rows())
    assert reasons.get("in") == ("judge" if judged else None)


def test_spans_nested_a_thousand_deep_are_scoped(traffic: Callable[..., Any]) -> None:
    day = traffic()
    for depth in range(1500):
        day.span("t", f"s{depth}", "tool", parent_span_id=f"s{depth - 1}")
    day.call("t", "in", [day.say("user", "hi")], day.say("assistant", "yes"), parent_span_id="s1499")
    assert day.threads().steps.height == 1


def test_a_span_that_is_its_own_parent_is_a_root() -> None:
    told = {"gen_ai.operation.name": "invoke_agent"}
    assert only(read(request(told, parentSpanId="b" * 16))).parent_span_id == ""
    assert only(read(run(parent_run_id=run()["id"]))).parent_span_id == ""


def test_counts_of_agents_are_not_read() -> None:
    counts = {"gen_ai.usage.input_tokens": 700, "gen_ai.usage.output_tokens": 70}
    agent = only(read(request({"gen_ai.operation.name": "invoke_agent", **counts})))
    call = only(read(request({"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **counts})))
    chain = only(read(run(run_type="chain", prompt_tokens=700, completion_tokens=70, total_tokens=770)))
    assert (agent.kind, agent.input_tokens, agent.output_tokens) == ("agent", None, None)
    assert (call.input_tokens, call.output_tokens) == (700, 70)
    assert (chain.input_tokens, chain.output_tokens) == (None, None)


def test_a_call_comes_after_the_one_it_goes_on_from_whatever_the_clocks_say(traffic: Callable[..., Any]) -> None:
    day = traffic()
    asked, wrote = day.say("user", "hi"), day.say("assistant", "", [("c1", "look", "{}")])
    result, called = day.say("tool", "found", answers="c1"), day.say("assistant", "", [("c2", "look", "{}")])
    later, end = day.say("tool", "gone", answers="c2"), day.say("assistant", "done")
    day.call("t", "third", [asked, wrote, result, called, later], end, at=1.0)
    day.call("t", "first", [asked], wrote, at=3.0)
    day.call("t", "second", [asked, wrote, result], called, at=2.0)
    threads = day.threads()
    assert threads.steps["span_id"].to_list() == ["first", "second", "third"]
    assert threads.trajectories.select("segments", "flags").rows() == [(1, [])]
    assert threads.tool_calls["result_id"].to_list() == [result, later]


def test_times_without_a_zone_are_utc() -> None:
    naive, zoned = (only(read(run(start_time=f"2026-11-30T00:00:00{zone}"))) for zone in ("", "+00:00"))
    assert naive.started_ns == zoned.started_ns == 1795996800 * 10**9


@pytest.mark.parametrize(
    ("arguments", "marked"),
    [('{"x": 1}', False), ("", False), ('{"x": 1e400}', False), ("{'x': 1}", True), ('{"x": 1', True), ("x=1", True)],
)
def test_arguments_that_are_no_json_stay_and_are_marked(arguments: str, marked: bool) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    said = only(
        read(run(outputs={"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [call]}}]}))
    )
    assert said.output[0].tool_calls[0].arguments == arguments
    assert (said.content_state, "invalid_arguments" in said.flags) == ("full", marked)


def test_an_id_of_a_call_that_is_used_again_names_another_call(traffic: Callable[..., Any]) -> None:
    day = traffic()
    thread = [day.say("user", "hi")]
    results = []
    for turn in range(3):
        wrote = day.say("assistant", "", [("call_0", "look", f'{{"page": {turn}}}')])
        thread = day.call("t", f"{turn}", thread, wrote)
        results.append(day.say("tool", f"page {turn}", answers="call_0"))
        thread = [*thread, results[-1]]
    day.call("t", "end", thread, day.say("assistant", "done"))
    calls = day.threads().tool_calls
    assert calls["result_id"].to_list() == results
    assert calls["join_rule"].to_list() == ["id"] * 3


def test_of_several_answers_the_one_that_was_gone_on_with_counts() -> None:
    def row(name: str, at: int, prompt: list[bytes], output: list[bytes]) -> dict[str, Any]:
        return {"trace_id": "t", "span_id": name, "started_at": at, "sequence": "", "prompt": prompt, "output": output,
                "flags": []}  # fmt: skip

    chosen, first, neither = link_rows([
        row("1", 1, [b"u"], [b"one", b"two", b"three"]),
        row("2", 2, [b"u", b"two", b"v"], [b"four", b"five"]),
        row("3", 3, [b"u", b"two", b"v", b"four", b"w"], [b"six", b"seven"]),
    ])  # fmt: skip
    assert (chosen["output"], chosen["flags"]) == ([b"two", b"one", b"three"], [OTHER_CHOICE])
    assert (first["output"], first["flags"], first["base_span_id"], first["base_length"]) == (
        [b"four", b"five"], [], "1", 2
    )  # fmt: skip
    assert (neither["output"], neither["flags"]) == ([b"six", b"seven"], [])


def test_reasoning_that_is_hidden_is_no_text() -> None:
    said = [
        {"type": "redacted_thinking", "data": "EtYBC"}, {"type": "thinking", "thinking": "", "signature": "c2ln"},
        {"type": "text", "text": "yes"},
    ]  # fmt: skip
    call = only(read(run(outputs={"role": "assistant", "content": said})))
    assert (call.output[0].content, call.output[0].reasoning, call.content_state) == ("yes", "", "full")
    assert call.flags == ["reasoning_hidden"]


def test_no_latency_is_read_where_times_are_told() -> None:
    row = {"id": "o", "trace_id": "t", "type": "GENERATION", "parent_observation_id": "", "name": "m",
           "start_time": "2026-11-30 00:00:00.000000", "end_time": "2026-11-30 00:00:02.500000", "input": "Is it?",
           "output": "yes", "level": "DEFAULT"}  # fmt: skip
    in_seconds, in_milliseconds = (only(read(row | {"latency": latency})) for latency in (2.5, 2500))
    assert in_seconds == in_milliseconds
    assert (in_seconds.ended_ns or 0) - (in_seconds.started_ns or 0) == 2_500_000_000


def test_the_environment_is_kept_so_that_a_release_can_ask_for_it() -> None:
    span = only(read(request({"gen_ai.operation.name": "chat"}, {"deployment.environment.name": "staging"})))
    assert span.attributes["deployment.environment"] == "staging"
    assert only(read(run(extra={"metadata": {"environment": "staging"}}, tags=["test"]))).attributes == {
        "environment": "staging", "tags": ["test"],
    }  # fmt: skip
