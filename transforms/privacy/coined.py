"""Coined names: one invented word for each word of a name, keyed, and recognisable as invented.

A Latin surrogate is a stem of `coined.txt` and one of sixteen endings; none of the 65,536 is a word or a name in
the vocabulary of spaCy's English models (a test compares them). A Korean surrogate is made of syllables that end
in ㅋ and occur in no Korean word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files

from transforms.privacy.words import words

Digest = Callable[[str, str], int]

ENDINGS = words("bax dex fiv gox hux jiv kez lox mov nuz pix qel rax sov tez vux")
WORD = re.compile(r"[가-힣]+|[^\W\d_가-힣]+(?:['’ʼ](?!s(?![^\W\d_]))[^\W\d_가-힣]+)*")
TITLES = frozenset(words("mr mrs ms miss mx dr prof professor sir madam jr sr ii iii iv phd md esq"))
PARTICLES = frozenset(words("de la le van von der den del di da dos das du bin ibn al el y e of the and"))
_LEADS, _VOWELS, _TAIL = (0, 2, 3, 5, 6, 7, 9, 12, 14, 16, 17, 18), (0, 1, 4, 5, 8, 13, 18, 20), 24
_REAL = frozenset("엌녘읔")
HANGUL = tuple(
    syllable
    for lead in _LEADS
    for vowel in _VOWELS
    if (syllable := chr(0xAC00 + (lead * 21 + vowel) * 28 + _TAIL)) not in _REAL
)
_HANGUL_SET = frozenset(HANGUL)
SURNAMES = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지엄채원천방공현함변염여추도소석선설마"
    "길연위표명기반라왕금옥육인맹제모탁국어은편용예경봉사부가복태목형피두감호범"
)
LONG_SURNAMES = frozenset(words("남궁 황보 제갈 사공 선우 서문 독고 동방 어금 망절"))


@lru_cache(maxsize=1)
def stems() -> tuple[str, ...]:
    """The shipped stems, in order."""
    return tuple(files(__package__).joinpath("coined.txt").read_text("utf-8").split())


@lru_cache(maxsize=1)
def _stem_set() -> frozenset[str]:
    return frozenset(stems())


def is_coined(word: str) -> bool:
    """Whether `word` is one of our inventions, Latin or Korean."""
    if word and all(letter in _HANGUL_SET for letter in word):
        return True
    low = word.lower()
    return low[-3:] in ENDINGS and low[:-3] in _stem_set()


def coin(word: str, digest: Digest) -> str:
    """The coined word that stands for `word` wherever it occurs; accents and case do not matter, case is kept.

    A single letter becomes x, since an initial gives a name away and a coined one could not be told apart.
    """
    if is_coined(word):
        return word
    if len(word) == 1 and not "가" <= word <= "힣":
        return "X" if word.isupper() else "x"
    if "가" <= word[0] <= "힣":
        return coin_hangul(word, digest)
    number = digest("name", fold(word))
    coined = stems()[number % len(stems())] + ENDINGS[(number >> 16) % len(ENDINGS)]
    if word.isupper():
        return coined.upper()
    return coined.capitalize() if word[0].isupper() else coined


def coin_latin(word: str, digest: Digest) -> str:
    """As `coin`, in ASCII whatever the script, for e-mail addresses and ids."""
    if "가" <= word[0] <= "힣":
        number = digest("name", word)
        return stems()[number % len(stems())] + ENDINGS[(number >> 16) % len(ENDINGS)]
    return coin(word, digest)


def split_hangul(name: str) -> tuple[str, str]:
    """Surname and given name of a Korean name; the surname is empty where none is known."""
    if len(name) >= 3 and name[:2] in LONG_SURNAMES:
        return name[:2], name[2:]
    if 2 <= len(name) <= 4 and name[0] in SURNAMES:
        return name[0], name[1:]
    return "", name


def coin_hangul(name: str, digest: Digest) -> str:
    """A Korean name of the same length; surname and given name map apart, so that each stays recognisable."""
    return "".join(_syllables(digest("hangul", part), len(part)) for part in split_hangul(name) if part)


def _syllables(number: int, count: int) -> str:
    letters = []
    for _ in range(count):
        number, index = divmod(number, len(HANGUL))
        letters.append(HANGUL[index])
    return "".join(letters)


@lru_cache(maxsize=65536)
def fold(word: str) -> str:
    """`word` as names compare: lower case, without accents and apostrophes."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if letter.isalpha() and not unicodedata.combining(letter))


def holds_coined(text: str) -> bool:
    """Whether a word of `text` is coined: then the text has been cleaned before."""
    return any(is_coined(match.group()) for match in WORD.finditer(text))


def is_coined_name(text: str) -> bool:
    """Whether every word of a name is coined, apart from titles, particles and initials already replaced."""
    words = WORD.findall(text)
    coined = [word for word in words if is_coined(word)]
    rest = (word for word in words if not is_coined(word))
    return (
        bool(coined)
        and all(w in "xXsS" or w.lower() in TITLES or w.lower() in PARTICLES for w in rest)
        or (bool(words) and all(word in ("x", "X") for word in words))
    )
