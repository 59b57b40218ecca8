"""What the key of a leaf says about it: `dob`, `last_name`, `zip`, `user_id`, `password`, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transforms.privacy.keys import RULES, KeyRule
from transforms.privacy.words import words

Pairs = list[tuple[str, Any]]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[^0-9a-z가-힣]+")
_NOT_A_VALUE = re.compile(
    r"(?i)|null|none|nil|n/?a|unknown|undefined|true|false|string|text|integer|number|boolean|object|array|"
    r"required|optional|redacted|\*+|x+|\.+|-+|user|assistant|system|tool|developer|admin|administrator|root|"
    r"anonymous|guest|default|me|self|all|any|test|customer|agent|bot|human|ai|public|private"
)


_PERSON_LIKE = re.compile(
    r"(?:.*_)?(?:e_?mail|phone|phone_number|mobile|dob|date_of_birth|birth_?date|age|gender|ssn(?:_.*)?|first_name|"
    r"last_name|(?:customer|patient|member|employee|client|user|passenger|student|guest)_?id|address|street|title_of_person|"
    r"이메일|전화번호|연락처|주소|생년월일|나이)"
)
_PERSON_NAME = re.compile(
    r"(?:[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*\.?|de|la|van|von|der|den|di|da|bin|al)"
    r"(?:,? (?:[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*\.?|de|la|van|von|der|den|di|da|bin|al)){0,4}"
)
_NUMBERS = frozenset(("PHONE_NUMBER", "CREDIT_CARD", "US_SSN", "KR_RRN"))
_NUMBER = re.compile(r"[+(]{0,2}\d[\d\s().-]*\d")
_PLAIN_NAMES = ("name", "display_name")
_CAMEL_WORD = re.compile(r"(?<!Mc)(?<!Mac)(?<!De)(?<!La)(?<!Le)(?<!Di)(?<!Van)(?<=[a-z])[A-Z]")
_TRACE_LIKE = frozenset(
    words(
        "trace_id span_id session_id run_id run_type input output inputs outputs metadata start_time "
        "end_time timestamp kind tags "
        "spans observations attributes parameters model version events environment"
    )
)


def describes_person(pairs: Pairs) -> bool:
    """Whether a mapping describes a person, not a run that a person started; then its plain `name` is a person's."""
    return told_by(tuple(key for key, _ in pairs)).person


@dataclass(frozen=True, slots=True)
class Told:
    """What the keys of a mapping tell: whether it describes a person, and of each whether it may tell of its value."""

    person: bool
    of_value: tuple[bool, ...]


@lru_cache(maxsize=8192)
def told_by(keys: tuple[Any, ...]) -> Told:
    """What keys tell; most mappings of a day have one of a few hundred sets of keys."""
    known = [key for key in keys if isinstance(key, str)]
    person = any(map(_says_person, known)) and not any(map(_says_trace, known))
    return Told(person, tuple(isinstance(key, str) and _may_tell(key, person) for key in keys))


def _may_tell(key: str, person: bool) -> bool:
    return bool(_rules(key)) or (person and _normal(key) in _PLAIN_NAMES)


def knows(key: str) -> bool:
    """Whether `key` may say that its value is personal."""
    return bool(_rules(key)) or _normal(key) in _PLAIN_NAMES or _says_person(key)


@lru_cache(maxsize=8192)
def _says_person(key: str) -> bool:
    return _PERSON_LIKE.fullmatch(_normal(key)) is not None


@lru_cache(maxsize=8192)
def _says_trace(key: str) -> bool:
    return _normal(key) in _TRACE_LIKE


@lru_cache(maxsize=8192)
def _rules(key: str) -> tuple[KeyRule, ...]:
    normal = _normal(key)
    return tuple(rule for rule in RULES if rule.keys.fullmatch(normal))


def _normal(key: str) -> str:
    return _SPLIT.sub("_", _CAMEL.sub("_", key).lower()).strip("_")


def hint(key: Any, value: Any, person: bool) -> str:
    """The entity that `key` says `value` is, or ''; `person` says whether the mapping describes a person.

    A list is what its members are, those of lists in it too.
    """
    if not isinstance(key, str) or isinstance(value, bool | dict) or value is None:
        return ""
    if isinstance(value, list):
        members = list(_members(value))
        scalars = [item for item in members if isinstance(item, str | int | float) and not isinstance(item, bool)]
        hints = {hint(key, item, person) for item in scalars[:50]}
        if "COORDINATES" in hints and not any(isinstance(item, str) for item in scalars):
            hints.discard("")  # a whole degree, a height
        return hints.pop() if len(hints) == 1 and len(scalars) == len(members) else ""
    if not _may_tell(key, person):
        return ""
    text = str(value).strip()
    if len(text) > 4096 or _NOT_A_VALUE.fullmatch(text):
        return ""
    for rule in _rules(key):
        if rule.believes(text):
            return rule.entity
    if person and _normal(key) in _PLAIN_NAMES and _PERSON_NAME.fullmatch(text):
        return "" if _CAMEL_WORD.search(text) else "PERSON"
    return ""


def _members(value: list[Any]) -> Iterator[Any]:
    for item in value:
        if isinstance(item, list):
            yield from _members(item)
        else:
            yield item


def claimed(entity: str, text: str) -> tuple[int, int]:
    """What of a leaf its key claims: all but the blanks around it; of a number, from its first digit to its last."""
    core = _NUMBER.search(text) if entity in _NUMBERS else None
    return core.span() if core else (len(text) - len(text.lstrip()), len(text.rstrip()))
