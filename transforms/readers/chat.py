"""Reads plain chats, one an object: OpenAI's fine-tuning format, ShareGPT, and rows of data sets of agents' runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import read_tools
from transforms.readers.messages import read_message
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.rollouts import Turn, call_spans, digest, reward, root_span
from transforms.readers.values import first_text, listing, mapping, number
from transforms.records import Feedback, Span

CHATS = ("messages", "conversations", "trajectory")
SPEAKERS = {"human": "user", "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
            "ai": "assistant", "function_call": "assistant", "observation": "tool", "function_response": "tool",
            "function": "tool"}  # fmt: skip
SAYS = ("content", "value", "text", "tool_calls", "function_call", "parts", "system_prompt")
_PACKED = re.compile(r"""\s*\[\s*\{\s*"(role|from|content)"\s*:""")
VERDICTS = ("resolved", "target", "reward", "score")


def is_chat(fields: dict[str, Any]) -> bool:
    """Whether an object is a chat: messages with a speaker each, as a list or its JSON."""
    return any(_begins_chat(fields.get(name)) for name in CHATS)


def read_chat(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback]:
    """A root, a call for each thing the assistant said, and what a row says of its outcome."""
    entries = _entries(fields)
    identity = ("chat", reading.dataset, digest(entries, fields.get("tools")))
    root = root_span("chat", "chat", position, identity=identity)
    root.dataset, root.task = reading.dataset, first_text(fields, "instance_id", "task_id")
    root.conversation_id = first_text(fields, "conversation_id", "thread_id")
    yield root
    tools = read_tools(opened_text(fields.get("tools") or fields.get("functions"), set()))
    yield from call_spans(root, _turns(fields, entries), tools)
    for name in VERDICTS:
        yield from reward(root, name, number(fields.get(name)))


def _entries(fields: dict[str, Any]) -> list[Any]:
    """The messages of a chat; raises KeyError where there are none, as in one that is listed among chats."""
    name = next((name for name in CHATS if _begins_chat(fields.get(name))), "")
    return listing(opened_text(fields[name], set()))


def _begins_chat(entries: Any) -> bool:
    if isinstance(entries, str):
        return bool(_PACKED.match(entries))
    first = mapping(entries[0]) if isinstance(entries, list) and entries else {}
    speaker = first.get("role") or first.get("from")
    return isinstance(speaker, str) and any(key in first for key in SAYS)


def _turns(fields: dict[str, Any], entries: list[Any]) -> Iterator[Turn]:
    said = [(entry, _message(entry)) for entry in map(mapping, entries)]
    system = first_text(fields, "system")
    if system and said[0][1].get("role") != "system":
        yield Turn(read_message({"role": "system", "content": system}, set()))
    for entry, message in said:
        odd: set[str] = set()
        own = entry.get("weight") != 0 and not entry.get("is_demo")
        yield Turn(read_message(message, odd), odd, own)


def _message(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry as a message, whatever it calls its speaker and its text."""
    if "from" in entry and "role" not in entry:
        entry = {**entry, "role": entry["from"]}
    role = entry.get("role")
    if isinstance(role, str):
        entry = {**entry, "role": SPEAKERS.get(role.lower(), role)}
    if "content" not in entry and "parts" not in entry:
        said = next((entry[name] for name in ("value", "text", "system_prompt") if entry.get(name) is not None), None)
        entry = {**entry, "content": said}
    return entry
