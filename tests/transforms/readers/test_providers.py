"""What becomes of runs whose payloads are a provider's own: Gemini's, Bedrock's, Ollama's, Mistral's, LangChain's."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Media, Message, Span, ToolCall

RUN = "01a22ac9-1d04-773f-8b54-6b7c1f1af9f8"
HI = {"messages": [{"role": "user", "content": "How deep?"}]}
ASKED = Message("user", "How deep?")


def call(inputs: Any, outputs: Any, **more: Any) -> Span:
    run = {"id": RUN, "trace_id": RUN, "run_type": "llm", "name": "m", "status": "success"}
    data = json.dumps(run | {"inputs": inputs, "outputs": outputs} | more).encode()
    [span] = read_export(io.BytesIO(data), Tally())
    assert isinstance(span, Span)
    return span


def generation(content: Any, **kwargs: Any) -> dict[str, Any]:
    message = {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"],
               "kwargs": {"content": content, **kwargs}}  # fmt: skip
    return {"generations": [[{"text": "", "message": message}]]}


@pytest.mark.parametrize(
    "said",
    [
        {"content": "Nine.", "thinking": "Hm."},
        {"content": "Nine.", "reasoning": {"text": "Hm."}},
        {"content": "Nine.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
        {"content": "Nine.", "thinking_blocks": [{"type": "thinking", "thinking": "Hm."}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"text": "Nine."}]},
        {"content": [{"type": "reasoning_content", "reasoning_content": {"text": "Hm."}}, {"text": "Nine."}]},
        {"content": [{"type": "non_standard", "value": {"type": "thinking", "thinking": "Hm."}}, {"text": "Nine."}]},
        {"content": [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}, {"text": "Nine."}]},
        {
            "content": "Nine.",
            "additional_kwargs": {"reasoning": {"summary": [{"type": "summary_text", "text": "Hm."}]}},
        },
    ],
)
def test_what_a_model_thought_is_read_wherever_a_provider_puts_it(said: dict[str, Any]) -> None:
    span = call(HI, {"role": "assistant", **said})
    assert (span.output, span.content_state) == ([Message("assistant", "Nine.", "Hm.")], "full")


def test_thoughts_that_a_provider_keeps_are_told() -> None:
    span = call(HI, generation("Nine.", additional_kwargs={"reasoning": {"id": "rs_1", "summary": []}}))
    assert (span.output, span.flags) == ([Message("assistant", "Nine.")], ["reasoning_hidden"])


def test_a_wrapped_request_to_gemini_has_its_calls_results_instructions_and_tools() -> None:
    inputs = {
        "messages": [
            *HI["messages"],
            {"role": "model", "content": [
                {"type": "function_call", "function_call": {"id": None, "name": "sound", "arguments": {"at": 3}}}]},
            {"role": "user", "content": [
                {"type": "function_response", "function_response": {"name": "sound", "response": {"depth": 9}}}]},
        ],
        "config": {"system_instruction": "Be brief.", "temperature": 0.5, "tools": [{"function_declarations": [
            {"name": "sound", "parameters": {"type": "OBJECT"}}]}]},
    }  # fmt: skip
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 19, "output_token_details": {"reasoning": 6}}
    span = call(inputs, {"role": "assistant", "content": "Nine.", "finish_reason": "STOP", "usage_metadata": usage})
    assert span.prompt == [
        Message("system", "Be brief."),
        ASKED,
        Message("assistant", tool_calls=(ToolCall("call_0", "sound", '{"at": 3}'),)),
        Message("tool", '{"depth":9}', name="sound"),
    ]
    assert span.tools == [{"type": "function", "function": {"name": "sound", "parameters": {"type": "object"}}}]
    assert (span.parameters, span.finish_reason, span.content_state) == ({"temperature": 0.5}, "stop", "full")
    assert (span.output_tokens, span.reasoning_tokens) == (10, 6)


def test_a_call_in_an_answer_of_gemini_reads_like_its_echo() -> None:
    named = {"name": "sound", "arguments": {"at": 3}}
    written = {"id": "call_0", "type": "function", "index": 0,
               "function": {"name": "sound", "arguments": json.dumps({"at": 3})}}  # fmt: skip
    echo = {"role": "model", "content": [{"type": "function_call", "function_call": {"id": None, **named}}]}
    answered = call(HI, {"role": "assistant", "content": None, "tool_calls": [written]})
    assert call({"messages": [*HI["messages"], echo]}, {"role": "assistant", "content": "9"}).prompt == [
        ASKED, *answered.output
    ]  # fmt: skip


def test_a_request_to_gemini_as_it_was_sent_is_a_call() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    span = call(
        {"contents": [{"role": "user", "parts": [{"text": "How deep?"}, picture]}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Nine."}]},
                         "finishReason": "MAX_TOKENS"}],
         "usage_metadata": {"prompt_token_count": 9, "candidates_token_count": 4, "thoughts_token_count": 6,
                            "total_token_count": 19, "cached_content_token_count": 2}},
    )  # fmt: skip
    assert span.prompt == [Message("user", "How deep?", media=(Media("image", "image/png", "AA=="),))]
    assert (span.output, span.finish_reason) == ([Message("assistant", "Nine.", "Hm.")], "length")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens, span.reasoning_tokens) == (9, 10, 2, 6)


def test_a_request_to_bedrock_as_it_was_sent_is_a_call() -> None:
    asked = [
        {"role": "user", "content": [{"text": "How deep?"}, {"cachePoint": {"type": "default"}}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "u1", "name": "sound", "input": {"at": 3}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "u1", "content": [{"json": {"depth": 9}}]}}]},
    ]
    offered = {"toolSpec": {"name": "sound", "inputSchema": {"json": {"type": "object"}}}}
    span = call(
        {"messages": asked, "system": [{"text": "Be brief."}], "toolConfig": {"tools": [offered]}},
        {"output": {"message": {"role": "assistant", "content": [{"text": "Nine."}]}}, "stopReason": "end_turn",
         "usage": {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 1}},
    )  # fmt: skip
    assert span.prompt == [
        Message("system", "Be brief."),
        ASKED,
        Message("assistant", tool_calls=(ToolCall("u1", "sound", '{"at": 3}'),)),
        Message("tool", '{"depth":9}', tool_call_id="u1"),
    ]
    assert span.tools == [{"type": "function", "function": {"name": "sound", "parameters": {"type": "object"}}}]
    assert (span.output, span.finish_reason, span.content_state) == ([Message("assistant", "Nine.")], "stop", "full")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens) == (9, 2, 3)


def test_an_answer_of_ollama_says_how_it_ended_and_what_it_cost() -> None:
    said = {"role": "assistant", "content": "Nine."}
    span = call(HI, {"message": said, "done_reason": "length", "prompt_eval_count": 7, "eval_count": 4})
    assert (span.finish_reason, span.input_tokens, span.output_tokens) == ("length", 7, 4)


def test_runs_of_langchain_in_javascript_tell_counts_and_ends_in_camel_case() -> None:
    usage = {"promptTokens": 7, "completionTokens": 4, "totalTokens": 11}
    of_all = {"generations": [[{"text": "Nine.", "generationInfo": {"finishReason": "length"}}]],
              "llmOutput": {"tokenUsage": usage}}  # fmt: skip
    own = generation("Nine.", response_metadata={"tokenUsage": usage, "finish_reason": "length"})
    for outputs in (of_all, own):
        span = call(HI, outputs)
        assert (span.finish_reason, span.input_tokens, span.output_tokens) == ("length", 7, 4)


def test_generations_of_the_first_langchain_tell_how_they_ended() -> None:
    message = {"type": "ai", "data": {"content": "Nine.", "additional_kwargs": {}}}
    span = call(
        HI, {"generations": [{"text": "Nine.", "message": message, "generation_info": {"finish_reason": "stop"}}]}
    )
    assert (span.output, span.finish_reason) == ([Message("assistant", "Nine.")], "stop")


def test_refusals_and_documents_of_langchain_are_text() -> None:
    asked = [
        {
            "type": "human",
            "content": [{"type": "text-plain", "text": "A chart."}, {"type": "text", "text": "How deep?"}],
        }
    ]
    span = call({"messages": asked}, generation("", additional_kwargs={"refusal": "No."}))
    assert (span.prompt, span.output) == ([Message("user", "A chart.\nHow deep?")], [Message("assistant", "No.")])


def test_an_answer_that_came_in_pieces_is_one_message() -> None:
    pieces = [[{"type": "thinking", "thinking": "Hm."}], [{"type": "text", "text": "Nine."}],
              [{"type": "tool_use", "id": "t1", "name": "sound", "input": {"at": 3}}]]  # fmt: skip
    said = [{"role": "assistant", "content": content} for content in pieces]
    span = call(HI, {"output": {"messages": said}})
    assert span.output == [Message("assistant", "Nine.", "Hm.", (ToolCall("t1", "sound", '{"at": 3}'),))]


def test_a_run_that_a_proxy_sent_has_the_tools_and_settings_of_its_request() -> None:
    tool = {"type": "function", "function": {"name": "sound", "parameters": {"type": "object"}}}
    settings = {"temperature": 0.5, "tools": [tool]}
    span = call({**HI, "call_type": "acompletion", "model_parameters": settings}, {"role": "assistant", "content": "9"})
    assert (span.tools, span.parameters) == ([tool], {"temperature": 0.5})
