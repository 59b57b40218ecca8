# ruff: noqa: E501  (one rule a line reads best)
"""Ages and places by their coordinates, in text: kept unless the policy says otherwise, and not looked for then."""

from __future__ import annotations

import re

from transforms.privacy.rule import END, START, Rule
from transforms.privacy.words import words

_YEARS = r"(?<!\d[.,])(?P<v>(?:\d{1,2}|1[01]\d)(?:\.\d{1,2})?)"
_DEGREES = r"[+-]?\d{1,3}\.\d"
_CUE = r"(?:at|near|around|from|to|gps|coord(?:inate)?s?|location|position|latlng|lat/lon)"
_PLACE = r"(?:lat(?:itude)?|lon(?:g|gitude)?|lng)"
_NUMBER = re.compile(r"\d+\.\d+")
_APART = r"(?![\d.,]*\d)"


def _on_earth(text: str) -> bool:
    """Whether one number or two are degrees: none beyond half a turn, and one of two a latitude."""
    degrees = [abs(float(number)) for number in _NUMBER.findall(text)]
    return (len(degrees) < 2 or min(degrees) <= 90) and max(degrees) <= 180


RULES = (
    Rule("AGE", "years old", START + _YEARS + r"(?:[ -]?(?:years?|yrs?)[ -]old|[ -]?y/?o" + END + ")", 0.8, words("old yo y/o"), ignore_case=True),
    Rule("AGE", "after its label", START + r"age[ds]?(?: is| of)?[ :=]{1,2}" + _YEARS + r"(?![\d%]|[.,:/-]\d)", 0.7, words("age"), ignore_case=True),
    Rule("AGE", "korean", START + _YEARS + r"\s?(?:살|세(?![대기트]))", 0.7, words("살 세")),
    Rule("COORDINATES", "pair", rf"(?<![\d.,])(?P<v>{_DEGREES}\d\d+,\s?{_DEGREES}\d\d+){_APART}", 0.7, (".",)),
    Rule("COORDINATES", "pair after a word", rf"{START}{_CUE}[ :=(\[]{{1,3}}(?P<v>{_DEGREES}\d+,\s?{_DEGREES}\d+){_APART}", 0.7, (".",), _on_earth, ignore_case=True),
    Rule("COORDINATES", "pair with a blank", rf"(?<![\d.,])(?<!\d\s)(?P<v>{_DEGREES}\d{{3,}}\s{_DEGREES}\d{{3,}}){_APART}(?!\s[+-]?\d)", 0.7, (".",), _on_earth),
    Rule("COORDINATES", "after its label", rf"{START}{_PLACE}[ \"':=]{{1,4}}(?P<v>{_DEGREES}\d*){_APART}", 0.7, (".",), _on_earth, ignore_case=True),
)  # fmt: skip
