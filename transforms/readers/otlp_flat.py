"""Puts together what OpenInference and OpenLLMetry take apart: lists spread over attributes `prefix.N.rest`."""

from __future__ import annotations

from typing import Any

from transforms.readers.decoding import decode
from transforms.readers.histories import History
from transforms.readers.media import MEDIA_TYPES
from transforms.readers.messages import CALL_TYPES, REASONING_TYPES, RESULT_TYPES, TEXT_TYPES
from transforms.readers.values import listing, mapping, whole

DEEPEST_KEY = 16
"""Parts of a key that are told apart; real ones have up to ten."""


def gather(said: dict[str, Any], prefix: str, odd: set[str]) -> list[Any]:
    """Items of `prefix.N…`, in the order of their numbers; a number that is missing is noted as `index_gap`.

    SDKs drop attributes beyond 128 a span without a trace but a count, and the first messages go first.
    """
    tree: dict[str, Any] = {}
    start = prefix + "."
    for key, value in said.items():
        if key.startswith(start) and value is not None:
            _plant(tree, key.removeprefix(start).split(".", DEEPEST_KEY), value)
    return listing(_grown(tree, odd)) if tree else []


def _plant(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        branch = tree.get(part)
        if not isinstance(branch, dict):
            branch = tree[part] = {}
        tree = branch
    if not isinstance(tree.get(path[-1]), dict):
        tree[path[-1]] = value


def _grown(value: Any, odd: set[str]) -> Any:
    """The same tree with lists where all keys are numbers."""
    if not isinstance(value, dict):
        return value
    numbers = [whole(key) for key in value]
    if not value or None in numbers or not all(key.isdecimal() for key in value):
        return {key: _grown(item, odd) for key, item in value.items()}
    ordered = sorted(value.items(), key=lambda item: int(item[0]))
    if [int(key) for key, _ in ordered] != list(range(len(ordered))):
        odd.add("index_gap")
    return [_grown(item, odd) for _, item in ordered]


def gather_openinference(said: dict[str, Any], prefix: str, odd: set[str]) -> list[dict[str, Any]]:
    """Messages of OpenInference (`llm.input_messages` or `llm.output_messages`) as OpenAI would write them."""
    if isinstance(gathered := said.get(prefix), History):
        return gathered
    return [_openinference(mapping(mapping(item).get("message")), odd) for item in gather(said, prefix, odd)]


def gather_openllmetry(said: dict[str, Any], prefix: str, odd: set[str]) -> list[dict[str, Any]]:
    """Messages of OpenLLMetry before 0.6 (`gen_ai.prompt` or `gen_ai.completion`), also as AgentOps writes them."""
    return [_openllmetry(mapping(item), odd) for item in gather(said, prefix, odd)]


def _openinference(item: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    calls = [mapping(mapping(call).get("tool_call")) for call in listing(item.get("tool_calls"))]
    if item.get("function_call_name"):
        arguments = item.get("function_call_arguments_json", "")
        calls.append({"function": {"name": item["function_call_name"], "arguments": arguments}})
    parts = [_part(mapping(part), bool(calls), odd) for part in listing(item.get("contents"))]
    content = [part for part in parts if part] if parts else item.get("content", "")
    kept: dict[str, Any] = {key: item[key] for key in ("role", "name", "tool_call_id") if key in item}
    return {**kept, "content": content, "tool_calls": calls}


def _openllmetry(item: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    """A message whose content may be the JSON of its parts."""
    content = item.get("content")
    if not (isinstance(content, str) and content.startswith('[{"type":')):
        return item
    try:
        parts = decode(content, odd)
    except ValueError:
        odd.add("truncated_json")
        return item
    return {**item, "content": parts} if all(_is_part(part) for part in listing(parts)) else item


def _is_part(part: Any) -> bool:
    return mapping(part).get("type") in TEXT_TYPES | MEDIA_TYPES | CALL_TYPES | RESULT_TYPES | REASONING_TYPES


def _part(part: dict[str, Any], has_calls: bool, odd: set[str]) -> dict[str, Any]:
    """A part of a message; empty where it repeats a tool call that stands beside it."""
    content = mapping(part.get("message_content"))
    kind = content.get("type")
    if "tool_call" in part or kind == "tool_use":
        call = mapping(part.get("tool_call"))
        return {} if has_calls else {"type": "tool_use", "id": call.get("id"), **mapping(call.get("function"))}
    for media in ("image", "audio", "video", "file"):
        if isinstance(content.get(media), dict):
            return _media(media, mapping(content[media].get(media)) or content[media], odd)
    if kind in ("reasoning", "thinking"):
        return {"type": "thinking", "thinking": content.get("text") or content.get("thinking") or ""}
    return content


def _media(kind: str, inner: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    if inner.get("url") == "__REDACTED__":
        odd.add("redacted")
    return {"type": kind, "source": {"url": inner.get("url"), "mime_type": inner.get("mime_type", "")}}
