"""Records that are read once and looked at twice, kept in between outside of memory, each distinct message once."""

from __future__ import annotations

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from transforms import record_ids
from transforms.holders import Holders
from transforms.identity import ID_BYTES, Identity
from transforms.kept_blocks import encoded_row
from transforms.kept_shelves import PARTS, KeptSpan, MessageRow, Numbers, Shelf
from transforms.message_ids import MessageIds
from transforms.records import Feedback, Message, Span
from transforms.sealed import Sealed

RECENT = 512
"""Traces of which it is known what their last call was shown."""

RECENT_TOOLS = 64
"""Lists of tools that are known by their objects."""

RECENT_MESSAGES = 4096
"""Messages that are known by their objects."""


class KeptRecords:
    """Spans and verdicts of a day, in the order in which they were added within a trace."""

    def __init__(self, identity: Identity, sealed: Sealed | None = None, parts: int = PARTS) -> None:
        """`sealed` is the file that they are kept in, a new one where none is given; up to 256 parts of them can be
        looked at one by one."""
        self.identity, self.parts = identity, parts
        self.traces: list[str] = []
        self.files: list[str] = []
        self.tools: list[list[dict[str, Any]]] = [[]]
        self.message_ids = MessageIds()  # what differs in reasoning or name has numbers of its own
        self.holders = Holders()
        self._trace_numbers: dict[str, int] = {}
        self._tool_numbers: dict[bytes, int] = {}
        self._recent: dict[int, tuple[Message, int]] = {}
        self._recent_tools: dict[int, tuple[list[dict[str, Any]], int]] = {}
        self._last: OrderedDict[int, tuple[list[Message], list[int]]] = OrderedDict()
        self._own = Shelf(sealed or Sealed(), parts)
        self._shelves = [self._own]

    @property
    def sealed_bytes(self) -> int:
        """What is kept outside of memory."""
        return sum(shelf.sealed.size for shelf in self._shelves)

    def start_file(self, file_id: str = "") -> int:
        """The number of the file whose records come next; its id may be put into `files` later."""
        self.files.append(file_id)
        return len(self.files) - 1

    def add(self, record: Span | Feedback, file: int) -> None:
        """Keep a record of a file. Raises OSError where the disk is full."""
        if isinstance(record, Feedback):
            if trace_id := record_ids.trace_id(record, self.identity):
                self._trace_number(trace_id)
            self._own.feedback.add((file, record))
            return
        trace_id = record_ids.trace_id(record, self.identity)
        trace = self._trace_number(trace_id)
        shared, numbers = self._prompt(trace, record.prompt)
        output = [self._number(message) for message in record.output]
        self.holders.add(trace, numbers[shared:])
        self.holders.add(trace, output)
        told = (trace, file, shared, numbers[shared:], output, self._tools_number(record.tools))
        self._own.add_span(zlib.crc32(trace_id.encode()) % self.parts, told, record)

    def for_another(self) -> Any:
        """What another process needs that has the same sealed file, and goes on with `of_another`."""
        told = (
            self.parts, self.traces, self.files, self.tools, self.message_ids, self.holders, self._tool_numbers
        )  # fmt: skip
        return told, self._own.written()

    @classmethod
    def of_another(cls, identity: Identity, sealed: Sealed, told: Any) -> KeptRecords:
        """The records that another process kept in a sealed file; nothing may be added to them."""
        (parts, *lists), written = told
        kept = cls(identity, sealed, parts)
        kept.traces, kept.files, kept.tools, kept.message_ids, kept.holders, kept._tool_numbers = lists
        kept._own.find(written)
        return kept

    def absorb(self, other: KeptRecords) -> None:
        """Keep what another reading kept in as many parts, behind what is kept so far; it may not be used by itself any
        more."""
        if not self.files:
            self._adopt(other)
            return
        first_file = len(self.files)
        self.files += other.files
        traces = [self._trace_number(trace) for trace in other.traces]
        known: set[int] = set()
        messages: list[int] = []
        for number, message_id in enumerate(other.message_ids):
            of_all, is_new = self.message_ids.add(message_id, other.message_ids.key(number))
            messages.append(of_all)
            if not is_new:
                known.add(number)
        for number, of_all in enumerate(messages):
            for trace in other.holders.of(number):
                self.holders.add(traces[trace], [of_all])
        tools = [0, *(self._numbered_tools(key, other.tools[number]) for key, number in other._tool_numbers.items())]
        other._own.numbers = Numbers(traces, messages, tools, first_file, known)
        self._shelves.append(other._own)

    def _adopt(self, other: KeptRecords) -> None:
        """Keep another reading under its own numbers, as the first."""
        self.files, self.tools, self._tool_numbers = other.files, other.tools, other._tool_numbers
        self.traces, self._trace_numbers = other.traces, {trace: number for number, trace in enumerate(other.traces)}
        self.message_ids, self.holders = other.message_ids, other.holders
        self._shelves.append(other._own)

    def finish(self) -> None:
        """Forget what only adding needs: by what messages and tools are known again, and what calls were shown last."""
        self._tool_numbers, self._recent, self._recent_tools = {}, {}, {}
        self._last.clear()
        for shelf in self._shelves:
            shelf.finish()

    def spans(self, part: int) -> Iterator[KeptSpan]:
        """The spans of one part, in order."""
        for shelf in self._shelves:
            yield from shelf.kept_spans(part)

    def messages(self, part: int) -> Iterator[MessageRow]:
        """The messages of one part with their numbers, in order."""
        for shelf in self._shelves:
            yield from shelf.kept_messages(part)

    def feedback(self) -> Iterator[tuple[Feedback, int]]:
        """The verdicts and the numbers of their files, in order."""
        for shelf in self._shelves:
            yield from shelf.kept_feedback()

    def _trace_number(self, trace: str) -> int:
        number = self._trace_numbers.get(trace)
        if number is None:
            number = self._trace_numbers[trace] = len(self.traces)
            self.traces.append(trace)
        return number

    def _prompt(self, trace: int, prompt: list[Message]) -> tuple[int, list[int]]:
        """How many messages a prompt shares with the one before it in its trace, and the numbers of all."""
        if not prompt:
            return 0, []
        before, known = self._last.get(trace, ([], []))
        shared = _shared(before, prompt)
        numbers = known[:shared] + [self._number(message) for message in prompt[shared:]]
        self._last[trace] = (prompt, numbers)
        self._last.move_to_end(trace)
        if len(self._last) > RECENT:
            self._last.popitem(last=False)
        return shared, numbers

    def _number(self, message: Message) -> int:
        known = self._recent.get(id(message))
        if known is not None:
            return known[1]
        message_id = self.identity.message(message)
        key = _variant(message, message_id) if message.reasoning or message.name else message_id
        number, is_new = self.message_ids.add(message_id, key)
        if is_new:
            self._own.messages[message_id[0] * self.parts // 256].add((number, message))
        if len(self._recent) >= RECENT_MESSAGES:
            self._recent.clear()
        self._recent[id(message)] = (message, number)  # the message is held: its id is not used again
        return number

    def _tools_number(self, tools: list[dict[str, Any]]) -> int:
        if not tools:
            return 0
        recent = self._recent_tools.get(id(tools))
        if recent is not None:
            return recent[1]
        key = hashlib.blake2b(encoded_row(tools), digest_size=ID_BYTES).digest()
        number = self._numbered_tools(key, tools)
        if len(self._recent_tools) >= RECENT_TOOLS:
            self._recent_tools.clear()
        self._recent_tools[id(tools)] = (tools, number)  # the list is held: its id is not used again
        return number

    def _numbered_tools(self, key: bytes, tools: list[dict[str, Any]]) -> int:
        number = self._tool_numbers.get(key)
        if number is None:
            number = self._tool_numbers[key] = len(self.tools)
            self.tools.append(tools)
        return number


def _shared(before: list[Message], prompt: list[Message]) -> int:
    """How many messages two prompts have in common from the first on."""
    length = min(len(before), len(prompt))
    if before[:length] == prompt[:length]:
        return length
    return next(place for place in range(length) if before[place] != prompt[place])


def _variant(message: Message, message_id: bytes) -> bytes:
    """What tells a message from another with the same id."""
    said = f"{len(message.reasoning)}:{message.reasoning}{message.name}"
    return hashlib.blake2b(message_id + said.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).digest()
