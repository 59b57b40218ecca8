# ruff: noqa: E501  (one rule a line reads best)
"""Ages and places by their coordinates, in text: kept unless the policy says otherwise, and not looked for then."""

from __future__ import annotations

from transforms.privacy.rule import END, START, Rule
from transforms.privacy.words import words

_YEARS = r"(?P<v>\d{1,2}|1[01]\d)"
_DEGREES = r"-?\d{1,3}\.\d{3,}"

RULES = (
    Rule("AGE", "years old", START + _YEARS + r"(?:[ -]years?[ -]old|[ -]y/?o" + END + ")", 0.8, words("old yo y/o"), ignore_case=True),
    Rule("AGE", "after its label", START + r"age[ds]?(?: is| of)?[ :=]{1,2}" + _YEARS + r"(?![\d%]|[.,:/-]\d)", 0.7, words("age"), ignore_case=True),
    Rule("AGE", "korean", START + _YEARS + r"\s?(?:살|세(?![대기트]))", 0.7, words("살 세")),
    Rule("COORDINATES", "pair", rf"(?<![\d.,])(?P<v>{_DEGREES},\s?{_DEGREES})(?![\d.,]*\d)", 0.7, (".",)),
)  # fmt: skip
