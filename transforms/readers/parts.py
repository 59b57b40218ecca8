"""Sorts what the content of a chat message holds: texts, thoughts, calls of tools, their results and media."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from transforms.readers import reasoning
from transforms.readers.media import MEDIA_TYPES, read_media
from transforms.readers.untyped_parts import typed
from transforms.readers.values import compact_json, first_text, listing, mapping, text
from transforms.records import Media, Message, ToolCall

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "summary_text", "reasoning_text", "text-plain"})
CALL_TYPES = frozenset(
    {"tool_use", "tool_call", "function_call", "server_tool_use", "server_tool_call", "tool-call", "function"}
)
RESULT_TYPES = frozenset(
    {"tool_result", "tool_call_response", "function_call_output", "server_tool_call_response", "tool-result",
     "function_response"}
)  # fmt: skip
WRAPPED_RESULTS = ("text", "json", "content", "error-text", "error-json")
ARGUMENTS = ("arguments", "args", "input", "server_tool_call")
REDACTED = ("__REDACTED__", "[Scrubbed due to")
ELIDED = frozenset({"<elided>", "<redacted>", "[REDACTED]", "[Filtered]"})
"""What SDKs write in the place of a whole text."""

LONGEST_ELIDED = max(map(len, ELIDED))


@dataclass(slots=True)
class Parts:
    """What the content of one message holds, sorted by kind."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    media: list[Media] = field(default_factory=list)
    results: list[Message] = field(default_factory=list)


def read_content(content: Any, parts: Parts, odd: set[str]) -> None:
    """Sorts content (text, or a list of typed parts) into `parts`."""
    if isinstance(content, str):
        if content:
            parts.text.append(noted(content, odd))
    elif isinstance(content, dict):
        _read_part(content, parts, odd)
    else:
        for part in listing(content):
            read_content(part, parts, odd)


def _read_part(part: dict[str, Any], parts: Parts, odd: set[str]) -> None:
    kind = text(part.get("type"))
    if not kind and (part.get("thought") or not part.get("text")):
        part = typed(part)
        kind = text(part.get("type"))
    if kind in TEXT_TYPES or (not kind and isinstance(part.get("text"), str | dict)):
        said = first_text(part, "text", "content", "refusal")
        said = said or first_text(mapping(part.get("text")), "value")  # threads annotate their text
        read_content(said, parts, odd)
        if not said and kind == "text-plain":
            parts.media.append(read_media(part))  # a document that stands elsewhere or is encoded
    elif kind in reasoning.TYPES:
        said = noted(reasoning.of_part(part), odd)
        parts.reasoning += [said] if said else []
        odd.update(() if said else {"reasoning_hidden"})
    elif kind in CALL_TYPES:
        call = read_call(part)
        if not call.id and "function_call" in part:  # LangSmith's wrapper of Gemini counts calls in answers only
            call = replace(call, id=f"call_{len(parts.calls)}")
        parts.calls.append(call)
    elif kind in RESULT_TYPES:
        parts.results.append(read_result(part, odd))
    elif kind in MEDIA_TYPES:
        parts.media.append(read_media(part))
    elif kind == "redacted_thinking":
        odd.add("reasoning_hidden")
    elif kind == "non_standard" and isinstance(part.get("value"), dict):
        _read_part(part["value"], parts, odd)  # LangChain's wrapper around what it has no type for
    else:
        odd.add("unknown_part")


def read_call(item: Any) -> ToolCall:
    """One tool call; arguments that came as an object become its JSON text."""
    fields = mapping(item)
    inner = mapping(fields.get("function")) or mapping(fields.get("custom") or fields.get("function_call")) or fields
    arguments = next(filter(_is_there, map(inner.get, ARGUMENTS)), "")
    return ToolCall(
        first_text(fields, "call_id", "id", "tool_call_id", "toolCallId") or first_text(inner, "id"),
        first_text(inner, "name", "tool_name", "toolName"),
        text(arguments),
    )


def _is_there(value: Any) -> bool:
    return value is not None


def read_result(part: dict[str, Any], odd: set[str]) -> Message:
    """The message of a tool that a part of one of `RESULT_TYPES` is."""
    part = mapping(part.get("function_response")) or part
    value = next((part[key] for key in ("response", "result", "content", "output") if part.get(key) is not None), "")
    call = first_text(part, "tool_use_id", "call_id", "tool_call_id", "toolCallId", "id")
    return Message("tool", result_text(value, odd), tool_call_id=call, name=first_text(part, "name", "toolName"))


def result_text(value: Any, odd: set[str]) -> str:
    """Text of what a tool gave back: text parts joined, anything else as compact JSON.

    Frameworks that record an object (pydantic-ai, the AI SDK) send the model its JSON without spaces.
    """
    if isinstance(value, dict) and value.keys() == {"type", "value"} and value["type"] in WRAPPED_RESULTS:
        value = value["value"]
    if isinstance(value, list) and value and all(map(_is_part, value)):
        parts = Parts()
        read_content(value, parts, odd)
        if parts.text and not parts.calls and not parts.results:
            return "\n".join(parts.text)
    if isinstance(value, dict | list):
        return compact_json(value)
    return noted(text(value), odd)


def _is_part(item: Any) -> bool:
    return isinstance(item, dict) and (isinstance(item.get("type"), str) or item.keys() == {"text"})


def noted(said: str, odd: set[str]) -> str:
    """What was said; `odd` learns where it only stands in the place of what was."""
    if said.startswith(REDACTED) or (len(said) <= LONGEST_ELIDED and said in ELIDED):
        odd.add("redacted")
    return said
