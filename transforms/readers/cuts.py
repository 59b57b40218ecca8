"""Takes out of documents what is known of them before they are parsed: the histories and tools that calls repeat.

In place of what is taken out stands a mark that nobody else can know. Whoever decodes the rest puts the known part
back where its mark is; a mark that is not found where it should be means that the document is decoded as a whole.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Any, NamedTuple

from transforms.readers.histories import Histories, History
from transforms.readers.shared_values import SHARED_BYTES, NotPlain, Value
from transforms.readers.writings import ESCAPED, FLAT, PLAIN, Writing

LEAST = 1 << 10
"""Bytes of a document from which on it is worth the while."""

LOOKED_AT = 1024
"""Bytes in which a document shows what it is; all SDKs write ids and types first."""

LOOKED_BACK = 2048
"""Bytes at the end in which a run's trace is sought that is not named first."""

MOST_MARKS = 1024
"""Marks in one document."""

MOST_FAILED = 32
"""Documents of an export that were cut in vain before no more are, unless most succeed."""


class Part(NamedTuple):
    """What was taken out: where it stood, the mark in its place, and the beginning of a history, or a value."""

    first: int
    last: int
    mark: bytes
    known: History | Value


class Cut:
    """A document without what is known of it."""

    __slots__ = ("_unused", "bytes", "parts", "pieces", "text")

    def __init__(self, buffer: bytes, start: int, end: int, parts: list[Part]) -> None:
        self.parts, self.bytes, self._unused = parts, end - start, {*range(len(parts))}
        self.pieces: list[bytes] = []
        for part in parts:
            self.pieces += (buffer[start : part.first], part.mark)
            start = part.last
        self.pieces.append(buffer[start:end])
        self.text = b"".join(self.pieces)

    def history(self, number: int) -> History:
        """The history that is put back where its mark was found. Raises NotPlain where it is none."""
        if not isinstance(known := self._used(number), History):
            raise NotPlain
        return known

    def value(self, number: int) -> Any:
        """The value that is put back where its mark was found. Raises NotPlain where it is none."""
        if not isinstance(known := self._used(number), Value):
            raise NotPlain
        return known.value

    def is_history(self, number: int) -> bool:
        """Whether a mark stands for the beginning of a history."""
        return number < len(self.parts) and isinstance(self.parts[number].known, History)

    def _used(self, number: int) -> History | Value:
        if number >= len(self.parts):
            raise NotPlain
        self._unused.discard(number)
        return self.parts[number].known

    def is_restored(self) -> bool:
        """Whether everything that was taken out was put back."""
        return not self._unused

    def whole(self) -> bytes:
        """The document as it stood in the file."""
        pieces = list(self.pieces)
        for number, part in enumerate(self.parts):
            pieces[2 * number + 1] = part.known.text
        return b"".join(pieces)


class Cutter:
    """Cuts the documents of one export."""

    def __init__(self, histories: Histories) -> None:
        self._histories = histories
        self.secret = secrets.token_hex(12)
        self._start = self.secret.encode()
        self._marks = [f"{self.secret}{number}~".encode() for number in range(MOST_MARKS)]
        self._failed = self._restored = 0

    def take(self, buffer: bytes, start: int, end: int) -> bytes | Cut:
        """The document that stands in `buffer`, cut where anything of it is known."""
        if end - start >= LEAST and (self._failed < MOST_FAILED or self._failed < self._restored):
            top = min(end, start + LOOKED_AT)
            if buffer.find(b'"run_type"', start, top) >= 0:
                return self._cut(buffer, start, end, RUN)
            if buffer.find(b'"resourceSpans"', start, top) >= 0:
                return self._cut(buffer, start, end, REQUEST)
        return buffer[start:end]

    def number(self, text: str) -> int:
        """Of which part of its document a text is the mark; -1 where it is none."""
        return int(text[len(self.secret) : -1]) if text.startswith(self.secret) else -1

    def number_in(self, raw: bytes, at: int) -> tuple[int, int]:
        """The same for a mark within JSON, and where it ends."""
        if not raw.startswith(self._start, at):
            return -1, at
        end = raw.index(b"~", at)
        return int(raw[at + len(self._start) : end]), end + 1

    def is_marked(self, raw: bytes) -> bool:
        """Whether JSON holds a mark."""
        return self._start in raw

    def note(self, restored: bool) -> None:
        """Count whether a document that was cut could be put together again."""
        self._restored += restored
        self._failed += not restored

    def _cut(self, buffer: bytes, start: int, end: int, signs: Signs) -> bytes | Cut:
        """Goes from one known part to the next; what is known is not searched."""
        parts: list[Part] = []
        at, order = start, (*signs.histories, *signs.values)
        while len(parts) < MOST_MARKS:
            part = self._next(buffer, start, at, end, order, signs.trace)
            if part is None:
                break
            parts.append(part._replace(mark=part.mark % self._marks[len(parts)]))
            at, order = part.last, (*signs.values, *signs.histories)
        return Cut(buffer, start, end, parts) if parts else buffer[start:end]

    def _next(
        self, buffer: bytes, start: int, at: int, end: int, signs: tuple[Sign, ...], trace_name: bytes
    ) -> Part | None:
        """The first known part behind a place; those that are sought first shorten the search for others."""
        found: Part | None = None
        for sign in signs:
            last = end if found is None else found.first
            place = buffer.find(sign.name, at, last)
            while place >= 0:
                if (first := sign.opened(buffer, place, end)) >= 0:
                    trace = b"" if sign.is_value else _trace(trace_name, buffer, start, first, end)
                    known = self._known(sign, trace, buffer, first, end)
                    if known is not None:
                        found = Part(first, first + len(known.text), sign.mark, known)
                        break
                place = buffer.find(sign.name, place + len(sign.name), last)
        return found

    def _known(self, sign: Sign, trace: bytes, buffer: bytes, first: int, end: int) -> History | Value | None:
        known: History | Value | None
        if sign.is_value:
            known = self._histories.values.starting(buffer, first)
        else:
            known = self._histories.known(sign.how, trace, buffer, first)
        return known if known is not None and SHARED_BYTES <= len(known.text) <= end - first else None


@dataclass(frozen=True)
class Sign:
    """A name behind which a history or a value stands, how that begins, how it is written, and how its mark is."""

    name: bytes
    opens: re.Pattern[bytes]
    how: Writing
    mark: bytes
    is_value: bool = False

    def opened(self, buffer: bytes, place: int, end: int) -> int:
        """Where what is sought begins; -1 where it is something else."""
        if self.how is FLAT:  # the name is part of the first attribute
            first = buffer.rfind(b"{", max(0, place - LONGEST_KEY), place)
            return first if first >= 0 and self.opens.fullmatch(buffer, first, place) else -1
        found = self.opens.match(buffer, place + len(self.name), end)
        return found.end() if found is not None else -1


@dataclass(frozen=True)
class Signs:
    """What is sought in documents of one kind, and how they name their trace."""

    trace: bytes
    histories: tuple[Sign, ...]
    values: tuple[Sign, ...]


def _trace(name: bytes, buffer: bytes, start: int, first: int, end: int) -> bytes:
    """The trace that is named last before a history, or at the document's end; empty where there is none."""
    at = buffer.rfind(name, start, first)
    if at < 0:
        at = buffer.rfind(name, max(first, end - LOOKED_BACK), end)
    found = _TRACE.match(buffer, at + len(name), end) if at >= 0 else None
    return found[1] if found is not None else b""


LONGEST_KEY = 12
"""Bytes before the name of an attribute that belong to it."""

MARK, ATTRIBUTE_MARK = b'"%s"', b'{"key":"%s","value":""}'
_TRACE = re.compile(rb'\s?"([^"\\]{1,64})"')
_LIST = re.compile(rb"\s?\[\[?")
_BULKY = re.compile(rb"\s?(?=[\[{])")
_ATTRIBUTE = re.compile(rb'\{\s?"key":\s?')
_TEXT_OF_LIST = re.compile(rb',\s?"value":\s?\{\s?"stringValue":\s?"\[')
_ANY_VALUE = re.compile(rb',\s?"value":\s?(?=\{)')

RUN = Signs(
    b'"trace_id":',
    (Sign(b'"messages":', _LIST, PLAIN, MARK), Sign(b'"input":', _LIST, PLAIN, MARK)),
    (
        Sign(b'"tools":', _BULKY, PLAIN, MARK, is_value=True),
        Sign(b'"invocation_params":', _BULKY, PLAIN, MARK, is_value=True),
    ),
)
REQUEST = Signs(
    b'"traceId":',
    (
        Sign(b'"llm.input_messages.0.', _ATTRIBUTE, FLAT, ATTRIBUTE_MARK),
        Sign(b'"gen_ai.input.messages"', _TEXT_OF_LIST, ESCAPED, rb"\"%s\""),
    ),
    (
        Sign(b'"gen_ai.tool.definitions"', _ANY_VALUE, PLAIN, MARK, is_value=True),
        Sign(b'"gen_ai.system_instructions"', _ANY_VALUE, PLAIN, MARK, is_value=True),
        Sign(b'"llm.tools.0.', _ATTRIBUTE, FLAT, ATTRIBUTE_MARK, is_value=True),
    ),
)
