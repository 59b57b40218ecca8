"""Both sides in one shape: a message as it was read, and as it went over the wire."""

from __future__ import annotations

import json
from typing import Any

from transforms.records import Message, Span

Lost = frozenset[str]

IMAGE = "[image]"
"""What stands for a picture in the traffic's record."""


def parsed(arguments: str) -> Any:
    """Arguments as values; the text itself where it is no JSON."""
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def as_read(message: Message, lost: Lost = frozenset()) -> tuple[Any, ...]:
    """Role, text with its pictures, calls and the call that is answered."""
    shown = message.content + IMAGE * len(message.media)
    calls = [(call.id, call.name, parsed(call.arguments)) for call in message.tool_calls]
    shown = _without(shown, message.role, lost)
    return (message.role, "" if "pictures" in lost and not shown else shown, calls, message.tool_call_id)


def as_sent(message: dict[str, Any], lost: Lost = frozenset()) -> tuple[Any, ...]:
    """The same of a message in the traffic."""
    role, shown = message["role"], message["content"] or ""
    if shown.startswith(IMAGE):  # a message keeps pictures beside its text
        shown = shown.removeprefix(IMAGE) + IMAGE
    if "how errors of tools were worded" in lost and role == "tool" and shown.startswith('{"error":'):
        shown = json.loads(shown)["error"]
    if "pictures" in lost and shown.endswith(IMAGE):
        shown = ""
    calls = [(call["id"], call["name"], parsed(call["arguments"])) for call in message.get("tool_calls") or []]
    return (role, _without(shown, role, lost), calls, message.get("tool_call_id") or "")


def as_counted(span: Span, lost: Lost = frozenset()) -> tuple[int | None, ...]:
    """Tokens of a call: input, output, cached, reasoning."""
    cached = 0 if "cached tokens" in lost else span.cache_read_tokens or 0
    reasoning = 0 if "reasoning tokens" in lost else span.reasoning_tokens or 0
    return (span.input_tokens, span.output_tokens, cached, reasoning)


def as_billed(counts: dict[str, int], streamed: bool, lost: Lost = frozenset()) -> tuple[int | None, ...]:
    """The same as the provider told them."""
    incoming = None if streamed and "input tokens of streams" in lost else counts["input"]
    cached = 0 if "cached tokens" in lost else counts["cached"]
    return (incoming, counts["output"], cached, 0 if "reasoning tokens" in lost else counts["reasoning"])


def tool_names(tools: list[dict[str, Any]]) -> set[str]:
    """Names of tools that were offered."""
    return {tool["function"]["name"] if "function" in tool else tool["name"] for tool in tools}


def _without(shown: str, role: str, lost: Lost) -> str:
    if "blanks after system prompts" in lost and role == "system":
        return shown.rstrip()
    if "how lists of tools were written" in lost and role == "tool" and isinstance(parsed(shown), list):
        return "".join(map(str, parsed(shown)))
    return shown
