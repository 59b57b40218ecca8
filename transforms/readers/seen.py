"""Remembers the messages of an export, since every call of a model repeats its whole history."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import msgspec

from transforms.readers.calls import read_tools
from transforms.readers.histories import Histories, History
from transforms.readers.messages import is_pair, read_message
from transforms.readers.responses import is_items
from transforms.readers.shared_attributes import SharedAttributes
from transforms.records import Message

REMEMBERED_BYTES = 16 << 20
"""JSON of messages that is remembered before all is forgotten and memory starts afresh."""

REMEMBERED_ANSWERS = 4096
"""Answers with calls of tools that are remembered for prompts which leave out what was said beside the calls."""

RANDOM_ID = 16
"""Characters of an id from which on no two calls of an export have the same."""

REMEMBERED_TOOLS = 64
"""Lists of tools that are remembered; a list is some kilobytes."""
ENTRY_BYTES = 640
"""What remembering a message takes beside its text, so that short ones cannot fill the memory."""


class Seen:
    """Reads lists of messages, each distinct one once: equal messages of an export are one object."""

    def __init__(self) -> None:
        self.histories = Histories()
        self.around = SharedAttributes()
        self._encode = msgspec.json.Encoder().encode
        self._known: dict[bytes, tuple[list[Message], set[str]]] = {}
        self._bytes = 0
        self._offered: dict[Hashable, list[dict[str, Any]]] = {}
        self._tools: dict[int, tuple[Any, list[dict[str, Any]]]] = {}
        self._answers: OrderedDict[Hashable, Message] = OrderedDict()

    def tools(self, value: Any) -> list[dict[str, Any]]:
        """Tools offered, read once where calls share the list that names them. Nobody may change what is given."""
        if not value:
            return []
        known = self._tools.get(id(value))
        if known is None:
            if len(self._tools) >= REMEMBERED_TOOLS:
                self._tools.clear()
            known = self._tools[id(value)] = (value, read_tools(value))  # the value is held: its id is not used again
        return known[1]

    def offered(self, said: Hashable) -> list[dict[str, Any]]:
        """Tools that were read before from what a span says of them; empty where there are none."""
        return self._offered.get(said, [])

    def keep_offered(self, said: Hashable, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The same tools, remembered by what a span says of them. Nobody may change them."""
        if len(self._offered) >= REMEMBERED_TOOLS:
            self._offered.clear()
        self._offered[said] = tools
        return tools

    def keep_answer(self, trace_id: str, answer: Message) -> None:
        """Remember what a model said beside calls of tools, by these calls."""
        self._answers[_calls(trace_id, answer)] = answer
        if len(self._answers) > REMEMBERED_ANSWERS:
            self._answers.popitem(last=False)

    def answer(self, trace_id: str, echo: Message) -> Message | None:
        """The answer of an earlier call that wrote the calls of `echo`; None where there is none.

        Ids that somebody counted up (`call_0`) name a call within a trace only.
        """
        return self._answers.get(_calls(trace_id, echo))

    def read(self, value: Any, odd: set[str]) -> list[Message]:
        """Messages of a list, of one message, or of bare text said by the user; oddities go to `odd`."""
        if not isinstance(value, list) or is_pair(value):
            return read_message(value, odd)
        if isinstance(value, History):
            return self._read_history(value, odd)
        messages: list[Message] = []
        for item in value:
            known, noted = self._read(item)
            messages += known
            odd |= noted
        return messages

    def of_responses(self, value: Any) -> bool:
        """Whether a list holds items of the Responses API; told once an item."""
        if isinstance(value, History):
            return value.of_responses
        return is_items(value)

    def _read_history(self, history: History, odd: set[str]) -> list[Message]:
        if history.messages is None:
            before = history.before
            known = before.messages if before is not None else None
            messages: list[Message] = [*known] if known is not None else []
            noted = {*before.odd} if before is not None else set()
            for item in history.items[len(before) if before is not None else 0 :]:
                if item.messages is None:
                    item.messages, found = self._read(item.value)
                    item.odd |= found
                messages += item.messages
                noted |= item.odd
            history.messages, history.odd, history.before = messages, noted, None
        odd |= history.odd
        return [*history.messages]

    def _read(self, item: Any) -> tuple[list[Message], set[str]]:
        try:
            key = self._encode(item)
        except (OverflowError, RecursionError, TypeError):  # integers beyond 64 bits, very deep nesting
            noted: set[str] = set()
            return read_message(item, noted), noted
        found = self._known.get(key)
        if found is None:
            noted = set()
            found = (read_message(item, noted), noted)
            self._remember(key, found)
        return found

    def _remember(self, key: bytes, found: tuple[list[Message], set[str]]) -> None:
        self._bytes += len(key) + ENTRY_BYTES
        if self._bytes > REMEMBERED_BYTES:
            self._known.clear()
            self._bytes = len(key) + ENTRY_BYTES
        self._known[key] = found


def _calls(trace_id: str, message: Message) -> Hashable:
    calls = tuple((call.id, call.name, call.arguments) for call in message.tool_calls)
    return calls if all(len(call.id) >= RANDOM_ID for call in message.tool_calls) else (trace_id, calls)
