"""Reads messages that are told one by one, as events: of spans, of logs, or in pydantic-ai's list of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from transforms.readers.decoding import decode
from transforms.readers.parts import result_text
from transforms.readers.values import first_text, listing, mapping, text

ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE, ASSISTANT, TOOL_MESSAGE = "gen_ai.choice", "gen_ai.assistant.message", "gen_ai.tool.message"

Event = tuple[str, dict[str, Any], int | None]
"""Name, attributes and time of an event of a span."""

TEXT_UNKNOWN = "text_beside_calls_unknown"
"""Flag of a call whose prompt does not tell what the assistant said beside calls of tools."""

BODY = "gen_ai.event.content"
"""Where Azure's SDKs put the body of an event, which events of spans do not have."""

FIELDS = frozenset({"content", "role", "message", "tool_calls", "finish_reason", "index", "id"})
"""What the body of an event holds; JSON of anything else was said."""

KINDS = {"text": "text", "thinking": "thinking", "binary": "blob"}
"""What pydantic-ai calls kinds of part; addresses are `image-url`, `audio-url` and the like."""

PACKED = (
    '[{"text":',
    '[{"toolUse":',
    '[{"toolResult":',
    '[{"type":',
    '[{"id":',
    '{"role":',
    '{"content":',
    '{"tool_calls":',
)
"""Beginnings of JSON in attributes of a span's event, which hold no lists of objects."""


@dataclass(slots=True)
class Told:
    """What events say of a call: its messages in shapes that `messages` reads."""

    prompt: list[dict[str, Any]] = field(default_factory=list)
    output: list[dict[str, Any]] = field(default_factory=list)
    finish: str = ""


def is_message_event(name: str) -> bool:
    """Whether an event of this name tells a message."""
    return name in ROLES or name == CHOICE


def read_events(events: Iterable[tuple[str, dict[str, Any]]], odd: set[str]) -> Told:
    """Messages of events, each a name and its fields; nothing where content was not captured.

    Without content, events still say who spoke and which tools were called: nothing to learn from. An assistant's
    message with calls and without the key of its text is flagged: openai-v2 leaves out what was said beside calls.
    """
    told = Told()
    captured = False
    for name, fields in events:
        if name == CHOICE:
            message = fields.get("message")
            said = message if isinstance(message, dict) else {"content": fields.get("content", message)}
            captured = captured or _is_captured(said)
            told.output.append(_message("assistant", said, odd))
            told.finish = told.finish or text(fields.get("finish_reason"))
        elif name in ROLES:
            captured = captured or _is_captured(fields)
            if name == ASSISTANT and fields.get("tool_calls") and "content" not in fields:
                odd.add(TEXT_UNKNOWN)
            told.prompt.append(_message(ROLES[name], fields, odd))
    return told if captured else Told(finish=told.finish)


def _is_captured(fields: dict[str, Any]) -> bool:
    """Whether a message has content, or a call has arguments."""
    calls = [mapping(call) for call in listing(fields.get("tool_calls"))]
    inner = [mapping(call.get("function")) or call for call in calls]
    return bool(fields.get("content")) or any(call.get("arguments") is not None for call in inner)


def span_event(attributes: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    """Fields of a span's event: its attributes, those that hold JSON opened, and those that stand in one of them."""
    body = event_body(attributes.get(BODY), odd)
    return {key: _opened(value, odd) for key, value in {**attributes, **body}.items()}


def event_body(value: Any, odd: set[str]) -> dict[str, Any]:
    """Fields of an event out of its body: an object, the JSON of one, or what was said."""
    body = value
    if isinstance(value, str) and value.startswith("{"):
        try:
            body = decode(value, odd)
        except ValueError:
            odd.add("truncated_json")
            return {}
    if isinstance(body, dict) and FIELDS & body.keys():
        return body
    return {} if value in (None, "", {}) else {"content": value}


def listed(value: Any) -> list[tuple[str, dict[str, Any]]]:
    """Events of pydantic-ai's list, each with its name among its fields."""
    return [(text(fields.get("event.name")), fields) for fields in map(mapping, listing(value))]


def _opened(value: Any, odd: set[str]) -> Any:
    if not isinstance(value, str) or not value.startswith(PACKED):
        return value
    try:
        return decode(value, odd)
    except ValueError:
        odd.add("truncated_json")
        return value


def _message(role: str, fields: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    content, name = fields.get("content"), first_text(fields, "name")
    if isinstance(content, dict) and isinstance(content.get("parts"), list):
        spoken = {} if role == "system" else {"role": content.get("role") or role}
        return {"role": role, **spoken, "parts": content["parts"]}
    if role == "tool":
        shown = result_text([*map(_part, content)] if isinstance(content, list) else content, odd)
        return {"role": role, "content": shown, "tool_call_id": first_text(fields, "id", "tool_call_id"), "name": name}
    parts = [*map(_part, content)] if isinstance(content, list) else content
    return {"role": role, "content": parts, "tool_calls": listing(fields.get("tool_calls")), "name": name}


def _part(part: Any) -> Any:
    """One part in a shape that `messages` reads, from pydantic-ai's."""
    fields = mapping(part)
    kind = text(fields.get("kind"))
    if kind in KINDS:
        said = fields.get("text") or fields.get("content")
        data = {"mime_type": fields.get("media_type"), "content": fields.get("binary_content")}
        return {"type": KINDS[kind], **(data if kind == "binary" else {"text": said})}
    if kind.endswith("-url"):
        return {"type": "uri", "modality": kind.removesuffix("-url"), "uri": fields.get("url")}
    return part
