"""How documents write the histories of calls, and where in such a text one message ends and the next begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

import msgspec

CLOSERS = b'}]"'
"""How what shows its end by itself ends, while a number may go on."""

LONGEST_GAP = 2
"""Bytes between items, a comma and a space."""

MESSAGES = "llm.input_messages"
START = MESSAGES + "."
"""How attributes begin that spread messages, a number and the rest of a name behind."""

_string = msgspec.json.Decoder(str).decode
_raws = msgspec.json.Decoder(list[msgspec.Raw]).decode
_escaped = msgspec.json.Encoder().encode


class _Keyed(msgspec.Struct):
    key: str


_keyed = msgspec.json.Decoder(_Keyed).decode


@dataclass(frozen=True, eq=False)
class Writing:
    """What stands before and behind the items of a history, and the function that takes a text of items apart."""

    opening: bytes
    closing: bytes
    ends: Callable[[bytes], list[int]]


def _ends(text: bytes, written: Iterator[bytes]) -> list[int]:
    """Where items end in their text, up to one that cannot be told."""
    ends: list[int] = []
    at = 0
    for one in written:
        start = text.find(one, at, at + len(one) + LONGEST_GAP)
        at = start + len(one)
        if start < 0 or text[at - 1] not in CLOSERS:
            break
        ends.append(at)
    return ends


def _plain_ends(text: bytes) -> list[int]:
    return _ends(text, map(bytes, _raws(b"[" + text.lstrip(b" ,") + b"]")))


def _escaped_ends(text: bytes) -> list[int]:
    plain = _string(b'"' + text + b'"').encode().lstrip(b" ,")
    return _ends(text, (_escaped(bytes(one).decode())[1:-1] for one in _raws(b"[" + plain + b"]")))


def _flat_ends(text: bytes) -> list[int]:
    raws = [bytes(one) for one in _raws(b"[" + text.lstrip(b" ,") + b"]")]
    numbers = [number_of(_keyed(one).key) for one in raws]
    counts = [len([*group]) for _, group in groupby(numbers)]
    ends = _ends(text, iter(raws))
    lasts = [sum(counts[: place + 1]) - 1 for place in range(len(counts))]
    return [ends[last] for last in lasts if last < len(ends)]


def number_of(key: str) -> str:
    """The number of the message that an attribute belongs to; `-` where it cannot be told."""
    return key[len(START) :].partition(".")[0] or "-"


PLAIN = Writing(b"[", b"]", _plain_ends)
"""As JSON."""

ESCAPED = Writing(b'"[', b']"', _escaped_ends)
"""As JSON in a JSON string."""

FLAT = Writing(b"", b"", _flat_ends)
"""Spread over attributes."""
