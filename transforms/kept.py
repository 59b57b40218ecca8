"""Records that are read once and looked at twice, kept in between outside of memory, each distinct message once."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from transforms import record_ids
from transforms.holders import Holders
from transforms.identity import ID_BYTES, Identity
from transforms.records import Feedback, Message, Span
from transforms.sealed import Sealed

PARTS = 64
"""Parts of a day that are worked on one after the other: traces by number, messages by the beginning of their ids."""

BLOCK_BYTES = 1 << 16
RECENT = 512
"""Traces of which it is known what their last call was shown."""

RECENT_TOOLS = 64
"""Lists of tools that are known by their objects."""

RECENT_MESSAGES = 4096
"""Messages that are known by their objects."""

_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode

SpanRow = tuple[int, int, int, list[int], list[int], int, Span]
"""Trace, file, messages shared with the span before, further ones, output and tools, all by number, and the rest."""

MessageRow = tuple[int, Message]
FeedbackRow = tuple[int, Feedback]

Row = TypeVar("Row")

PACKED, WRITTEN = b"p", b"w"


@dataclass(slots=True)
class KeptSpan:
    """A span without messages and tools; instead their numbers, and those of its trace and file.

    `fresh` are the prompt's messages behind the first `shared`, which the span before it in its trace was shown too.
    """

    span: Span
    trace: int
    file: int
    shared: int
    fresh: list[int]
    output: list[int]
    tools: int


class KeptRecords:
    """Spans and verdicts of a day, in the order in which they were added within a trace."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self.traces: list[str] = []
        self.files: list[str] = []
        self.tools: list[list[dict[str, Any]]] = [[]]
        self.message_ids: list[bytes] = []  # by number; what differs in reasoning or name has numbers of its own
        self._trace_numbers: dict[str, int] = {}
        self._numbers: dict[bytes, int] = {}
        self._tool_numbers: dict[bytes, int] = {}
        self._recent: dict[int, tuple[Message, int]] = {}
        self._recent_tools: dict[int, tuple[list[dict[str, Any]], int]] = {}
        self._last: OrderedDict[int, tuple[list[Message], list[int]]] = OrderedDict()
        self.holders = Holders()
        self._sealed = sealed = Sealed()
        self._spans: list[_Blocks[SpanRow]] = [_Blocks(sealed, SpanRow) for _ in range(PARTS)]
        self._messages: list[_Blocks[MessageRow]] = [_Blocks(sealed, MessageRow) for _ in range(PARTS)]
        self._feedback: _Blocks[FeedbackRow] = _Blocks(sealed, FeedbackRow)

    @property
    def sealed_bytes(self) -> int:
        """What is kept outside of memory."""
        return self._sealed.size

    def start_file(self, file_id: str = "") -> int:
        """The number of the file whose records come next; its id may be put into `files` later."""
        self.files.append(file_id)
        return len(self.files) - 1

    def add(self, record: Span | Feedback, file: int) -> None:
        """Keep a record of a file. Raises OSError where the disk is full."""
        if isinstance(record, Feedback):
            if trace_id := record_ids.trace_id(record, self.identity):
                self._trace_number(trace_id)
            self._feedback.add((file, record))
            return
        trace = self._trace_number(record_ids.trace_id(record, self.identity))
        shared, numbers = self._prompt(trace, record.prompt)
        output = [self._number(message) for message in record.output]
        self.holders.add(trace, numbers[shared:])
        self.holders.add(trace, output)
        rest = copy(record)
        rest.prompt, rest.output, rest.tools = [], [], []
        self._spans[trace % PARTS].add(
            (trace, file, shared, numbers[shared:], output, self._tools_number(record.tools), rest)
        )

    def finish(self) -> None:
        """Forget what only adding needs: by what messages and tools are known again, and what calls were shown last."""
        self._numbers, self._tool_numbers, self._recent, self._recent_tools = {}, {}, {}, {}
        self._last.clear()

    def spans(self, part: int) -> Iterator[KeptSpan]:
        """The spans of one part, in order."""
        for trace, file, shared, fresh, output, tools, span in self._spans[part]:
            yield KeptSpan(span, trace, file, shared, fresh, output, tools)

    def messages(self, part: int) -> Iterator[MessageRow]:
        """The messages of one part with their numbers, in order."""
        yield from self._messages[part]

    def feedback(self) -> Iterator[tuple[Feedback, int]]:
        """The verdicts and the numbers of their files, in order."""
        for file, verdict in self._feedback:
            yield verdict, file

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
        key = message_id
        if message.reasoning or message.name:
            key += _variant(message)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.message_ids)
            self.message_ids.append(message_id)
            self._messages[message_id[0] * PARTS // 256].add((number, message))
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
        key = hashlib.blake2b(_encoded(tools), digest_size=ID_BYTES).digest()
        number = self._tool_numbers.get(key)
        if number is None:
            number = self._tool_numbers[key] = len(self.tools)
            self.tools.append(tools)
        if len(self._recent_tools) >= RECENT_TOOLS:
            self._recent_tools.clear()
        self._recent_tools[id(tools)] = (tools, number)  # the list is held: its id is not used again
        return number


class _Blocks(Generic[Row]):
    """Rows of one type that are encoded one by one and sealed together."""

    def __init__(self, sealed: Sealed, row: Any) -> None:
        self._sealed, self._row = sealed, row
        self._numbers: list[int] = []
        self._rows: list[bytes] = []
        self._bytes = 0

    def add(self, row: Row) -> None:
        encoded = _encoded(row)
        self._rows.append(encoded)
        self._bytes += len(encoded)
        if self._bytes >= BLOCK_BYTES:
            self._numbers.append(self._sealed.put(_pack(self._rows)))
            self._rows, self._bytes = [], 0

    def __iter__(self) -> Iterator[Row]:
        unpack = msgspec.msgpack.Decoder(self._row).decode
        for number in (*self._numbers, None):
            for encoded in self._rows if number is None else _unpack(self._sealed.get(number)):
                if encoded[:1] == PACKED:
                    yield unpack(encoded[1:])
                else:
                    yield msgspec.convert(json.loads(encoded[1:].decode("utf-8", "surrogatepass")), self._row)


def _shared(before: list[Message], prompt: list[Message]) -> int:
    """How many messages two prompts have in common from the first on."""
    length = min(len(before), len(prompt))
    if before[:length] == prompt[:length]:
        return length
    return next(place for place in range(length) if before[place] != prompt[place])


def _encoded(value: Any) -> bytes:
    """`value` in a few bytes; what msgpack cannot hold (integers beyond 64 bits, lone surrogates) as JSON."""
    try:
        return PACKED + _pack(value)
    except (OverflowError, TypeError, ValueError, RecursionError):
        plain = msgspec.to_builtins(value)
        return WRITTEN + json.dumps(plain, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


def _variant(message: Message) -> bytes:
    """What may tell a message from another with the same id."""
    said = f"{len(message.reasoning)}:{message.reasoning}{message.name}"
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).digest()
