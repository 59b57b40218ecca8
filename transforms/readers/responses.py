"""Reads the items of OpenAI's Responses API, where one message of the assistant is spread over several."""

from __future__ import annotations

from itertools import groupby, takewhile
from typing import Any

from msgspec.structs import replace

from transforms.readers.messages import read_message
from transforms.readers.parts import Parts, read_call, read_content, result_text
from transforms.readers.values import first_text, mapping, text
from transforms.records import Message

ITEM_ID = "fc_"
"""How ids of items begin that are calls; what answers a call names another id."""

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
    fragments: list[Message] = []
    for item in items:
        fields = mapping(item)
        kind = text(fields.get("type"))
        is_output = kind in ("function_call_output", "custom_tool_call_output")
        if kind == "item_reference":
            odd.add("history_elsewhere")
        elif not is_output and kind in _PLAIN | _OWN and fields.get("role", "assistant") == "assistant":
            fragments.append(_fragment(fields, odd))
        elif not is_output and kind and "role" not in fields:
            odd.add("unknown_part")
        else:
            messages += _joined(fragments)
            messages += [_output(fields, odd)] if is_output else read_message(item, odd)
            fragments = []
    return messages + _joined(fragments)


def join_fragments(messages: list[Message]) -> list[Message]:
    """The same messages, where neighbours of the assistant are pieces of one."""
    joined: list[Message] = []
    for role, neighbours in groupby(messages, key=lambda message: message.role):
        said = list(neighbours)
        joined += _joined(said) if role == "assistant" else said
    return joined


def with_call_ids(messages: list[Message]) -> list[Message]:
    """The same messages, where calls that go by the ids of their items get those of the results that follow them.

    Results stand in the order of their calls; where there are more or fewer, the ids stay.
    """
    named = list(messages)
    for at, message in enumerate(messages):
        if not message.tool_calls or not all(call.id.startswith(ITEM_ID) for call in message.tool_calls):
            continue
        following = (messages[later] for later in range(at + 1, len(messages)))
        ids = [result.tool_call_id for result in takewhile(lambda said: said.role == "tool", following)]
        if len(ids) == len(message.tool_calls):
            calls = tuple(replace(call, id=id) for call, id in zip(message.tool_calls, ids, strict=True))
            named[at] = replace(message, tool_calls=calls)
    return named


def _fragment(fields: dict[str, Any], odd: set[str]) -> Message:
    kind = fields.get("type")
    if kind in ("function_call", "custom_tool_call"):
        return Message("assistant", tool_calls=(read_call(fields),))
    parts = Parts()
    if kind == "reasoning":
        read_content([fields], parts, odd)
    else:
        read_content(fields.get("content"), parts, odd)
    text_said, thought = "\n".join(parts.text), "\n".join(parts.reasoning)
    return Message("assistant", text_said, thought, tuple(parts.calls), media=tuple(parts.media))


def _output(fields: dict[str, Any], odd: set[str]) -> Message:
    return Message("tool", result_text(fields.get("output"), odd), tool_call_id=first_text(fields, "call_id"))


def _joined(fragments: list[Message]) -> list[Message]:
    """One message of all fragments; none where there are none. Joined at once: there may be a hundred thousand."""
    if len(fragments) < 2:
        return fragments
    return [
        Message(
            "assistant",
            "\n".join(piece.content for piece in fragments if piece.content),
            "\n".join(piece.reasoning for piece in fragments if piece.reasoning),
            tuple(call for piece in fragments for call in piece.tool_calls),
            media=tuple(item for piece in fragments for item in piece.media),
        )
    ]
