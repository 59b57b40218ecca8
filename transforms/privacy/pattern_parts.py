"""The parts of a pattern of the `regex` module: characters, rows, alternatives, repetitions, looks at one character."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_GROUP = re.compile(r"\((?:\?(?:P<(?P<name>\w+)>|[aims]*:|>|[aims]+\)|<?[=!])|(?!\?))")
_CLOSED = re.compile(r"\)")
_AGAIN = re.compile(r"(?:(?P<sign>[?*+])|\{(?P<least>\d+)(?P<comma>,?)(?P<most>\d*)\})[?+]?")
_SET = re.compile(r"\[\^?\]?(?:\\.|(?!\[:)[^\]\\])*\]", re.DOTALL)
# Neither escapes that are more or less than a character, nor braces, which may say how often or how nearly.
_ATOM = re.compile(
    r"\\[pP]\{\w+\}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[1-9](?!\d)|\\[AZbBdDwWsSntrfv]|\\[^A-Za-z0-9]|[^\\{]",
    re.DOTALL,
)
_EDGES = {r"\A": r"\A", r"\Z": r"\z"}
_BORDERS = ("^", "$", r"\b", r"\B")
_SIGNS = {"?": (0, 1), "*": (0, None), "+": (1, None)}


class Unreadable(ValueError):
    """A pattern holds something that this module does not know, at a place of the pattern."""


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
        raise Unreadable(f"at {reading.at}")
    return whole


@dataclass
class _Reading:
    pattern: str
    at: int = 0
    groups: list[tuple[Part, bool]] = field(default_factory=list)  # what is in it, and whether it folds
    names: dict[str, int] = field(default_factory=dict)
    referred: set[int] = field(default_factory=set)

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
            raise Unreadable(f"at {self.at}")
        self.at = found.end()
        return found.group()

    def _group(self, fold: bool) -> Part | None:
        found = self._take(_GROUP)
        opening = found.group()
        number = self._number(found["name"]) if found["name"] or opening == "(" else None
        fold = fold or (opening.endswith(":") and "i" in opening)
        inner = self.alternatives(fold)
        self._take(_CLOSED)
        if number is not None:
            self._remember(number, inner, fold)
        if opening.endswith(("=", "!")):
            return _beside(inner, "<" in opening, opening.endswith("!"))
        return inner

    def _number(self, name: str | None) -> int:
        """The number of a group that begins here; groups of one name are one."""
        if name in self.names:
            return self.names[name]
        self.groups.append((Row(()), True))
        if name:
            self.names[name] = len(self.groups)
        return len(self.groups)

    def _remember(self, number: int, inner: Part, fold: bool) -> None:
        before, folded = self.groups[number - 1]
        if before == Row(()):
            self.groups[number - 1] = inner, fold
        elif number in self.referred:  # before it was known what else it may hold
            raise Unreadable(f"at {self.at}")
        else:
            self.groups[number - 1] = Either((before, inner)), fold and folded

    def _again(self, number: int, fold: bool) -> Part:
        """What a group holds, once more."""
        inner, folded = self.groups[number - 1] if number <= len(self.groups) else (Row(()), False)
        if number > len(self.groups) or (fold and not folded):
            raise Unreadable(f"at {self.at}")
        self.referred.add(number)
        return inner

    def _character(self, fold: bool) -> Part | None:
        if self.pattern[self.at] == "[":
            return One(self._take(_SET).group(), fold)
        atom = self._take(_ATOM).group()
        if atom in _EDGES:
            return Edge(_EDGES[atom])
        if atom[0] == "\\" and atom[1:].isdigit():
            return self._again(int(atom[1:]), fold)
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

    def _take(self, token: re.Pattern[str]) -> re.Match[str]:
        found = token.match(self.pattern, self.at)
        if not found:
            raise Unreadable(f"at {self.at}")
        self.at = found.end()
        return found


def _beside(inner: Part, behind: bool, none: bool) -> Part | None:
    if isinstance(inner, Row) and len(inner.parts) == 1 and isinstance(inner.parts[0], One):
        return Beside(inner.parts[0], behind, none)
    return None
