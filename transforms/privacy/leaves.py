"""Walks values down to their leaves, through JSON that lies in strings, and puts cleaned leaves back in place."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import is_not
from typing import Any

from transforms.privacy.encodings import Edit, Spelling, edited, spelling
from transforms.privacy.hints import Pairs, hint, told_by
from transforms.privacy.packings import packed, repacked

MAX_DEPTH = 12
LEAST_NUMBER = 100_000  # a smaller number is personal only where its key says so
MAX_FRAGMENTS = 64
LEAST_PACKED = 16  # packed characters in which something personal may lie
SHORT = 64  # characters of texts that often come again
_MORE = re.compile(r"[{\[%&\\+]|(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16}")
_FRAGMENT = re.compile(r"[{\[]\s*[{\[\"]")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?', re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z_$.-]{0,63}")


@dataclass(slots=True)  # not frozen: a day has hundreds of thousands, and freezing one takes longer than making it
class Leaf:
    """A string or number, where it stands (indices and depths only), and what its key says it is.

    `is_key` marks the key of a mapping; `entity` is empty where the key says nothing. `spelling` is there where the
    string is encoded: `value` is what it says, `source` how it is written.
    """

    value: str | int | float
    path: str
    entity: str = ""
    is_key: bool = False
    spelling: Spelling | None = None

    @property
    def source(self) -> str | int | float:
        """The value as it stands in the record."""
        return self.value if self.spelling is None else self._outermost.source

    @property
    def _outermost(self) -> Spelling:
        assert self.spelling is not None
        layer = self.spelling
        while layer.outer is not None:
            layer = layer.outer
        return layer

    def edited(self, edits: Sequence[Edit]) -> str:
        """The source with stretches of the value exchanged."""
        return edited(str(self.value), edits) if self.spelling is None else self.spelling.respelled(edits)


Replace = Callable[[Leaf], str | int | float]


class KeyCollision(Exception):
    """Two keys of one mapping became the same."""


class _Members(list[tuple[str, Any]]):
    """The members of a JSON object in order, repeated keys included."""


# NaN and infinities are words, not literals of `_SCALAR`; a number beyond all bounds is one, and decodes to infinity.
_DECODER = json.JSONDecoder(object_pairs_hook=_Members, parse_constant=lambda _: None)


def rewrite(value: Any, replace: Replace, path: str = "", entity: str = "", depth: int = 0) -> Any:
    """`value` with every leaf passed through `replace`; same shape, and the same objects where nothing changed."""
    if isinstance(value, str):
        return _rewrite_text(value, replace, path, entity, depth)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        if not _is_finite(value):
            return value
        return value if not entity and abs(value) < LEAST_NUMBER else replace(Leaf(value, path, entity))
    if isinstance(value, dict | _Members):
        return _rewrite_members(value, replace, path, depth)
    if isinstance(value, list | tuple):
        items = [rewrite(item, replace, f"{path}.{index}", entity, depth) for index, item in enumerate(value)]
        if not any(map(is_not, items, value)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def _rewrite_members(value: dict[str, Any] | _Members, replace: Replace, path: str, depth: int) -> Any:
    pairs: Pairs = list(value) if isinstance(value, _Members) else list(value.items())
    told = told_by(tuple([key for key, _ in pairs]))
    new_pairs, changed = [], False
    for index, (key, item) in enumerate(pairs):
        place = f"{path}.{index}"
        entity = hint(key, item, told.person) if told.of_value[index] else ""
        new_key, new = _rewrite_key(key, replace, place), rewrite(item, replace, place, entity, depth)
        changed = changed or new is not item or new_key is not key
        new_pairs.append((new_key, new))
    if not changed:
        return value
    if isinstance(value, _Members):
        return _Members(new_pairs)
    rebuilt = dict(new_pairs)
    if len(rebuilt) != len(pairs):
        raise KeyCollision
    return rebuilt


def _rewrite_key(key: Any, replace: Replace, place: str) -> Any:
    return key if not isinstance(key, str) or _is_identifier(key) else replace(Leaf(key, place + "k", is_key=True))


@lru_cache(maxsize=8192)
def _is_identifier(key: str) -> bool:
    return _IDENTIFIER.fullmatch(key) is not None


def _rewrite_text(text: str, replace: Replace, path: str, entity: str, depth: int) -> Any:
    if len(text) < 2:
        return text if not entity else replace(Leaf(text, path, entity))
    if not (_may_hold_more(text) if len(text) <= SHORT else _MORE.search(text)):
        return replace(Leaf(text, path, entity))
    if depth < MAX_DEPTH and not entity:
        whole = _whole_json(text)
        if whole is not None:
            return _rewrite_json(text, whole, replace, path, depth)
        found = list(_fragments(text))
        if found:
            return _rewrite_around(text, found, replace, path, depth)
    return _rewrite_plain(text, replace, path, entity, depth)


@lru_cache(maxsize=32_768)
def _may_hold_more(text: str) -> bool:
    """Whether JSON, packed text or an encoded character may lie in a text."""
    return _MORE.search(text) is not None


def _rewrite_plain(text: str, replace: Replace, path: str, entity: str, depth: int) -> Any:
    """A text that is no JSON: what is packed in it is walked for itself, other encodings are read through."""
    if len(text) >= LEAST_PACKED and depth < MAX_DEPTH:
        text = _rewrite_packed(text, replace, path, depth)
    written = spelling(text)
    if written is None:
        return replace(Leaf(text, path, entity))
    return replace(Leaf(written.plain, path, entity, spelling=written))


def _rewrite_packed(text: str, replace: Replace, path: str, depth: int) -> str:
    """A path says by * that it leads into compressed text: what lies in that is not inflated again."""
    for one in reversed(list(packed(text, "*" not in path))):
        place = f"{path}{'*' if one.inflated else '^'}"
        new, beside = (_rewrite_text(said, replace, place, "", depth + 1) for said in (one.said, one.beside))
        if new != one.said or beside != one.beside:
            text = text[: one.start] + repacked(new, text[one.start : one.end]) + text[one.end :]
    return text


def _whole_json(text: str) -> Any:
    """The container that `text` is the JSON of; a string that holds JSON once more counts; else None."""
    head = text.lstrip()[:2]
    if head[:1] not in ("{", "[") and head not in ('"{', '"[', '"\\'):
        return None
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list | str) else None


def _rewrite_json(text: str, value: Any, replace: Replace, path: str, depth: int) -> str:
    """`text` with its changed literals exchanged in place, so that blanks, order and escapes stay as they were."""
    rewritten = rewrite(value, replace, f"{path}>", depth=depth + 1)
    if rewritten is value:
        return text
    fresh = iter(zip(_scalars(value), _scalars(rewritten), strict=True))

    def exchange(match: re.Match[str]) -> str:
        before, after = next(fresh)
        literal = match.group()
        if before is after or before == after:
            return literal
        escape = literal.isascii() and "\\u" in literal or text.isascii() and "\\u" in text
        return json.dumps(after, ensure_ascii=escape)

    return _SCALAR.sub(exchange, text)


def _scalars(value: Any) -> Iterator[str | int | float]:
    """Keys, strings and numbers in the order in which their literals stand."""
    if isinstance(value, _Members):
        for key, item in value:
            yield key
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield value


def _is_finite(value: float) -> bool:
    """Whether a number has digits; a whole one may have more than a float can hold."""
    return isinstance(value, int) or math.isfinite(value)


def _fragments(text: str) -> Iterator[tuple[int, int, Any]]:
    """JSON containers inside prose, as (start, end, value), left to right."""
    at, tries = 0, 0
    if "{" not in text and "[" not in text:
        return
    while tries < MAX_FRAGMENTS and (found := _FRAGMENT.search(text, at)):
        tries += 1
        try:
            value, end = _DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            at = found.start() + 1
            continue
        yield found.start(), end, value
        at = end


def _rewrite_around(text: str, found: Collection[tuple[int, int, Any]], replace: Replace, path: str, depth: int) -> str:
    pieces, at = [], 0
    for index, (start, end, value) in enumerate(found):
        pieces.append(str(_rewrite_plain(text[at:start], replace, f"{path}~{index}", "", depth)))
        pieces.append(_rewrite_json(text[start:end], value, replace, f"{path}~{index}", depth))
        at = end
    pieces.append(str(_rewrite_plain(text[at:], replace, f"{path}~{len(found)}", "", depth)))
    joined = "".join(pieces)
    return text if joined == text else joined
