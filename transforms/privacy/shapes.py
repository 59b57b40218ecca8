"""Number-like surrogates: a value's punctuation and length, filled from a keyed number within a reserved range."""

from __future__ import annotations

import ipaddress
import re

from transforms.privacy.coined import Digest, coin_hangul, is_coined
from transforms.privacy.words import words

STATES = frozenset(
    words(
        "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY "
        "NC ND OH OK OR PA "
        "RI SC SD TN TX UT VT VA WA WV WI WY DC PR"
    )
)
_ALPHABET = "ABCDEFGHJKLMNPRSTUVWXY"
_PLACE = re.compile(
    r".+(?:시|도|군|구|읍|면|특별자치도)|서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충북|충남|전북|전남|경북|경남|제주"
)
_ROAD = re.compile(r"(?P<name>.+?)(?P<kind>대로|로|길|번길|동|가|리|아파트|빌라|빌딩|타워)")
_PHONE_OURS = re.compile(r"1?[2-9]9\d55501\d\d|(?:820?1|01)00\d{7}|0{0,2}999[0-4]\d{3,}")
_KR_MOBILE = re.compile(r"01[016789]\d{7,8}")


def digits(number: int, count: int) -> str:
    """`count` decimal digits of a keyed number."""
    return f"{number % 10**count:0{count}d}" if count else ""


def fill(text: str, number: int) -> str:
    """`text` with its digits exchanged for those of `number`, in order."""
    return put(text, digits(number, sum(char.isdigit() for char in text)))


def put(text: str, new: str) -> str:
    """`text` with its digits exchanged for `new`; punctuation stays, what is left over follows."""
    fresh = iter(new)
    made = "".join(next(fresh, "") if char.isdigit() else char for char in text)
    return made + "".join(fresh)


def phone(text: str, number: int) -> str:
    """A number that cannot be dialled: area N9X with 555-01XX, 010-0XXX-XXXX, or country/area code 999."""
    plain = re.sub(r"\D", "", text)
    count = len(plain)
    nanp = count == 11 and plain[0] == "1" or count == 10 and plain[0] in "23456789" and "+" not in text
    if nanp:
        area = f"{2 + number % 8}9{number // 8 % 10}"
        return put(text, plain[:-10] + area + "55501" + digits(number // 80, 2))
    if _KR_MOBILE.fullmatch(plain):
        return put(text, "0100" + digits(number, count - 4))
    if re.fullmatch(r"820?1[016789]\d{7,8}", plain):
        head = "82010" if plain[2] == "0" else "8210"
        return put(text, head + "0" + digits(number, count - len(head) - 1))
    lead = len(plain) - len(plain.lstrip("0")) if count >= 10 else 0
    head = "0" * min(lead, 2) + "999" + str(number % 5)  # a digit below 5: in the form of an SSN, no ITIN either
    return put(text, head + digits(number // 5, max(count - len(head), 3)))


def is_phone(text: str) -> bool:
    return _PHONE_OURS.fullmatch(re.sub(r"[\s().+-]", "", text)) is not None


def card(text: str, number: int) -> str:
    """A card number of the unassigned prefix 9999 with a valid check digit; '' where there is no room for it."""
    count = sum(char.isdigit() for char in text)
    if count <= len("9999"):
        return ""
    body = "9999" + digits(number, count - 5)
    return put(text, body + str(-luhn(body + "0") % 10))


def luhn(number: str) -> int:
    """Luhn's sum modulo 10: 0 for a valid number (ISO/IEC 7812-1)."""
    total = 0
    for index, char in enumerate(reversed(number)):
        value = int(char) * (1 + index % 2)
        total += value - 9 if value > 9 else value
    return total % 10


def iban(text: str, number: int) -> str:
    """The same country with check digits 00, which no bank can issue."""
    made = list(text)
    for index, char in enumerate(made):
        number, value = divmod(number, 10 if char.isdigit() else 22)
        if index >= 4 and char.isalnum():
            made[index] = str(value) if char.isdigit() else _ALPHABET[value]
    return "".join(made[:2]) + "00" + "".join(made[4:])


def ssn(text: str, number: int) -> str:
    """Area 9XX with group 00 to 49: neither an SSN nor an ITIN."""
    return put(text, "9" + digits(number, 2) + str(number // 100 % 5) + digits(number // 500, 5))


def rrn(text: str, number: int) -> str:
    """A Korean registration number born in month 13."""
    return put(
        text,
        digits(number, 2) + "13" + digits(number // 100, 2) + str(1 + number // 10**4 % 4) + digits(number // 10**6, 6),
    )


def ip(text: str, number: int) -> str:
    """An IPv4 address in 240.0.0.0/4, an IPv6 address in 2001:db8:f0f0::/48."""
    if ":" in text:
        groups = [f"{number >> 16 * index & 0xFFFF:x}" for index in range(5)]
        return "2001:db8:f0f0:" + ":".join(groups)
    return ".".join(
        str(octet) for octet in (240 + number % 15, number >> 8 & 255, number >> 16 & 255, number >> 24 & 255)
    )


def is_ip(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    if address.version == 4:
        return address in ipaddress.ip_network("240.0.0.0/4")
    return address in ipaddress.ip_network("2001:db8:f0f0::/48")


def mac(text: str, number: int) -> str:
    """A locally administered address f2:00:00:XX:XX:XX; '' where `text` has more letters and digits than one."""
    plain = f"f20000{number % 16**6:06x}"
    fresh = iter(plain.upper() if text.isupper() else plain)
    made = "".join(next(fresh, "") if char.isalnum() else char for char in text)
    return "" if sum(map(str.isalnum, text)) > len(plain) else made


def zip_code(text: str, number: int) -> str:
    """A postal code that is not in use: 99960 to 99999, ZZ99, or Z9Z for Canada's form."""
    plain = text.strip().upper()
    if re.fullmatch(r"\d{3}-?\d{2,4}|\d{4,10}|\d{5}-\d{4}", plain):
        count = sum(char.isdigit() for char in text)
        return put(text, ("999" + str(6 + number % 4) + digits(number // 4, 8))[:count])
    first, second = _ALPHABET[number % 22], _ALPHABET[number // 22 % 22]
    if re.fullmatch(r"[A-Z]\d[A-Z] ?\d[A-Z]\d", plain):
        return f"Z{number // 500 % 10}Z {number // 5000 % 10}{first}{number // 50000 % 10}"
    if re.fullmatch(r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}", plain):
        return f"ZZ99 {number // 500 % 10}{first}{second}"
    return ""


def korean_place(word: str, digest: Digest) -> str:
    """A coined road or building for the name of one; regions stay, other words give ''."""
    if not "가" <= word[0] <= "힣" or is_coined(word) or coined_road(word):
        return ""
    if kept_place(word):
        return word
    road = _ROAD.fullmatch(word)
    return coin_hangul(road["name"], digest) + road["kind"] if road else ""


def kept_place(word: str) -> bool:
    """Whether a Korean word names a region, which an address keeps."""
    return _PLACE.fullmatch(word) is not None


def coined_road(word: str) -> bool:
    road = _ROAD.fullmatch(word) if word else None
    return road is not None and is_coined(road["name"])
