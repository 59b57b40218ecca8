# ruff: noqa: E501  (tables of keys are read across)
"""What keys say: `dob`, `last_name`, `zip`, `user_id`, `password` and their like, and the shape of what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import regex

from transforms.privacy.generalised import YEARS
from transforms.privacy.names import TWO, is_written_name


@dataclass(frozen=True)
class KeyRule:
    """Keys that say what a value is, and the shape that the value must have for it to be believed."""

    entity: str
    keys: re.Pattern[str]
    shape: Any  # a pattern of `re` or `regex`
    valid: Callable[[str], bool] | None = None

    def believes(self, text: str) -> bool:
        return self.shape.fullmatch(text) is not None and (self.valid is None or self.valid(text))


def _rule(entity: str, keys: str, shape: str) -> KeyRule:
    return KeyRule(entity, re.compile(rf"(?:{keys})"), re.compile(shape, re.DOTALL | re.IGNORECASE))


_PARTY = (
    "customer|passenger|patient|client|user|employee|guest|contact|member|student|recipient|sender|author|"
    "owner|doctor|driver|card_?holder|account_?holder|buyer|seller|traveler|traveller|billing|shipping|person|"
    "emergency_contact|requester|reporter|assignee|manager|caller|attendee|participant|beneficiary|tenant"
)
_ROLES = (
    "attorney|lawyer|judge|teacher|nurse|physician|therapist|editor|translator|interviewer|candidate|applicant|landlord"
)
_NAME = r"(?=.*[^\W\d_])[^\d{}<>\[\]=/\\_:;|]{1,80}"
_ID = r"(?=.*[0-9A-Za-z가-힣])[^\s,;{}\[\]<>\"']{2,128}"
_NUMBERED = r"(?=(?:.*\d){2})[^,;{}\[\]<>\"'\n]{2,40}"
_DEGREES = r"[+-]?(?:\d{1,3}\.\d{2,}|\d(?:\.\d+)?e-\d+)"  # a hundredth of a degree is a kilometre
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
    _rule("KR_RRN", r"rrn|frn|resident_registration_number|주민(?:등록)?번호|외국인등록번호", r"\d{6}-?\d{7}"),
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
        r"(?:.*_)?(?:passport(?:_(?:number|no))?|driv(?:er|ing)_?s?_licen[cs]e(?:_(?:number|no))?|licen[cs]e_(?:number|no|plate)|"
        r"(?:number_|license_|licence_|vehicle_)?plate(?:_(?:number|no))?|vehicle_registration|vin|"
        r"mrn|medical_record_number|nhs_number|medicare_(?:number|id)|insurance_(?:id|number)|"
        r"tax_id|taxpayer_id|national_id|national_insurance(?:_number)?|identity_card(?:_number)?|id_card(?:_number)?|"
        r"dni|nie|nif|cpf|curp|pesel|nric|nino|aadhaar|bsn|codice_fiscale|personnummer|steuer_id|"
        r"bank_account(?:_(?:number|no))?|acc(?:oun)?t_(?:number|no)|routing(?:_(?:number|no))?|sort_code|"
        r"계좌번호|사업자등록번호|사업자번호|여권번호|운전면허번호|면허번호|차량번호|차번호)",
        _NUMBERED,
    ),
    _rule(
        "USER_ID",
        r"(?:.*_)?(?:user_?id|user_?name|userid|login|login_?name|login_?id|uid|screen_name|"
        r"(?:customer|patient|member|employee|client|account|student|subscriber|guest|passenger|driver|person)_?id)|"
        r"enduser_id|아이디|회원번호|고객번호",
        _ID,
    ),
    _rule("AGE", rf"age|(?:{_PARTY})_age|age_(?:in_)?years|나이|연령", rf"(?:\d{{1,2}}|1[01]\d)(?:\.\d+)?(?:{YEARS})?"),
    _rule(
        "COORDINATES",
        r"(?:.*_)?(?:lat|latitude|lon|lng|longitude|coordinates?|위도|경도)",
        r"[+-]?(?:\d{1,2}|1[0-7]\d)\.\d",
    ),
    _rule(
        "COORDINATES",
        r"(?:.*_)?(?:lat|latitude|lon|lng|long|longitude|coordinates?|coords?|lat_?(?:lng|lon|long)|geo_?(?:location|point)|location|위도|경도)",
        rf"{_DEGREES}(?:,\s?{_DEGREES})?",
    ),
    _rule("USER_ID", r"user|end_user", r"(?=.*[\d_.@-])(?!.*[:/])[A-Za-z0-9][^\s,;{}\[\]<>\"']{3,63}"),
    KeyRule(
        "PERSON",
        re.compile(
            rf"(?:.*_)?(?:{_PARTY}|created_by|updated_by|approved_by|reviewed_by|signed_by|assigned_to|prepared_by|worker|{_ROLES})"
        ),
        regex.compile(TWO),
        is_written_name,
    ),
)
