"""Reads what observations of Langfuse hold: payloads in the shapes of whichever framework was traced."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from transforms.readers import gemini
from transforms.readers.calls import Usage, content_state, finish_reason, read_parameters, read_tools, read_usage
from transforms.readers.langsmith_calls import read_output, read_prompt
from transforms.readers.media import read_media
from transforms.readers.messages import plain, with_system
from transforms.readers.nested import opened_text
from transforms.readers.parts import result_text
from transforms.readers.responses import is_items, join_fragments
from transforms.readers.seen import Seen
from transforms.readers.values import first_text, listing, mapping, text, whole
from transforms.records import Media, Message, Span

_TRANSCRIPT = re.compile(r"\s*(system|developer|user|human|assistant|tool|role=)\s*[:=']", re.IGNORECASE)
ATTRIBUTE = "attributes."
COUNTS = ("prompt_tokens", "completion_tokens")
MEDIA = "@@@langfuseMedia:"
_REFERENCE = re.compile(r"(?:data:[\w/+.-]{1,100};base64,)?@@@langfuseMedia:type=([^|@]*)\|[^@]*@@@")
"""What stands for a picture, a sound or a file that the SDK stored apart: what it is, its id, where it came from."""


def fill_call(span: Span, row: dict[str, Any], seen: Seen, odd: set[str]) -> None:
    """Prompt, output, tools and counts of a generation."""
    asked, said = opened_text(row.get("input"), odd), opened_text(row.get("output"), odd)
    asked, tools = _tools_apart(asked)
    result = mapping(said)
    span.prompt = read_prompt(_as_inputs(asked, odd), odd, seen)
    if isinstance(result.get("instructions"), str):
        span.prompt = with_system(span.prompt, result["instructions"], odd)
    span.output = read_output(_unwrapped(said), odd)
    if isinstance(said, list):  # one answer, which some frameworks log a message for each call
        span.output = join_fragments(span.output)
    span.tools = read_tools(tools or mapping(asked).get("tools") or _definitions(row, odd) or result.get("tools"))
    span.model = first_text(result, "model") or first_text(row, "provided_model_name", "model")
    span.response_id = first_text(result, "id") if "choices" in result or "object" in result else ""
    span.parameters = read_parameters(mapping(opened_text(row.get("model_parameters"), odd)), mapping(asked))
    choice = mapping(next(iter(listing(result.get("choices") or result.get("candidates") or said)), None))
    message = plain(result) if result else {}
    answer = mapping(message.get("response_metadata"))
    traced = attributes_of(row["metadata"])
    span.provider = first_text(traced, "gen_ai.provider.name", "gen_ai.system")
    told = opened_text(traced.get("gen_ai.response.finish_reasons"), odd)
    span.finish_reason = finish_reason(choice.get("finish_reason") or answer.get("finish_reason")
                                       or result.get("finish_reason") or result.get("stop_reason")
                                       or result.get("stopReason") or told)  # fmt: skip
    usage = _usage(mapping(opened_text(row.get("usage_details") or row.get("usage"), odd)))
    if usage.input is None and usage.output is None:
        usage = read_usage(
            message.get("usage_metadata"), result.get("usage"), {name: row.get(name) or None for name in COUNTS},
            {"input_tokens": row.get("input_usage") or None, "output_tokens": row.get("output_usage") or None},
        )  # fmt: skip
    span.input_tokens, span.output_tokens = usage.input, usage.output
    span.cache_read_tokens, span.reasoning_tokens = usage.cache_read, usage.reasoning
    if MEDIA in text(row.get("input")) + text(row.get("output")):
        odd.add("payload_elsewhere")
        span.prompt = [_with_media(message, odd) for message in span.prompt]
        span.output = [_with_media(message, odd) for message in span.output]
    span.content_state = content_state(span, odd, lambda: bool(said if span.prompt else asked))


def fill_tool(span: Span, row: dict[str, Any], odd: set[str]) -> None:
    """Arguments and result of a tool."""
    asked, said = opened_text(row.get("input"), odd), opened_text(row.get("output"), odd)
    metadata = row["metadata"]
    attributes = attributes_of(metadata)
    shaped = plain(said) if isinstance(said, dict) else {}
    is_message = "tool_call_id" in shaped
    span.tool_name = first_text(attributes, "gen_ai.tool.name") or first_text(metadata, "tool_name") or span.name
    span.tool_call_id = (
        first_text(metadata, "tool_call_id") or first_text(attributes, "gen_ai.tool.call.id")
        or first_text(shaped, "tool_call_id")
    )  # fmt: skip
    span.tool_arguments = text(asked)
    span.tool_result = result_text(shaped.get("content") if is_message else said, odd)
    span.content_state = "redacted" if "redacted" in odd else ("full" if asked or said else "absent")


def _with_media(message: Message, odd: set[str]) -> Message:
    """A message whose media are said to be elsewhere as media: they are no text, and no text says what they show."""
    if any(MEDIA in call.arguments for call in message.tool_calls) or MEDIA in message.reasoning:
        odd.add("unknown_part")
    found = [read_media({"type": "file", "url": said[0], "mime_type": said[1]})
             for said in _REFERENCE.finditer(message.content)]  # fmt: skip
    known = [_named(media) for media in message.media]
    if not found and known == [*message.media]:
        return message
    return replace(message, content=_REFERENCE.sub("", message.content), media=(*known, *found))


def _named(media: Media) -> Media:
    """The media with the type that its reference names."""
    said = _REFERENCE.match(media.data)
    return read_media({"type": media.modality, "url": media.data, "mime_type": said[1]}) if said else media


def attributes_of(metadata: dict[str, Any]) -> dict[str, Any]:
    """Attributes of OpenTelemetry that Langfuse keeps in the metadata, nested or with a prefix."""
    told = {name.removeprefix(ATTRIBUTE): value for name, value in metadata.items() if name.startswith(ATTRIBUTE)}
    return {**told, **mapping(opened_text(metadata.get("attributes"), set()))}


def _as_inputs(asked: Any, odd: set[str]) -> Any:
    """A request as a run of LangSmith would hold it; transcripts in one text cannot be told apart into messages."""
    entries = asked if isinstance(asked, list) else mapping(asked).get("messages")
    flattened = [entry for entry in listing(entries) if isinstance(entry, str)]
    if isinstance(asked, str) and _TRANSCRIPT.match(asked):
        flattened = [asked]
    if flattened:
        odd.add("unknown_part")
    if isinstance(asked, list):
        return {"input": asked} if is_items(asked) else {"messages": [_answer(item, odd) for item in asked]}
    return {"prompt": asked} if isinstance(asked, str) else asked


def _answer(item: Any, odd: set[str]) -> Any:
    """A tool's message with its result as text: LangChain's may be any JSON, which is no list of parts."""
    if mapping(item).get("role") != "tool" or "parts" in item or not isinstance(item.get("content"), dict | list):
        return item
    return {**item, "content": result_text(item["content"], odd)}


def _tools_apart(asked: Any) -> tuple[Any, list[Any]]:
    """Messages or a request, and tools: Gemini's, or those that the handler for LangChain writes among messages."""
    if isinstance(asked, dict) and gemini.is_request(asked):
        return gemini.prompt(asked), gemini.tools(asked)
    if not isinstance(asked, list):
        return asked, []
    offered = [item["content"] for item in asked if _offers_tool(item)]
    return ([item for item in asked if not _offers_tool(item)], offered) if offered else (asked, [])


def _offers_tool(item: Any) -> bool:
    content = mapping(mapping(item).get("content"))
    return mapping(item).get("role") == "tool" and "parameters" in mapping(content.get("function"))


def _unwrapped(said: Any) -> Any:
    """An answer as messages: a list of one is that one, since the first is what counts."""
    if isinstance(said, list) and said and all(isinstance(item, dict) for item in said):
        return {"output": said} if is_items(said) else (said[0] if len(said) == 1 else {"messages": said})
    return gemini.output(said) if isinstance(said, dict) and gemini.is_answer(said) else said


def _definitions(row: dict[str, Any], odd: set[str]) -> list[dict[str, Any]]:
    """Tools by name, each as JSON text in which the schema is JSON text again, as Langfuse extracts them."""
    found = mapping(opened_text(row.get("tool_definitions"), odd))
    tools = [{"name": name, **mapping(opened_text(value, odd))} for name, value in found.items()]
    return [{name: opened_text(value, odd) if name == "parameters" else value for name, value in tool.items()}
            for tool in tools]  # fmt: skip


def _usage(details: dict[str, Any]) -> Usage:
    """Counts by the provider's names, or by Langfuse's, where `input` leaves out what the other `input_…` count."""
    usage = read_usage(details)
    if usage.input is not None or usage.output is not None:
        return usage
    counts = {name: count for name, value in details.items() if (count := whole(value)) is not None}
    incoming = {name: count for name, count in counts.items() if name.startswith("input") or "cache" in name}
    outgoing = {name: count for name, count in counts.items() if name.startswith("output")}
    return Usage(
        input=whole(sum(incoming.values())) if incoming else None,
        output=whole(sum(outgoing.values())) if outgoing else None,
        cache_read=next((count for name, count in counts.items() if "cache" in name and "creat" not in name), None),
        reasoning=next((count for name, count in outgoing.items() if "reasoning" in name), None),
    )
