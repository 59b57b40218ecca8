"""A span as what is its own and what it shares with many of its export, which is written, learned from and cleaned once
instead of for each of them."""

from __future__ import annotations

import hashlib
from operator import attrgetter
from typing import Any

from msgspec import Struct

from transforms.identity import ID_BYTES
from transforms.records import Span

FORGOTTEN_BYTES = 1 << 17
"""Written surroundings that are known again at a time; what was forgotten is written once more."""


class Surroundings(Struct, array_like=True, eq=False):
    """What spans share; told apart as an object, since nobody makes two of the same. Its text is raw, as a span's is.

    Nobody may change one.
    """

    source: str
    dialect: str
    kind: str
    name: str
    status: str
    error_type: str
    error: str
    agent: str
    conversation_id: str
    dataset: str
    task: str
    trial: int | None
    attributes: dict[str, Any]
    provider: str
    model: str
    parameters: dict[str, Any]
    finish_reason: str
    content_state: str
    flags: list[str]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class OwnFields(Struct, array_like=True):
    """What is a span's own, without messages and tools; its trace has a number."""

    position: int
    span_id: str
    parent_span_id: str
    sequence: str
    parent_sequence: str
    started_ns: int | None
    ended_ns: int | None
    response_id: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    reasoning_tokens: int | None
    tool_call_id: str
    tool_name: str
    tool_arguments: str
    tool_result: str
    prompt_token_ids: str
    output_token_ids: str
    output_logprobs: str

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


_surroundings, _own = attrgetter(*Surroundings.__struct_fields__), attrgetter(*OwnFields.__struct_fields__)


def surroundings(span: Span) -> Surroundings:
    """What a span shares with others."""
    return Surroundings(*_surroundings(span))


def own_fields(span: Span) -> OwnFields:
    """What is a span's own."""
    return OwnFields(*_own(span))


class WrittenSurroundings:
    """Numbers of what was written before. What becomes too much is forgotten, and numbers begin again."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._bytes = 0

    def number(self, written: bytes) -> tuple[int, bytes]:
        """The number, and what is to be written with it: nothing where whoever reads in this order knows it."""
        long = len(written) > FORGOTTEN_BYTES  # as many parts would hold as many of them
        key = hashlib.blake2b(written, digest_size=ID_BYTES).digest() if long else written
        known = self._numbers.get(key)
        if known is not None:
            return known, b""
        if self._bytes + len(written) > FORGOTTEN_BYTES:
            self.forget()
        number = self._numbers[key] = len(self._numbers)
        self._bytes += len(written)
        return number, written

    def forget(self) -> None:
        """Know nothing again."""
        self._numbers, self._bytes = {}, 0
