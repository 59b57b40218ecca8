"""Reads single values the way exporters write them: numbers as strings, times in five notations."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

INT64 = 2**63 - 1
NUMBER = (int, float)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DIGITS = re.compile(r"[+-]?\d{1,19}")


def text(value: Any) -> str:
    """A string as it is, nothing for null, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json_text(value)


def json_text(value: Any) -> str:
    """JSON in Python's default spacing, characters as they are: what most SDKs write themselves."""
    return json.dumps(value, ensure_ascii=False)


def compact_json(value: Any) -> str:
    """The same without spaces: what frameworks make of an object that they show a model."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def mapping(value: Any) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def first_text(fields: dict[str, Any], *names: str) -> str:
    """The first of the named fields that holds a non-empty string or a number, as text."""
    if not fields:
        return ""
    for name in names:
        value = fields.get(name)
        if value is None:
            continue
        if isinstance(value, str):
            if value:
                return value
        elif isinstance(value, NUMBER) and not isinstance(value, bool):
            return json_text(value)
    return ""


def whole(value: Any) -> int | None:
    """An integer of 64 bits, also where it came as a string or as 41.0."""
    if value is None:
        return None
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT64:
        return value
    return None


def number(value: Any) -> float | None:
    """A finite number; true is 1, false is 0."""
    if not isinstance(value, int | float):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def time_ns(value: Any) -> int | None:
    """UTC nanoseconds of an ISO time (naive is UTC) or of a count of s, ms, µs or ns told by its magnitude."""
    if isinstance(value, str) and not _DIGITS.fullmatch(value):
        return _iso_ns(value)
    if isinstance(value, float):
        return _scaled(value)
    count = whole(value)
    return None if not count else _scaled(count)


def _iso_ns(value: str) -> int | None:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - _EPOCH
    return _in_range((since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000)


def _scaled(count: float) -> int | None:
    if not math.isfinite(count) or count <= 0:
        return None
    for least, factor in ((10**17, 1), (10**14, 1_000), (10**11, 1_000_000)):
        if count >= least:
            return _in_range(int(count * factor))
    return _in_range(round(count * 1_000_000) * 1_000)  # a float of seconds tells no more than microseconds


def _in_range(nanoseconds: int) -> int | None:
    return nanoseconds if abs(nanoseconds) < INT64 else None
