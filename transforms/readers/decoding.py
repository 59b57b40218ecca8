"""Decodes JSON as exporters really write it: fast where it is clean, leniently where it is not."""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

DEEPEST = 200
"""Levels of nesting that are read; real exports stay under 30."""

MOST_CONTAINERS = 8 << 20
"""Objects and lists in one document: an empty one takes two bytes of text and 64 of memory."""

LEAST_COUNTED = 32 << 20
"""Bytes of a document whose objects and lists are counted before it is decoded."""

WRONG_SHAPES = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError)
"""What code raises that expects one shape and meets another."""

_DECODER = msgspec.json.Decoder()


class TooDeep(ValueError):
    """A value nested deeper than `DEEPEST`."""


class TooLarge(ValueError):
    """A document that would take too much memory, whatever its own size."""


def decode(raw: bytes | str, odd: set[str]) -> Any:
    """The value of one JSON text; raises ValueError (TooDeep and TooLarge are such) or RecursionError.

    What strict parsers refuse is read all the same and noted in `odd`: NaN and infinities and numbers beyond
    double become null (`nonfinite`), bytes that are not UTF-8 and lone surrogates become U+FFFD (`non_utf8`,
    `lone_surrogates`), NUL characters are dropped (`nul_characters`).
    """
    if len(raw) > LEAST_COUNTED and _containers(raw) > MOST_CONTAINERS:
        raise TooLarge
    value = _strictly(raw, odd)
    if ("\\u0000" in raw) if isinstance(raw, str) else (b"\\u0000" in raw):
        value = _walk(value, odd, 0)
    return value


def bounded(value: Any, depth: int = 0) -> Any:
    """The same value; raises TooDeep where it is nested so deeply that writing it out again could fail."""
    if depth > DEEPEST:
        raise TooDeep
    if isinstance(value, dict):
        for item in value.values():
            bounded(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            bounded(item, depth + 1)
    return value


def _containers(raw: bytes | str) -> int:
    return raw.count("{") + raw.count("[") if isinstance(raw, str) else raw.count(b"{") + raw.count(b"[")


def _strictly(raw: bytes | str, odd: set[str]) -> Any:
    try:
        return _DECODER.decode(raw)
    except (ValueError, UnicodeError):
        pass
    text = raw if isinstance(raw, str) else _text(raw, odd)
    value = json.loads(
        text,
        strict=False,
        parse_float=lambda digits: _finite(float(digits), odd),
        parse_int=lambda digits: _whole(digits, odd),
        parse_constant=lambda _: _finite(math.nan, odd),
    )
    return _walk(value, odd, 0)


def _text(raw: bytes, odd: set[str]) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        odd.add("non_utf8")
        return raw.decode("utf-8-sig", errors="replace")


def _finite(value: float, odd: set[str]) -> float | None:
    if math.isfinite(value):
        return value
    odd.add("nonfinite")
    return None


def _whole(digits: str, odd: set[str]) -> int | None:
    if len(digits) <= 400:
        return int(digits)
    odd.add("nonfinite")
    return None


def _walk(value: Any, odd: set[str], depth: int) -> Any:
    if depth > DEEPEST:
        raise TooDeep
    if isinstance(value, str):
        return _clean(value, odd)
    if isinstance(value, list):
        return [_walk(item, odd, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_clean(key, odd): _walk(item, odd, depth + 1) for key, item in value.items()}
    return value


def _clean(text: str, odd: set[str]) -> str:
    if "\0" in text:
        odd.add("nul_characters")
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        odd.add("lone_surrogates")
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
