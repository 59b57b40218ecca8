"""Fields in text that is no JSON: `last_name='Roe'`, `Phone: …`, `<td>E-mail</td><td>…</td>`, rows under a header.

What a key says of its value holds in a log, a query, a page or a table as it does in a record: the keys are those of
`hints`, and a value counts where it has the shape that its key asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from transforms.privacy.hints import claimed, describes_person, hint, knows
from transforms.privacy.names import ONE, may_be_name
from transforms.privacy.prose import is_prose
from transforms.privacy.secrets import is_secret
from transforms.privacy.tables import cells

_KEY = r"(?P<key>[^\W\d][\w.$-]{1,48})"
_QUOTED = re.compile(
    rf"(?<![\w.]){_KEY}[\"'`\]*]{{0,3}}\s{{0,3}}(?:=>|:=|={{1,3}}|:|(?:i?like|in \()\s?)\s{{0,3}}[frbu]?(?P<q>[\"'`])"
    r"(?P<value>[^\"'`\n]{1,400})(?P=q)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?<![\w.]){_KEY}=(?P<value>[^\s\"'`&,;|<>(){{}}\[\]]{{1,400}})(?![(\w])")
_LINE = re.compile(
    r"(?:^|(?<=[>|·•/]))[ \t>*_#-]{0,8}(?P<key>[^\W\d_][\w '’./()-]{0,38}[\w)])[ \t*_]{0,4}[:：][ \t*_]{0,6}"
    r"(?P<value>[^\s|<·•][^\n|<·•]{0,200}?)(?=[ \t]{2}|\s/\s|[\n|<·•]|$)",
    re.MULTILINE,
)
_NAMED = re.compile(
    r"\bname=\\?[\"'](?P<key>[\w.\[\]-]{2,40})\\?[\"'][^<>\n]{0,120}?\bvalue=\\?[\"'](?P<value>[^\"'<>\n]{1,200}?)\\?[\"']"
)
_ELEMENT = re.compile(
    r"<(?P<key>[A-Za-z][\w:.-]{1,40})(?:\s[^<>]{0,200})?>\s{0,8}(?P<value>[^<>]{1,300}?)\s{0,8}</(?P=key)>"
)
_PAIR = re.compile(
    r"<(?:td|th|dt|label|b|strong|span|div)\b[^<>]{0,120}>\s{0,8}(?P<key>[^<>\n]{2,40}?)\s{0,4}[:：]?\s{0,8}</(?:td|th|dt|label|b|strong|span|div)>"
    r"\s{0,8}<(?:td|dd|b|strong|span|input|div|p)\b[^<>]{0,120}>\s{0,8}(?P<value>[^<>\n]{1,200}?)\s{0,8}</"
)
_REFUSED = re.compile(
    r"^(?P<key>[\w.]{2,60})\n[ \t]+[^\n]{0,300}?\binput_value=(?P<q>['\"]?)"
    r"(?P<value>[^'\"\n]{1,200}?)(?P=q)(?=[,\]\n]|$)",
    re.MULTILINE,
)
_SIGN = re.compile(r"[:：=\n]|<[^<>]*>|(?i:like|nsert)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_OF_CODE = re.compile(r"(?:self|cls|args|options|config|settings|request|response|os|sys|this|ctx|env)\.|_")
_NUMBERED = re.compile(r"(?<![A-Za-z%])\d.* | .*(?<![A-Za-z%])\d")
_ODD = re.compile(r"[\d_.@-]")
_WRITTEN = regex.compile(ONE)
_LONGEST = {"PERSON": 4, "USER_ID": 1, "SECRET": 1, "ID_NUMBER": 4, "STREET_ADDRESS": 16}  # words of a value on a line


@dataclass(frozen=True, slots=True)
class Field:
    """A value that stands in a text under a key, by code points."""

    key: str
    start: int
    end: int
    value: str


def may_hold_fields(text: str) -> bool:
    """Whether a text has a sign that sets a key apart from its value; cheap."""
    return _SIGN.search(text) is not None


def personal_fields(text: str) -> Iterator[tuple[str, int, int]]:
    """Each personal field of a text as (entity, start, end)."""
    found = list(_fields(text))
    if not found:
        return
    person = describes_person([(field.key, field.value) for field in found])
    for field in found:
        entity = hint(field.key, field.value, person)
        start, end = claimed(entity, field.value)
        if entity and _is_value(entity, field.value[start:end]):
            yield entity, field.start + start, field.start + end


def _is_value(entity: str, value: str) -> bool:
    """Whether a value in text is one, rather than a word about it: `user_id: str`, `Name: the caller's`."""
    if entity == "PERSON":
        value = value.replace("''", "'")
        return (value[0] >= "가" or _WRITTEN.fullmatch(value) is not None) and may_be_name(value)
    if entity == "USER_ID":
        return _ODD.search(value) is not None and "(" not in value and _OF_CODE.match(value) is None
    if entity == "SECRET":
        return is_secret(value) and (" " not in value or _ODD.search(value) is not None)
    return entity != "STREET_ADDRESS" or (_NUMBERED.search(value) is not None and not is_prose(value))


def _fields(text: str) -> Iterator[Field]:
    if "=" in text or ":" in text or "like" in text.lower():
        yield from _matches(_QUOTED, text)
        yield from _matches(_BARE, text)
    if "input_value=" in text:
        yield from _matches(_REFUSED, text)
    if "<" in text and ">" in text:
        yield from _matches(_NAMED, text)
        yield from _matches(_ELEMENT, text)
        yield from _matches(_PAIR, text)
        text = _TAG.sub(lambda tag: " " * len(tag.group()), text)
    if ":" in text or "：" in text:
        yield from (field for field in _matches(_LINE, text) if _fits_line(field))
    for key, start, end in cells(text):
        yield Field(key, start, end, text[start:end])


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Field]:
    for match in pattern.finditer(text):
        if knows(match["key"]):
            yield Field(match["key"], *match.span("value"), match["value"])


def _fits_line(field: Field) -> bool:
    """Whether a line is a field rather than a sentence."""
    entity = hint(field.key, field.value, True)
    few = len(field.key.split()) <= 4 and len(field.value.split()) <= _LONGEST.get(entity, 6)
    return few and (entity in ("STREET_ADDRESS", "PERSON") or ". " not in field.value)
