"""Telephone numbers: international ones, North American, Korean and British forms; bare digits near a cue only."""

from __future__ import annotations

import re

from transforms.privacy.rule import Rule
from transforms.privacy.words import words

CONTEXT = words(
    "phone tel call mobile cell whatsapp fax contact reach text sms dial 전화 연락처 휴대폰 핸드폰 번호 문자"
)
_START, _END = r"(?<![A-Za-z0-9_.+-])", r"(?![A-Za-z0-9_]|[.-]\d)"


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


RULES = (
    Rule(
        "PHONE_NUMBER",
        "international",
        r"(?<![A-Za-z0-9_+.])\+\d(?:[\s().-]{0,2}\d){7,14}(?!\d)",
        0.85,
        ("+",),
        valid=_international,
    ),
    Rule(
        "PHONE_NUMBER",
        "north american",
        _START + r"(?:1[\s.-])?(?:\([2-9]\d{2}\)[\s.-]?|[2-9]\d{2}[.-])[2-9]\d{2}[\s.-]\d{4}" + _END,
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
    Rule(
        "PHONE_NUMBER",
        "korean landline",
        _START + r"\(?0(?:2|[3-6][1-5]|70|50\d)[\s.)-]\s?\d{3,4}[.-]\d{4}" + _END,
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
