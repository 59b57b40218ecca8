"""Reads the items of OpenAI's Responses API, where one message of the assistant is spread over several."""

from __future__ import annotations

from typing import Any

from transforms.readers.messages import Parts, read_call, read_content, read_message, result_text
from transforms.readers.values import first_text, mapping, text
from transforms.records import Message, ToolCall

_PLAIN = frozenset({"message", "reasoning"})
_OWN = frozenset(
    {"item_reference", "function_call_output", "custom_tool_call_output", "custom_tool_call", "function_call"}
)


def is_items(value: Any) -> bool:
    """Whether a list holds items of the Responses API rather than messages of a chat."""
    if not isinstance(value, list):
        return False
    kinds = [(text(mapping(item).get("type")), item) for item in value]
    return any(kind in _OWN or (kind in _PLAIN and "lc" not in mapping(item)) for kind, item in kinds)


def read_items(items: list[Any], odd: set[str]) -> list[Message]:
    """Messages of a list of items: what the assistant said in one go (text, reasoning, calls) is one message."""
    messages: list[Message] = []
    open_message = False
    for item in items:
        fields = mapping(item)
        kind = text(fields.get("type"))
        if kind == "item_reference":
            odd.add("history_elsewhere")
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output = result_text(fields.get("output"), odd)
            messages.append(Message("tool", output, tool_call_id=first_text(fields, "call_id")))
            open_message = False
        elif kind in _PLAIN | _OWN and fields.get("role", "assistant") == "assistant":
            fragment = _fragment(fields, odd)
            if open_message:
                messages[-1] = _joined(messages[-1], fragment)
            else:
                messages.append(fragment)
            open_message = True
        elif kind and "role" not in fields:
            odd.add("unknown_part")
        else:
            messages += read_message(item, odd)
            open_message = False
    return messages


def _fragment(fields: dict[str, Any], odd: set[str]) -> Message:
    kind = fields.get("type")
    if kind in ("function_call", "custom_tool_call"):
        return Message("assistant", tool_calls=(read_call(fields),))
    parts = Parts()
    if kind == "reasoning":
        read_content([fields], parts, odd)
    else:
        read_content(fields.get("content"), parts, odd)
    return Message("assistant", "\n".join(parts.text), "\n".join(parts.reasoning), media=tuple(parts.media))


def _joined(first: Message, second: Message) -> Message:
    calls: tuple[ToolCall, ...] = first.tool_calls + second.tool_calls
    return Message(
        "assistant",
        "\n".join(filter(None, (first.content, second.content))),
        "\n".join(filter(None, (first.reasoning, second.reasoning))),
        calls,
        media=first.media + second.media,
    )
