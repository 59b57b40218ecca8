"""Reads what a model thought before it answered: text or lists of parts, within the content or beside it."""

from __future__ import annotations

from typing import Any

from transforms.readers.values import first_text, mapping

TYPES = frozenset({"reasoning", "thinking", "reasoning_content"})
"""Types of parts that hold it."""

_TEXTS = ("reasoning_content", "reasoning", "thinking")
_LISTS = ("reasoning_details", "thinking_blocks", "reasoning", "thinking")
_KEYS = frozenset({*_TEXTS, *_LISTS})
_HOLDS = ("thinking", "text", "reasoning", "reasoning_content", "summary", "content")


def of_part(part: dict[str, Any]) -> str:
    """What a part of one of `TYPES` says; empty where the provider keeps it to itself."""
    return "\n".join(_texts(part))


def of_message(fields: dict[str, Any], odd: set[str]) -> str:
    """What stands beside a message's content: as text, else as a list of a provider's or a proxy's parts."""
    extra = mapping(fields.get("additional_kwargs"))
    if _KEYS.isdisjoint(fields) and _KEYS.isdisjoint(extra):
        return ""
    if said := first_text(fields, *_TEXTS) or first_text(extra, *_TEXTS):
        return said
    for held in (holder.get(name) for holder in (fields, extra) for name in _LISTS):
        if held and isinstance(held, dict | list):
            said = "\n".join(_texts(held))
            odd.update(() if said else {"reasoning_hidden"})
            return said
    return ""


def _texts(value: Any) -> list[str]:
    """The texts of nested parts, each part's from the first of its fields that says something."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, dict):
        return next(filter(None, (_texts(value.get(name)) for name in _HOLDS)), [])
    return [said for item in value for said in _texts(item)] if isinstance(value, list) else []
