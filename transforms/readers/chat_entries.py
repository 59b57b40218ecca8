"""Reads the entries of a plain chat, whatever they call their speakers, their text and their tools."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from transforms.readers.calls import finish_reason, read_usage
from transforms.readers.messages import ROLES, plain, read_message
from transforms.readers.nested import opened_text
from transforms.readers.parts import read_call
from transforms.readers.responses import is_items, join_fragments, read_items
from transforms.readers.rollouts import Turn
from transforms.readers.values import first_text, listing, mapping, text

SPEAKERS = {"human": "user", "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
            "ai": "assistant", "bot": "assistant", "function_call": "assistant", "tool_call": "assistant",
            "observation": "tool", "function_response": "tool", "function": "tool", "tool_response": "tool",
            "ipython": "tool", "environment": "tool"}  # fmt: skip
CALLERS = frozenset({"function_call", "tool_call"})
"""Speakers whose text is the JSON of the calls that the assistant makes."""

TYPES = frozenset({"human", "ai", "system", "tool"})
"""What LangChain calls messages that name no role."""

SAYS = ("content", "value", "text", "tool_calls", "function_call", "parts", "system_prompt")
LEARNT = ("loss", "train", "training")
"""What says of an entry that it is not to be learnt, where it is false."""

NOTED = "exit"
"""The role of what mini-SWE-agent notes at the end of a run, which no model was shown."""

LEFT_OUT = ("images", "videos", "audios")
"""Columns of media that messages refer to by their order."""


def read_entries(entries: list[Any]) -> Iterator[Turn]:
    """The entries in their order; what the assistant says and what it then calls are one."""
    fields = [entry for entry in map(mapping, entries) if entry.get("role") != NOTED]
    if any("role" not in entry and "from" not in entry for entry in fields):
        items = [*chain.from_iterable(map(_items, fields))]
        if is_items(items):
            yield from _of_items(items, [known_of(entry) for entry in fields if entry.get("object") == "response"])
            return
    held: Turn | None = None
    for entry in fields:
        turn = _turn(entry)
        if held is not None and _calls(entry) and held.said and held.said[-1].role == "assistant":
            held.said[-1:] = join_fragments([held.said[-1], *turn.said])
            held.odd |= turn.odd
            continue
        if held is not None:
            yield held
        held = turn
    if held is not None:
        yield held


def begins(entry: dict[str, Any]) -> bool:
    """Whether an entry may be the first of a chat: somebody says something, if only the type of message says who."""
    named = entry.get("role") or entry.get("from")
    if named is None and text(entry.get("type")) in TYPES:
        return isinstance(entry.get("content"), str | list) or isinstance(entry.get("data"), dict)
    return isinstance(named, str) and any(key in entry for key in SAYS)


def known_of(answer: dict[str, Any]) -> dict[str, Any]:
    """What a logged answer of an API says of its call beside the message."""
    choice = mapping(next(iter(listing(answer.get("choices"))), None))
    usage = read_usage(answer.get("usage"))
    return {
        "model": first_text(answer, "model"),
        "response_id": first_text(answer, "id"),
        "finish_reason": finish_reason(choice.get("finish_reason") or answer.get("stop_reason")),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "reasoning_tokens": usage.reasoning,
    }


def speaker(entry: dict[str, Any]) -> str:
    """Who says an entry, by the name that messages have for him; empty where it does not say."""
    named = entry.get("role") or entry.get("from") or entry.get("type")
    return ROLES.get(SPEAKERS.get(named.lower(), named.lower()), "") if isinstance(named, str) else ""


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry as a message."""
    if "from" in entry and "role" not in entry:
        entry = {**entry, "role": entry["from"]}
    role = entry.get("role")
    if isinstance(role, str):
        entry = {**entry, "role": SPEAKERS.get(role.lower(), role)}
    if "content" not in entry and "parts" not in entry:
        said = next((entry[name] for name in ("value", "text", "system_prompt") if entry.get(name) is not None), None)
        entry = {**entry, "content": said}
    return entry


def _turn(entry: dict[str, Any]) -> Turn:
    odd: set[str] = set()
    message = _message(entry)
    if _calls(entry):
        written = opened_text(message.get("content"), odd)
        calls = [read_call(item) for item in (written if isinstance(written, list) else [written])]
        if calls and all(call.name for call in calls):
            message = {"role": "assistant", "tool_calls": written if isinstance(written, list) else [written]}
        else:
            odd.add("unknown_part")
    if entry.get("function_calls"):
        odd.add("unknown_part")  # calls in a language of their own
    skipped = entry.get("weight") == 0 or entry.get("is_demo") or any(entry.get(name) is False for name in LEARNT)
    return Turn(read_message(message, odd), odd, not skipped, _known(entry))


def _known(entry: dict[str, Any]) -> dict[str, Any]:
    """What an entry keeps of its call: an answer as a harness logged it, or LangChain's metadata."""
    if answer := mapping(mapping(entry.get("extra")).get("response")):
        return known_of(answer)
    fields = plain(entry) if "response_metadata" in entry or "data" in entry else {}
    if said := mapping(fields.get("response_metadata")):
        ended = {"stop_reason": said.get("finish_reason") or said.get("stop_reason")}
        model = said.get("model_name") or said.get("model")
        return known_of({"model": model, "id": said.get("id"), "usage": fields.get("usage_metadata"), **ended})
    return {}


def _calls(entry: dict[str, Any]) -> bool:
    named = entry.get("role") or entry.get("from")
    return isinstance(named, str) and named in CALLERS


def _items(entry: dict[str, Any]) -> list[Any]:
    """What an entry brings to a history of the Responses API: itself, or all that an answer put out."""
    return listing(entry.get("output")) if entry.get("object") == "response" else [entry]


def _of_items(items: list[Any], known: list[dict[str, Any]]) -> Iterator[Turn]:
    """`known` is what is known of each answer, in their order."""
    odd: set[str] = set()
    messages = read_items(items, odd)
    answers = sum(message.role == "assistant" for message in messages)
    each = iter(known if len(known) == answers else [])
    for message in messages:
        yield Turn([message], odd, known=next(each, {}) if message.role == "assistant" else {})
