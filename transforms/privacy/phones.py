"""Telephone numbers: international ones, North American, Korean and British forms; bare digits near a cue only."""

from __future__ import annotations

import re

from transforms.privacy.rule import Rule
from transforms.privacy.words import words

CONTEXT = words(
    "phone tel call mobile cell whatsapp fax contact reach text sms dial 전화 연락처 휴대폰 핸드폰 번호 문자"
)
_KOREAN = words("전화 연락처 휴대폰 핸드폰")
_START, _END = r"(?<![A-Za-z0-9_.+-])", r"(?![A-Za-z0-9_]|[.-]\d)"
# With separators a number is none of the digits that ids end in, so that it may stand beside an underscore.
_OPEN, _CLOSE = r"(?<![A-Za-z0-9.+-])", r"(?![A-Za-z0-9]|[.-]\d)"

# Country codes by the digits that follow them: where such a number ends is told by nothing that comes behind it.
_OF_ONE_LENGTH = "|".join(
    rf"(?:{codes})(?:[\s().-]{{0,2}}\d){{{count}}}"
    for codes, count in (("33|34|61|82", 9), ("1|44|52|82|91", 10), ("55|86", 11))
)


def _parsed(text: str, region: str | None, strict: bool) -> bool:
    import phonenumbers

    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return False
    return bool(phonenumbers.is_valid_number(number) if strict else phonenumbers.is_possible_number(number))


def _international(text: str) -> bool:
    return re.sub(r"\D", "", text).startswith("999") or _parsed(text, None, strict=False)


def _british(text: str) -> bool:
    return _parsed(text, "GB", strict=True) or re.sub(r"\D", "", text).startswith("0999")


def _bare(text: str) -> bool:
    return any(_parsed(text, region, strict=True) for region in ("US", "KR", "GB"))


def _labelled(text: str) -> bool:
    count = sum(char.isdigit() for char in text)
    return 7 <= count <= 15 and re.match(r"\d{4}[-/.]\d\d?[-/.]\d\d?(?!\d)|\d\d?[/.]\d\d?[/.]\d{4}$", text) is None


RULES = (
    Rule(
        "PHONE_NUMBER",
        "after its label",
        r"(?i)(?<![a-z])(?:(?:tele)?phone|tel|mobile|cell|fax|whatsapp|desk|call(?: me| us| him| her)?(?: "
        r"back)?(?: at| on)?|"
        r"reach(?: me| us| him| her)? (?:at|on)|text(?: me)?(?: at| on)|messages to|contact number|전화|"
        r"연락처|휴대폰|핸드폰)"
        r"(?: ?(?:number|no\.?|#|번호))?(?: is| was|는|은)?[\s:=\"'*#.]{1,6}(?P<v>[+(]{0,2}\d[\d\s().-]{5,18}\d)(?!\d)",
        0.75,
        (
            "phone",
            "tel",
            "mobile",
            "cell",
            "fax",
            "whatsapp",
            "desk",
            "call",
            "reach",
            "text",
            "messages",
            "contact",
            *_KOREAN,
        ),
        valid=_labelled,
    ),
    Rule(
        "PHONE_NUMBER",
        "international",
        r"(?<![A-Za-z0-9+.])\+\d(?:[\s().-]{0,2}\d){7,14}(?!\d)",
        0.85,
        ("+",),
        valid=_international,
    ),
    Rule(
        "PHONE_NUMBER",
        "international, before another number",
        rf"(?<![A-Za-z0-9+.])\+(?:{_OF_ONE_LENGTH})(?=\s[+(]?\d)",
        0.85,
        ("+",),
        valid=_international,
    ),
    Rule(
        "PHONE_NUMBER",
        "international with zeros",
        r"(?<![A-Za-z0-9+.,_-])00[1-9](?:[ .-]?\d){8,13}(?![A-Za-z0-9]|[.-]\d)",
        0.75,
        ("00",),
        valid=lambda text: _parsed("+" + text[2:], None, strict=True) or re.sub(r"\D", "", text).startswith("00999"),
    ),
    Rule(
        "PHONE_NUMBER",
        "international, in a link",
        r"%2B(?P<v>\d(?:(?:[().-]|%20){0,2}\d){7,14})(?!\d)",
        0.85,
        ("%2b",),
        ignore_case=True,
    ),
    Rule(
        "PHONE_NUMBER",
        "north american",
        _OPEN + r"(?:1[\s.-])?(?:\([2-9]\d{2}\)[\s.-]?|[2-9]\d{2}[.-])[2-9]\d{2}[\s.-]\d{4}" + _CLOSE,
        0.85,
    ),
    Rule(
        "PHONE_NUMBER",
        "north american, blanks",
        _START + r"(?:1 )?[2-9]\d{2} [2-9]\d{2} \d{4}" + _END,
        0.3,
        context=CONTEXT,
    ),
    Rule("PHONE_NUMBER", "korean mobile", _START + r"01[016789][\s.-]?\d{3,4}[\s.-]?\d{4}" + _END, 0.85, ("01",)),
    Rule("PHONE_NUMBER", "korean mobile, parted", _OPEN + r"01[016789]([.-])\d{3,4}\1\d{4}" + _CLOSE, 0.85, ("01",)),
    Rule(
        "PHONE_NUMBER",
        "korean landline",
        _OPEN + r"\(?0(?:2|[3-6][1-5]|70|50\d)[\s.)-]\s?\d{3,4}[.-]\d{4}" + _CLOSE,
        0.8,
        ("0",),
    ),
    Rule(
        "PHONE_NUMBER",
        "british",
        _START + r"\(?0(?:\d{2,4}\)?[\s-]\d{3,4}[\s-]?\d{3,4}|\d{4}\s?\d{6})" + _END,
        0.7,
        ("0",),
        valid=_british,
    ),
    Rule("PHONE_NUMBER", "british mobile", _START + r"07\d{3}[\s-]\d{3}[\s-]?\d{3}" + _END, 0.8, ("07",)),
    Rule("PHONE_NUMBER", "bare digits", _START + r"\d{10,12}" + _END, 0.3, context=CONTEXT, valid=_bare),
)
