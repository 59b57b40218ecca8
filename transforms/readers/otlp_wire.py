"""Counts what a message of OTLP is made of before it is decoded: two bytes of it may take a kilobyte of memory."""

from __future__ import annotations

LONGEST_MESSAGE = 64 << 20
"""Bytes of one message that are decoded; gRPC stops at 4 MiB unless told otherwise."""

LEAST_COUNTED = 1 << 20
"""Bytes of a message whose fields are counted."""

MOST_FIELDS = 4 << 20
"""Fields of one message, those inside of values left out; a span or an event counts as four. Collectors send eight
thousand spans at a time, of at most 128 attributes."""

_WEIGHT = 3
_INNER = (frozenset({1}), frozenset({1, 2}), frozenset({1, 2}), frozenset({11, 13}), frozenset[int]())
"""Numbers of the fields that are looked into: resources, their scopes, spans or records, events and links of spans."""

_FIXED = {1: 8, 5: 4}
_LENGTH = 2


def is_crowded(raw: bytes) -> bool:
    """Whether a message would fill the memory when it is decoded."""
    return len(raw) > LONGEST_MESSAGE or (len(raw) > LEAST_COUNTED and _fields(raw) > MOST_FIELDS)


def _fields(raw: bytes) -> int:
    """Fields, until they are too many. What is broken ends its message; the decoder will say so."""
    count = 0
    waiting = [(0, len(raw), 0)]
    while waiting and count <= MOST_FIELDS:
        at, end, level = waiting.pop()
        while at < end and count <= MOST_FIELDS:
            tag, at = _varint(raw, at, end)
            kind = tag & 7
            size, at = (_FIXED[kind], at) if kind in _FIXED else _varint(raw, at, end)
            if kind not in (0, _LENGTH, *_FIXED) or size < 0:
                break
            count += 1
            if kind == _LENGTH and tag >> 3 in _INNER[level]:
                count += _WEIGHT
                waiting += [(at, min(at + size, end), level + 1)] if size else []
            at += size if kind else 0
    return count


def _varint(raw: bytes, at: int, end: int) -> tuple[int, int]:
    """A number and where it ends; -1 where it does not."""
    value = shift = 0
    while at < end and shift < 70:
        byte = raw[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return -1, end
