"""Opens structures that stand in text: JSON in JSON, as columns and attributes hold it."""

from __future__ import annotations

from typing import Any

from transforms.readers.decoding import TooDeep, decode

TIMES = 3
"""Layers of encoding that are taken off at most."""


def opened_text(value: Any, odd: set[str]) -> Any:
    """The object or list that a text encodes, up to three times over; anything else stays the text it is.

    Numbers, `true` and the like stay text: an answer of a model may be just that.
    """
    found = value
    for _ in range(TIMES):
        if not isinstance(found, str) or not found.lstrip().startswith(("{", "[", '"')):
            break
        try:
            found = decode(found, odd)
        except (TooDeep, RecursionError):
            raise TooDeep from None
        except ValueError:
            break
    return found if isinstance(found, dict | list) else value


def opened(value: Any, odd: set[str]) -> Any:
    """A structured attribute: as it is, or decoded from JSON text, twice where it was encoded twice."""
    for _ in range(2):
        if not isinstance(value, str) or not value.strip():
            break
        try:
            value = decode(value, odd)
        except ValueError:
            odd.add("truncated_json")
            return None
    return value
