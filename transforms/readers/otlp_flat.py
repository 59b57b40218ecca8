"""Puts together what OpenInference and OpenLLMetry take apart: lists spread over attributes `prefix.N.rest`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from transforms.readers import reasoning
from transforms.readers.decoding import decode
from transforms.readers.histories import History
from transforms.readers.media import MEDIA_TYPES
from transforms.readers.nested import opened_text
from transforms.readers.parts import CALL_TYPES, RESULT_TYPES, TEXT_TYPES
from transforms.readers.values import listing, mapping, whole

KEPT = ("role", "name", "tool_call_id")
"""What of a message is kept beside its content and its calls."""

_PLAIN = re.compile(
    r"(\d{1,6})\.message\.(?:(role|name|tool_call_id|content)|tool_calls\.(\d{1,6})\.tool_call\.(?:function\.)?"
    r"((?<!function\.)id|(?<=function\.)(?:name|arguments)))",
    re.ASCII,
)
KNOWN_SPOTS = 4096
"""Names of attributes of which it is remembered where they belong."""

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
    if gathered is not None:
        return _whole(gathered, odd)
    plain = _plain_messages(said, prefix + ".")
    if plain is not None:
        return plain
    return [_openinference(mapping(mapping(item).get("message")), odd) for item in gather(said, prefix, odd)]


def _whole(value: Any, odd: set[str]) -> list[dict[str, Any]]:
    """Messages that stand in one attribute, as a list or its JSON, named by their parts or not."""
    items = [mapping(item) for item in listing(opened_text(value, odd))]
    flat = {f"m.{at}.{key}": part for at, item in enumerate(items) for key, part in _flattened(item)}
    gathered = [mapping(item) for item in gather(flat, "m", odd)]
    return [_openinference(mapping(item["message"]), odd) if "message" in item else item for item in gathered]


def _flattened(item: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values of an object, those of objects and lists in it by the path to them."""
    for key, value in item.items():
        inner = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(inner, dict) and inner:
            yield from ((f"{key}.{name}", part) for name, part in _flattened({str(k): v for k, v in inner.items()}))
        else:
            yield key, value


def _plain_messages(said: dict[str, Any], start: str) -> list[dict[str, Any]] | None:
    """The same of messages that are nothing but text and calls, one after the other; None where there are others."""
    found: list[dict[str, Any]] = []
    for key, value in said.items():
        if not key.startswith(start):
            continue
        spot = _spot(key[len(start) :])
        if spot is None or value is None or not len(found) - 1 <= spot.message <= len(found):
            return None
        if spot.message == len(found):
            found.append({"tool_calls": []})
        calls = found[-1]["tool_calls"]
        if spot.call is None:
            found[-1][spot.name] = value
            continue
        if not len(calls) - 1 <= spot.call <= len(calls):
            return None
        if spot.call == len(calls):
            calls.append({"function": {}})
        (calls[-1] if spot.name == "id" else calls[-1]["function"])[spot.name] = value
    return [_ordered(message) for message in found]


def _ordered(message: dict[str, Any]) -> dict[str, Any]:
    kept = {name: message[name] for name in KEPT if name in message}
    return {**kept, "content": message.get("content", ""), "tool_calls": message["tool_calls"]}


class _Spot(NamedTuple):
    """Where a plain attribute belongs: the number of a message, that of a call in it, and the name there."""

    message: int
    call: int | None
    name: str


@lru_cache(KNOWN_SPOTS)
def _spot(rest: str) -> _Spot | None:
    found = _PLAIN.fullmatch(rest)
    if found is None:
        return None
    return _Spot(int(found[1]), None if found[3] is None else int(found[3]), found[2] or found[4])


def gather_openllmetry(said: dict[str, Any], prefix: str, odd: set[str]) -> list[dict[str, Any]]:
    """Messages of OpenLLMetry before 0.6 (`gen_ai.prompt` or `gen_ai.completion`), also as AgentOps writes them."""
    return _one_answer([_openllmetry(mapping(item), odd) for item in gather(said, prefix, odd)])


def _one_answer(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same messages, where each but the first is no more than a call: LiteLLM numbers calls like answers."""
    calls = [item["function_call"] for item in items if "function_call" in item]
    if len(calls) < 2 or len(calls) < len(items) or any(item.keys() != {"function_call"} for item in items[1:]):
        return items
    return [{**items[0], "function_call": None, "tool_calls": [{"function": call} for call in calls]}]


def _openinference(item: dict[str, Any], odd: set[str]) -> dict[str, Any]:
    calls = [mapping(mapping(call).get("tool_call")) for call in listing(item.get("tool_calls"))]
    if item.get("function_call_name"):
        arguments = item.get("function_call_arguments_json", "")
        calls.append({"function": {"name": item["function_call_name"], "arguments": arguments}})
    parts = [_part(mapping(part), bool(calls), odd) for part in listing(item.get("contents"))]
    content = [part for part in parts if part] if parts else item.get("content", "")
    kept: dict[str, Any] = {key: item[key] for key in KEPT if key in item}
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
    return mapping(part).get("type") in TEXT_TYPES | MEDIA_TYPES | CALL_TYPES | RESULT_TYPES | reasoning.TYPES


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
