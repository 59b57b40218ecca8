"""What becomes of LangSmith runs and feedback, shape by shape."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Media, Message, Reject, Span, ToolCall

ROOT = "01a22ac9-1d04-773f-8b54-6b7c1f1af9f8"
CHILD = "01a22ac9-1d22-7309-8407-2c1e4c3f424f"
ORDER = f"20261130T044912964381Z{ROOT}.20261130T044912994296Z{CHILD}"
HI = {"messages": [{"role": "user", "content": "hi"}]}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{ "a":1 }'}}


def read(*rows: dict[str, Any]) -> list[Any]:
    data = "\n".join(map(json.dumps, rows)).encode()
    return list(read_export(io.BytesIO(data), Tally()))


def call(inputs: Any, outputs: Any, **more: Any) -> Span:
    [span] = read(
        {"id": CHILD, "trace_id": ROOT, "run_type": "llm", "name": "m", "status": "success"}
        | {"inputs": inputs, "outputs": outputs}
        | more
    )
    assert isinstance(span, Span)
    return span


def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def generation(message: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"generations": [[{"text": "", "generation_info": info or None, "message": message}]], "llm_output": None}


def test_a_langchain_call_reads_from_its_constructor_dumps() -> None:
    prompt = [
        lc("SystemMessage", content="Be brief.", type="system"),
        lc("HumanMessage", content="hi", type="human"),
        lc("AIMessageChunk", content="", tool_calls=[{"name": "f", "args": {"a": "é"}, "id": "call_0"}]),
        lc("ToolMessage", content="done", tool_call_id="call_0", name="f", status="success"),
    ]
    answer = lc("AIMessage", content="ok", usage_metadata={"input_tokens": 9, "output_tokens": 2},
                response_metadata={"model_name": "m-1", "finish_reason": "stop", "id": "chatcmpl-1"})  # fmt: skip
    extra = {"invocation_params": {"model": "m", "temperature": 0, "tools": [{"name": "f", "input_schema": {}}]}}
    span = call({"messages": [prompt]}, generation(answer), extra=extra)
    assert span.prompt == [
        Message("system", "Be brief."),
        Message("user", "hi"),
        Message("assistant", tool_calls=(ToolCall("call_0", "f", '{"a": "é"}'),)),
        Message("tool", "done", tool_call_id="call_0", name="f"),
    ]
    assert span.output == [Message("assistant", "ok")]
    assert (span.model, span.finish_reason, span.response_id) == ("m-1", "stop", "chatcmpl-1")
    assert (span.input_tokens, span.output_tokens, span.parameters) == (9, 2, {"temperature": 0})
    assert span.tools == [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert span.content_state == "full"


def test_anthropic_content_gives_text_and_reasoning_once_and_calls_from_tool_calls() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
    ]
    blocks = call(HI, {"role": "assistant", "content": content, "stop_reason": "tool_use"})
    dumped = call(
        HI, generation(lc("AIMessage", content=content, tool_calls=[{"name": "f", "args": {"a": 1}, "id": "t1"}]))
    )
    for span in (blocks, dumped):
        assert span.output == [Message("assistant", "Looking.", "Hm.", (ToolCall("t1", "f", '{"a": 1}'),))]
    assert blocks.finish_reason == "tool_calls"


def test_results_packed_into_a_user_message_become_tool_messages() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one"}]},
        {"type": "tool_result", "tool_use_id": "t2", "content": "two", "is_error": True},
        {"type": "text", "text": "go on"},
    ]
    span = call({"messages": [{"role": "user", "content": results}], "system": "Be brief."}, {"content": "ok"})
    assert span.prompt == [
        Message("system", "Be brief."),
        Message("tool", "one", tool_call_id="t1"),
        Message("tool", "two", tool_call_id="t2"),
        Message("user", "go on"),
    ]


def test_calls_keep_the_text_that_the_model_wrote_even_where_it_is_no_json() -> None:
    broken = CALL | {"function": {"name": "f", "arguments": '{"a": '}}
    span = call(HI, {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL, broken]}}]})
    assert [c.arguments for c in span.output[0].tool_calls] == ['{ "a":1 }', '{"a": ']
    old = lc("AIMessage", content="", additional_kwargs={"tool_calls": [CALL]},
             tool_calls=[{"name": "f", "args": {"a": 1}, "id": "call_1"}],
             invalid_tool_calls=[{"name": "g", "args": "{oops", "id": "call_2"}])  # fmt: skip
    assert [c.arguments for c in call(HI, generation(old)).output[0].tool_calls] == ['{ "a":1 }', "{oops"]


def test_a_streamed_call_reads_like_any_other() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [{"index": 0, **CALL}]}
    outputs = {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }
    span = call(HI | {"stream": True}, outputs)
    assert span.output == [Message("assistant", tool_calls=(ToolCall("call_1", "f", '{ "a":1 }'),))]


def test_items_of_the_responses_api_are_one_message_however_they_are_spread() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking."}]},
        {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "g", "arguments": '{"a":1}'},
    ]
    first = call({"input": "hi", "instructions": "Be brief."}, {"output": output, "status": "completed"})
    assert first.prompt == [Message("system", "Be brief."), Message("user", "hi")]
    assert first.finish_reason == "tool_calls"
    echoed = [
        {"role": "user", "content": "hi"},
        *output,
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "function_call_output", "call_id": "c2", "output": "two"},
    ]
    second = call({"input": echoed, "instructions": "Be brief."}, {"output": [], "status": "completed"})
    assert second.prompt[:3] == [*first.prompt, *first.output]
    assert [message.tool_call_id for message in second.prompt[3:]] == ["c1", "c2"]


@pytest.mark.parametrize(
    "more", [{"previous_response_id": "resp_1"}, {"input": [{"type": "item_reference", "id": "x"}]}]
)
def test_a_call_whose_history_lies_elsewhere_is_not_full(more: dict[str, Any]) -> None:
    span = call({"input": "hi"} | more, {"output": [{"type": "message", "role": "assistant", "content": "ok"}]})
    assert span.content_state != "full"


def test_pictures_become_media_and_never_text() -> None:
    content = [
        {"type": "text", "text": "what?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "BBBB"}},
        {"type": "input_audio", "input_audio": {"data": "CCCC", "format": "wav"}},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
    ]
    span = call({"messages": [{"role": "user", "content": content}]}, {"role": "assistant", "content": "ok"})
    assert span.prompt == [
        Message("user", "what?", media=(
            Media("image", "image/png", "AAAA"), Media("image", "image/jpeg", "BBBB"),
            Media("audio", "audio/wav", "CCCC"), Media("image", "", "https://example.org/a.png"),
        ))
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("inputs", "outputs", "said"),
    [
        ({"messages": [["user", "hi"], ["assistant", "yes?"]]}, ["assistant", "ok"], "ok"),
        (
            {"messages": [[{"type": "human", "data": {"content": "hi"}}]]},
            {"messages": [{"type": "ai", "content": "ok"}]},
            "ok",
        ),
        ({"prompt": "hi"}, {"choices": [{"text": "ok"}]}, "ok"),
        ({"prompts": ["hi"]}, {"generations": [[{"text": "ok"}]]}, "ok"),
        (HI, {"message": {"role": "assistant", "content": "ok"}}, "ok"),
        (HI, {"output": "ok"}, "ok"),
        (HI, {"choices": [{"message": {"role": "assistant", "content": None, "refusal": "No."}}]}, "No."),
    ],
)
def test_traced_functions_of_many_shapes_are_read(inputs: Any, outputs: Any, said: str) -> None:
    span = call(inputs, outputs)
    assert span.prompt[0] == Message("user", "hi")
    assert span.output == [Message("assistant", said)]
    assert span.content_state == "full"


def test_roles_of_other_times_are_the_four_of_today() -> None:
    roles = ["developer", "human", "ai", "function"]
    span = call({"messages": [{"role": role, "content": "x"} for role in roles]}, {"content": "ok"})
    assert [message.role for message in span.prompt] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("inputs", "outputs", "state"),
    [
        ({}, {}, "absent"),
        (None, None, "absent"),
        (HI, {}, "absent"),
        (HI, {"output": None}, "absent"),
        ({"strange": [1]}, {"content": "ok"}, "unparsed"),
        (HI, {"strange": 1}, "unparsed"),
        (HI, {"content": [{"type": "hologram", "x": 1}, {"type": "text", "text": "ok"}]}, "unparsed"),
        ({"messages": [{"role": "user", "content": "__REDACTED__"}]}, {"content": "ok"}, "redacted"),
        ({"messages": [{"role": "user", "content": []}]}, {"content": "ok"}, "truncated"),
        (
            {"messages": [[lc("HumanMessage", content="a")], [lc("HumanMessage", content="b")]]},
            {"content": "ok"},
            "unparsed",
        ),
    ],
)
def test_what_is_not_all_there_is_never_called_full(inputs: Any, outputs: Any, state: str) -> None:
    assert call(inputs, outputs).content_state == state


def test_a_failed_call_keeps_its_prompt_and_has_no_output() -> None:
    error = 'BadRequestError("too long")\n\nTraceback (most recent call last):\n  File "/srv/x.py", line 1'
    empty = generation(lc("AIMessage", content="", tool_calls=[]))
    for outputs in ({"output": None}, empty):
        span = call(HI, outputs, status="error", error=error)
        assert (span.status, span.error_type, span.error) == ("error", "BadRequestError", 'BadRequestError("too long")')
        assert (span.output, span.content_state) == ([], "full")


def test_cached_tokens_are_part_of_the_input() -> None:
    raw = {"input_tokens": 40, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 5, "output_tokens": 3}
    span = call(HI, {"role": "assistant", "content": "ok", "usage": raw})
    assert (span.input_tokens, span.cache_read_tokens, span.output_tokens) == (52, 7, 3)


def test_ids_order_and_times_come_from_the_envelope() -> None:
    base = {"id": CHILD.upper(), "run_type": "tool", "name": "f", "dotted_order": ORDER}
    for start in ("2026-11-30 04:49:12.994296+00:00", "2026-11-30T04:49:12.994296Z", "2026-11-30T04:49:12.994296"):
        [span] = read(base | {"start_time": start, "end_time": 1796014153002})
        assert (span.trace_id, span.span_id, span.parent_span_id) == (ROOT, CHILD, ROOT)
        assert (span.started_ns, span.ended_ns) == (1796014152994296000, 1796014153002000000)
        assert (span.sequence, span.status) == (ORDER, "ok")
    [span] = read(base | {"parent_run_id": "other"})
    assert (span.parent_span_id, span.flags, span.status) == ("other", ["parent_conflict"], "pending")


def test_a_run_without_ids_is_a_reject() -> None:
    [reject] = read({"run_type": "tool", "id": None, "name": "f"})
    assert isinstance(reject, Reject)
    assert reject.reason == "no_ids"


def test_tasks_trials_and_conversations_are_lifted_and_noise_is_dropped() -> None:
    metadata = {
        "task_id": "t-1", "attempt": "2", "session_id": "conv", "thread_id": "no", "user": "u", "run_id": "no task",
        "lc_agent_name": "helper", "runtime": "python", "LANGSMITH_PROJECT": "p", "LANGCHAIN_X": "true", "ls_x": 1,
    }  # fmt: skip
    extra = {"metadata": metadata, "runtime": {"platform": "Linux"}}
    row = {"id": ROOT, "run_type": "chain", "name": "helper", "session_id": "project", "tags": ["a"], "extra": extra}
    [span] = read(row)
    assert (span.task, span.trial, span.conversation_id, span.dataset) == ("t-1", 2, "conv", "project")
    assert (span.kind, span.agent, span.attributes) == (
        "agent",
        "helper",
        {"user": "u", "run_id": "no task", "tags": ["a"]},
    )
    [span] = read(row | {"reference_example_id": "example", "session_name": "named"})
    assert (span.task, span.dataset) == ("example", "named")


def test_tool_runs_say_what_was_called_and_what_came_back() -> None:
    base = {"id": CHILD, "trace_id": ROOT, "run_type": "tool", "name": "f", "status": "success"}
    message = {"content": "gone", "type": "tool", "tool_call_id": "c1", "status": "error"}
    [span] = read(base | {"inputs": {"input": "{'a': True, 'b': 'é'}"}, "outputs": {"output": message}})
    assert (span.tool_name, span.tool_call_id, span.tool_arguments) == ("f", "c1", '{"a": true, "b": "é"}')
    assert (span.tool_result, span.status) == ("gone", "error")
    [span] = read(base | {"inputs": {"a": 1}, "outputs": {"rows": [1]}, "extra": {"tool_call_id": "c2"}})
    assert (span.tool_call_id, span.tool_arguments, span.tool_result) == ("c2", '{"a": 1}', '{"rows":[1]}')
    command = {"graph": None, "update": {"messages": [message]}, "goto": "end"}
    [span] = read(base | {"inputs": {"a": 1}, "outputs": {"output": command}})
    assert (span.tool_call_id, span.tool_result, span.status) == ("c1", "gone", "error")


def test_child_runs_nested_in_a_run_are_spans_of_the_same_record() -> None:
    child = {"id": CHILD, "trace_id": ROOT, "parent_run_id": ROOT, "run_type": "tool", "name": "f"}
    spans = read({"id": ROOT, "run_type": "chain", "name": "root", "child_runs": [child]})
    assert [(span.span_id, span.parent_span_id, span.position) for span in spans] == [(ROOT, "", 0), (CHILD, ROOT, 0)]


def test_an_answer_of_the_api_is_one_record_with_all_its_runs() -> None:
    good = {"id": CHILD, "trace_id": ROOT, "run_type": "tool", "name": "f"}
    records = read({"runs": [good, None, good | {"id": None}, good | {"id": ROOT}], "cursors": {}})
    assert [(r.position, r.span_id if isinstance(r, Span) else r.reason) for r in records] == [
        (0, CHILD), (0, "unreadable_langsmith"), (0, "no_ids"), (0, ROOT),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "score", "label"),
    [
        ({"score": True}, 1.0, ""),
        ({"score": False}, 0.0, ""),
        ({"score": 0.25, "value": None}, 0.25, ""),
        ({"score": None, "value": "thumbs_up"}, None, "thumbs_up"),
        ({"score": None, "value": 3}, 3.0, ""),
        ({"score": None, "value": {"a": 1}}, None, '{"a": 1}'),
        ({"score": None, "value": None}, None, ""),
    ],
)
def test_scores_are_numbers_and_words_are_labels(row: dict[str, Any], score: float | None, label: str) -> None:
    [verdict] = read({"id": CHILD, "key": "k", "run_id": ROOT, "trace_id": ROOT} | row)
    assert isinstance(verdict, Feedback)
    assert (verdict.score, verdict.label, verdict.key, verdict.span_id) == (score, label, "k", "")


def test_feedback_says_whom_it_is_from_and_what_it_is_about() -> None:
    row = {"id": "f", "key": "k", "run_id": CHILD, "trace_id": ROOT, "score": 1, "created_at": "2026-11-30 04:49:09"}
    [verdict] = read(row | {"feedback_source": {"type": "app"}, "correction": {"say": "this"}})
    assert (verdict.span_id, verdict.annotator, verdict.comment) == (CHILD, "human", '{"say": "this"}')
    assert verdict.created_ns == 1796014149000000000
    [verdict] = read(row | {"feedback_source": {"type": "model"}, "trace_id": None})
    assert (verdict.trace_id, verdict.annotator) == (CHILD, "llm")
    [verdict] = read(row | {"feedback_source": {"type": "auto_eval"}})
    assert verdict.annotator == "llm"
    [reject] = read(row | {"run_id": None, "trace_id": None})
    assert reject.reason == "no_ids"


def test_runs_in_runs_that_name_no_trace_are_of_the_roots() -> None:
    leaf = {"id": "leaf", "run_type": "tool", "name": "find"}
    child = {"id": "child", "run_type": "chain", "name": "step", "parent_run_id": "root", "child_runs": [leaf]}
    spans = read({"id": "root", "run_type": "chain", "name": "agent", "child_runs": [child]})
    assert [(span.trace_id, span.span_id, span.parent_span_id) for span in spans] == [
        ("root", "root", ""), ("root", "child", "root"), ("root", "leaf", "child")
    ]  # fmt: skip
