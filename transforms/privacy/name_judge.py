"""Whether what a model takes for a name is one: by its words, by the line it stands in, and by what stands beside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import regex

from transforms.privacy.coined import is_coined
from transforms.privacy.lexicon import in_dictionary, uncommon
from transforms.privacy.names import BOTH, NOT_PEOPLE, TWO
from transforms.privacy.prose import is_prose
from transforms.privacy.words import everyday, known_names, things, words

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_SHAPE = re.compile(r"(?:[^\W\d_a-z][\w'’.-]*)(?: [\w'’.-]+){0,4}")
_CANDIDATE = regex.compile(rf"(?<![\p{{L}}\p{{N}}_.@#/\\-]){TWO}(?![\p{{L}}\p{{N}}_(/\\-])")
_PLACE = frozenset(
    words(
        "street st str strasse straße avenue ave road rd drive dr lane ln boulevard blvd court ct terrace circle "
        "square highway parkway trail via rua rue calle avenida piazza plaza platz weg allee gasse gata gatan vej "
        "vägen cite cité port mount lake river bay beach island valley heights hills county city town village "
        "province district region hall museum stadium theatre theater church cathedral bridge tower castle palace "
        "monument gate orchestra band festival award prize cup league club times post journal tribune news "
        "magazine novel album song"
    )
)
_CAMEL = re.compile(r"(?<!Mc)(?<!Mac)(?<!De)(?<!La)(?<!Le)(?<!Di)(?<!Van)(?<=[a-z])[A-Z]")  # of products and code
_NUMBERED = re.compile(r" \d{1,3}(?!\d|[.(-]\d)")  # a product rather than a person
_GLUED = frozenset("._/\\@#$-(=:")
UNSURE = ("ORG", "WORK_OF_ART", "")  # what a model says of names that it does not know


def trimmed(text: str, start: int, end: int, prose: bool) -> tuple[int, int] | None:
    """A span that the model calls a person, without punctuation and common words at its edges; None if it is none."""
    found = [
        match for match in _WORD.finditer(text, start, end) if match.group().rstrip(".").lower() not in ("the", "and")
    ]
    while found and not (_name_like(found[0].group()) and _may_lead(text, found)):
        found.pop(0)
    while found and not _name_like(found[-1].group()):
        found.pop()
    if not found or len(found) > 4 or _is_glued(text, found[0].start(), found[-1].end()):
        return None
    start, end = found[0].start(), found[-1].end()
    end -= text[end - 1] == "." and end - found[-1].start() > 2
    lowered = [match.group().lower().rstrip(".") for match in found]
    if any(word in NOT_PEOPLE or word in _PLACE for word in lowered) or not any(map(uncommon, lowered)):
        return None
    if all(word in things() for word in lowered) or any(_CAMEL.search(match.group()) for match in found):
        return None
    if _SHAPE.fullmatch(text[start:end]) is None:
        return None
    if len(found) == 1 and not (prose and _single(text[start:end]) and not _beside_place(text, start, end)):
        return None
    if _NUMBERED.match(text, end):
        return None
    return start, end


def candidates(line: str, labels: Sequence[tuple[int, int, str]]) -> Iterator[tuple[int, int]]:
    """Two or more unknown words in capitals in a sentence, of which the model (`labels`: its spans) knows no better.

    In prose such words name people, places and firms; streets and firms give themselves away by a word of theirs.
    """
    if not is_prose(line):
        return
    for match in _CANDIDATE.finditer(line):
        start, end = match.span()
        lowered = [word.lower().rstrip(".") for word in _WORD.findall(match.group())]
        label = next((label for a, b, label in labels if a < end and start < b), "")
        if label not in UNSURE or not all(uncommon(word) or len(word) == 1 for word in lowered):
            continue
        if any(word in NOT_PEOPLE or word in _PLACE or word in things() or is_coined(word) for word in lowered):
            continue
        odd = _beside_place(line, start, end) or _NUMBERED.match(line, end) or _CAMEL.search(match.group())
        if not odd:
            yield start, end


def _beside_place(line: str, start: int, end: int) -> bool:
    """Whether a number or a word for a place or a firm stands directly beside."""
    before, after = line[max(0, start - 14) : start].rstrip(" ,"), line[end : end + 14].lstrip(" ,")
    around = {word.lower() for word in (*_WORD.findall(before)[-1:], *_WORD.findall(after)[:1])}
    return before[-1:].isdigit() or after[:1].isdigit() or bool(around & (_PLACE | _FIRM))


_FIRM = frozenset(
    words("inc llc ltd corp gmbh ag plc group company co bank university institute foundation hotel airport")
)


def _is_glued(text: str, start: int, end: int) -> bool:
    """Whether a span is a piece of code or of an identifier."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return (
        before in _GLUED
        and before != ""
        and before not in "(-:"
        or after in ("(", "_", "/", "\\", "=")
        or before == "_"
    )


def _may_lead(text: str, found: list[re.Match[str]]) -> bool:
    """Whether a name may begin with the first word: a common word that begins a sentence may not, as in Contact Zed."""
    word = found[0].group().rstrip(".").lower()
    if len(found) == 1 or len(word) == 1 or uncommon(word) or word in BOTH or not in_dictionary(word):
        return True
    return text[: found[0].start()].rstrip(" \"'*_>(“‘-")[-1:] not in ("", ".", "!", "?", ":", "\n", "|")


def _name_like(word: str) -> bool:
    plain = word.rstrip(".")
    if not plain[:1].isupper() or (len(plain) > 1 and plain.isupper()) or is_coined(plain):
        return False
    return plain.lower() not in everyday() or plain.lower() in known_names()


def _single(name: str) -> bool:
    low = name.lower()
    plain = len(name) > 2 and name[1:].islower() and low not in everyday() and low not in things()
    return plain and uncommon(low)
