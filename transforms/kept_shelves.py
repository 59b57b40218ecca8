"""Where the rows of one reading lie, by part: spans, messages and verdicts, with numbers of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transforms.kept_blocks import Blocks, encoded_row, row_decoder
from transforms.records import Feedback, Message, Span
from transforms.sealed import Place, Sealed
from transforms.surroundings import OwnFields, Surroundings, WrittenSurroundings, own_fields, surroundings

PARTS, MOST_PARTS = 64, 256
"""Parts of a day that are worked on one after the other: traces by their ids, messages by the beginning of theirs."""

PART_BYTES = 128 << 20
"""Bytes of exports for which one more part is worth its buffers: a part is held in memory while it is worked on."""

SpanNumbers = tuple[int, int, int, list[int], list[int], int]
"""Trace, file, messages shared with the span before, further ones, output and tools of a span, all by number."""

SpanRow = tuple[SpanNumbers, int, bytes, OwnFields]
"""The number of the surroundings stands before themselves, which are empty where a row before has them."""

MessageRow = tuple[int, Message]
FeedbackRow = tuple[int, Feedback]


Written = tuple[list[Place], list[list[int]]]
"""Where the blocks of a file are, and which are those of each kind and part."""


@dataclass(slots=True)
class KeptSpan:
    """A span without messages and tools; instead their numbers, and those of its trace and file.

    Spans of a part that have the same surroundings mostly have the same object.
    """

    span: OwnFields
    around: Surroundings
    trace: int
    file: int
    prompt: list[int]
    output: list[int]
    tools: int


@dataclass(slots=True)
class Numbers:
    """What the numbers of one reading are in all of them; `known` are messages that an earlier one has, too."""

    traces: list[int]
    messages: list[int]
    tools: list[int]
    first_file: int
    known: set[int]


def parts_for(size: int) -> int:
    """How many parts a day of `size` bytes of exports has."""
    parts = PARTS
    while parts < MOST_PARTS and size > parts * PART_BYTES:
        parts *= 2
    return parts


class Shelf:
    """The rows of one reading by part, with numbers of its own."""

    def __init__(self, sealed: Sealed, parts: int) -> None:
        self.sealed = sealed
        self.spans = [Blocks[SpanRow](sealed, SpanRow) for _ in range(parts)]
        self.messages = [Blocks[MessageRow](sealed, MessageRow) for _ in range(parts)]
        self.feedback = Blocks[FeedbackRow](sealed, FeedbackRow)
        self.numbers: Numbers | None = None
        self._written = [WrittenSurroundings() for _ in range(parts)]

    def add_span(self, part: int, numbers: SpanNumbers, span: Span) -> None:
        """Keep a span, of which messages and tools are told by their numbers. Raises OSError where the disk is full."""
        number, written = self._written[part].number(encoded_row(surroundings(span)))
        self.spans[part].add((numbers, number, written, own_fields(span)))

    def finish(self) -> None:
        """Forget what only adding needs."""
        for written in self._written:
            written.forget()

    def kept_spans(self, part: int) -> Iterator[KeptSpan]:
        """The spans of a part, their prompts whole."""
        prompts: dict[int, list[int]] = {}
        known: list[Surroundings] = []
        decoded = row_decoder(Surroundings)
        of_all = self.numbers
        for (trace, file, shared, fresh, output, tools), number, written, span in self.spans[part]:
            if written:
                known[number:] = [decoded(written)]  # whoever numbered it forgot those that had greater numbers
            around = known[number]
            prompt = prompts.get(trace, [])[:shared] + (
                fresh if of_all is None else [of_all.messages[n] for n in fresh]
            )
            if prompt:
                prompts[trace] = prompt
            if of_all is None:
                yield KeptSpan(span, around, trace, file, prompt, output, tools)
            else:
                output = [of_all.messages[n] for n in output]
                file += of_all.first_file
                yield KeptSpan(span, around, of_all.traces[trace], file, prompt, output, of_all.tools[tools])

    def kept_messages(self, part: int) -> Iterator[MessageRow]:
        """The messages of a part that no earlier reading has."""
        if self.numbers is None:
            yield from self.messages[part]
            return
        for number, message in self.messages[part]:
            if number not in self.numbers.known:
                yield self.numbers.messages[number], message

    def kept_feedback(self) -> Iterator[tuple[Feedback, int]]:
        """The verdicts and the numbers of their files."""
        first = 0 if self.numbers is None else self.numbers.first_file
        for file, verdict in self.feedback:
            yield verdict, first + file

    def written(self) -> Written:
        """What tells another process where the rows are, all of which are sealed. Raises OSError as `add` does."""
        blocks: list[Blocks[Any]] = [*self.spans, *self.messages, self.feedback]
        for one in blocks:
            one.seal()
        return self.sealed.places, [one.numbers for one in blocks]

    def find(self, written: Written) -> None:
        """Take what another process wrote into the same file for one's own."""
        self.sealed.places, numbers = written
        blocks: list[Blocks[Any]] = [*self.spans, *self.messages, self.feedback]
        for one, own in zip(blocks, numbers, strict=True):
            one.numbers = own
