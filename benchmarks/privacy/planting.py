# ruff: noqa: E501  (tables are read across)
"""Fills the marks of a text with values, and remembers each: its kind, its place, and what of it must not be seen."""

from __future__ import annotations

import random
import re
import unicodedata
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from benchmarks.privacy import credentials, numbers, people
from benchmarks.privacy.templates import CITIES, ORGS, PRODUCTS

MARK = re.compile(r"<<([a-z_ ]+)([%#]?)>>")
_ASCII = {ord(a): b for a, b in zip("øØłŁßđæ", ("o", "O", "l", "L", "ss", "d", "ae"), strict=True)}
NOT_PERSONAL = ("decoy", "city", "org", "product")
SECRETS = frozenset((*credentials.KINDS, "secret", "cvv"))
ADDRESSES = frozenset(("us_address", "uk_address", "k_address", "world_address"))
GROUPS = {
    **dict.fromkeys(SECRETS, "secret"), **dict.fromkeys(ADDRESSES, "address"), "name": "name", "first": "name", "last": "name",
    "kname": "Korean name", "user_id": "user id", "dob": "date of birth", "kdob": "date of birth", "zip": "postal code",
    "email": "e-mail", "phone": "phone", "nanp": "phone", "kphone": "phone", "card": "card", "iban": "IBAN", "account": "bank", "routing": "bank",
    "kaccount": "bank", "ssn": "SSN", "rrn": "RRN and FRN", "frn": "RRN and FRN", "ip": "IP and MAC", "mac": "IP and MAC", "passport": "passport and licence",
    "kpassport": "passport and licence", "licence": "passport and licence", "kdriver": "passport and licence", "plate": "plate", "kplate": "plate",
    "kbusiness": "business number", **dict.fromkeys(numbers.NATIONAL, "national id"),
}  # fmt: skip
STRUCTURED = frozenset(("e-mail", "phone", "card", "IBAN", "bank", "SSN", "RRN and FRN", "IP and MAC", "passport and licence", "plate", "business number", "national id"))  # fmt: skip
DOMAINS = ["mailbox.test", "posteo.de", "corp.local", "naver.com", "acme-mail.com", "uni-tuebingen.de", "mail.internal", "hanmail.net", "gmx.net", "example.org", "protonmail.com", "bigco.co.uk"]  # fmt: skip


@dataclass(frozen=True)
class Planted:
    """A value in a text; none of its `parts` may be seen afterwards."""

    kind: str
    value: str
    place: str
    parts: tuple[str, ...]

    @property
    def group(self) -> str:
        return GROUPS[self.kind]


class Planter:
    """Fills texts of one trace: every other value is the main person's, the rest are bystanders'."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._main = people.person(rng)
        self._values: dict[tuple[people.Person, str], str] = {}

    def fill(self, value: Any, place: str) -> tuple[Any, list[Planted]]:
        """`value` with its marks filled, in strings at any depth, keys too."""
        planted: list[Planted] = []
        used: set[str] = set()
        who = self._main if self.rng.random() < 0.5 else people.person(self.rng)

        def put(match: re.Match[str]) -> str:
            kind, way = match.groups()
            owner = people.person(self.rng) if kind in used else who
            used.add(kind)
            made = self._value(owner, kind)
            if kind in NOT_PERSONAL:
                return made
            real = f"{kind}"
            if kind == "secret":
                real = self.rng.choice([k for k in credentials.KINDS if k != "pem"])
                secret = credentials.secret(self.rng, real)
                planted.append(Planted(real, secret, place, parts_of(real, secret)))
                return credentials.placed(real, secret)
            if kind in credentials.CARRIERS and "url" in kind:
                planted.append(Planted(kind, made, place, parts_of(kind, made)))
                return credentials.placed(kind, made)
            planted.append(Planted(kind, made, place, parts_of(kind, made)))
            return quote(made, safe="") if way == "%" else made

        return self._filled(value, put), planted

    def _filled(self, value: Any, put: Callable[[re.Match[str]], str]) -> Any:
        if isinstance(value, str):
            made = MARK.sub(put, value)
            return int(re.sub(r"\D", "", made)) if value.endswith("#>>") and MARK.fullmatch(value) else made
        if isinstance(value, dict):
            return {self._filled(key, put): self._filled(item, put) for key, item in value.items()}
        return [self._filled(item, put) for item in value] if isinstance(value, list) else value

    def _value(self, who: people.Person, kind: str) -> str:
        if kind in NOT_PERSONAL:
            lists = {"city": CITIES, "org": ORGS, "product": PRODUCTS}
            return self.rng.choice(lists[kind]) if kind in lists else decoy(self.rng)
        key = (who, kind)
        if key not in self._values:
            self._values[key] = make(self.rng, who, kind)
        return self._values[key]


def make(rng: random.Random, who: people.Person, kind: str) -> str:
    """A value of `kind` that is `who`'s."""
    if kind in numbers.NATIONAL:
        return numbers.national(rng, kind)
    if kind in credentials.KINDS:
        return credentials.secret(rng, kind)
    made: dict[str, Callable[[], str]] = {
        "name": lambda: who.name, "first": lambda: who.first, "last": lambda: who.last, "kname": lambda: who.korean,
        "email": lambda: _email(rng, who), "user_id": lambda: _user_id(rng, who),
        "dob": lambda: rng.choice([f"{who.born}", f"{who.born:%m/%d/%Y}", f"{who.born:%B} {who.born.day}, {who.born.year}", f"{who.born:%d.%m.%Y}", f"{who.born.day} {who.born:%b} {who.born.year}"]),
        "kdob": lambda: rng.choice([f"{who.born.year}년 {who.born.month}월 {who.born.day}일", f"{who.born:%Y.%m.%d}", f"{who.born:%Y-%m-%d}"]),
        "us_address": lambda: people.us_address(rng), "uk_address": lambda: people.uk_address(rng), "k_address": lambda: people.korean_address(rng),
        "world_address": lambda: people.world_address(rng), "zip": lambda: rng.choice([numbers.digits(rng, 5), f"{numbers.digits(rng, 5)}-{numbers.digits(rng, 4)}"]),
        "phone": lambda: numbers.phone(rng), "kphone": lambda: numbers.korean_phone(rng),
        "nanp": lambda: f"{rng.choice(['415', '212', '646', '303', '617'])}{rng.randrange(200, 1000)}{numbers.digits(rng, 4)}",
        "card": lambda: numbers.card(rng), "cvv": lambda: numbers.digits(rng, 3), "iban": lambda: numbers.iban(rng), "ssn": lambda: numbers.ssn(rng),
        "routing": lambda: numbers.us_bank(rng)[0], "account": lambda: numbers.us_bank(rng)[1], "kaccount": lambda: numbers.korean_account(rng),
        "rrn": lambda: numbers.rrn(rng), "frn": lambda: numbers.rrn(rng, foreign=True), "ip": lambda: numbers.ip(rng), "mac": lambda: numbers.mac(rng),
        "passport": lambda: numbers.passport(rng), "kpassport": lambda: numbers.korean_passport(rng), "licence": lambda: numbers.driver_licence(rng),
        "kdriver": lambda: numbers.korean_licence(rng), "plate": lambda: numbers.plate(rng), "kplate": lambda: numbers.korean_plate(rng),
        "kbusiness": lambda: numbers.korean_business(rng), "secret": lambda: "",
    }  # fmt: skip
    return made[kind]()


def plain(text: str) -> str:
    """ASCII letters of a name, as mail systems write it."""
    text = text.translate(_ASCII)
    letters = unicodedata.normalize("NFKD", text)
    return "".join(char for char in letters if char.isascii() and char.isalnum())


def _email(rng: random.Random, who: people.Person) -> str:
    first, last = plain(who.first).lower(), plain(who.last).lower()
    n = rng.choice(["", "", f"{rng.randrange(2, 9999)}"])
    local = rng.choice(
        [
            f"{first}.{last}{n}",
            f"{first}{last}{n}",
            f"{first[0]}.{last}{n}",
            f"{last}_{first}{n}",
            f"{first}+shop{n}",
            f"{last}{n or 7}",
        ]
    )
    return f"{local}@{rng.choice(DOMAINS)}"


def _user_id(rng: random.Random, who: people.Person) -> str:
    first, last = plain(who.first).lower(), plain(who.last).lower()
    n = rng.randrange(10, 9999)
    return rng.choice([f"{first}_{last}_{n}", f"{first}.{last}", f"{first[0]}{last}{n}", f"{last}-{first}{n}"])


def decoy(rng: random.Random) -> str:
    """A token that looks like something and names nobody."""
    d = numbers.digits
    made: list[Callable[[], str]] = [
        lambda: f"#W{d(rng, 7)}", lambda: f"HP-{d(rng, 5)}", lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)), lambda: f"HAT{d(rng, 3)}",
        lambda: f"INV-2026-{d(rng, 5)}", lambda: f"{rng.getrandbits(160):040x}", lambda: f"v{rng.randrange(1, 9)}.{rng.randrange(30)}.{rng.randrange(9)}",
        lambda: f"call_{credentials.token(rng, 24)}", lambda: f"SKU{d(rng, 8)}", lambda: f"2026-0{rng.randrange(1, 9)}-1{rng.randrange(9)}", lambda: f"17734{d(rng, 8)}",
    ]  # fmt: skip
    return rng.choice(made)()


def parts_of(kind: str, value: str) -> tuple[str, ...]:
    """What of a value gives it away: words of names, the number and name of a street, runs of digits, halves of secrets."""
    if kind in ("name", "first", "last"):
        return tuple(word for word in re.findall(r"[^\W\d_]+", value) if len(word) > 2) or (value,)
    if kind == "kname":
        return (value,) if len(value) < 3 else (value, value[-2:])
    if kind in ADDRESSES:
        roads = [
            w
            for w in re.findall(r"[^\W\d_]{5,}", value)
            if any(s in w for s in (*people.STREETS, *people.KOREAN_ROADS))
        ]
        return (value, *roads)
    if kind == "email":
        return (value, value.partition("@")[0]) if len(value.partition("@")[0]) > 5 else (value,)
    if kind in SECRETS:
        half = len(value) // 2
        return (value,) if len(value) < 20 else (value, value[:half][-16:], value[half:][:16])
    return (value,)
