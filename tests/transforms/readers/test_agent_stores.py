"""What becomes of native traces of the OpenAI Agents SDK and of Agent Lightning's store and gateway."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Record, Reject, Span, ToolCall

TRACE = "4a1b2c3d4e5f60718293a4b5c6d7e8f9"
START = 1_796_015_043_250_000_000
CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is it?"}]
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}]
SAID = {"role": "assistant", "content": None, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}]}  # fmt: skip
OUTPUT = [Message("assistant", tool_calls=(ToolCall("c1", "find", '{"id": 7}'),))]


def read(*documents: Any) -> list[Record]:
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), Tally()))


def spans(*documents: Any) -> list[Span]:
    records = read(*documents)
    found = [record for record in records if isinstance(record, Span)]
    assert len(found) == len(records)
    return found


def native(kind: str, **data: Any) -> dict[str, Any]:
    return {
        "object": "trace.span", "id": "span_a1b2c3d4e5f60718a1b2c3d4", "trace_id": f"trace_{TRACE}", "error": None,
        "parent_id": None, "started_at": "2026-11-30T05:04:03.25+00:00", "ended_at": "2026-11-30T05:04:04+00:00",
        "span_data": {"type": kind, **data},
    }  # fmt: skip


def test_a_native_trace_is_a_root_and_spans_below_it() -> None:
    trace = {"object": "trace", "id": f"trace_{TRACE}", "workflow_name": "refund", "group_id": "talk",
             "metadata": {"task_id": "t-9", "attempt": "2", "shop": "x"}}  # fmt: skip
    root, agent = spans(trace, native("agent", name="helper", tools=["find"]))
    assert (root.trace_id, root.span_id, root.name) == (TRACE, TRACE, "refund")
    assert (root.task, root.trial, root.conversation_id, root.attributes) == ("t-9", 2, "talk", {"shop": "x"})
    assert (agent.trace_id, agent.parent_span_id, agent.kind, agent.agent) == (TRACE, TRACE, "agent", "helper")
    assert agent.started_ns == START
    assert spans({"data": [trace, native("agent", name="helper")]})[1].span_id == agent.span_id


def test_a_native_response_holds_counts_and_an_id_but_no_messages() -> None:
    (span,) = spans(native("response", response_id="resp_1", usage={"input_tokens": 12, "output_tokens": 5}))
    assert (span.kind, span.response_id, span.content_state) == ("llm", "resp_1", "absent")
    assert (span.input_tokens, span.output_tokens, span.flags) == (12, 5, ["payload_elsewhere"])


@pytest.mark.parametrize("names", [("input", "response"), ("_input", "_response")])
def test_a_native_response_that_somebody_kept_whole_is_a_call(names: tuple[str, str]) -> None:
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Nine."}]}]
    answer = {"id": "resp_1", "model": "m-1", "instructions": "Be brief.", "output": said, "temperature": 0.5,
              "tools": [{"type": "function", "name": "find", "parameters": {}}],
              "usage": {"input_tokens": 12}}  # fmt: skip
    kept = dict(zip(names, ("How deep?", answer), strict=True))
    (span,) = spans(native("response", response_id="resp_1", **kept))
    assert span.prompt == [Message("system", "Be brief."), Message("user", "How deep?")]
    assert (span.output, span.content_state) == ([Message("assistant", "Nine.")], "full")
    assert (span.model, span.parameters, span.input_tokens) == ("m-1", {"temperature": 0.5}, 12)
    assert span.tools == [{"type": "function", "function": {"name": "find", "parameters": {}}}]
    answer["previous_response_id"] = "resp_0"
    (later,) = spans(native("response", **kept))
    assert later.content_state == "truncated"


def test_a_native_generation_is_a_call_and_a_function_is_a_tool() -> None:
    call, tool = spans(
        native("generation", input=CHAT, output=[SAID], model="m-1", model_config={"temperature": 0.5, "top_p": None}),
        native("function", name="find", input='{"id": 7}', output="here"),
    )
    assert ([message.role for message in call.prompt], call.output) == (["system", "user"], OUTPUT)
    assert (call.content_state, call.parameters, call.model) == ("full", {"temperature": 0.5}, "m-1")
    assert (tool.kind, tool.tool_name, tool.tool_arguments, tool.tool_result) == ("tool", "find", '{"id": 7}', "here")


def test_a_native_error_is_one() -> None:
    failed = {**native("function", name="find", input="{}"), "error": {"message": "gone", "data": {}}}
    (span,) = spans(failed)
    assert (span.status, span.error) == ("error", "gone")


def stored(sequence: int, name: str, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "rollout_id": "ro-1", "attempt_id": "at-1", "sequence_id": sequence, "trace_id": f"{sequence:032x}",
        "span_id": f"{sequence:016x}", "parent_id": None, "name": name, "attributes": attributes, "events": [],
        "status": {"status_code": "OK", "description": None}, "start_time": 1_796_015_043.25,
        "end_time": 1_796_015_044.0, "links": [], "resource": {"attributes": {"service.name": "x"}}, **more,
    }  # fmt: skip


def test_spans_of_an_attempt_are_one_trace_whatever_their_tracer_said() -> None:
    asked = {"llm.model_name": "m-1", "openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
             "llm.input_messages.0.message.content": "hi", "llm.output_messages.0.message.role": "assistant",
             "llm.output_messages.0.message.content": "ho"}  # fmt: skip
    did = {"tool_call_id": "c1", "agentlightning.operation.name": "find", "agentlightning.operation.output": "here",
           "agentlightning.operation.input.id": 7}  # fmt: skip
    call, tool = spans(stored(1, "ChatCompletion", asked), stored(12, "agentlightning.operation", did))
    assert call.trace_id == tool.trace_id == "ro-1:at-1"
    assert call.sequence < tool.sequence
    assert (call.kind, call.output, call.started_ns) == ("llm", [Message("assistant", "ho")], START)
    assert (tool.kind, tool.tool_call_id, tool.tool_result) == ("tool", "c1", "here")


def test_rewards_of_a_store_are_feedback_on_the_attempt() -> None:
    said = {"agentlightning.reward.0.name": "primary", "agentlightning.reward.0.value": 0.5,
            "agentlightning.reward.1.name": "speed", "agentlightning.reward.1.value": 1}  # fmt: skip
    records = read(stored(3, "agentlightning.annotation", said))
    given = {(r.trace_id, r.key, r.score, r.annotator) for r in records if isinstance(r, Feedback)}
    assert given == {("ro-1:at-1", "reward", 0.5, "env"), ("ro-1:at-1", "speed", 1.0, "env")}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("agentlightning.reward", {"reward": 0.5}),
        ("judge.task", {"agentops.task.output": json.dumps({"type": "reward", "value": 0.5})}),
        ("judge.task", {"agentops.entity.output": {"type": "reward", "value": 0.5}}),
    ],
)
def test_rewards_of_older_stores_are_feedback_on_the_attempt(name: str, said: dict[str, Any]) -> None:
    _, verdict = read(stored(3, name, said))
    assert isinstance(verdict, Feedback)
    assert (verdict.trace_id, verdict.key, verdict.score, verdict.annotator) == ("ro-1:at-1", "reward", 0.5, "env")
    assert len(spans(stored(3, "judge.task", {"agentops.task.output": "0.5", "reward": 0.5}))) == 1


def test_a_rollout_carries_the_task_of_its_attempts() -> None:
    asked = {"task_id": "t-9", "question": "?"}
    old = {"rollout_id": "ro-1", "input": asked, "mode": "train", "status": "succeeded", "metadata": {"attempt": 2},
           "start_time": 1_796_015_043.25, "end_time": None, "attempt": {"attempt_id": "at-1"}}  # fmt: skip
    new = {"rollout": {"rollout_id": "ro-1", "input": asked, "status": {"state": "failed"}, "metadata": {}},
           "attempts": ["0", "1"]}  # fmt: skip
    first, second, third = spans(old, new)
    assert (first.trace_id, first.task, first.trial, first.status) == ("ro-1:at-1", "t-9", 2, "ok")
    assert [(span.trace_id, span.task, span.status) for span in (second, third)] == [
        ("ro-1:0", "t-9", "error"), ("ro-1:1", "t-9", "error")
    ]  # fmt: skip


def event(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"event_type": kind, "rollout_id": "ro-1", "attempt_id": "0", "timestamp": 1_796_015_044.0, "data": data}


REQUEST = {
    "request": {"model": "m", "messages": CHAT, "tools": TOOLS, "temperature": 0.5},
    "response": {"id": "chatcmpl-1", "model": "m-1", "choices": [{"finish_reason": "tool_calls", "message": SAID}],
                 "usage": {"prompt_tokens": 12, "completion_tokens": 5}, "prompt_token_ids": []},
    "http_status": 200, "status": "ok", "latency_ms": 750.0,
}  # fmt: skip


def test_a_request_through_the_gateway_is_a_call() -> None:
    (span,) = spans(event("model_request", REQUEST))
    assert (span.trace_id, span.kind, span.output, span.tools) == ("ro-1:0", "llm", OUTPUT, TOOLS)
    assert (span.content_state, span.finish_reason, span.model) == ("full", "tool_calls", "m-1")
    assert (span.input_tokens, span.output_tokens, span.parameters) == (12, 5, {"temperature": 0.5})
    assert (span.started_ns, span.ended_ns) == (START, START + 750_000_000)


@pytest.mark.parametrize("failed", [{"status": "error"}, {"http_status": 429}])
def test_a_request_that_failed_has_no_output(failed: dict[str, Any]) -> None:
    (span,) = spans(event("model_request", {**REQUEST, **failed}))
    assert (span.status, span.output) == ("error", [])


def test_tokens_without_text_are_a_call_without_content() -> None:
    (span,) = spans(event("model_request", {"prompt_token_ids": [1], "response_token_ids": [2], "status": "ok"}))
    assert span.content_state == "absent"


def test_results_and_rewards_of_the_gateway_are_told_apart() -> None:
    tool, reward = read(
        event("tool_result", {"name": "find", "tool_call_id": "c1", "result": "here"}),
        event("reward", {"value": 0.0, "message": "too slow", "source": "agent"}),
    )
    assert isinstance(tool, Span)
    assert (tool.kind, tool.tool_name, tool.tool_call_id, tool.tool_result) == ("tool", "find", "c1", "here")
    assert isinstance(reward, Feedback)
    assert (reward.trace_id, reward.key, reward.score, reward.comment) == ("ro-1:0", "reward", 0.0, "too slow")


def test_a_missing_reward_is_not_zero() -> None:
    (record,) = read(event("reward", {"value": None, "source": "agent"}))
    assert isinstance(record, Feedback)
    assert record.score is None


def test_a_span_that_says_of_no_trace_is_refused() -> None:
    (record,) = read({"object": "trace.span", "id": "span_1", "trace_id": None, "span_data": {}})
    assert isinstance(record, Reject)
    assert record.reason == "no_ids"
