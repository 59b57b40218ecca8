"""What becomes of what SDKs and gateways write in ways of their own, beside the conventions that they follow."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.calls import finish_reason
from transforms.readers.exports import Tally, read_export
from transforms.records import Media, Message, Span, ToolCall

TRACE, SPAN = "5f0e4c1d2b3a49788796a5b4c3d2e1f0", "9a8b7c6d5e4f3a2b"
Events = list[tuple[str, dict[str, Any]]]


def read_one(document: dict[str, Any]) -> Span:
    (record,) = read_export(io.BytesIO(json.dumps(document).encode()), Tally())
    assert isinstance(record, Span)
    return record


def read(said: dict[str, Any], events: Events | None = None) -> Span:
    told = [{"name": name, "attributes": fields} for name, fields in events or []]
    span = {"traceId": TRACE, "spanId": SPAN, "name": "s", "attributes": said, "events": told,
            "startTimeUnixNano": 1796013930879523691, "endTimeUnixNano": 1796013930905659274}  # fmt: skip
    return read_one({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})


def read_logs(*records: tuple[dict[str, Any], Any]) -> Span:
    told = [{"traceId": TRACE, "spanId": SPAN, "attributes": said, "body": value(body)} for said, body in records]
    return read_one({"resourceLogs": [{"scopeLogs": [{"logRecords": told}]}]})


def value(said: Any) -> dict[str, Any]:
    if isinstance(said, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value(item)} for key, item in said.items()]}}
    if isinstance(said, list):
        return {"arrayValue": {"values": [value(item) for item in said]}}
    return {"intValue": said} if isinstance(said, int) else {"stringValue": said}


def named(name: str) -> dict[str, Any]:
    return {"event.name": name}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("FinishReason.MAX_TOKENS", "length"), ("FINISH_REASON_STOP", "stop"), ("toolUse", "tool_calls"),
        ("ToolCalls", "tool_calls"), ("content-filter", "content_filter"), ("RECITATION", "content_filter"),
        ("['stop']", "stop"), ("stop,tool_calls", "tool_calls"), ("MALFORMED_FUNCTION_CALL", "error"),
        ("because it wanted to stop", ""), ("x" * 1000, ""), ("", ""),
    ],
)  # fmt: skip
def test_reasons_are_told_however_they_are_spelt(said: str, reason: str) -> None:
    assert finish_reason(said) == reason


@pytest.mark.parametrize(
    "said",
    [
        {"gen_ai.response.finish_reasons": "length"}, {"gen_ai.response.finish_reasons": '["length"]'},
        {"gen_ai.response.finish_reason": "length"}, {"gen_ai.response.stop_reason": "max_tokens"},
        {"llm.response.finish_reason": "length"},
    ],
)  # fmt: skip
def test_a_reason_is_found_wherever_it_stands(said: dict[str, Any]) -> None:
    span = read({"gen_ai.operation.name": "chat", **said})
    assert span.finish_reason == "length"
    assert not span.attributes


@pytest.mark.parametrize("operation", ["chat.completions", "text.completions"])
def test_calls_by_the_older_names_of_operations_are_calls(operation: str) -> None:
    said = {"gen_ai.operation.name": operation, "gen_ai.request.model": "m", "gen_ai.response.prompt_tokens": 7,
            "gen_ai.response.completion_tokens": 3}  # fmt: skip
    span = read(said, [("gen_ai.content.prompt", {"gen_ai.prompt": '[{"role": "user", "content": "hi"}]'}),
                       ("gen_ai.content.completion", {"gen_ai.completion": "ho"})])  # fmt: skip
    assert (span.kind, span.content_state, span.input_tokens, span.output_tokens) == ("llm", "full", 7, 3)
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])


def test_bodies_of_events_that_are_json_are_opened_and_others_are_text() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    choice = {"message": {"content": "", "tool_calls": [call]}, "finish_reason": "tool_calls", "index": 0}
    thread = {"content": {"text": {"value": "hey", "annotations": []}}, "role": "assistant"}
    span = read({"gen_ai.operation.name": "chat"}, [
        ("gen_ai.system.message", {"gen_ai.event.content": "Be brief."}),
        ("gen_ai.user.message", {"gen_ai.event.content": '{"city": "Lund"}'}),
        ("gen_ai.assistant.message", {"gen_ai.event.content": json.dumps(thread)}),
        ("gen_ai.user.message", {"gen_ai.event.content": '{"content": "go", "role": "user"}'}),
        ("gen_ai.choice", {"gen_ai.event.content": json.dumps(choice)}),
    ])  # fmt: skip
    assert span.prompt == [Message("system", "Be brief."), Message("user", '{"city": "Lund"}'),
                           Message("assistant", "hey"), Message("user", "go")]  # fmt: skip
    assert span.output == [Message("assistant", tool_calls=(ToolCall("c1", "f", '{"a":1}'),))]
    assert (span.content_state, span.finish_reason) == ("full", "tool_calls")


def test_events_of_gemini_hold_contents() -> None:
    spoken = [
        {"role": "user", "parts": [{"text": "what?"}, {"inline_data": {"mime_type": "image/png", "data": "aGk="}}]},
        {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "f", "args": {"a": 1}}}]},
        {"role": "user", "parts": [{"function_response": {"id": "c1", "name": "f", "response": {"b": 2}}}]},
    ]  # fmt: skip
    answer = {"content": {"role": "model", "parts": [{"text": "it is"}]}, "index": 0, "finish_reason": "STOP"}
    span = read_logs(
        (named("gen_ai.system.message"), {"content": {"role": "user", "parts": [{"text": "Be brief."}]}}),
        *[(named("gen_ai.user.message"), {"content": content}) for content in spoken],
        (named("gen_ai.choice"), answer),
    )
    assert span.prompt == [
        Message("system", "Be brief."),
        Message("user", "what?", media=(Media("image", "image/png", "aGk="),)),
        Message("assistant", tool_calls=(ToolCall("c1", "f", '{"a": 1}'),)),
        Message("tool", '{"b":2}', tool_call_id="c1", name="f"),
    ]
    assert (span.output, span.content_state) == ([Message("assistant", "it is")], "full")


def test_parts_of_bedrock_are_read_in_any_message() -> None:
    said = [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}}, {"text": "look"},
            {"image": {"format": "png", "source": {"bytes": "aGk="}}},
            {"toolUse": {"toolUseId": "c1", "name": "f", "input": {"a": 1}}}]  # fmt: skip
    span = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": [{"role": "user", "content": "hi"}],
                 "gen_ai.output.messages": [{"role": "assistant", "content": said}]})  # fmt: skip
    (message,) = span.output
    assert (message.content, message.reasoning, span.content_state) == ("look", "hm", "full")
    assert message.media == (Media("image", "image/png", "aGk="),)
    assert message.tool_calls == (ToolCall("c1", "f", '{"a": 1}'),)


def test_bodies_of_logs_may_be_json_in_text() -> None:
    said = [("system", {"role": "system", "content": "Be brief."}), ("user", {"role": "user", "content": "hi"})]
    answer = {"message": {"role": "assistant", "content": "ho"}, "finish_reason": "stop", "index": 0}
    span = read_logs(*[(named(f"gen_ai.{role}.message"), json.dumps(body)) for role, body in said],
                     (named("gen_ai.choice"), json.dumps(answer)))  # fmt: skip
    assert span.prompt == [Message("system", "Be brief."), Message("user", "hi")]
    assert (span.output, span.finish_reason) == ([Message("assistant", "ho")], "stop")


def test_logs_of_a_gateway_name_events_and_messages_in_their_own_way() -> None:
    asked = {"role": "user", "content": "hi"}
    answer = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ho"}}
    span = read_logs(({"event_name": "gen_ai.content.prompt", "gen_ai.prompt": "hi"}, asked),
                     ({"event_name": "gen_ai.content.completion"}, answer))  # fmt: skip
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])


def test_calls_that_a_gateway_numbers_like_answers_are_one_answer() -> None:
    said = {"llm.request.type": "chat", "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.function_call.name": "f", "gen_ai.completion.0.function_call.arguments": "{}",
            "gen_ai.completion.1.function_call.name": "g"}  # fmt: skip
    span = read(said)
    assert span.output == [Message("assistant", tool_calls=(ToolCall("", "f", "{}"), ToolCall("", "g", "")))]


def test_a_prompt_that_lost_the_calls_which_tools_answered_is_never_full() -> None:
    said = {"llm.request.type": "chat", "gen_ai.request.model": "m",
            "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi", "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.content": "done",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "ho"}  # fmt: skip
    span = read(said)
    assert (span.content_state, span.flags) == ("truncated", ["calls_elsewhere"])


def test_messages_may_stand_beside_the_version_of_their_schema() -> None:
    def listed(role: str, text: str) -> str:
        parts = [{"type": "text", "content": text}]
        return json.dumps({"version": "0.1", "messages": [{"role": role, "parts": parts}]})

    span = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": listed("user", "hi"),
                 "gen_ai.output.messages": listed("assistant", "ho")})  # fmt: skip
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])


def test_messages_may_be_items_of_the_responses_api() -> None:
    asked = [{"type": "message", "role": "user", "content": "hi"},
             {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
             {"type": "function_call_output", "call_id": "c1", "output": "done"}]  # fmt: skip
    answer = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
              {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ho"}]}]  # fmt: skip
    span = read({"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(asked),
                 "gen_ai.output.messages": json.dumps(answer)})  # fmt: skip
    assert span.prompt == [Message("user", "hi"), Message("assistant", tool_calls=(ToolCall("c1", "f", "{}"),)),
                           Message("tool", "done", tool_call_id="c1")]  # fmt: skip
    assert (span.output, span.content_state) == ([Message("assistant", "ho", "hm")], "full")


@pytest.mark.parametrize(
    "counts",
    [
        {"ai.usage.inputTokens": 9, "ai.usage.outputTokens": 5, "ai.usage.inputTokenDetails.cacheReadTokens": 4,
         "ai.usage.outputTokenDetails.reasoningTokens": 2},
        {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 5, "gen_ai.usage.input_tokens.cached": 4,
         "gen_ai.usage.output_tokens.reasoning": 2},
        {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 5,
         "gen_ai.usage.input_token_details": '{"cache_read": 4}',
         "gen_ai.usage.output_token_details": '{"reasoning": 2}'},
    ],
)  # fmt: skip
def test_cached_and_reasoned_tokens_are_told_apart(counts: dict[str, Any]) -> None:
    span = read({"gen_ai.operation.name": "chat", **counts})
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (9, 5, 4, 2)


def test_lists_that_a_store_wrote_as_text_are_lists() -> None:
    tool = json.dumps({"type": "function", "name": "f", "inputSchema": {"type": "object"}})
    said = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.tools": json.dumps([tool])}
    assert [offered["function"]["name"] for offered in read(said).tools] == ["f"]


def test_counts_of_gemini_are_read_from_its_answer_where_nothing_else_tells_them() -> None:
    counts = {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
    answer = {"content": {"role": "model", "parts": [{"text": "ho"}]}, "usage_metadata": counts}
    span = read({"gen_ai.request.model": "m", "gcp.vertex.agent.llm_response": json.dumps(answer)})
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (9, 5, 4, 2)


def test_messages_with_nothing_in_them_do_not_hide_those_of_another_convention() -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    said = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(asked),
            "ai.response.text": "ho", "gen_ai.input.messages": '[{"role": "user", "parts": []}]'}  # fmt: skip
    span = read(said)
    assert (span.dialect, span.content_state) == ("otlp_vercel", "full")
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])


@pytest.mark.parametrize("asked", ["user: hi\nassistant: ho\nuser: and?", "SYSTEM: be brief"])
def test_a_prompt_that_is_one_text_of_all_messages_is_never_full(asked: str) -> None:
    events = [
        ("gen_ai.content.prompt", {"gen_ai.prompt": asked}),
        ("gen_ai.content.completion", {"gen_ai.completion": "x"}),
    ]
    assert read({"gen_ai.operation.name": "chat"}, events).content_state == "unparsed"
    said = {"gen_ai.operation.name": "chat", "gen_ai.prompt": asked, "gen_ai.completion": "x"}
    assert read(said).content_state == "unparsed"


@pytest.mark.parametrize("asked", [
    [{"message.role": "user", "message.contents": [{"message_content.type": "text", "message_content.text": "hi"}]}],
    [{"message": {"role": "user", "content": "hi"}}], [{"role": "user", "content": "hi"}],
])  # fmt: skip
@pytest.mark.parametrize("as_text", [False, True])
def test_flat_messages_may_stand_in_one_attribute(asked: Any, as_text: bool) -> None:
    answer = [{"message.role": "assistant", "message.tool_calls": [
        {"tool_call.id": "c1", "tool_call.function.name": "f", "tool_call.function.arguments": "{}"}]}]  # fmt: skip
    said = {"llm.input_messages": asked, "llm.output_messages": answer}
    told = {name: json.dumps(listed) if as_text else value(listed) for name, listed in said.items()}
    span = read({"openinference.span.kind": "LLM"} | told) if as_text else read_one({"resourceSpans": [{"scopeSpans": [
        {"spans": [{"traceId": TRACE, "spanId": SPAN, "name": "s", "attributes": [
            {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}},
            *[{"key": name, "value": listed} for name, listed in told.items()]]}]}]}]})  # fmt: skip
    assert span.prompt == [Message("user", "hi")]
    assert span.output == [Message("assistant", tool_calls=(ToolCall("c1", "f", "{}"),))]


def test_calls_by_the_names_of_sentry_are_read() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.text": '["ho"]',
            "gen_ai.request.messages": '[{"role": "user", "content": "hi"}]', "gen_ai.request.temperature": 0.5,
            "gen_ai.response.tool_calls": json.dumps([call]),
            "gen_ai.request.available_tools": '[{"name": "f", "parameters": {"type": "object"}}]'}  # fmt: skip
    span = read(said)
    assert (span.prompt, span.content_state) == ([Message("user", "hi")], "full")
    assert span.output == [Message("assistant", "ho", tool_calls=(ToolCall("c1", "f", "{}"),))]
    assert ([tool["function"]["name"] for tool in span.tools], span.parameters) == (["f"], {"temperature": 0.5})
    assert not span.attributes


def test_a_tool_is_read_from_the_events_of_its_span() -> None:
    events: Events = [("gen_ai.tool.message", {"role": "tool", "content": '{"a": 1}', "id": "c1"}),
                      ("gen_ai.choice", {"message": '[{"text": "done"}]', "id": "c1"})]  # fmt: skip
    said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c1"}
    span = read(said, events)
    assert (span.tool_name, span.tool_call_id, span.content_state) == ("f", "c1", "full")
    assert (span.tool_arguments, span.tool_result) == ('{"a": 1}', "done")


def test_arguments_that_python_wrote_and_messages_of_tools_are_opened() -> None:
    result = {"content": "done", "additional_kwargs": {}, "type": "tool", "name": "f", "tool_call_id": "c1"}
    span = read({"langfuse.observation.type": "tool", "langfuse.observation.input": "{'a': None, 'b': 'x'}",
                 "langfuse.observation.output": json.dumps(result)})  # fmt: skip
    assert (span.tool_arguments, span.tool_call_id, span.tool_result) == ('{"a": null, "b": "x"}', "c1", "done")


def test_a_result_that_looks_like_a_message_stays_what_it_is() -> None:
    result = '{"content": "a page", "url": "x"}'
    span = read({"openinference.span.kind": "TOOL", "tool.name": "f", "output.value": result})
    assert span.tool_result == result


def test_messages_that_are_no_json_are_what_was_said() -> None:
    said = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": "hi", "gen_ai.output.messages": "ho"}
    span = read(said)
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])
    assert (span.content_state, span.flags) == ("full", [])
    cut = read(said | {"gen_ai.input.messages": '[{"role": "user", "con'})
    assert (cut.content_state, cut.flags) == ("truncated", ["truncated_json"])


def test_the_side_that_flat_messages_do_not_tell_is_read_from_the_whole() -> None:
    answer = {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "ho"}
    span = read({"openinference.span.kind": "LLM", "input.value": "hi", "output.value": "ho", **answer})
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])
    assert span.content_state == "full"
    asked = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi"}
    span = read({"openinference.span.kind": "LLM", "input.value": "hi", "output.value": "ho", **asked})
    assert (span.prompt, span.output) == ([Message("user", "hi")], [Message("assistant", "ho")])


@pytest.mark.parametrize("mark", ["<elided>", "[REDACTED]", "[Filtered]"])
def test_what_stands_in_the_place_of_a_text_is_never_what_was_said(mark: str) -> None:
    choice = {"content": {"role": "model", "parts": [{"text": "ho"}]}, "index": 0}
    span = read_logs((named("gen_ai.user.message"), {"content": mark}), (named("gen_ai.choice"), choice))
    assert span.content_state == "redacted"
    assert read_logs((named("gen_ai.user.message"), {"content": f"What is {mark}?"})).content_state != "redacted"


@pytest.mark.parametrize("instructions", [
    {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
    [{"role": "system", "content": "Be brief."}], [{"type": "text", "content": "Be brief."}], ["Be brief."],
    "Be brief.",
])  # fmt: skip
def test_instructions_are_read_as_parts_text_or_messages(instructions: Any) -> None:
    said = instructions if instructions == "Be brief." else json.dumps(instructions)
    span = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system_instructions": said,
            "gen_ai.input.messages": '[{"role": "user", "content": "hi"}]',
            "gen_ai.output.messages": "ho",
        }
    )
    assert (span.prompt, span.content_state) == ([Message("system", "Be brief."), Message("user", "hi")], "full")


@pytest.mark.parametrize("instructions", ["[Role] Be brief.", '["Role] Be brief.', "{Role} Be brief."])
def test_instructions_that_only_begin_like_json_are_text(instructions: str) -> None:
    span = read({"gen_ai.operation.name": "chat", "gen_ai.system_instructions": instructions,
                 "gen_ai.input.messages": "hi", "gen_ai.output.messages": "ho"})  # fmt: skip
    assert span.prompt == [Message("system", instructions), Message("user", "hi")]
