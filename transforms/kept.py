"""Records that are read once and looked at twice, kept in between outside of memory, each distinct message once."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

import msgspec

from transforms import record_ids
from transforms.holders import Holders
from transforms.identity import ID_BYTES, Identity
from transforms.records import Feedback, Media, Message, Span, ToolCall
from transforms.sealed import Sealed

PARTS = 64
"""Parts of a day that are worked on one after the other: traces by number, messages by the beginning of their ids."""

BLOCK_BYTES = 1 << 16
RECENT = 512
"""Traces of which it is known what their last call was shown."""

RECENT_TOOLS = 64
"""Lists of tools that are known by their objects."""

SPAN_FIELDS = tuple(field.name for field in fields(Span) if field.name not in ("prompt", "output", "tools"))
TOOLS_AT = [field.name for field in fields(Span)].index("tools")
PROMPT_AT = [field.name for field in fields(Span)].index("prompt") - 1
FEEDBACK_FIELDS = tuple(field.name for field in fields(Feedback))
MESSAGE_FIELDS = ("role", "content", "reasoning", "tool_call_id", "name")
_span_values = attrgetter(*SPAN_FIELDS)
_feedback_values = attrgetter(*FEEDBACK_FIELDS)
_message_values = attrgetter(*MESSAGE_FIELDS)
_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode

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
        self._recent_tools: dict[int, tuple[list[dict[str, Any]], int]] = {}
        self._last: OrderedDict[int, tuple[list[Message], list[int]]] = OrderedDict()
        self.holders = Holders()
        self._sealed = sealed = Sealed()
        self._spans = [_Blocks(sealed) for _ in range(PARTS)]
        self._messages = [_Blocks(sealed) for _ in range(PARTS)]
        self._feedback = _Blocks(sealed)

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
            self._feedback.add((file, *_feedback_values(record)))
            return
        trace = self._trace_number(record_ids.trace_id(record, self.identity))
        shared, numbers = self._prompt(trace, record.prompt)
        output = [self._number(message) for message in record.output]
        self.holders.add(trace, numbers[shared:])
        self.holders.add(trace, output)
        self._spans[trace % PARTS].add(
            (trace, file, shared, numbers[shared:], output, self._tools_number(record.tools), *_span_values(record))
        )

    def finish(self) -> None:
        """Forget what only adding needs: by what messages and tools are known again, and what calls were shown last."""
        self._numbers, self._tool_numbers, self._recent_tools = {}, {}, {}
        self._last.clear()

    def spans(self, part: int) -> Iterator[KeptSpan]:
        """The spans of one part, in order."""
        for trace, file, shared, fresh, output, tools, *values in self._spans[part]:
            yield KeptSpan(_span(values), trace, file, shared, fresh, output, tools)

    def messages(self, part: int) -> Iterator[tuple[int, Message]]:
        """The messages of one part with their numbers, in order."""
        for number, calls, media, *values in self._messages[part]:
            yield number, _message(values, calls, media)

    def feedback(self) -> Iterator[tuple[Feedback, int]]:
        """The verdicts and the numbers of their files, in order."""
        for file, *values in self._feedback:
            verdict = Feedback(**dict(zip(FEEDBACK_FIELDS, values, strict=True)))
            verdict.trace_identity = tuple(verdict.trace_identity)
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
        known = message.known_id
        if known is not None and known[0] is self:
            return int(known[1])
        message_id = self.identity.message(message)
        key = message_id
        if message.reasoning or message.name:
            key += _variant(message)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.message_ids)
            self.message_ids.append(message_id)
            calls = [(call.id, call.name, call.arguments) for call in message.tool_calls]
            media = [(item.modality, item.mime, item.data) for item in message.media]
            self._messages[message_id[0] * PARTS // 256].add((number, calls, media, *_message_values(message)))
        message.known_id = (self, number)
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


class _Blocks:
    """Rows that are encoded one by one and sealed together."""

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed
        self._numbers: list[int] = []
        self._rows: list[bytes] = []
        self._bytes = 0

    def add(self, row: tuple[Any, ...]) -> None:
        encoded = _encoded(row)
        self._rows.append(encoded)
        self._bytes += len(encoded)
        if self._bytes >= BLOCK_BYTES:
            self._numbers.append(self._sealed.put(_pack(self._rows)))
            self._rows, self._bytes = [], 0

    def __iter__(self) -> Iterator[list[Any]]:
        for number in self._numbers:
            yield from map(_decoded, _unpack(self._sealed.get(number)))
        yield from map(_decoded, self._rows)


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
        return WRITTEN + json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")


def _decoded(encoded: bytes) -> Any:
    if encoded[:1] == PACKED:
        return _unpack(encoded[1:])
    return json.loads(encoded[1:].decode("utf-8", "surrogatepass"))


def _variant(message: Message) -> bytes:
    """What may tell a message from another with the same id."""
    said = f"{len(message.reasoning)}:{message.reasoning}{message.name}"
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).digest()


def _span(values: list[Any]) -> Span:
    make: Callable[..., Span] = Span
    span = make(*values[:TOOLS_AT], [], *values[TOOLS_AT:PROMPT_AT], [], [], *values[PROMPT_AT:])
    span.trace_identity = tuple(span.trace_identity)
    return span


def _message(values: list[Any], calls: list[Any], media: list[Any]) -> Message:
    role, content, reasoning, tool_call_id, name = values
    return Message(
        role, content, reasoning, tuple(ToolCall(*call) for call in calls), tool_call_id, name,
        tuple(Media(*item) for item in media),
    )  # fmt: skip
