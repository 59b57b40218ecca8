"""The parts of a pattern of the `regex` module: characters, rows, alternatives, repetitions, looks at one character."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_GROUP = re.compile(r"\((?:\?(?:P<\w+>|[aims]*:|>|[aims]+\)|<?[=!])|(?!\?))")
_CLOSED = re.compile(r"\)")
_AGAIN = re.compile(r"(?:(?P<sign>[?*+])|\{(?P<least>\d+)(?P<comma>,?)(?P<most>\d*)\})[?+]?")
_SET = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_ATOM = re.compile(r"\\[pP]\{\w+\}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\.|.", re.DOTALL)
_EDGES = {r"\A": r"\A", r"\Z": r"\z"}
_BORDERS = ("^", "$", r"\b", r"\B")
_SIGNS = {"?": (0, 1), "*": (0, None), "+": (1, None)}


class Unreadable(ValueError):
    """A pattern holds something that this module does not know."""


@dataclass(frozen=True)
class One:
    """A character: an atom or a set, as it is written; `fold`: upper and lower case are the same."""

    atom: str
    fold: bool


@dataclass(frozen=True)
class Edge:
    """The beginning or the end of the text, in RE2's words."""

    sign: str


@dataclass(frozen=True)
class Beside:
    """What stands directly before (`behind`) or after: one of a class, or (`none`) none of it."""

    one: One
    behind: bool
    none: bool


@dataclass(frozen=True)
class Row:
    """Parts one after the other."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Either:
    """One of several parts."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Again:
    """A part several times; `most` is None where there is no limit."""

    part: Part
    least: int
    most: int | None


Part = One | Edge | Beside | Row | Either | Again


def parts_of(pattern: str, ignore_case: bool = False) -> Part:
    """The parts of a pattern; borders and looks around that are longer than one character are left out.

    Raises Unreadable.
    """
    reading = _Reading(pattern)
    whole = reading.alternatives(ignore_case)
    if reading.at != len(pattern):
        raise Unreadable
    return whole


@dataclass
class _Reading:
    pattern: str
    at: int = 0
    groups: list[Part] = field(default_factory=list)

    def alternatives(self, fold: bool) -> Part:
        rows: list[list[Part]] = [[]]
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                rows.append([])
            elif flags := self._flags():
                fold = fold or "i" in flags
            else:
                rows[-1] += self._repeated(self._group(fold) if self.pattern[self.at] == "(" else self._character(fold))
        made = [Row(tuple(row)) for row in rows]
        return made[0] if len(made) == 1 else Either(tuple(made))

    def _flags(self) -> str:
        """Flags at the beginning; elsewhere they would hold for what stands before, too."""
        found = _GROUP.match(self.pattern, self.at)
        if not found or not found.group().endswith(")"):
            return ""
        if self.at:
            raise Unreadable
        self.at = found.end()
        return found.group()

    def _group(self, fold: bool) -> Part | None:
        opening, number = self._take(_GROUP), len(self.groups)
        captures = opening == "(" or opening.startswith("(?P<")
        if captures:
            self.groups.append(Row(()))
        inner = self.alternatives(fold or (opening.endswith(":") and "i" in opening))
        self._take(_CLOSED)
        if captures:
            self.groups[number] = inner
        if opening.endswith(("=", "!")):
            return _beside(inner, "<" in opening, opening.endswith("!"))
        return inner

    def _character(self, fold: bool) -> Part | None:
        if self.pattern[self.at] == "[":
            return One(self._take(_SET), fold)
        atom = self._take(_ATOM)
        if atom in _EDGES:
            return Edge(_EDGES[atom])
        if atom[0] == "\\" and atom[1:].isdigit():
            return self.groups[int(atom[1:]) - 1]
        return None if atom in _BORDERS else One(atom, fold)

    def _repeated(self, part: Part | None) -> list[Part]:
        found = _AGAIN.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        if part is None:
            return []
        if not found:
            return [part]
        if found["sign"]:
            return [Again(part, *_SIGNS[found["sign"]])]
        least = int(found["least"])
        return [Again(part, least, (int(found["most"]) if found["most"] else None) if found["comma"] else least)]

    def _take(self, token: re.Pattern[str]) -> str:
        found = token.match(self.pattern, self.at)
        if not found:
            raise Unreadable
        self.at = found.end()
        return found.group()


def _beside(inner: Part, behind: bool, none: bool) -> Part | None:
    if isinstance(inner, Row) and len(inner.parts) == 1 and isinstance(inner.parts[0], One):
        return Beside(inner.parts[0], behind, none)
    return None
