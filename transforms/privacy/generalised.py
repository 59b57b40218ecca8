"""Coarser values: what is left of a date of birth, an age, a postal code, an address of a computer, a telephone number
or a place, where the policy says `generalise`.

A value becomes the first of its range, or is rounded, and is written as it was: 34 becomes 30 and 78750 becomes 78700.
So numbers stay numbers, schemas hold, and what is coarse already stays as it is.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from transforms.privacy.dates import decade_only, month_only, year_only
from transforms.privacy.shapes import put
from transforms.privacy.words import words

OLDEST_AGE = 90
"""Older people are one group (45 CFR 164.514(b)(2)(i)(C))."""
SPARSE_AREAS = frozenset(words("036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"))
"""First digits of US postal codes whose areas have 20,000 inhabitants or fewer, to be written 000 (45 CFR
164.514(b)(2)(i)(B), by the Census of 2000 as in the guidance of the Department of Health)."""
YEARS = r"[ -]?(?:y|yo|y/o|yrs?|years?|살|세)(?:[ -]old)?(?: ?/? ?(?:m|f|male|female|man|woman|boy|girl))?"
"""What may stand after the number of an age where a field holds it."""
_AGE = re.compile(rf"(?P<years>\d{{1,3}})(?P<part>\.\d+)?(?P<unit>{YEARS})?", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_DECIMAL = re.compile(r"[+-]?\d{1,3}(?:\.\d+(?:e-\d+)?|e-\d+)", re.IGNORECASE)
_OUTWARD = re.compile(
    r"(?P<kept>[A-Z]{1,2}\d[A-Z\d]?)(?: ?\d[A-Z]{2})?|(?P<area>[A-Z]\d[A-Z])(?: ?\d[A-Z]\d)?", re.IGNORECASE
)
_WHOLE = re.compile(r"[+-]?\d{1,3}")
_PHONE = re.compile(r"[\d\s().+/-]+")
_CODE = re.compile(r"\d{3}-\d{2,4}|\d{4,10}|\d{5}-\d{4}")


def generalised(entity: str, text: str, level: str) -> str:
    """`text` at a level of `LEVELS`: itself where it is so coarse already, '' where it has not the form of its type."""
    return LEVELS[entity][level](text)


def _age(text: str) -> str:
    """The decade of an age; parts of a year become zeros, the unit stays."""
    if not (age := _AGE.fullmatch(text)):
        return ""
    part = "." + "0" * (len(age["part"]) - 1) if age["part"] else ""
    return f"{min(int(age['years']) // 10 * 10, OLDEST_AGE)}{part}{age['unit'] or ''}"


def _postal(text: str) -> str:
    """The first three digits of a code, two of one of four; the outward part of a British or Canadian one."""
    plain = text.strip()
    if code := _OUTWARD.fullmatch(plain):
        return code["kept"] or code["area"]
    if not (plain.isascii() and _CODE.fullmatch(plain)):
        return ""
    digits = plain.replace("-", "")
    kept = digits[: 2 if len(digits) == 4 else 3]
    return put(text, ("000" if kept in SPARSE_AREAS else kept).ljust(len(digits), "0"))


def _network(bits: int, bits_of_six: int) -> Callable[[str], str]:
    def network(text: str) -> str:
        """The first address of the network that an address is in."""
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return ""
        first = str(ipaddress.ip_network((address, bits if address.version == 4 else bits_of_six), False)[0])
        return f"{first}0" if first.endswith("::") else first  # as an address is written, and found again

    return network


def _country(text: str) -> str:
    """A number of which only the code of its country is left, where it has one: all other digits become 0."""
    digits = "".join(_DIGITS.findall(text))
    if not digits or not _PHONE.fullmatch(text):
        return ""
    lead = "" if text.lstrip("( ").startswith("+") else "00" if digits.startswith("00") else None
    kept = lead + _country_code(digits[len(lead) :]) if lead is not None else ""
    return put(text, kept.ljust(len(digits), "0"))


def _country_code(digits: str) -> str:
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    known = (digits[:size] for size in (1, 2, 3))
    return next((code for code in known if code and int(code) in COUNTRY_CODE_TO_REGION_CODE), "")


def _rounded(places: int) -> Callable[[str], str]:
    def coarse(number: re.Match[str]) -> str:
        degrees = float(number.group())
        made = round(degrees, places) + 0.0
        return number.group() if degrees == made and "e" not in number.group().lower() else f"{made:.1f}"

    def rounded(text: str) -> str:
        """Degrees rounded; whole ones, and what is round already, as they are written."""
        return _DECIMAL.sub(coarse, text) if _DECIMAL.search(text) or _WHOLE.fullmatch(text) else ""

    return rounded


LEVELS: dict[str, dict[str, Callable[[str], str]]] = {
    "AGE": {"band": _age},
    "COORDINATES": {"tenth": _rounded(1), "degree": _rounded(0)},
    "DATE_OF_BIRTH": {"year": year_only, "month": month_only, "decade": decade_only},
    "IP_ADDRESS": {"network": _network(24, 48), "provider": _network(16, 32)},
    "PHONE_NUMBER": {"country": _country},
    "ZIP_CODE": {"area": _postal},
}
"""What each type can be generalised to; the first is what `generalise` alone means."""
