"""Finds the messages of a model's span, whichever convention tells them: the first that has any counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from transforms.readers.calls import says
from transforms.readers.messages import ROLES, read_message, with_system
from transforms.readers.otlp_conventions import CONVENTIONS, Content
from transforms.readers.otlp_events import Event, read_events
from transforms.readers.responses import join_fragments, read_items, with_call_ids
from transforms.readers.seen import Seen
from transforms.readers.values import listing, mapping
from transforms.records import Message

KNOWN_ROLES = tuple(ROLES)


@dataclass(slots=True)
class Read:
    """The messages themselves, and what was odd about them; `request` is Google's, with tools and parameters."""

    dialect: str
    prompt: list[Message]
    output: list[Message]
    finish: Any
    odd: set[str]
    request: dict[str, Any] = field(default_factory=dict)


def read_content(said: dict[str, Any], events: list[Event], seen: Seen) -> Read | None:
    """Messages by the first convention that has any; else what keeps them unread, or nothing.

    Messages with nothing in them count only where no other convention says more.
    """
    unread: Read | None = None
    for tell in CONVENTIONS:
        content = tell(said, events)
        if content is None:
            continue
        read = _read(content, seen)
        if any(map(says, chain(read.prompt, read.output))):
            return read
        unread = unread or (read if read.odd or read.prompt or read.output else None)
    return unread


def read_told(events: list[tuple[str, dict[str, Any]]], seen: Seen) -> Read:
    """The messages of events that tell one each."""
    content = Content("otlp_events")
    messages = read_events(events, content.odd)
    content.prompt, content.output, content.finish = messages.prompt, messages.output, messages.finish
    return _read(content, seen)


def _read(content: Content, seen: Seen) -> Read:
    odd = content.odd
    asked, answered = content.prompt or [], listing(content.output)
    prompt = read_items(asked, odd) if content.may_be_items and seen.of_responses(asked) else seen.read(asked, odd)
    prompt = with_system(prompt, content.instructions, odd)
    if content.may_be_items and "type" in mapping(next(iter(answered), None)) and seen.of_responses(answered):
        output = read_items(answered, odd)
    else:
        output = [message for item in answered for message in _answered(item, odd, seen)]
    if content.in_fragments:
        prompt, output = with_call_ids(join_fragments(prompt)), join_fragments(output)
    return Read(content.dialect, prompt, output, content.finish, odd, content.request)


def _answered(item: Any, odd: set[str], seen: Seen) -> list[Message]:
    """The messages of an answer, one object with its echo in the next prompt, which does not say why it ended."""
    if not (isinstance(item, dict) and item.get("role") in KNOWN_ROLES):
        return read_message(item, odd, "assistant")
    return seen.read([{key: value for key, value in item.items() if key != "finish_reason"}], odd)
