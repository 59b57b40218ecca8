"""Puts parts of Amazon Bedrock's Converse API, which name no type, into the shapes that `messages` reads."""

from __future__ import annotations

import json
from typing import Any

from transforms.readers.values import listing, mapping

_MEDIA = ("image", "document", "video")


def typed(part: dict[str, Any]) -> dict[str, Any]:
    """The same part with its type; empty where it is none of the API's."""
    call, answered = mapping(part.get("toolUse")), mapping(part.get("toolResult"))
    if call:
        return {"type": "tool_use", "id": call.get("toolUseId"), "name": call.get("name"), "input": call.get("input")}
    if answered:
        content = [_of_result(mapping(item)) for item in listing(answered.get("content"))]
        return {"type": "tool_result", "tool_use_id": answered.get("toolUseId"), "content": content}
    if thought := mapping(part.get("reasoningContent")):
        return {"type": "reasoning", "content": thought.get("reasoningText")}
    for kind in _MEDIA:
        if held := mapping(part.get(kind)):
            source = mapping(held.get("source"))
            where = mapping(source.get("s3Location"))
            return {"type": kind, "data": source.get("bytes"), "uri": where.get("uri"), "format": held.get("format")}
    return {"type": "text", "text": ""} if part.keys() == {"cachePoint"} else {}


def _of_result(item: dict[str, Any]) -> dict[str, Any]:
    """A part of a result; values are written as the JSON that a model is shown."""
    if "json" in item:
        return {"type": "text", "text": json.dumps(item["json"], ensure_ascii=False, separators=(",", ":"))}
    return {"type": "text", **item} if "text" in item else typed(item)
