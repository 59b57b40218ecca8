r"""Weaker patterns: what a pattern of the `regex` module asks for at least, in the syntax of RE2.

Where the pattern finds something in a text, the weaker one does as well, though not the other way round. It is cut
after some characters; digits are all alike; high limits of repetitions are left out; and what depends on Unicode takes
every character that is not ASCII, since versions of Unicode, and ways of folding case, differ. So automata stay small.
"""

from __future__ import annotations

import re
from functools import lru_cache

import regex

from transforms.privacy.pattern_parts import Again, Beside, Edge, Either, One, Part, Row, Unreadable, parts_of

LEAST = 16  # characters that are looked at
HIGHEST = 3  # limit of repetitions that is kept
_BEYOND = r"\x{80}-\x{10ffff}"
_DIGITS = frozenset("0123456789")


def weakened(pattern: str, ignore_case: bool = False, only_ascii: bool = True) -> str:
    r"""The weaker pattern of one whose `\w`, `\s` and `\d` are of ASCII only, or of Unicode. Raises Unreadable."""
    return _Writer(only_ascii).least(parts_of(pattern, ignore_case), LEAST, True, True)[0]


class _Writer:
    """Writes parts in RE2's syntax."""

    def __init__(self, only_ascii: bool) -> None:
        self._only_ascii = only_ascii

    def least(self, part: Part, budget: int, first: bool, last: bool) -> tuple[str, bool]:
        """What a part asks for within `budget` characters, and whether that is all of it.

        `first`, `last`: nothing stands before it, or after it, so that a look around may take the character it sees.
        """
        if isinstance(part, One):
            return one_of(part.atom, part.fold, self._only_ascii), True
        if isinstance(part, Edge):
            return part.sign, True
        if isinstance(part, Beside):
            return self._beside(part) if (first if part.behind else last) else "", True
        if isinstance(part, Either):
            options = [self.least(option, budget, first, last) for option in part.parts]
            return f"(?:{'|'.join(text for text, _ in options)})", all(whole for _, whole in options)
        return self._row(part, budget, first, last) if isinstance(part, Row) else self._again(part, budget, first)

    def _row(self, row: Row, budget: int, first: bool, last: bool) -> tuple[str, bool]:
        made = ""
        for at, part in enumerate(row.parts):
            if budget <= 0:
                return made, False
            text, whole = self.least(part, budget, first and not made, last and at == len(row.parts) - 1)
            made += text
            if not whole:
                return made, False
            budget -= _size(part)
        return made, True

    def _again(self, again: Again, budget: int, first: bool) -> tuple[str, bool]:
        text, whole = self.least(again.part, budget, first and again.least == again.most == 1, False)
        size = _size(again.part)
        if not whole:
            return (text if again.least else ""), False
        if size and again.least * size >= budget:
            return f"(?:{text}){{{-(-budget // size)}}}", False
        most = "" if again.most is None or again.most > HIGHEST + again.least else again.most
        return f"(?:{text}){{{again.least},{most}}}", True

    def _beside(self, beside: Beside) -> str:
        atom = beside.one.atom
        if atom == ".":
            return ""
        if not beside.none:
            return one_of(atom, beside.one.fold, self._only_ascii)
        opposite = "[" + atom[2:] if atom.startswith("[^") else "[^" + (atom[1:] if atom[0] == "[" else atom + "]")
        edge = r"\A" if beside.behind else r"\z"
        return f"(?:{edge}|{one_of(opposite, beside.one.fold, self._only_ascii)})"


def _size(part: Part) -> int:
    """How many characters a part takes at least."""
    if isinstance(part, One):
        return 1
    if isinstance(part, Edge | Beside):
        return 0
    if isinstance(part, Again):
        return _size(part.part) * part.least
    return sum(map(_size, part.parts)) if isinstance(part, Row) else min(map(_size, part.parts))


@lru_cache(maxsize=1024)
def one_of(atom: str, fold: bool, only_ascii: bool) -> str:
    """The characters that an atom or a set takes: of ASCII those that it does, beyond it rather all than none."""
    if len(atom) == 1 and not atom.isascii() and not fold:
        return atom
    flags = regex.V0 | (regex.ASCII if only_ascii else 0) | (regex.IGNORECASE if fold else 0)
    takes = regex.compile(atom, flags | regex.DOTALL).fullmatch
    taken = {chr(code) for code in range(128) if takes(chr(code))}
    if taken and taken <= _DIGITS:
        taken = set(_DIGITS)
    negated = atom == "." or atom.startswith("[^") or re.search(r"\\[WSDP]", atom) is not None
    named = re.search(r"\\(?:[uUN0-7]|x[89A-Fa-f])", atom) is not None  # a character by its number or name
    beyond = negated or named or not atom.isascii() or (not only_ascii and (fold or "\\" in atom))
    if not taken and not beyond:
        raise Unreadable("a class is empty")
    return "[" + "".join(rf"\x{{{ord(char):x}}}" for char in sorted(taken)) + (_BEYOND if beyond else "") + "]"
