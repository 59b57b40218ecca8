"""Known values: what was found anywhere in a trace is searched for everywhere in it, in all the ways it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

from transforms.privacy import dates
from transforms.privacy.coined import PARTICLES, TITLES, WORD, fold, is_coined, split_hangul
from transforms.privacy.lexicon import uncommon
from transforms.privacy.overlaps import Hit
from transforms.privacy.words import everyday, words

PROPAGATED = "propagation"
AUDITED_ID_CHARS = 8  # a shorter id of one trace may be something else in another
_EXACT = frozenset(words("EMAIL_ADDRESS CREDIT_CARD IBAN_CODE US_SSN KR_RRN PHONE_NUMBER MAC_ADDRESS IP_ADDRESS"))
_CUE = re.compile(
    r"(?i)(?:thank you|thanks|hi|hello|hey|dear|sure|sorry|welcome|great|okay|ok|bye|goodbye|mr|mrs|ms|dr|"
    r"miss|name is|i'm|i am|this is|"
    r"passenger|named|call me|first name|last name|name)[\s,.:*\"'=_]{1,4}$"
)
_CALLED = re.compile(r"[,.]\s$")
_KOREAN_CUE = re.compile(r"\s?(?:님|씨|고객|이고|이며|입니다|에게)")


@dataclass(frozen=True, slots=True)
class Known:
    """A value of a trace: its type, how it was written, and whether more than a guess speaks for it."""

    entity: str
    text: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Needle:
    """One way in which a known value is written.

    `mode`: exact (neighbours are no letters or digits of the same kind), word (a capitalised word by itself) or
    cue (a word that proves nothing by itself: only next to a cue or another word of the name).
    `made_of_name` marks ids such as mia_li, which a number may follow.
    """

    entity: str
    mode: str
    made_of_name: bool = False
    capitals: bool = False


def distinctive(known: Known) -> bool:
    """Whether a value is long and odd enough that its every occurrence is the value: what an audit searches for.

    A name that only the model saw, or what is said or done beside it tells, may be a product's (*Sofitel Legend*):
    beyond its trace it counts where no word of it is a common one.
    """
    text = known.text.strip()
    if known.entity in _EXACT:
        return len(text) >= 7
    if known.entity == "PERSON":
        words = _name_words(text)
        return (
            len(words) >= 2
            and sum(map(len, words)) >= 6
            and (known.sure or all(map(uncommon, words)))
            and not all(w.lower() in everyday() for w in words)
            or (len(words) == 1 and _is_hangul(words[0]) and len(words[0]) >= 3)
        )
    if known.entity == "STREET_ADDRESS":
        return len(text) >= 8 and re.search(r"\d", text) is not None and len(re.findall(r"[^\W\d_]{2,}", text)) >= 2
    if known.entity in ("USER_ID", "ID_NUMBER"):
        odd = re.search(r"[\d_.@-]", text) is not None and re.search(r"[^\W\d_]", text) is not None
        return len(text) >= (5 if odd else 8) and text.lower() not in everyday()
    if known.entity == "SECRET":
        return len(text) >= (6 if re.search(r"[^A-Za-z]", text) else 12) and text.lower() not in everyday()
    return len(text) >= 6 and known.entity not in ("ZIP_CODE", "DATE_OF_BIRTH")


class KnownValues:
    """A searchable set of known values."""

    def __init__(self, known: Iterable[Known], strict: bool = False) -> None:
        """`strict` searches for distinctive values as they stand only, as an audit does."""
        import ahocorasick

        self.cleaned: dict[tuple[str, str], Any] = {}
        self._others: tuple[KnownValues, ...] = ()
        needles: dict[str, Needle] = {}
        for value in sorted(known, key=lambda known: (known.entity, known.text)):
            for text, needle in _exact(value) if strict else _needles(value):
                needles.setdefault(_lower(text), needle)
        self._automaton = ahocorasick.Automaton()
        for text, needle in needles.items():
            self._automaton.add_word(text, (len(text), needle))
        self._empty = not needles
        if needles:
            self._automaton.make_automaton()

    def beside(self, other: KnownValues) -> KnownValues:
        """What finds the values of both, and remembers by itself what it cleaned."""
        both = copy(self)
        both.cleaned, both._others = {}, (*self._others, other)
        return both

    def find(self, text: str) -> list[Hit]:
        """Every occurrence that its neighbours and its case confirm."""
        return [*self._found(text), *(hit for other in self._others for hit in other.find(text))]

    def _found(self, text: str) -> list[Hit]:
        if self._empty:
            return []
        hits = []
        matches = [(last - size + 1, last + 1, needle) for last, (size, needle) in self._automaton.iter(_lower(text))]
        if not matches:
            return []
        edges = {start for start, _, needle in matches if needle.entity == "PERSON"}
        ends = {end for _, end, needle in matches if needle.entity == "PERSON"}
        for start, end, needle in matches:
            if not _confirmed(text, start, end, needle, edges, ends):
                continue
            stop = _numbered(text, end) if needle.made_of_name else end
            hits.append(Hit(start, stop, needle.entity, PROPAGATED, 0.9))
        return hits


def _numbered(text: str, end: int) -> int:
    """Where an id that is made of a name ends: its number belongs to it."""
    tail = re.compile(r"_?\d+(?![A-Za-z])").match(text, end)
    return tail.end() if tail else end


def _confirmed(text: str, start: int, end: int, needle: Needle, edges: set[int], ends: set[int]) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    found = text[start:end]
    if _runs_on(before, found[0], needle.mode) or _runs_on(after, found[-1], needle.mode):
        return False
    if needle.capitals and not _capitalised(found):
        return False
    if needle.mode == "cue":
        if _is_hangul(found):
            return _KOREAN_CUE.match(text, end) is not None
        if end + 1 in edges and text[end] in " ._-" or start - 1 in ends and text[start - 1] in " ._-":
            return True
        left = text[max(0, start - 24) : start]
        return _CUE.search(left) is not None or (_CALLED.search(left) is not None and after in tuple(".!?"))
    return True


def _capitalised(text: str) -> bool:
    """Whether text is written as a name: a word in capitals alone is rather a code (MIA is an airport, too)."""
    words = [word for word in WORD.findall(text) if word.lower() not in PARTICLES]
    return all(word[0].isupper() and (len(words) > 1 or len(word) < 2 or not word.isupper()) for word in words)


def _runs_on(neighbour: str, edge: str, mode: str) -> bool:
    """Whether a neighbour makes the match a part of something longer; Hangul beside Latin or digits does not."""
    if not neighbour:
        return False
    if _is_hangul(edge):
        return False
    if _is_hangul(neighbour):
        return False
    if mode in ("word", "cue"):
        return neighbour.isalnum() or neighbour == "_"
    return neighbour.isalpha() if edge.isalpha() else neighbour.isdigit() if edge.isdigit() else False


def _exact(known: Known) -> Iterator[tuple[str, Needle]]:
    short = known.entity in ("USER_ID", "ID_NUMBER") and len(known.text.strip()) < AUDITED_ID_CHARS
    if distinctive(known) and not short:
        yield known.text.strip(), Needle(known.entity, "exact", capitals=known.entity == "PERSON")


def _needles(known: Known) -> Iterator[tuple[str, Needle]]:
    text = known.text.strip()
    if known.entity == "PERSON":
        yield from _names(text)
    elif known.entity == "DATE_OF_BIRTH":
        day = dates.parse(text)
        for spelling in [text, *(dates.spellings(day) if day else ())] if re.search(r"\d{4}", text) else ():
            if len(spelling) >= 8:
                yield spelling, Needle(known.entity, "exact")
    elif distinctive(known):
        yield text, Needle(known.entity, "exact")
        plain = re.sub(r"[\s().+-]", "", text)
        if plain.isdigit() and len(plain) >= 9 and plain != text:
            yield plain, Needle(known.entity, "exact")
        local, at, _ = text.partition("@")
        if known.entity == "EMAIL_ADDRESS" and at and len(local) >= 6 and re.search(r"[\d._-]", local):
            yield local, Needle("USER_ID", "exact")


def _names(text: str) -> Iterator[tuple[str, Needle]]:
    words = _name_words(text)
    if len(words) == 1:
        yield from _single(words[0])
        if _is_hangul(words[0]) and len(words[0]) >= 3:
            yield from _single(split_hangul(words[0])[1])
        return
    if not words:
        return
    plain = all(word.lower() in everyday() for word in words)
    first, last = words[0], words[-1]
    whole = Needle("PERSON", "exact", capitals=plain)
    for spelling in (text, f"{first} {last}", f"{last}, {first}", f"{last} {first}", " ".join(words)):
        yield spelling, whole
    low_first, low_last = fold(first), fold(last)
    if len(low_first) + len(low_last) >= 5:
        for a, b in ((low_first, low_last), (low_last, low_first)):
            for separator in "._-":
                yield f"{a}{separator}{b}", Needle("USER_ID", "exact", made_of_name=True)
            if len(a) + len(b) >= 7:
                yield a + b, Needle("USER_ID", "exact", made_of_name=True)
    if len(low_last) >= 5:
        yield low_first[0] + low_last, Needle("USER_ID", "exact", made_of_name=True)
    for word in words:
        yield from _single(word)


def _single(word: str) -> Iterator[tuple[str, Needle]]:
    low = word.lower()
    if _is_hangul(word):
        if len(word) >= 2:
            yield word, Needle("PERSON", "exact" if len(word) >= 3 else "cue")
    elif len(word) < 2 or low in PARTICLES or low in TITLES:
        return
    elif len(word) < 3 or low in everyday():
        yield word, Needle("PERSON", "cue", capitals=True)
    else:
        yield word, Needle("PERSON", "word", capitals=len(word) < 5)
        if "-" in word:
            for part in word.split("-"):
                yield from _single(part)


def _name_words(text: str) -> list[str]:
    """The words of a name; hyphens join, initials, titles and coined words do not count."""
    words = re.findall(r"[가-힣]+|[^\W\d_가-힣]+(?:['’ʼ-][^\W\d_가-힣]+)*", text)
    return [word for word in words if len(word) > 1 and word.lower() not in TITLES and not is_coined(word)]


def _is_hangul(text: str) -> bool:
    return bool(text) and all("가" <= char <= "힣" for char in text)


def _lower(text: str) -> str:
    """Lower case of the same length: offsets must hold."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)
