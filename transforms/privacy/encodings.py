r"""Encodings inside text: percent, HTML entities, `\u0041` and the like are undone for the search.

A text with encoded characters is searched as it reads, and what is replaced in it is written in the encoding that stood
there; every other character stays as it was.
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

Edit = tuple[int, int, str]

MAX_LAYERS = 3  # %2540 is an at sign in two
_PERCENT = r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)"
_ENTITY = r"(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)"
_UNICODE = r"(?P<unicode>(?:\\u[0-9A-Fa-f]{4})+|\\U000[0-9A-Fa-f]{5})"
_BYTES = r"(?P<bytes>(?:\\x[0-9A-Fa-f]{2})+)"
_SIGN = r"(?P<sign>\\[ntr\"'/\\])"
_BLANK = r"(?P<blank>(?<=[A-Za-z0-9%\x80-\U0010ffff])\+(?=[A-Za-z0-9%\x80-\U0010ffff]))"
_ENCODED = re.compile("|".join((_PERCENT, _ENTITY, _UNICODE, _BYTES, _SIGN)))
_IN_QUERY = re.compile("|".join((_PERCENT, _ENTITY, _UNICODE, _BYTES, _SIGN, _BLANK)))
_QUERY = re.compile(r"[?&][\w.\[\]-]{1,40}=[^\s&=<>\"']*[^\s&=+]\+[^\s&<>\"']+")
_FOLDER = re.compile(r"(?<![A-Za-z])[A-Za-z]:\\(?!\\)")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a text is written: `plain` is what it says; a stretch of it begins at `plain_at` there, `source_at` here."""

    source: str
    plain: str
    plain_at: Sequence[int]
    source_at: Sequence[int]
    outer: Spelling | None = None

    def respelled(self, edits: Sequence[Edit]) -> str:
        """The source with stretches of the plain text exchanged, in the encoding that they are written in."""
        fresh = []
        for start, end, new in edits:
            at, stop = self._place(start), self._place(end)
            fresh.append((at, stop, encoded(new, self.source[at:stop], self.source)))
        return self.outer.respelled(fresh) if self.outer else edited(self.source, fresh)

    def _place(self, at: int) -> int:
        """Where in the source a character of the plain text begins."""
        if at >= len(self.plain):
            return len(self.source)
        index = bisect_right(self.plain_at, at) - 1
        return self.source_at[index] + at - self.plain_at[index]


def edited(text: str, edits: Sequence[Edit]) -> str:
    """`text` with disjoint stretches exchanged, given in order."""
    pieces: list[str] = []
    at = 0
    for start, end, new in edits:
        pieces += (text[at:start], new)
        at = end
    return "".join((*pieces, text[at:]))


def spelling(text: str) -> Spelling | None:
    """How `text` is written, where some of it is encoded; else None."""
    found: Spelling | None = None
    for _ in range(MAX_LAYERS):
        if "%" not in text and "&" not in text and "\\" not in text and "+" not in text:
            return found
        layer = _layer(text, found)
        if layer is None:
            return found
        found, text = layer, layer.plain
    return found


def _layer(text: str, outer: Spelling | None) -> Spelling | None:
    pattern = _IN_QUERY if "+" in text and "=" in text and _QUERY.search(text) else _ENCODED
    pieces: list[str] = []
    plain_at, source_at, size, at, changed = [0], [0], 0, 0, False
    folders = "\\" in text and _FOLDER.search(text) is not None
    queries = [query.span() for query in _QUERY.finditer(text)] if pattern is _IN_QUERY else []
    for match in pattern.finditer(text):
        if match.lastgroup == "blank" and not any(start < match.start() < end for start, end in queries):
            continue
        characters = list(_characters(match, folders))
        if not characters:
            continue
        changed = True
        pieces.append(text[at : match.start()])
        size += match.start() - at
        place = match.start()
        for character, width in characters:
            plain_at.append(size)
            source_at.append(place)
            pieces.append(character)
            size, place = size + len(character), place + width
        plain_at.append(size)
        source_at.append(at := match.end())
    return Spelling(text, "".join((*pieces, text[at:])), plain_at, source_at, outer) if changed else None


def _characters(match: re.Match[str], folders: bool) -> Iterator[tuple[str, int]]:
    """What an encoded run says, with how many characters of the run each takes; nothing where it is no encoding."""
    kind, run = match.lastgroup, match.group()
    if kind == "percent" or kind == "bytes":
        width = 3 if kind == "percent" else 4
        data = unquote_to_bytes(run) if kind == "percent" else bytes.fromhex(run.replace("\\x", ""))
        try:
            yield from ((character, width * len(character.encode())) for character in data.decode())
        except UnicodeDecodeError:
            return
    elif kind == "entity":
        said = html.unescape(run)
        if said != run and len(said) == 1:
            yield said, len(run)
    elif kind == "unicode":
        yield from _escaped(run)
    elif kind == "blank":
        yield " ", 1
    elif not folders:
        yield _SIGNS.get(run[1], run[1]), 2


def _escaped(run: str) -> Iterator[tuple[str, int]]:
    if run[1] == "U":
        if int(run[2:], 16) < 0x110000:
            yield chr(int(run[2:], 16)), len(run)
        return
    units = [int(run[at + 2 : at + 6], 16) for at in range(0, len(run), 6)]
    try:
        said = b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be")
    except UnicodeDecodeError:
        return
    yield from ((character, 12 if character > "\uffff" else 6) for character in said)


def encoded(new: str, replaced: str, around: str) -> str:
    """`new` in the encoding that `replaced` is written in; where that holds none, as the text around it may hold it."""
    if "%" in replaced and _has(replaced, "percent"):
        return quote(new, safe="".join({char for char in replaced if char in "@:/,+[]()'"}))
    if "&" in replaced and _has(replaced, "entity"):
        return html.escape(new)
    if "\\" in replaced and (_has(replaced, "unicode") or _has(replaced, "bytes")):
        return json.dumps(new)[1:-1]
    if "+" in replaced and " " in new and _QUERY.search(around):
        return new.replace(" ", "+")
    return new if new.isascii() or not around.isascii() else _in_ascii(new, around)


def _in_ascii(new: str, around: str) -> str:
    """A text of another script beside encoded ones only."""
    if _has(around, "percent"):
        return quote(new, safe="@:/,+[]() '")
    return json.dumps(new)[1:-1] if _has(around, "unicode") else new


def _has(text: str, kind: str) -> bool:
    return any(match.lastgroup == kind for match in _ENCODED.finditer(text))
