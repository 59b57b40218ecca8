"""Checks of an answer's text that need nothing else: its pattern, its shape, its JSON, what it cites."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence

import jsonschema
import regex

from transforms.rewards.verifier_spec import Citation, Format, JsonSchema, Regex

MATCH_S = 1.0
"""Seconds that a pattern may take; beyond them the verdict is an error."""

FENCE = regex.compile(r"```[ \t]*([\w+-]*)[^\n]*\n(.*?)```", regex.DOTALL)
QUOTE = regex.compile(r"[\"“„«「『]([^\"”“»」』]{3,2000})[\"”“»」』]")
NUMBER = regex.compile(r"(?<![\w.,])[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.,])[-+]?\d+(?:\.\d+)?(?!\w)")
MARK = regex.compile(r"[\[【]([\p{L}\p{N}_.:#†-]{1,200})[\]】]")
QUOTED_WORDS = 3


def fenced(text: str, languages: Sequence[str]) -> str:
    """The last fenced block of one of the languages, else the last of none, else the whole text."""
    blocks = FENCE.findall(text)
    for wanted in (languages, ("",)):
        fitting = [body for language, body in blocks if language.lower() in wanted]
        if fitting:
            return str(fitting[-1])
    return text


def matches(check: Regex, text: str, reference: object) -> float:
    """1 where the pattern occurs; with a group and a reference, where the last occurrence's group equals it.

    Raises TimeoutError.
    """
    if reference is None:
        return float(regex.search(check.pattern, text, timeout=MATCH_S) is not None)
    found = list(regex.finditer(check.pattern, text, timeout=MATCH_S))
    return float(bool(found) and found[-1].group(1 if found[-1].re.groups else 0).strip() == str(reference).strip())


def fits_schema(check: JsonSchema, text: str) -> float:
    """1 where the text, or its last fenced block, is JSON that the schema allows."""
    try:
        value = json.loads(fenced(text, ("json",)), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return 0.0
    schema = check.json_schema
    return float(jsonschema.validators.validator_for(schema)(schema).is_valid(value))


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def shaped(check: Format, text: str) -> float:
    """1 where tags, length and forbidden texts are as asked for."""
    if check.max_characters is not None and len(text) > check.max_characters:
        return 0.0
    if any(word in text for word in check.forbidden):
        return 0.0
    rest, last = text, 0
    for tag in check.tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        if text.count(opening) != 1 or text.count(closing) != 1:
            return 0.0
        start, end = text.index(opening), text.index(closing)
        if start < last or end < start:
            return 0.0
        last = end + len(closing)
        rest = rest.replace(text[start:last], "", 1)
    return float(not (check.only_tags and rest.strip()))


def grounded(check: Citation, text: str, retrieved: Sequence[tuple[str, str]]) -> float | None:
    """The share of what the answer cites that stands in what the tools brought; None where it cites nothing.

    Case, width and white space do not count; of a number its value does.
    """
    sources = [_plain(body) for tool, body in retrieved if not check.tools or tool in check.tools]
    held: list[bool] = []
    if "quotes" in check.what:
        quoted = [_plain(quote) for quote in QUOTE.findall(text)]
        held += [any(quote in body for body in sources) for quote in quoted if len(quote.split()) >= QUOTED_WORDS]
    if "numbers" in check.what:
        known = {value for body in sources for value in _numbers(body)}
        held += [value in known for value in _numbers(MARK.sub("", text))]
    if "marks" in check.what:
        marks = [_plain(mark) for mark in MARK.findall(text)]
        held += [any(_holds(body, mark) for body in sources) for mark in marks]
    return sum(held) / len(held) if held else None


def _holds(body: str, mark: str) -> bool:
    return regex.search(rf"(?<!\w){regex.escape(mark)}(?!\w)", body) is not None


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in NUMBER.findall(text)]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
