"""Tombstones: keyed hashes by which a person who asked to be forgotten is recognised, and told to nobody.

A value has several forms: how it is written in exports, and how its surrogates are written in the lake. Of each form
only a keyed hash is kept, with what one must know to look for it: how many words, digits or letters it has. Text is cut
into the same forms, so whoever holds the key finds the person in raw and in clean text alike, and nobody reads who
it was.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from transforms.privacy.coined import TITLES, WORD, coin, coin_latin, fold, is_coined, split_hangul
from transforms.privacy.dates import parse
from transforms.privacy.leaves import Leaf, rewrite
from transforms.privacy.surrogates import Surrogates
from transforms.privacy.unscannable import Unscannable

DIGEST_BYTES = 16
REMEMBERED = 500_000
"""Words and texts whose answer is remembered at a time."""
LEAST_DIGITS = 7
LEAST_GLUED = 7  # letters of a first and a last name in one word
LONGEST_ADDRESS = 320
"""Characters of a local part of 64, an at sign and a domain of 255 (RFC 5321, section 4.5.3.1)."""
IDS = "EMAIL_ADDRESS", "USER_ID", "ID_NUMBER"
NUMBERS = "PHONE_NUMBER", "CREDIT_CARD", "US_SSN", "KR_RRN", "ID_NUMBER", "USER_ID"

_CJK = "\u3040-\u30ff\u3400-\u9fff가-힣"
_CHUNK = re.compile(rf"(?:[^\W{_CJK}]|[.+\-@%])+")
_LETTERS = re.compile(rf"[^\W\d_{_CJK}]+")
_RUN = re.compile(rf"[{_CJK}]{{2,}}")
_NUMBER = re.compile(r"\d+(?:[\s().\-/]{1,3}\d+)*")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,4})?(?![A-Za-z0-9])")
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+")
_IN_FILE_NAME = re.compile(
    r"(.+?@[^@]*?\.[a-z]{2,})(?:[-_][^@]*|(?:\.(?:jsonl?|csv|tsv|txt|log|md|html?|pdf|eml|gz|zst|zip|parquet))+)"
)
_POSTAL = re.compile(r"\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}", re.IGNORECASE)
_IPV4 = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")


@dataclass(frozen=True, slots=True, order=True)
class Tombstone:
    """One form of a value: its kind (token, digits, words, run, trace), its size in that kind's units, the hash of its
    first word where it has several, and its own hash."""

    kind: str
    size: int
    first: str
    digest: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.size}:{self.first}:{self.digest}"

    @classmethod
    def of(cls, text: str) -> Tombstone:
        """What `str` made. Raises ValueError for anything else."""
        if not re.fullmatch(r"(?:token|digits|words|run|trace):\d+:(?:[0-9a-f]{32})?:[0-9a-f]{32}", text):
            raise ValueError("a tombstone is written KIND:SIZE:HASH:HASH")
        kind, size, first, digest = text.split(":")
        return cls(kind, int(size), first, digest)


@dataclass(frozen=True)
class Value:
    """What is told of a person: what it seems to be, whether that is enough to know one by, and its tombstones."""

    kind: str
    strong: bool
    tombstones: frozenset[Tombstone]


class Tombs:
    """Makes and finds tombstones under one tenant key."""

    def __init__(self, tenant_key: bytes, tombstones: Iterable[Tombstone] = ()) -> None:
        self._key = hmac.digest(tenant_key, b"tracemill/erasure", "sha256")
        self.tombstones = frozenset(tombstones)
        self._digests = {one.digest for one in self.tombstones}
        self._firsts = {one.first for one in self.tombstones if one.first}
        of = {kind: {one.size for one in self.tombstones if one.kind == kind} for kind in ("words", "digits", "run")}
        self._words, self._digits, self._runs = sorted(of["words"]), of["digits"], sorted(of["run"])
        self._tokens = any(one.kind == "token" for one in self.tombstones)
        self._known: dict[str, bool] = {}
        self._begins: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self.tombstones)

    def tombstone(self, kind: str, size: int, form: str, first: str = "") -> Tombstone:
        """The tombstone of a form."""
        return Tombstone(kind, size, self._hash("first", first) if first else "", self._hash(kind, form))

    def trace(self, trace_id: str) -> Tombstone:
        """The tombstone of a whole trace, of which later days may bring more."""
        return self.tombstone("trace", 1, trace_id)

    def holds_trace(self, trace_id: str) -> bool:
        """Whether a trace was erased."""
        return self._hash("trace", trace_id) in self._digests

    def finds(self, value: Any) -> bool:
        """Whether any text in `value`, at any depth and through JSON in strings, holds somebody to be forgotten."""
        found = False

        def look(leaf: Leaf) -> str | int | float:
            nonlocal found
            found = found or self.finds_text(str(leaf.value))
            return leaf.source

        if not self.tombstones:
            return False
        try:
            rewrite(value, look)
        except (RecursionError, Unscannable):
            return True  # what cannot be searched is not kept of somebody who may be in it
        return found

    def finds_text(self, text: str) -> bool:
        """The same for one text."""
        known = self._known.get(text)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[text] = self._holds(text)
        return known

    def _holds(self, text: str) -> bool:
        return (
            (self._tokens and any(self._is(*form) for form in _tokens(text)))
            or (bool(self._digits) and any(self._is("digits", form) for form in _numbers(text, self._digits)))
            or (bool(self._words) and self._holds_words(text))
            or (bool(self._runs) and any(self._is("run", form) for form in _runs(text, self._runs)))
        )

    def _holds_words(self, text: str) -> bool:
        words = _words(text)
        for place, word in enumerate(words):
            if self._may_begin(word):
                for size in self._words:
                    if place + size <= len(words) and self._is("words", " ".join(words[place : place + size])):
                        return True
        return False

    def _may_begin(self, word: str) -> bool:
        known = self._begins.get(word)
        if known is None:
            if len(self._begins) >= REMEMBERED:
                self._begins.clear()
            known = self._begins[word] = self._hash("first", word) in self._firsts
        return known

    def _is(self, kind: str, form: str) -> bool:
        return self._hash(kind, form) in self._digests

    def _hash(self, kind: str, form: str) -> str:
        message = f"{kind}\x1f{form}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(message, key=self._key, digest_size=DIGEST_BYTES).hexdigest()


def read_value(text: str, tombs: Tombs, surrogates: Surrogates) -> Value:
    """What a line that names a person says: an e-mail address, a number of seven or more digits, an id or a full name
    is strong; a single name, a date, a postal code, an address of a house or a computer may be somebody else's too."""
    value = text.strip()
    if _EMAIL.fullmatch(value):
        return Value("e-mail address", True, frozenset(_token(value, IDS, tombs, surrogates)))
    if parse(value) or _POSTAL.fullmatch(value) or _IPV4.fullmatch(value):
        kind = "date" if parse(value) else "postal code or address of a computer"
        return Value(kind, False, frozenset(_token(value, ("IP_ADDRESS", "ZIP_CODE"), tombs, surrogates)))
    if re.fullmatch(r"[\d\s().+/-]+", value) and len(re.sub(r"\D", "", value)) >= LEAST_DIGITS:
        return Value("number", True, frozenset(_digits_of(value, tombs, surrogates)))
    if _IBAN.fullmatch(value):
        return Value("account number", True, frozenset(_token(value, ("IBAN_CODE", "ID_NUMBER"), tombs, surrogates)))
    if _is_id(value):
        return Value("id", True, frozenset(_token(value, (*IDS, "SECRET", "IBAN_CODE"), tombs, surrogates)))
    return _named(value, tombs, surrogates)


def _named(value: str, tombs: Tombs, surrogates: Surrogates) -> Value:
    words = [word for word in WORD.findall(value) if len(word) > 1 and word.lower() not in TITLES]
    runs = [word for word in words if _RUN.fullmatch(word)]
    if runs and len(runs) == len(words):
        whole = "".join(runs)
        surname, given = split_hangul(whole)
        full = len(whole) >= 3 and (bool(surname and given) or whole[0] < "가")
        return Value("full name" if full else "part of a name", full, frozenset(_run_of(whole, tombs, surrogates)))
    plain = not re.search(r"\d", value)
    kind = "full name" if plain and len(words) >= 2 else "part of a name" if plain else "address or text"
    return Value(kind, kind == "full name", frozenset(_words_of(words, tombs, surrogates)))


def _is_id(value: str) -> bool:
    """Whether a value without blanks is odd enough to be one person's id."""
    if re.search(r"\s", value) or not re.search(r"[^\W\d_]", value) or re.search(rf"[{_CJK}]", value):
        return False
    return (len(value) >= 5 and re.search(r"\d", value) is not None) or re.fullmatch(
        r"[^\W_]{2,}(?:[._][^\W_]{2,})+", value
    ) is not None


def _token(value: str, entities: Iterable[str], tombs: Tombs, surrogates: Surrogates) -> Iterator[Tombstone]:
    spellings = {value, value.lower(), value.upper(), value.replace(" ", "")}
    made = {surrogates.replace(entity, spelling) for entity in entities for spelling in spellings}
    for one in {value, *made}:
        form = _plain_token(one.replace(" ", "")).strip("[]")
        yield tombs.tombstone("token", 1, form)
        if not re.search(r"[^\d]", form):
            yield from _digit_forms(form, tombs)


def _digits_of(value: str, tombs: Tombs, surrogates: Surrogates) -> Iterator[Tombstone]:
    digits = re.sub(r"\D", "", value)
    national = _national(digits)
    spellings = {value, digits, national, f"1{national}", f"+1{national}", f"82{national.removeprefix('0')}"}
    yield from _digit_forms(digits, tombs)
    for entity in NUMBERS:
        for spelling in spellings:
            made = surrogates.replace(entity, spelling)
            if re.search(r"[^\W\d_]", made):
                yield tombs.tombstone("token", 1, _plain_token(made).strip("[]"))
            else:
                yield from _digit_forms(re.sub(r"\D", "", made), tombs)


def _digit_forms(digits: str, tombs: Tombs) -> Iterator[Tombstone]:
    if len(digits) >= LEAST_DIGITS:
        national = _national(digits)
        yield tombs.tombstone("digits", len(national), national)


def _words_of(words: list[str], tombs: Tombs, surrogates: Surrogates) -> Iterator[Tombstone]:
    """A name as it is written, last name first, without middle names, and in one word, raw and coined."""
    orders = {tuple(words), (*words[-1:], *words[:-1]), (words[0], words[-1]), (words[-1], words[0])} if words else ()
    for order in orders:
        yield _word_form([fold(word) for word in order], tombs)
        yield _word_form([fold(coin(word, surrogates.digest)) for word in order], tombs)
        glued = "".join(map(fold, order))
        if len(order) == 2 and len(glued) >= LEAST_GLUED:
            yield _word_form([glued], tombs)
            yield _word_form([fold(coin_latin(glued, surrogates.digest))], tombs)


def _word_form(words: list[str], tombs: Tombs) -> Tombstone:
    return tombs.tombstone("words", len(words), " ".join(words), first=words[0])


def _run_of(whole: str, tombs: Tombs, surrogates: Surrogates) -> Iterator[Tombstone]:
    yield tombs.tombstone("run", len(whole), whole)
    made = surrogates.replace("PERSON", whole)
    if _RUN.fullmatch(made):
        yield tombs.tombstone("run", len(made), made)
    elif is_coined(made):
        yield _word_form([fold(made)], tombs)
    yield _word_form([fold(coin_latin(whole, surrogates.digest))], tombs)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for chunk in _CHUNK.findall(text):
        if not chunk.isalpha():
            token = _plain_token(chunk)
            yield "token", token
            local, at, _ = token.partition("@")
            if at:
                yield "token", local
                if len(token) <= LONGEST_ADDRESS and (named := _IN_FILE_NAME.fullmatch(token)):
                    yield "token", named[1]
    for found in _IBAN.findall(text):
        yield "token", _plain_token(found.replace(" ", ""))


def _plain_token(chunk: str) -> str:
    return chunk.strip(".-+%").lower().replace("%40", "@")


def _numbers(text: str, sizes: set[int]) -> Iterator[str]:
    """Numbers of a wanted length, with what may separate their groups left out."""
    longest = max(sizes) + 4
    for run in _NUMBER.findall(text):
        groups = re.findall(r"\d+", run)
        for start in range(len(groups)):
            digits = ""
            for group in groups[start:]:
                digits += group
                if len(digits) > longest:
                    break
                national = _national(digits)
                if len(national) in sizes:
                    yield national


def _national(digits: str) -> str:
    """A number without the code of North America or Korea, as it is dialled there."""
    plain = digits.removeprefix("00")
    if len(plain) == 11 and plain[0] == "1":
        return plain[1:]
    return f"0{plain[2:]}" if len(plain) in (11, 12) and plain.startswith("82") else plain


def _words(text: str) -> list[str]:
    """The words of a text as names compare; initials do not count."""
    return [fold(word) for word in _LETTERS.findall(text) if len(word) > 1]


def _runs(text: str, sizes: list[int]) -> Iterator[str]:
    """Stretches of Hangul, kana and Han characters of the wanted lengths: particles stick to names there."""
    for run in _RUN.findall(text):
        for size in sizes:
            yield from (run[start : start + size] for start in range(len(run) - size + 1))
