"""Gates: what a text must hold for a kind of rules to have a chance; most texts are spared most patterns by them."""

from __future__ import annotations

import re
from functools import lru_cache

from transforms.privacy.lexicon import uncommon
from transforms.privacy.names import BOTH
from transforms.privacy.words import things

LEAST_DIGITS = {
    "PHONE_NUMBER": 7,
    "CREDIT_CARD": 12,
    "IBAN_CODE": 8,
    "US_SSN": 9,
    "KR_RRN": 13,
    "ZIP_CODE": 2,
    "ID_NUMBER": 2,
    "DATE_OF_BIRTH": 4,
}
"""How many digits a text must hold for a value of a type to stand in it."""

_NO_DIGITS = re.compile(r"[^0-9]+")
_CAPITAL = re.compile(r"(?<![^\W\d_])[^\W\d_a-z][^\W\d_]+")


@lru_cache(maxsize=16)
def digits(text: str) -> int:
    """How many digits a text holds."""
    return len(_NO_DIGITS.sub("", text))


@lru_cache(maxsize=16)
def may_name(text: str) -> bool:
    """Whether a capitalised word of a text may be a name."""
    return any(map(_may_be_one, set(_CAPITAL.findall(text))))


@lru_cache(maxsize=100_000)
def _may_be_one(word: str) -> bool:
    low = word.lower()
    return low in BOTH or (uncommon(low) and low not in things())
