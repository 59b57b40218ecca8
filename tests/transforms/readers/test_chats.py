"""What becomes of plain chats as trainers, harnesses and proxies write them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Media, Message, Record, Span, ToolCall

USER, SAID = {"role": "user", "content": "How deep?"}, {"role": "assistant", "content": "Nine fathoms."}
SOUND = {"id": "c1", "type": "function", "function": {"name": "sound", "arguments": '{"at": 3}'}}
CALLED = Message("assistant", tool_calls=(ToolCall("c1", "sound", '{"at": 3}'),))
ASKED, TOLD = Message("user", "How deep?"), Message("assistant", "Nine fathoms.")


def read(*documents: Any) -> list[Record]:
    return list(read_export(io.BytesIO("\n".join(map(json.dumps, documents)).encode()), Tally(), "harbour"))


def calls(*documents: Any) -> list[Span]:
    return [span for span in read(*documents) if isinstance(span, Span) and span.kind == "llm"]


@pytest.mark.parametrize("system", ["Be brief.", [{"type": "text", "text": "Be brief.", "cache_control": {}}],
                                    [{"text": "Be brief."}]])  # fmt: skip
def test_instructions_beside_the_messages_are_shown_first_whatever_their_shape(system: Any) -> None:
    (span,) = calls({"system": system, "messages": [USER, SAID]})
    assert span.prompt == [Message("system", "Be brief."), ASKED]


@pytest.mark.parametrize("speaker", ["function_call", "tool_call"])
def test_an_entry_that_is_a_call_in_json_is_a_call(speaker: str) -> None:
    asks = [{"from": speaker, "value": json.dumps({"name": "sound", "arguments": {"at": at}})} for at in (3, 4)]
    answers = [{"from": "observation", "value": "9"}, {"from": "tool_response", "value": "8"}]
    first, last = calls({"conversations": [{"from": "human", "value": "How deep?"}, {"from": "gpt", "value": "Hm."},
                                           *asks, *answers, {"from": "gpt", "value": "Nine fathoms."}]})  # fmt: skip
    said = Message(
        "assistant", "Hm.", tool_calls=(ToolCall("", "sound", '{"at": 3}'), ToolCall("", "sound", '{"at": 4}'))
    )
    assert first.output == [said]
    assert last.prompt == [ASKED, said, Message("tool", "9"), Message("tool", "8")]
    assert {first.content_state, last.content_state} == {"full"}


def test_a_call_in_a_language_of_its_own_is_not_called_understood() -> None:
    for entry in ({"from": "function_call", "value": "sound(at=3)"}, {**SAID, "function_calls": "sound(at=3)"}):
        (span,) = calls({"messages": [USER, entry]})
        assert span.content_state == "unparsed"


@pytest.mark.parametrize("mark", [{"weight": 0}, {"loss": False}, {"train": False}, {"training": False}])
def test_what_a_trainer_was_told_to_skip_is_prompt(mark: dict[str, Any]) -> None:
    (span,) = calls({"messages": [USER, {**SAID, **mark}, USER, SAID]})
    assert span.prompt == [ASKED, TOLD, ASKED]


@pytest.mark.parametrize("column", ["images", "videos", "audios"])
def test_a_chat_whose_pictures_stand_in_a_column_is_not_full(column: str) -> None:
    (span,) = calls({"messages": [USER, SAID], column: ["chart.png"]})
    assert (span.content_state, span.flags) == ("unparsed", ["payload_elsewhere"])
    assert calls({"messages": [USER, SAID], column: []})[0].content_state == "full"


COMPLETION = {"id": "r-1", "model": "m-2", "choices": [{"message": SAID, "finish_reason": "stop"}],
              "usage": {"prompt_tokens": 7, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}},
              }  # fmt: skip
EARLIER = [USER, {"role": "assistant", "content": None, "tool_calls": [SOUND]},
           {"role": "tool", "tool_call_id": "c1", "content": "9"}]  # fmt: skip
TOOL = {"type": "function", "function": {"name": "sound", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    "log",
    [
        {"call_type": "acompletion", "response": COMPLETION, "model_parameters": {"tools": [TOOL], "seed": 1}},
        {"response": json.dumps(COMPLETION), "kwargs": {"tools": [TOOL], "seed": 1}},
        {**COMPLETION, "tools": [TOOL], "seed": 1},
    ],
)
def test_a_request_that_was_logged_with_its_answer_is_one_call(log: dict[str, Any]) -> None:
    (span,) = calls({"messages": EARLIER, **log})
    assert span.prompt == [ASKED, CALLED, Message("tool", "9", tool_call_id="c1")]
    assert (span.output, span.tools, span.parameters) == ([TOLD], [TOOL], {"seed": 1})
    assert (span.model, span.response_id, span.finish_reason) == ("m-2", "r-1", "stop")
    assert (span.input_tokens, span.output_tokens, span.cache_read_tokens) == (7, 4, 5)


def test_two_answers_to_one_request_are_two_traces_and_a_failed_one_has_no_call() -> None:
    roots = [span for span in read(*({"messages": [USER], "response": said} for said in ("Nine.", "Ten.")))
             if isinstance(span, Span) and span.kind == "agent"]  # fmt: skip
    assert roots[0].trace_identity != roots[1].trace_identity
    assert calls({"messages": EARLIER, "call_type": "completion", "response": {}}) == []


def test_what_a_run_came_to_is_no_answer() -> None:
    for more in ({"output": "diff --git"}, {"output": {"patch": "x"}}, {"response": "done"}):
        (span,) = calls({"messages": EARLIER, **more})
        assert span.output == [CALLED]


def test_items_of_the_responses_api_in_a_chat_are_its_messages() -> None:
    items = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
             {"type": "function_call", "call_id": "c1", "name": "sound", "arguments": '{"at": 3}'}]  # fmt: skip
    answer = {"object": "response", "id": "r-1", "model": "m-2", "output": items, "usage": {"input_tokens": 7}}
    result = {"type": "function_call_output", "call_id": "c1", "output": "9"}
    for said in (items, [answer]):
        first, last = calls({"messages": [USER, *said, result, SAID, {"role": "exit", "content": "patch"}]})
        assert first.output == [Message("assistant", "", "Hm.", CALLED.tool_calls)]
        assert last.prompt[-1] == Message("tool", "9", tool_call_id="c1")
        assert (first.content_state, last.output) == ("full", [TOLD])
    (only,) = calls({"messages": [USER, answer, result]})
    assert (only.model, only.response_id, only.input_tokens) == ("m-2", "r-1", 7)


def test_answers_that_an_entry_keeps_beside_its_message_tell_of_its_call() -> None:
    (span,) = calls({"messages": [USER, {**SAID, "extra": {"response": COMPLETION, "cost": 0.1}}]})
    assert (span.model, span.finish_reason, span.input_tokens) == ("m-2", "stop", 7)


def test_an_answer_that_says_nothing_was_not_captured() -> None:
    spoken = {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Nine."}}
    assert [calls({"messages": [USER, said]})[0].content_state
            for said in ({"role": "assistant", "content": ""}, spoken)] == ["absent", "unparsed"]  # fmt: skip


def test_videos_by_address_are_media() -> None:
    asked = {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "https://x/v"}}]}
    (span,) = calls({"messages": [asked, SAID]})
    assert span.prompt == [Message("user", media=(Media("video", "", "https://x/v"),))]


@pytest.mark.parametrize("is_wrapped", [False, True])
def test_the_state_of_a_graph_is_a_chat(is_wrapped: bool) -> None:
    answer = {"type": "ai", "content": "Nine fathoms.", "usage_metadata": {"input_tokens": 7, "output_tokens": 4},
              "response_metadata": {"model_name": "m-2", "finish_reason": "stop"}}  # fmt: skip
    said = [{"type": "human", "content": "How deep?"}, answer]
    (span,) = calls({"messages": [{"type": one["type"], "data": one} for one in said] if is_wrapped else said})
    assert (span.prompt, span.output, span.model) == ([ASKED], [TOLD], "m-2")
    assert (span.finish_reason, span.input_tokens, span.output_tokens) == ("stop", 7, 4)


def test_a_number_that_a_row_calls_its_target_is_no_verdict() -> None:
    kinds = [[type(record).__name__ for record in read({"messages": [USER, SAID], "target": target})]
             for target in (True, 9)]  # fmt: skip
    assert kinds == [["Span", "Span", "Feedback"], ["Span", "Span"]]
