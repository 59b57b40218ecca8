"""What the key of a leaf says about it: `dob`, `last_name`, `zip`, `user_id`, `password`, ..."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transforms.privacy.words import words

Pairs = list[tuple[str, Any]]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SPLIT = re.compile(r"[^0-9a-z가-힣]+")
_NOT_A_VALUE = re.compile(
    r"(?i)|null|none|nil|n/?a|unknown|undefined|true|false|string|text|integer|number|boolean|object|array|"
    r"required|optional|redacted|\*+|x+|\.+|-+|user|assistant|system|tool|developer|admin|administrator|root|"
    r"anonymous|guest|default|me|self|all|any|test|customer|agent|bot|human|ai|public|private"
)


@dataclass(frozen=True)
class KeyRule:
    """Keys that say what a value is, and the shape that the value must have for it to be believed."""

    entity: str
    keys: re.Pattern[str]
    shape: re.Pattern[str]


def _rule(entity: str, keys: str, shape: str) -> KeyRule:
    return KeyRule(entity, re.compile(rf"(?:{keys})"), re.compile(shape, re.DOTALL | re.IGNORECASE))


_PARTY = (
    "customer|passenger|patient|client|user|employee|guest|contact|member|student|recipient|sender|author|"
    "owner|doctor|driver|card_?holder|account_?holder|buyer|seller|traveler|traveller|billing|shipping|person|"
    "emergency_contact|requester|reporter|assignee|manager|caller|attendee|participant|beneficiary|tenant"
)
_NAME = r"(?=.*[^\W\d_])[^\d{}<>\[\]=/\\_:;|]{1,80}"
_ID = r"(?=.*[0-9A-Za-z가-힣])[^\s,;{}\[\]<>\"']{2,128}"
_SECRET = r"(?!\[SECRET_)\S(?:[^\n]{2,4000})\S"

RULES = (
    _rule(
        "SECRET",
        r"(?:.*_)?(?:password|passwd|pwd|passphrase|passcode|secret|secret_key|client_secret|api_?key|"
        r"access_key|secret_access_key|private_key|access_token|auth_token|refresh_token|session_token|id_token|"
        r"bearer_token|api_token|authorization|credentials?|set_cookie|cookie|비밀번호|암호)",
        _SECRET,
    ),
    _rule("SECRET", r"token", r"(?!\[SECRET_)(?=\S*\d)\S{12,4000}"),
    _rule("SECRET", r"(?:.*_)?(?:cvv2?|cvc2?|pin|pin_code|security_code|otp)", r"\d{3,8}"),
    _rule("US_SSN", r"(?:.*_)?(?:ssn|social_security(?:_number|_no)?)(?:_.*)?", r"\d{3}-?\d{2}-?\d{4}"),
    _rule("KR_RRN", r"rrn|resident_registration_number|주민(?:등록)?번호", r"\d{6}-?\d{7}"),
    _rule("IBAN_CODE", r"(?:.*_)?iban", r"[a-z]{2}\d{2}[a-z0-9 ]{8,40}"),
    _rule("CREDIT_CARD", r"(?:.*_)?(?:card|cc|pan|card_number|card_no|cc_number|카드번호)", r"(?:\d[ -]?){11,18}\d"),
    _rule("EMAIL_ADDRESS", r"(?:.*_)?(?:e_?mail|email_address|e_mail_address|이메일)s?", r"[^\s@]+@[^\s@]+"),
    _rule(
        "PHONE_NUMBER",
        r"(?:.*_)?(?:phone|phone_number|phone_no|mobile|mobile_number|cell|cell_phone|cellphone|tel|"
        r"telephone|fax|whatsapp|contact_number|전화|전화번호|연락처|휴대폰)s?",
        r"(?=(?:\D*\d){7,15}\D*$)[+\d][\d\s().-]{5,}.*",
    ),
    _rule(
        "DATE_OF_BIRTH",
        r"(?:.*_)?(?:dob|date_of_birth|birth_?date|birth_?day|birth|born|생년월일|생일)",
        r"(?=.*\d).{4,30}",
    ),
    _rule(
        "ZIP_CODE",
        r"(?:.*_)?(?:zip|zip_?code|postal|postal_?code|post_?code|우편번호)",
        r"(?=.*\d)[a-z0-9][a-z0-9 -]{2,9}",
    ),
    _rule(
        "STREET_ADDRESS",
        r"(?:.*_)?(?:address_?(?:line)?_?[123]|(?:address_)?line_?[12]|street(?:_?(?:address|name|line))?"
        r"(?:_?[12])?|addr(?:_?[12])?|주소|상세주소)",
        r"(?=.*[^\W_])[^{}<>@]{2,160}",
    ),
    _rule("STREET_ADDRESS", r"(?:.*_)?address", r"(?=.*\d)(?=.*[^\W\d_]{2})(?!.*(?:@|://|0x))[^{}<>]{6,200}"),
    _rule(
        "PERSON",
        r"(?:.*_)?(?:first|last|middle|given|family|full|sur|maiden|legal|preferred|fore)_?names?|"
        rf"(?:.*_)?(?:{_PARTY})s?_?(?:full_?)?names?|surname|name_on_card|성명|이름|성함|고객명|담당자|수취인|예금주|환자명",
        _NAME,
    ),
    _rule(
        "ID_NUMBER",
        r"(?:.*_)?(?:passport|passport_(?:number|no)|driver_?s?_licen[cs]e(?:_number)?|licen[cs]e_(?:number|plate)|"
        r"mrn|medical_record_number|tax_id|national_id|insurance_(?:id|number)|vin|bank_account|account_(?:number|no))",
        rf"(?=.*\d){_ID}",
    ),
    _rule(
        "USER_ID",
        r"(?:.*_)?(?:user_?id|user_?name|userid|login|login_?name|login_?id|uid|screen_name|"
        r"(?:customer|patient|member|employee|client|account|student|subscriber|guest|passenger|driver|person)_?id)|"
        r"enduser_id|아이디|회원번호|고객번호",
        _ID,
    ),
    _rule("USER_ID", r"user|end_user", r"(?=.*[\d_.@-])(?!.*[:/])[A-Za-z0-9][^\s,;{}\[\]<>\"']{3,63}"),
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
    keys = [key for key, _ in pairs if isinstance(key, str)]
    return any(map(_says_person, keys)) and not any(map(_says_trace, keys))


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

    A list is what its members are.
    """
    if not isinstance(key, str) or isinstance(value, bool | dict) or value is None:
        return ""
    if isinstance(value, list):
        scalars = [item for item in value if isinstance(item, str | int) and not isinstance(item, bool)]
        hints = {hint(key, item, person) for item in scalars[:50]}
        return hints.pop() if len(hints) == 1 and len(scalars) == len(value) else ""
    rules = _rules(key)
    if not rules and not (person and _normal(key) in _PLAIN_NAMES):
        return ""
    text = str(value).strip()
    if len(text) > 4096 or _NOT_A_VALUE.fullmatch(text):
        return ""
    for rule in rules:
        if rule.shape.fullmatch(text):
            return rule.entity
    if person and _normal(key) in _PLAIN_NAMES and _PERSON_NAME.fullmatch(text):
        return "" if _CAMEL_WORD.search(text) else "PERSON"
    return ""


def claimed(entity: str, text: str) -> tuple[int, int]:
    """What of a leaf its key claims: all but the blanks around it; of a number, from its first digit to its last."""
    core = _NUMBER.search(text) if entity in _NUMBERS else None
    return core.span() if core else (len(text) - len(text.lstrip()), len(text.rstrip()))
