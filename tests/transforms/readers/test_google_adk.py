"""Spans of Google's Agent Development Kit: requests to Gemini and its answers, whoever instruments beside it."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.identity import Identity
from transforms.readers.exports import Tally, read_export
from transforms.records import Message, Span, ToolCall

ASKED = {"role": "user", "parts": [{"text": "Is the blue bag there?"}]}
CALLED = {"role": "model", "parts": [
    {"text": "I shall look.", "thought": True}, {"text": "Let me see."},
    {"function_call": {"name": "look", "args": {"color": "blue", "most": 2}}}, {"function_call": {"name": "count"}},
]}  # fmt: skip
FOUND = {"role": "user", "parts": [
    {"function_response": {"name": "look", "response": {"result": "나왔어"}}},
    {"function_response": {"name": "count", "response": {"result": 1.0}}},
]}  # fmt: skip
SCHEMA = {"type": "OBJECT", "properties": {"color": {"type": "STRING", "enum": ["blue"]}, "most": {"type": "INTEGER"}}}
CONFIG = {
    "system_instruction": "Be brief.", "temperature": 0.5, "max_output_tokens": 64,
    "tools": [{"function_declarations": [{"name": "look", "description": "Look.", "parameters": SCHEMA}]}],
    "http_options": {"headers": {"user-agent": "google-adk/1.12.0"}},
}  # fmt: skip


def call(name: str, contents: list[Any], answer: Any, **more: Any) -> dict[str, Any]:
    response = {"content": answer, "finish_reason": "STOP", "usage_metadata": {"prompt_token_count": 9}}
    return span(name, "call_llm", {
        "gen_ai.system": "gcp.vertex.agent", "gen_ai.request.model": "gemini-2.0-flash",
        "gcp.vertex.agent.session_id": "s1", "gcp.vertex.agent.llm_request": json.dumps(
            {"model": "gemini-2.0-flash", "config": CONFIG, "contents": contents}, ensure_ascii=False),
        "gcp.vertex.agent.llm_response": json.dumps(response), "gen_ai.request.max_tokens": 64,
        "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 2, "gen_ai.response.finish_reasons": ["stop"],
    } | more)  # fmt: skip


def span(name: str, title: str, said: dict[str, Any]) -> dict[str, Any]:
    return {"traceId": "a" * 32, "spanId": name * 16, "name": title, "attributes": said,
            "startTimeUnixNano": 1796013930 * 10**9 + int(name, 16), "endTimeUnixNano": 1796013931 * 10**9}  # fmt: skip


def read(*spans: dict[str, Any]) -> list[Span]:
    request = {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "gcp.vertex.agent"}, "spans": list(spans)}]}]}
    records = list(read_export(io.BytesIO(json.dumps(request).encode()), Tally()))
    return [record for record in records if isinstance(record, Span)]


def test_a_request_to_gemini_is_a_call_with_all_that_it_was_shown() -> None:
    (read_call,) = read(call("1", [ASKED], CALLED))
    assert (read_call.kind, read_call.dialect, read_call.content_state, read_call.flags) == (
        "llm", "otlp_adk", "full", []
    )  # fmt: skip
    assert read_call.prompt == [Message("system", "Be brief."), Message("user", "Is the blue bag there?")]
    calls = (ToolCall("", "look", '{"color": "blue", "most": 2}'), ToolCall("", "count", "{}"))
    assert read_call.output == [Message("assistant", "Let me see.", "I shall look.", calls)]
    assert (read_call.finish_reason, read_call.model, read_call.conversation_id) == (
        "tool_calls", "gemini-2.0-flash", "s1"
    )  # fmt: skip
    assert (read_call.input_tokens, read_call.output_tokens) == (9, 2)
    assert read_call.parameters == {"max_output_tokens": 64, "max_tokens": 64, "temperature": 0.5}
    properties = {"color": {"type": "string", "enum": ["blue"]}, "most": {"type": "integer"}}
    schema = {"type": "object", "properties": properties}
    described = {"name": "look", "description": "Look.", "parameters": schema}
    assert read_call.tools == [{"type": "function", "function": described}]


def test_a_prompt_goes_on_from_the_answer_before_it() -> None:
    first, second = read(call("1", [ASKED], CALLED), call("2", [ASKED, CALLED, FOUND], {"parts": [{"text": "Yes."}]}))
    identity = Identity(b"k" * 32)
    before = [identity.message(message) for message in (*first.prompt, *first.output)]
    assert [identity.message(message) for message in second.prompt[:3]] == before
    assert second.prompt[3:] == [
        Message("tool", '{"result":"나왔어"}', name="look"), Message("tool", '{"result":1.0}', name="count"),
    ]  # fmt: skip


def test_a_tool_is_what_was_called_and_what_came_back() -> None:
    (tool,) = read(span("1", "execute_tool look", {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "adk-1",
        "gcp.vertex.agent.tool_call_args": '{"color": "blue"}', "gcp.vertex.agent.llm_request": "{}",
        "gcp.vertex.agent.tool_response": '{"result": "found"}', "gcp.vertex.agent.llm_response": "{}",
    }))  # fmt: skip
    assert (tool.kind, tool.tool_name, tool.tool_call_id, tool.tool_arguments, tool.tool_result) == (
        "tool", "look", "adk-1", '{"color": "blue"}', '{"result": "found"}'
    )  # fmt: skip
    assert tool.content_state == "full"


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"gcp.vertex.agent.llm_request": None, "gcp.vertex.agent.llm_response": None}, "absent"),
        ({"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}"}, "absent"),
        ({"gcp.vertex.agent.llm_response": "<not serializable>"}, "truncated"),
        ({"gcp.vertex.agent.llm_response": '{"content": {"parts": [{"te'}, "truncated"),
        ({"gcp.vertex.agent.llm_response": '{"partial": true}'}, "unparsed"),
    ],
)
def test_what_is_not_there_is_never_full(more: dict[str, Any], state: str) -> None:
    (read_call,) = read(call("1", [ASKED], CALLED, **more))
    assert read_call.content_state == state


def test_a_picture_that_was_left_out_of_a_trace_is_missed() -> None:
    (read_call,) = read(call("1", [{"role": "user", "parts": []}], {"parts": [{"text": "A bag."}]}))
    assert (read_call.content_state, read_call.flags) == ("truncated", ["empty_message"])


def test_what_another_instrumentation_says_beside_it_does_not_change_it() -> None:
    flat = {"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Is it?", "llm.output_messages.0.message.role": "model",
            "llm.tools.0.tool.json_schema": '{"name": "look"}'}  # fmt: skip
    (plain,), (both,) = read(call("1", [ASKED], CALLED)), read(call("1", [ASKED], CALLED, **flat))
    assert (both.prompt, both.output, both.dialect) == (plain.prompt, plain.output, plain.dialect)
