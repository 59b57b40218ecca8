"""What becomes of spans whose content follows one of the many conventions before and beside OpenTelemetry's."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Media, Message, Record, Span, ToolCall

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CALL = ToolCall("c1", "f", '{"a": 1}')
CHAT = [
    Message("system", "Be brief."),
    Message("user", "hi"),
    Message("assistant", tool_calls=(CALL,)),
    Message("tool", "done", tool_call_id="c1"),
]
ANSWER = [Message("assistant", "ok")]
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
    {"role": "tool", "content": "done", "tool_call_id": "c1"},
]  # fmt: skip
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}
BODY = {"model": "m", "messages": OPENAI, "tools": [TOOL], "temperature": 0.5}
COMPLETION = {"id": "r", "model": "m-1", "choices": [{"finish_reason": "stop", "message": {"role": "assistant",
              "content": "ok"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}  # fmt: skip

Events = list[tuple[str, dict[str, Any]]]


def read_all(said: dict[str, Any], events: Events | None = None, **more: Any) -> list[Record]:
    told = [{"name": name, "attributes": fields} for name, fields in events or []]
    span = {"traceId": TRACE, "spanId": SPAN, "name": "s", "attributes": said, "events": told,
            "startTimeUnixNano": 1796013930879523691, "endTimeUnixNano": 1796013930905659274} | more  # fmt: skip
    request = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    return list(read_export(io.BytesIO(json.dumps(request).encode()), Tally()))


def read(said: dict[str, Any], events: Events | None = None, **more: Any) -> Span:
    record = read_all(said, events, **more)[0]
    assert isinstance(record, Span)
    return record


OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be brief.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "hi",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "f",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
    "llm.input_messages.2.message.contents.0.message_content.type": "tool_use",
    "llm.input_messages.2.message.contents.0.tool_call.id": "c1",
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.content": "done",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "ok",
    "llm.tools.0.tool.json_schema": json.dumps({"name": "f", "description": "d", "input_schema": {"type": "object"}}),
    "llm.invocation_parameters": '{"temperature": 0.5, "model": "m"}',
    "llm.model_name": "m-1",
    "llm.finish_reason": "stop",
    "llm.token_count.prompt": 9,
    "llm.token_count.completion": 2,
    "output.value": json.dumps(COMPLETION).replace('{"id": "r"', '{"id":"r"'),
}
OPENLLMETRY = {
    "llm.request.type": "chat",
    "gen_ai.system": "OpenAI",
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be brief.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": '[{"type": "text", "text": "hi"}]',
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "f",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"a": 1}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.content": "done",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "ok",
    "gen_ai.completion.0.finish_reason": "stop",
    "llm.request.functions.0.name": "f",
    "llm.request.functions.0.description": "d",
    "llm.request.functions.0.parameters": '{"type": "object"}',
    "gen_ai.request.model": "m",
    "gen_ai.request.temperature": 0.5,
    "gen_ai.response.model": "m-1",
    "gen_ai.response.id": "r",
    "gen_ai.usage.prompt_tokens": 9,
    "gen_ai.usage.completion_tokens": 2,
}
EVENTS_LISTED = [
    {"event.name": "gen_ai.system.message", "role": "system", "content": "Be brief."},
    {"event.name": "gen_ai.user.message", "role": "user", "content": [{"kind": "text", "text": "hi"}]},
    {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": OPENAI[2]["tool_calls"],
     "content": ""},
    {"event.name": "gen_ai.tool.message", "role": "tool", "id": "c1", "content": "done"},
    {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "ok"},
     "finish_reason": "stop"},
]  # fmt: skip
GENAI = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.model": "m-1",
         "gen_ai.response.id": "r", "gen_ai.request.temperature": 0.5, "gen_ai.usage.input_tokens": 9,
         "gen_ai.usage.output_tokens": 2, "gen_ai.tool.definitions": json.dumps([TOOL])}  # fmt: skip
PYDANTIC_AI = {key: value for key, value in GENAI.items() if key != "gen_ai.tool.definitions"} | {
    "events": json.dumps(EVENTS_LISTED),
    "model_request_parameters": json.dumps({"function_tools": [
        {"name": "f", "description": "d", "parameters_json_schema": {"type": "object"}}], "output_tools": []}),
}  # fmt: skip
VERCEL = {
    "ai.operationId": "ai.generateText.doGenerate",
    "ai.prompt.messages": json.dumps([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "f",
                                           "input": '{"a": 1}'}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1",
                                      "output": {"type": "text", "value": "done"}}]},
    ]),
    "ai.prompt.tools": [json.dumps({"type": "function", "name": "f", "description": "d",
                                    "inputSchema": {"type": "object"}})],
    "ai.response.text": "ok",
    "ai.response.finishReason": "stop",
    "ai.response.id": "r",
    "ai.response.model": "m-1",
    "ai.usage.promptTokens": 9,
    "ai.usage.completionTokens": 2,
    "gen_ai.request.temperature": 0.5,
}  # fmt: skip
LANGFUSE = {
    "langfuse.observation.type": "generation",
    "langfuse.observation.input": json.dumps({"tools": [TOOL], "messages": OPENAI}),
    "langfuse.observation.output": json.dumps({"role": "assistant", "content": "ok"}),
    "langfuse.observation.model.name": "m-1",
    "langfuse.observation.model.parameters": '{"temperature": 0.5, "max_tokens": "Infinity"}',
    "langfuse.observation.usage_details": '{"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}',
}
MLFLOW = {
    "mlflow.spanType": '"CHAT_MODEL"',
    "mlflow.spanInputs": json.dumps(BODY),
    "mlflow.spanOutputs": json.dumps(COMPLETION),
    "mlflow.chat.tokenUsage": '{"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 4}',
}
LANGSMITH = {"langsmith.span.kind": "llm", "gen_ai.prompt": json.dumps(BODY),
             "gen_ai.completion": json.dumps(COMPLETION)}  # fmt: skip
LOGFIRE = {"gen_ai.request.model": "m", "request_data": json.dumps(BODY), "response_data": json.dumps(
           {"message": {"role": "assistant", "content": "ok"}, "usage": COMPLETION["usage"]})}  # fmt: skip
OPAQUE = {"openinference.span.kind": "LLM", "input.value": json.dumps(BODY), "output.value": json.dumps(COMPLETION)}
SPAN_EVENTS = [(event["event.name"], {key: value if isinstance(value, str) else json.dumps(value)
                for key, value in event.items() if key != "event.name"}) for event in EVENTS_LISTED
               if event["event.name"] != "gen_ai.user.message"]  # fmt: skip
SPAN_EVENTS.insert(1, ("gen_ai.user.message", {"gen_ai.event.content": '{"role": "user", "content": "hi"}'}))
WHOLE_EVENTS = [("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(OPENAI)}),
                ("gen_ai.content.completion", {"gen_ai.completion": json.dumps({"role": "assistant",
                                                                               "content": "ok"})})]  # fmt: skip

CONVENTIONS: dict[str, tuple[dict[str, Any], Events]] = {
    "otlp_openinference": (OPENINFERENCE, []),
    "otlp_openllmetry": (OPENLLMETRY, []),
    "otlp_pydantic_ai": (PYDANTIC_AI, []),
    "otlp_vercel": (VERCEL, []),
    "otlp_langfuse": (LANGFUSE, []),
    "otlp_mlflow": (MLFLOW, []),
    "otlp_langsmith": (LANGSMITH, []),
    "otlp_events": (GENAI, SPAN_EVENTS),
}


@pytest.mark.parametrize("dialect", CONVENTIONS)
def test_every_convention_tells_the_same_call(dialect: str) -> None:
    said, events = CONVENTIONS[dialect]
    span = read(said, events)
    assert (span.kind, span.dialect, span.content_state, span.flags) == ("llm", dialect, "full", [])
    assert (span.prompt, span.output) == (CHAT, ANSWER)
    assert (span.tools, span.model) == ([TOOL], "m-1")
    assert (span.input_tokens, span.output_tokens, span.parameters) == (9, 2, {"temperature": 0.5})
    assert (span.finish_reason, span.response_id) == (("", "") if dialect == "otlp_langfuse" else ("stop", "r"))


@pytest.mark.parametrize(("said", "events"), [(LOGFIRE, []), (OPAQUE, []), (GENAI, WHOLE_EVENTS)])
def test_messages_in_the_json_of_a_whole_request_are_read(said: dict[str, Any], events: Events) -> None:
    span = read(said, events)
    assert (span.prompt, span.output, span.content_state) == (CHAT, ANSWER, "full")


def test_the_first_convention_that_tells_messages_counts_and_the_others_do_not_spoil_it() -> None:
    own = [{"role": "user", "parts": [{"type": "text", "content": "hello"}]}]
    span = read(OPENINFERENCE | VERCEL | {"gen_ai.input.messages": json.dumps(own)} | GENAI)
    assert (span.dialect, span.prompt) == ("otlp_genai", [Message("user", "hello")])
    span = read(OPENINFERENCE | {"gen_ai.input.messages": json.dumps(own)[:-9]} | GENAI)
    assert (span.dialect, span.content_state, span.prompt) == ("otlp_openinference", "full", CHAT)


def test_numbers_of_messages_are_numbers_and_a_missing_one_is_never_full() -> None:
    said = {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": "ok"}
    many = {f"llm.input_messages.{number}.message.{key}": value for number in (10, 2, 0, 1, 9, 8, 7, 3, 4, 5, 6)
            for key, value in (("role", "user"), ("content", str(number)))}  # fmt: skip
    span = read(said | many)
    assert [message.content for message in span.prompt] == [str(number) for number in range(11)]
    assert span.content_state == "full"
    for number in (0, 4):
        gone = {key: value for key, value in many.items() if f".{number}." not in key}
        assert (read(said | gone).content_state, read(said | gone).flags) == ("truncated", ["index_gap"])
    assert read(said | many, droppedAttributesCount=1).content_state == "truncated"


def test_events_that_were_dropped_and_calls_that_stand_elsewhere_are_never_full() -> None:
    assert read(GENAI, SPAN_EVENTS, droppedEventsCount=1).content_state == "truncated"
    assert read(OPENLLMETRY, [("exception", {})], droppedEventsCount=1).content_state == "full"
    span = read(OPENLLMETRY | {"gen_ai.completion.0.finish_reason": "tool_calls"})
    assert (span.content_state, span.flags) == ("truncated", ["calls_elsewhere"])


def test_pydantic_ai_leaves_out_the_text_beside_calls_only_where_there_is_none() -> None:
    events = [{key: value for key, value in event.items() if value != ""} for event in EVENTS_LISTED]
    span = read(PYDANTIC_AI | {"events": json.dumps(events)})
    assert (span.prompt, span.output, span.flags) == (CHAT, ANSWER, [])


def test_redactions_are_told() -> None:
    at = "llm.input_messages.1.message.contents.1.message_content"
    picture = {f"{at}.type": "image", f"{at}.image.image.url": "__REDACTED__"}
    assert read(OPENINFERENCE | picture).content_state == "redacted"
    scrubbed = json.dumps([{"path": ["attributes", "events", 1, "content"], "matched_substring": "x"}])
    assert read(PYDANTIC_AI | {"logfire.scrubbed": scrubbed}).content_state == "redacted"
    assert read(PYDANTIC_AI | {"logfire.scrubbed": scrubbed.replace("events", "other")}).content_state == "full"


def test_pictures_and_reasoning_are_told_from_text() -> None:
    at = "llm.input_messages.1.message.contents.1.message_content"
    span = read(OPENINFERENCE | {f"{at}.type": "image", f"{at}.image.image.url": "data:image/png;base64,AAAA"})
    assert span.prompt[1] == Message("user", "hi", media=(Media("image", "image/png", "AAAA"),))
    binary = {"kind": "binary", "media_type": "image/png", "binary_content": "AAAA"}
    listed = [{"event.name": "gen_ai.user.message", "content": ["look", binary, {"kind": "image-url", "url": "u"}]},
              {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": [
                  {"kind": "thinking", "text": "Hm."}, {"kind": "text", "text": "ok"}]}}]  # fmt: skip
    span = read(PYDANTIC_AI | {"events": json.dumps(listed)})
    assert span.prompt == [
        Message("user", "look", media=(Media("image", "image/png", "AAAA"), Media("image", "", "u")))
    ]
    assert span.output == [Message("assistant", "ok", "Hm.")]
    assert read(VERCEL | {"ai.response.reasoning": "Hm."}).output == [Message("assistant", "ok", "Hm.")]


def test_blocks_of_bedrock_in_events_are_read() -> None:
    events = [
        ("gen_ai.user.message", {"content": '[{"text": "hi"}]'}),
        ("gen_ai.assistant.message", {"content": '[{"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}}]'}),
        ("gen_ai.tool.message", {"content": '[{"text": "done"}]', "id": "c1", "role": "tool"}),
        ("gen_ai.choice", {"message": '[{"text": "ok"}]', "finish_reason": "end_turn"}),
    ]
    span = read(GENAI, events)
    assert (span.prompt, span.output, span.finish_reason) == (CHAT[1:], ANSWER, "stop")


def test_pieces_of_one_answer_are_one_message_and_calls_go_by_the_ids_of_their_results() -> None:
    def said(role: str, part: dict[str, Any]) -> dict[str, Any]:
        return {"role": role, "parts": [part]}

    call = {"type": "tool_call", "id": "fc_1", "name": "f", "arguments": '{"a": 1}'}
    prompt = [
        said("user", {"type": "text", "content": "hi"}),
        said("assistant", {"type": "text", "content": "Let me see."}),
        said("assistant", call),
        said("tool", {"type": "tool_call_response", "id": "c1", "response": "done"}),
    ]
    own = {"gen_ai.input.messages": json.dumps(prompt), "gen_ai.output.messages": json.dumps(prompt[1:3])}
    span = read(GENAI | own | {"gen_ai.response.id": "resp_1"})
    assert span.prompt[1] == Message("assistant", "Let me see.", tool_calls=(CALL,))
    assert len(span.output) == 1
    assert len(read(GENAI | own).output) == 2


def test_a_stream_that_mlflow_wrote_down_without_its_calls_is_put_together_from_chunks() -> None:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"mlflow.chunk.value": json.dumps({"choices": [{"delta": delta, "finish_reason": finish}]})}

    def piece(**function: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": 0, "id": "c1" if "name" in function else None, "function": function}]}

    chunks = [chunk({"content": "Let "}), chunk({"content": "me."}), chunk(piece(name="f", arguments='{"a"')),
              chunk(piece(arguments=": 1}"), "tool_calls")]  # fmt: skip
    events = [(f"mlflow.chunk.item.{number}", event) for number, event in enumerate(chunks)]
    span = read(MLFLOW, events)
    assert span.output == [Message("assistant", "Let me.", tool_calls=(CALL,))]
    assert (span.finish_reason, span.response_id, span.content_state) == ("tool_calls", "r", "full")
    assert read(MLFLOW, events, droppedEventsCount=3).content_state == "truncated"
