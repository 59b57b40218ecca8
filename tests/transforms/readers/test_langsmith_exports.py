"""What becomes of LangSmith's other exports: v2 runs, bulk rows, rows of the CLI, batches, fetched traces."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Record, Reject, Span, ToolCall

ROOT = "01a22ac9-1d04-773f-8b54-6b7c1f1af9f8"
CHILD = "01a22ac9-1d22-7309-8407-2c1e4c3f424f"
ORDER = f"20261130T044912964381Z{ROOT}.20261130T044912994296Z{CHILD}"
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}]
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
ANSWER = {
    "id": "chatcmpl-1", "model": "m-1",
    "choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}]}}],
    "usage_metadata": {"input_tokens": 12, "output_tokens": 5, "input_token_details": {"cache_read": 8}},
}  # fmt: skip
DEEP: Any = json.loads("[" * 230 + "]" * 230)
RUN = {
    "id": CHILD, "trace_id": ROOT, "parent_run_id": ROOT, "dotted_order": ORDER, "name": "ChatOpenAI",
    "run_type": "llm",
    "start_time": "2026-11-30T04:49:12.994296Z", "end_time": "2026-11-30T04:49:13.002368Z", "session_id": "p-1",
    "inputs": {"messages": CHAT, "tools": TOOLS}, "outputs": ANSWER, "status": "success", "tags": ["x"],
    "extra": {"metadata": {"task_id": "t-9", "attempt": 2, "thread_id": "talk"}},
}  # fmt: skip


def read(*documents: Any) -> list[Record]:
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), Tally()))


def whole(span: Any) -> Span:
    """A span that is all there: what was asked, what was said, and whose attempt it is."""
    assert isinstance(span, Span)
    assert [message.content for message in span.prompt] == ["Be brief.", "Where is it?"]
    assert span.output == [Message("assistant", tool_calls=(ToolCall("c1", "find", '{"id": 7}'),))]
    assert (span.source, span.kind, span.status, span.content_state) == ("langsmith", "llm", "ok", "full")
    assert (span.trace_id, span.span_id, span.model, span.finish_reason) == (ROOT, CHILD, "m-1", "tool_calls")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens) == (12, 5, 8)
    return span


def v2(**more: Any) -> dict[str, Any]:
    run = {key: value for key, value in RUN.items() if key not in ("session_id", "parent_run_id")}
    said = {"run_type": "LLM", "status": "SUCCESS", "project_id": "p-1", "parent_run_ids": [ROOT], "extra": {},
            "metadata": {"task_id": "t-9", "attempt": 2}, "thread_id": "talk"}  # fmt: skip
    return {**run, **said, **more}


def test_a_run_of_the_second_version_reads_like_one_of_the_first() -> None:
    (first,), (second,) = read(RUN), read(v2())
    assert whole(second) == whole(first)
    assert (second.task, second.trial, second.conversation_id, second.parent_span_id) == ("t-9", 2, "talk", ROOT)


def test_a_run_of_the_second_version_may_name_its_type_in_lower_case() -> None:
    (span,) = read(v2(run_type="llm"))
    assert (span.task, span.trial, span.conversation_id) == ("t-9", 2, "talk")
    assert span.dataset == v2()["project_id"]


def test_a_run_of_the_second_version_may_hold_its_structures_as_text() -> None:
    packed = {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in v2().items()}
    assert read(packed) == read(v2())


def test_a_page_of_the_second_version_gives_its_runs() -> None:
    spans = read({"items": [v2(), v2(status="PENDING", end_time=None)], "next_cursor": None})
    assert [span.status for span in spans if isinstance(span, Span)] == ["ok", "pending"]


def test_a_file_with_nothing_but_ids_is_refused() -> None:
    (record,) = read({"id": CHILD})
    assert isinstance(record, Reject)


@pytest.mark.parametrize("columns", [None, ["id", "run_type", "trace_id", "inputs", "outputs"]])
def test_rows_of_a_bulk_export_read_like_runs_with_whatever_columns(columns: list[str] | None) -> None:
    row = {**{name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in RUN.items()},
           "parent_run_ids": json.dumps([ROOT]), "trace_tier": "longlived", "error": None}  # fmt: skip
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([row]).select(columns or list(row)), held)
    (span,) = read_export(io.BytesIO(held.getvalue()), Tally())
    assert whole(span).tools == TOOLS
    assert columns or span == whole(read(RUN)[0])


def test_text_in_a_bulk_row_that_is_encoded_twice_is_opened_and_scalars_are_not() -> None:
    row = {**RUN, "inputs": json.dumps(json.dumps(RUN["inputs"])), "extra": "{}", "run_type": "llm"}
    whole(read(row)[0])
    tool = {**row, "run_type": "tool", "inputs": json.dumps({"q": "5"}), "outputs": json.dumps({"output": "7"})}
    (span,) = read(tool)
    assert isinstance(span, Span)
    assert (span.tool_arguments, span.tool_result) == ('{"q": "5"}', "7")


def test_a_row_of_the_cli_is_a_run_whose_tools_may_be_unknown() -> None:
    row = {"run_id": CHILD, "trace_id": ROOT, "name": "m", "run_type": "llm", "parent_run_id": ROOT, "outputs": ANSWER,
           "inputs": {"messages": CHAT}, "start_time": RUN["start_time"], "end_time": RUN["end_time"],
           "status": "success", "custom_metadata": {"task_id": "t-9"},
           "token_usage": {"prompt_tokens": 12}}  # fmt: skip
    span = whole(read(row)[0])
    assert (span.task, span.parent_span_id, span.flags) == ("t-9", ROOT, ["tools_unknown"])
    listed = {"trace_id": ROOT, "run_count": 1, "runs": [row]}
    assert read(listed) == [span]


POST = {**RUN, "outputs": {}, "end_time": None, "status": "pending", "session_name": "shop"}
PATCH = {"id": CHILD, "trace_id": ROOT, "dotted_order": ORDER, "outputs": ANSWER, "end_time": RUN["end_time"],
         "extra": {"metadata": {"ls_model_name": "m-1"}}, "inputs": {}}  # fmt: skip


def test_an_update_joins_its_creation_within_a_batch() -> None:
    (span,) = read({"post": [{**POST, "status": None}], "patch": [PATCH]})
    assert whole(span).flags == []
    assert (span.task, span.dataset) == ("t-9", "shop")


def test_an_update_without_an_id_is_known_by_its_order() -> None:
    (span,) = read({"post": [{**POST, "status": None}], "patch": [{k: v for k, v in PATCH.items() if k != "id"}]})
    assert whole(span).flags == []


def test_an_update_in_a_later_batch_of_the_file_gives_the_run_again_and_whole() -> None:
    half, span = read({"post": [{**POST, "status": None}]}, {"patch": [PATCH]})
    assert isinstance(half, Span)
    assert (half.span_id, half.flags, half.output, half.status) == (CHILD, ["partial"], [], "pending")
    assert whole(span).flags == []


def test_halves_in_different_files_have_the_same_ids_and_are_partial() -> None:
    ((first,), (second,)) = read({"post": [POST]}), read({"patch": [PATCH]})
    assert isinstance(first, Span)
    assert isinstance(second, Span)
    assert (first.trace_id, first.span_id) == (second.trace_id, second.span_id) == (ROOT, CHILD)
    assert first.flags == second.flags == ["partial"]
    assert (len(first.prompt), len(first.output)) == (2, 0)
    assert (len(second.prompt), len(second.output)) == (0, 1)
    assert second.content_state == "absent"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"outputs": ANSWER}, "llm"),
        ({"extra": {"metadata": {"tool_call_id": "c1"}}}, "tool"),
        ({"outputs": {}}, "other"),
    ],
)
def test_an_update_alone_is_of_the_kind_it_shows(said: dict[str, Any], kind: str) -> None:
    (span,) = read({"patch": [{"id": CHILD, "trace_id": ROOT, "end_time": RUN["end_time"], **said}]})
    assert isinstance(span, Span)
    assert (span.kind, span.flags) == (kind, ["partial"])


def test_a_run_that_was_sent_whole_is_not_partial() -> None:
    (span,) = read({"post": [RUN]})
    assert whole(span).flags == []


def test_a_broken_run_in_a_batch_takes_no_other_with_it() -> None:
    broken = {**RUN, "id": "b", "extra": {"metadata": {"mood": DEEP}}}
    records = read({"post": [{**RUN, "id": "a"}, broken, {**RUN, "id": "c"}, "gone"], "patch": [PATCH, 7, None]})
    assert [record.span_id for record in records if isinstance(record, Span)] == [CHILD, "a", "c"]
    assert [record.reason for record in records if isinstance(record, Reject)] == ["unreadable_langsmith_batch"]


def test_a_git_diff_under_the_key_patch_is_no_batch() -> None:
    (record,) = read({"patch": "diff --git a b", "instance_id": "x"})
    assert isinstance(record, Reject)


def test_a_message_of_a_rule_gives_its_runs() -> None:
    (span,) = read({"rule_id": "r", "start_time": "2026-11-30", "runs": [RUN], "feedback_stats": {}})
    whole(span)


def test_a_fetched_trace_is_calls_without_spans_and_feedback() -> None:
    fetched = {"trace_id": ROOT, "messages": [*CHAT, ANSWER["choices"][0]["message"],  # type: ignore[index]
                                              {"role": "tool", "tool_call_id": "c1", "content": "here"},
                                              {"type": "ai", "content": "It is here."}],
               "metadata": {"start_time": RUN["start_time"], "custom_metadata": {"task_id": "t-9"}},
               "feedback": [{"id": "f", "key": "good", "score": True, "run_id": None}]}  # fmt: skip
    root, first, second, verdict = read(fetched)
    assert isinstance(root, Span)
    assert isinstance(first, Span)
    assert isinstance(second, Span)
    assert isinstance(verdict, Feedback)
    assert (root.trace_id, root.task, root.flags) == (ROOT, "t-9", ["spans_unknown"])
    assert [len(span.prompt) for span in (first, second)] == [2, 4]
    assert second.output == [Message("assistant", "It is here.")]
    assert (verdict.trace_id, verdict.key, verdict.score, verdict.span_id) == (ROOT, "good", 1.0, "")
