"""Surrogates: what stands in the place of a personal value, the same everywhere under one tenant key.

Each depends on the key, the type and the value alone (HMAC-SHA256), keeps the value's shape where tools read it,
and lies in a range that nobody can own, so that an audit tells it from a leak without a table:
e-mail domains d<hash>.example; area codes N9X with 555-01XX; country code 999; 010-0XXX-XXXX; cards 9999 with a
valid check digit; SSNs 9XX-[0-4]X; registration numbers of month 13; 240.0.0.0/4; IBAN check digits 00; postal
codes above 99950 and ZZ99; coined words for names, ids and streets; [TYPE_<12 hex>] for secrets and the rest.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable

from transforms.privacy import shapes
from transforms.privacy.coined import PARTICLES, TITLES, WORD, coin, coin_latin, is_coined, is_coined_name
from transforms.privacy.dates import year_only
from transforms.privacy.words import words

Maker = Callable[["Surrogates", str, str], str]

_TAG = re.compile(r"\[[A-Z][A-Z0-9_]*\]")
_KEYED_TAG = re.compile(r"\[[A-Z][A-Z0-9_]*_[0-9a-f]{12}\]")
EMAIL_OURS = r"(?:@|%40)d[0-9a-f]{8}\.example"  # how a surrogate of an e-mail address ends
_EMAIL_OURS = re.compile(rf"(?i)[^@\s]*{EMAIL_OURS}")
_AT = re.compile(r"(?s)(.*?)(@|%40)(.*)")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_UUID_OURS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-b[0-9a-f]{3}-[0-9a-f]{12}")
_HEX = re.compile(r"(?i)(?=.*\d)[0-9a-f]{16,}")
_NUMBER_OURS = re.compile(r"99\d{11}")
_ADDRESS_WORDS = frozenset(
    words(
        "street st avenue ave road rd drive dr lane ln boulevard blvd court ct way place pl terrace ter "
        "circle cir highway "
        "hwy parkway pkwy trail trl square sq loop alley aly crescent close mews gardens grove row walk "
        "plaza pike run pass "
        "apt apartment suite ste unit floor fl room rm building bldg box po p.o north south east west n s "
        "e w ne nw se sw "
        "no number 로 길 번길 대로 동 호 층 번지 통 반 리 가 단지 상가 지하"
    )
)
ID_DIGITS = 10


class Surrogates:
    """Makes and recognises surrogates under one tenant key."""

    def __init__(self, tenant_key: bytes) -> None:
        self._key = hmac.digest(tenant_key, b"tracemill/privacy/surrogates", "sha256")
        self._made: dict[tuple[str, str], str] = {}

    def digest(self, purpose: str, value: str) -> int:
        """256 keyed bits over `value`; different purposes are unrelated."""
        message = f"{purpose}\x1f{value}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hmac.digest(self._key, message, "sha256"), "big")

    def replace(self, entity: str, text: str) -> str:
        """The surrogate of `text`: a surrogate is its own; a value that its type cannot shape becomes a tag."""
        made = self._made.get((entity, text))
        if made is None:
            made = text if is_surrogate(entity, text) else self._make(entity, text)
            self._made[entity, text] = made
        return made

    def tag(self, entity: str, text: str) -> str:
        """A tag that names the type and tells values apart; a letter among its digits tells it from a number."""
        digits = f"{self.digest(entity, text) % 16**12:012x}"
        return f"[{entity}_{digits if not digits.isdecimal() else 'a' + digits[1:]}]"

    def _make(self, entity: str, text: str) -> str:
        maker = _MAKERS.get(entity)
        made = maker(self, entity, text) if maker else ""
        return made if made and is_surrogate(entity, made) else self.tag(entity, text)


def is_surrogate(entity: str, text: str) -> bool:
    """Whether `text` is what this module makes of a value of `entity`, whoever's key made it."""
    if is_tag(text):
        return True
    known = _RECOGNISED.get(entity)
    return known is not None and bool(known(text))


def is_tag(text: str) -> bool:
    """Whether `text` is a tag that stands in the place of a value, of whatever type."""
    return _TAG.fullmatch(text) is not None or _KEYED_TAG.fullmatch(text) is not None


def _email(self: Surrogates, entity: str, text: str) -> str:
    parts = _AT.fullmatch(text)
    if not parts:
        return ""  # what an overlap left of an address
    local, at, domain = parts.groups()
    digits = self.digest("email", text.lower())
    fresh = WORD.sub(lambda word: coin_latin(word.group(), self.digest), local)
    domain_hash = self.digest("domain", domain.lower().rstrip(".")) % 16**8
    more = shapes.digits(digits >> 128, 4) if sum(char.isdigit() for char in local) < 4 else ""
    return f"{shapes.fill(fresh, digits)}{more}{at}d{domain_hash:08x}.example"


def _name(self: Surrogates, entity: str, text: str) -> str:
    def word(match: re.Match[str]) -> str:
        plain = match.group()
        possessive = plain in ("s", "S") and match.string[match.start() - 1] in "'’ʼ"
        if possessive or plain.lower() in TITLES or plain in PARTICLES:
            return plain
        return coin(plain, self.digest)

    made = WORD.sub(word, text)
    return shapes.fill(made, self.digest("digits", text)) if WORD.search(text) else ""


def _identifier(self: Surrogates, entity: str, text: str) -> str:
    """Words become coined words, so that mia_li_3668 stays next to Mia Li; digits become ten keyed ones."""
    if "@" in text and re.fullmatch(r"[^\s@]+@[^\s@]+", text):
        return _email(self, entity, text)
    if re.search(r"\d", text):
        text = "-".join(text.split())  # a blank before ten digits would make them a telephone number
    number = self.digest("id", text.lower())
    if _UUID.fullmatch(text) or _HEX.fullmatch(text):
        plain = f"{number % 16**32:032x}"
        return f"{plain[:8]}-{plain[8:12]}-8{plain[13:16]}-b{plain[17:20]}-{plain[20:]}"
    words = [word for word in WORD.findall(text) if len(word) > 1]
    made = WORD.sub(lambda word: coin_latin(word.group(), self.digest), text) if words else ""
    if not words:
        return f"{coin_latin(text + 'id', self.digest).lower()}-{number % 10**ID_DIGITS:0{ID_DIGITS}d}"
    if not re.search(r"\d", made):
        initials = len(words) < len(WORD.findall(text))
        return f"{made}_{shapes.digits(number, ID_DIGITS)}" if initials else made
    made = re.sub(r"\d+(?=.*\d)", lambda run: shapes.fill(run.group(), number >> 64), made)
    return re.sub(r"\d+(?=\D*$)", f"{number % 10**ID_DIGITS:0{ID_DIGITS}d}", made)


def _address(self: Surrogates, entity: str, text: str) -> str:
    number = self.digest("address", " ".join(text.lower().split()))

    def word(match: re.Match[str]) -> str:
        plain = match.group()
        if plain.lower() in _ADDRESS_WORDS or (len(plain) == 2 and plain in shapes.STATES) or len(plain) == 1:
            return plain
        return shapes.korean_place(plain, self.digest) or coin(plain, self.digest)

    made = WORD.sub(word, text)
    if is_coined_address(made):
        return shapes.fill(made, number)
    return re.sub(r"\d+", f"99{number % 100:02d}", made) if re.search(r"\d", made) else ""


def is_coined_address(text: str) -> bool:
    """Whether every word of an address line is coined, a state, or says what kind of place it is."""
    words = WORD.findall(text)
    rest = [w for w in words if not is_coined(w)]
    plain = (w.lower() in _ADDRESS_WORDS or w in shapes.STATES or len(w) == 1 or shapes.kept_place(w) for w in rest)
    return len(rest) < len(words) and all(plain) or any(shapes.coined_road(w) for w in words)


def _is_address(text: str) -> bool:
    if is_coined_address(text):
        return True
    words = WORD.findall(text)
    numbers = re.findall(r"\d+", text)
    return (
        bool(numbers)
        and all(re.fullmatch(r"99\d\d", n) for n in numbers)
        and all(w.lower() in _ADDRESS_WORDS or len(w) == 1 or shapes.kept_place(w) for w in words)
    )


def _is_identifier(text: str) -> bool:
    if _UUID_OURS.fullmatch(text) or _NUMBER_OURS.fullmatch(text) or _EMAIL_OURS.fullmatch(text):
        return True
    words = [word for word in WORD.findall(text) if len(word) > 1]
    return bool(words) and all(is_coined(word) for word in words)


def _digits(maker: Callable[[str, int], str]) -> Maker:
    def make(self: Surrogates, entity: str, text: str) -> str:
        return maker(text, self.digest(entity, re.sub(r"[^0-9a-z]", "", text.lower())))

    return make


_MAKERS: dict[str, Maker] = {
    "EMAIL_ADDRESS": _email,
    "PERSON": _name,
    "USER_ID": _identifier,
    "ID_NUMBER": _identifier,
    "STREET_ADDRESS": _address,
    "PHONE_NUMBER": _digits(shapes.phone),
    "CREDIT_CARD": _digits(shapes.card),
    "IBAN_CODE": _digits(shapes.iban),
    "US_SSN": _digits(shapes.ssn),
    "KR_RRN": _digits(shapes.rrn),
    "IP_ADDRESS": _digits(shapes.ip),
    "MAC_ADDRESS": _digits(shapes.mac),
    "ZIP_CODE": _digits(shapes.zip_code),
    "DATE_OF_BIRTH": lambda self, entity, text: year_only(text),
}
_RECOGNISED: dict[str, Callable[[str], object]] = {
    "EMAIL_ADDRESS": _EMAIL_OURS.fullmatch,
    "PERSON": is_coined_name,
    "USER_ID": _is_identifier,
    "ID_NUMBER": _is_identifier,
    "STREET_ADDRESS": _is_address,
    "PHONE_NUMBER": shapes.is_phone,
    "CREDIT_CARD": re.compile(r"9999(?:[ -]?\d){8,15}").fullmatch,
    "IBAN_CODE": re.compile(r"[A-Za-z]{2}00[A-Za-z0-9 ]{8,}").fullmatch,
    "US_SSN": re.compile(r"9\d\d[ -]?[0-4]\d[ -]?\d{4}").fullmatch,
    "KR_RRN": re.compile(r"\d\d13\d\d\D{0,3}[1-4]\d{6}").fullmatch,
    "IP_ADDRESS": shapes.is_ip,
    "MAC_ADDRESS": re.compile(r"(?i)f2[:-]?00[:.-]?00(?:[:.-]?[0-9a-f]{2}){3}").fullmatch,
    "ZIP_CODE": lambda text: re.fullmatch(r"(?i)999\d+(?:-\d+)?|ZZ99 ?\d[A-Z]{2}|Z\dZ ?\d[A-Z]\d", text),
    "DATE_OF_BIRTH": lambda text: text and year_only(text) == text,
}
