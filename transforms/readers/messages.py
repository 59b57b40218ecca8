"""Reads one chat message, or a list of them, in the shapes of OpenAI, Anthropic, LangChain and OpenTelemetry."""

from __future__ import annotations

from typing import Any

from transforms.readers import reasoning
from transforms.readers.parts import Parts, noted, read_call, read_content, read_result
from transforms.readers.values import first_text, listing, mapping, text
from transforms.records import Message, ToolCall

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
BARE = frozenset({"role", "content", "tool_call_id", "name", "tool_calls"})
IN_PARTS = frozenset({"role", "parts", "finish_reason"})
TEXT_PART = frozenset({"type", "content"})
CALL_PART = frozenset({"type", "id", "name", "arguments"})


def read_messages(value: Any, odd: set[str]) -> list[Message]:
    """Messages of a list, of one message, or of bare text said by the user; oddities go to `odd`."""
    if isinstance(value, list) and not is_pair(value):
        return [message for item in value for message in read_message(item, odd)]
    return read_message(value, odd)


def read_message(item: Any, odd: set[str], role: str = "user") -> list[Message]:
    """One message; several where results of tools are packed into it. `role` is for text that names none."""
    if isinstance(item, dict) and (simple := _simple(item, odd, role)) is not None:
        return [simple]
    if isinstance(item, str):
        return [Message(role, noted(item, odd))]
    if isinstance(item, list):
        if not is_pair(item):
            return read_messages(item, odd)
        item = {"role": item[0], "content": item[1]}
    if not isinstance(item, dict):
        return []
    return _read_fields(plain(item), odd, role)


def _simple(item: dict[str, Any], odd: set[str], default: str) -> Message | None:
    """A message with nothing but text and calls, as nearly all are; None for others."""
    keys = item.keys()
    if keys <= BARE:
        content, calls = item.get("content"), listing(item.get("tool_calls"))
        if isinstance(content, str) or (content is None and calls):
            return Message(
                _role(item, odd, default),
                noted(content or "", odd),
                tool_calls=tuple(map(read_call, calls)),
                tool_call_id=first_text(item, "tool_call_id"),
                name=first_text(item, "name"),
            )
    elif keys <= IN_PARTS and (parts := listing(item.get("parts"))):
        return _of_parts(item, parts, odd, default)
    return None


def _of_parts(item: dict[str, Any], parts: list[Any], odd: set[str], default: str) -> Message | None:
    """A message of texts and calls, or of one result."""
    if len(parts) == 1 and mapping(parts[0]).get("type") == "tool_call_response":
        return read_result(parts[0], odd)
    said: list[str] = []
    calls: list[ToolCall] = []
    for part in parts:
        keys = mapping(part).keys()
        if keys == TEXT_PART and part["type"] == "text" and isinstance(part["content"], str):
            if part["content"]:
                said.append(noted(part["content"], odd))
        elif keys == CALL_PART and part["type"] == "tool_call" and isinstance(part["name"], str):
            calls.append(ToolCall(first_text(part, "id"), part["name"], text(part["arguments"])))
        else:
            return None
    return Message(_role(item, odd, default), "\n".join(said), tool_calls=tuple(calls))


def with_system(messages: list[Message], instructions: Any, odd: set[str]) -> list[Message]:
    """The messages with instructions that stand beside them in front, unless they hold a system message already."""
    if not instructions or any(message.role == "system" for message in messages):
        return messages
    parts = Parts()
    for item in instructions if isinstance(instructions, list) else [instructions]:
        read_content(_instruction(item), parts, odd)
    return [Message("system", "\n".join(parts.text)), *messages] if parts.text else messages


def _instruction(item: Any) -> Any:
    """A part of instructions, or the content of a message that somebody made of them."""
    is_message = isinstance(item, dict) and "type" not in item
    return item.get("parts", item.get("content", item)) if is_message else item


def plain(item: dict[str, Any]) -> dict[str, Any]:
    """The fields of a message, out of LangChain's constructor dumps and `{type, data}` pairs."""
    if item.get("lc") == 1 and isinstance(item.get("kwargs"), dict):
        name = text(listing(item.get("id"))[-1:] and item["id"][-1])
        return {"type": name.removesuffix("Chunk").removesuffix("Message").lower(), **item["kwargs"]}
    if isinstance(item.get("data"), dict) and text(item.get("type")) in ROLES:
        return {"type": item["type"], **item["data"]}
    return item


def is_pair(item: list[Any]) -> bool:
    """Whether a list is one message as `[role, content]`."""
    return len(item) == 2 and isinstance(item[0], str) and item[0] in ROLES and isinstance(item[1], str | list)


def read_calls(fields: dict[str, Any]) -> list[ToolCall]:
    """Tool calls that stand beside the content: OpenAI's, LangChain's (valid and invalid), and the old single one."""
    calls = [read_call(item) for item in listing(fields.get("tool_calls"))]
    calls += [read_call(item) for item in listing(fields.get("invalid_tool_calls"))]
    extra = fields.get("additional_kwargs")
    if isinstance(extra, dict) and extra:
        written = [read_call(item) for item in listing(extra.get("tool_calls"))]
        raw = {call.id: call for call in written if call.id}
        calls = [raw.get(call.id, call) for call in calls] or written
    else:
        extra = {}
    single = fields.get("function_call") or extra.get("function_call")
    return calls or ([read_call(single)] if isinstance(single, dict) else [])


def _read_fields(fields: dict[str, Any], odd: set[str], default: str) -> list[Message]:
    parts = Parts()
    listed = fields.get("parts")
    read_content(listed if isinstance(listed, list) else fields.get("content"), parts, odd)
    if refusal := fields.get("refusal") or mapping(fields.get("additional_kwargs")).get("refusal"):
        read_content(refusal, parts, odd)
    if not parts.reasoning:
        parts.reasoning = [*filter(None, [reasoning.of_message(fields, odd)])]
    if isinstance(fields.get("audio"), dict):
        odd.add("unknown_part")  # an answer that was spoken
    own = Message(
        role=_role(fields, odd, default),
        content="\n".join(parts.text),
        reasoning="\n".join(parts.reasoning),
        tool_calls=tuple(read_calls(fields) or parts.calls),
        tool_call_id=first_text(fields, "tool_call_id"),
        name=first_text(fields, "name"),
        media=tuple(parts.media),
    )
    empty = not (own.content or own.reasoning or own.tool_calls or own.media)
    return parts.results if parts.results and empty else [*parts.results, own]


def _role(fields: dict[str, Any], odd: set[str], default: str) -> str:
    named = fields.get("role") or fields.get("type") or default
    known = (
        ROLES.get(named.lower().removesuffix("messagechunk").removesuffix("message"))
        if isinstance(named, str)
        else None
    )
    if known is None:
        odd.add("unknown_role")
    return known or default
