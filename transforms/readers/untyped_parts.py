"""Gives parts of messages a type that Gemini and Bedrock's Converse API tell by the name of a field."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from transforms.readers.values import compact_json, first_text, mapping

Fields = dict[str, Any]


def typed(part: Fields) -> Fields:
    """A part in a shape that `messages` reads; the same part where neither writes such."""
    for name, shape in SHAPES.items():
        if held := mapping(part.get(name)):
            return shape(held)
    if part.get("thought") and isinstance(part.get("text"), str):
        return {"type": "reasoning", "text": part["text"]}
    return part


def _call(fields: Fields) -> Fields:
    return {"type": "tool_call", "id": fields.get("id"), "name": fields.get("name"),
            "arguments": fields.get("args") or {}}  # fmt: skip


def _response(fields: Fields) -> Fields:
    return {"type": "tool_call_response", "id": fields.get("id"), "name": fields.get("name"),
            "response": fields.get("response")}  # fmt: skip


def _media(fields: Fields) -> Fields:
    return {"type": "media", "data": fields.get("data"), "uri": first_text(fields, "file_uri", "fileUri"),
            "mime_type": first_text(fields, "mime_type", "mimeType")}  # fmt: skip


def _tool_use(fields: Fields) -> Fields:
    return {"type": "tool_use", "id": fields.get("toolUseId"), "name": fields.get("name"), "input": fields.get("input")}


def _tool_result(fields: Fields) -> Fields:
    content = fields.get("content")
    shown = [_shown(mapping(item)) for item in content] if isinstance(content, list) else content
    return {"type": "tool_result", "tool_use_id": fields.get("toolUseId"), "content": shown}


def _shown(item: Fields) -> Fields:
    """A part of a result; values are written as the JSON that a model is shown."""
    if "json" in item:
        return {"type": "text", "text": compact_json(item["json"])}
    return {"type": "text", **item} if "text" in item else typed(item)


def _reasoning(fields: Fields) -> Fields:
    return {"type": "reasoning", "content": fields.get("reasoningText")}


def _source(kind: str, fields: Fields) -> Fields:
    source, form = mapping(fields.get("source")), first_text(fields, "format")
    return {"type": kind, "data": source.get("bytes"), "uri": mapping(source.get("s3Location")).get("uri"),
            "mime_type": f"{kind}/{form}" if form and kind != "document" else ""}  # fmt: skip


def _mark(_: Fields) -> Fields:
    return {"type": "text", "text": ""}


SHAPES: dict[str, Callable[[Fields], Fields]] = {
    "function_call": _call, "functionCall": _call, "function_response": _response, "functionResponse": _response,
    "inline_data": _media, "inlineData": _media, "file_data": _media, "fileData": _media,
    "toolUse": _tool_use, "toolResult": _tool_result, "reasoningContent": _reasoning,
    **{kind: partial(_source, kind) for kind in ("image", "document", "video")}, "cachePoint": _mark,
}  # fmt: skip
"""How Gemini (in Python and as it is sent) and Bedrock name what a part is."""
