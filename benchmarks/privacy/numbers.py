# ruff: noqa: E501  (tables are read across)
"""Numbers that name somebody, valid by their own rules: cards, accounts, national ids, phones, plates, machines."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from functools import partial


def digits(rng: random.Random, count: int) -> str:
    """`count` random digits."""
    return "".join(rng.choice(string.digits) for _ in range(count))


def letters(rng: random.Random, count: int, alphabet: str = string.ascii_uppercase) -> str:
    return "".join(rng.choice(alphabet) for _ in range(count))


def card(rng: random.Random) -> str:
    """A card number with its check digit (ISO/IEC 7812-1), solid, in blocks, or with hyphens."""
    prefix, size = rng.choice([("4", 16), ("51", 16), ("54", 16), ("2291", 16), ("6011", 16), ("3530", 16), ("37", 15), ("34", 15), ("3620", 14)])  # fmt: skip
    body = prefix + digits(rng, size - len(prefix) - 1)
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(body)))
    number = body + str(-total % 10)
    separator = rng.choice(["", "", " ", "-"])
    cuts = [4, 10] if size < 16 else [4, 8, 12]
    return separator.join(_cut(number, cuts)) if separator else number


def iban(rng: random.Random) -> str:
    """An IBAN with check digits (ISO 13616), solid or in blocks of four."""
    country, size, lettered = rng.choice([("DE", 18, 0), ("GB", 18, 4), ("FR", 23, 0), ("ES", 20, 0), ("NL", 14, 4), ("CH", 17, 0), ("PL", 24, 0), ("SE", 20, 0)])  # fmt: skip
    body = letters(rng, lettered) + digits(rng, size - lettered)
    turned = "".join(str(int(char, 36)) for char in f"{body}{country}00")
    number = f"{country}{98 - int(turned) % 97:02d}{body}"
    return " ".join(number[i : i + 4] for i in range(0, len(number), 4)) if rng.random() < 0.4 else number


def ssn(rng: random.Random) -> str:
    area = rng.choice([n for n in range(1, 900) if n != 666])
    return rng.choice(["-", "-", "-", " "]).join(
        (f"{area:03d}", f"{rng.randrange(1, 100):02d}", f"{rng.randrange(1, 10_000):04d}")
    )


def rrn(rng: random.Random, foreign: bool = False) -> str:
    """A Korean resident or foreigner registration number; those given out since 2020 have no check digit."""
    born = date(1945, 1, 1) + timedelta(days=rng.randrange(27_000))
    kind = (5 if foreign else 1) + rng.randrange(2) + (2 if born.year >= 2000 else 0)
    return f"{born:%y%m%d}-{kind}{digits(rng, 6)}"


def phone(rng: random.Random) -> str:
    """A phone number as people of ten countries write it, most with the country code."""
    d = partial(digits, rng)
    first = rng.choice("23456789")
    area, exchange = f"{rng.randrange(2, 10)}{rng.choice('0123456')}{rng.randrange(1, 10)}", f"{first}{d(2)}"
    return rng.choice([
        f"({area}) {exchange}-{d(4)}", f"{area}-{exchange}-{d(4)}", f"{area}.{exchange}.{d(4)}", f"+1 {area} {exchange} {d(4)}",
        f"+1 ({area}) {exchange}-{d(4)}", f"1-{area}-{exchange}-{d(4)}", f"+44 7{rng.randrange(4, 10)}{d(2)} {d(6)}", f"+44 20 7{d(3)} {d(4)}",
        f"+49 30 {d(8)}", f"+49 (0)171 {d(7)}", f"+33 6 {d(2)} {d(2)} {d(2)} {d(2)}", f"+91 9{d(4)} {d(5)}",
        f"+81 90-{d(4)}-{d(4)}", f"+55 11 9{d(4)}-{d(4)}", f"+61 4{d(2)} {d(3)} {d(3)}", f"+86 138 {d(4)} {d(4)}", f"+82 10-{rng.randrange(2, 10)}{d(3)}-{d(4)}",
    ])  # fmt: skip


def korean_phone(rng: random.Random) -> str:
    d = partial(digits, rng)
    mobile = f"010-{rng.randrange(2, 10)}{d(3)}-{d(4)}"
    return rng.choice([mobile, mobile, mobile.replace("-", ""), mobile.replace("-", " "), f"02-{rng.randrange(300, 999)}-{d(4)}", f"031-{rng.randrange(300, 999)}-{d(4)}", f"070-{rng.randrange(4000, 8000)}-{d(4)}"])  # fmt: skip


def ip(rng: random.Random) -> str:
    """A public address, mostly of version 4."""
    if rng.random() < 0.25:
        return ":".join(
            ["2a02", f"{rng.randrange(0x100, 0xFFFF):x}", *(f"{rng.randrange(1, 0xFFFF):x}" for _ in range(6))]
        )
    first = rng.choice([n for n in range(20, 220) if n not in (100, 127, 169, 172, 192, 198, 203)])
    return f"{first}.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"


def mac(rng: random.Random) -> str:
    octets = [f"{rng.randrange(256):02x}" for _ in range(6)]
    octets[0] = f"{rng.randrange(0x04, 0xE0) & 0xFC:02x}"
    return rng.choice([":".join(octets), "-".join(octets).upper()])


NATIONAL = ("uk nino", "ca sin", "in aadhaar", "in pan", "es dni", "es nie", "fr nir", "it codice fiscale", "br cpf", "mx curp", "sg nric", "pl pesel", "se personnummer")  # fmt: skip


def national(rng: random.Random, kind: str) -> str:
    """An id of a citizen, with its check character where it has one that outsiders can compute."""
    return _NATIONAL[kind](rng)


def _nino(rng: random.Random) -> str:
    d = digits(rng, 6)
    head = rng.choice("ABCEGHJKLMNPRSTWXYZ") + rng.choice("ABCEGHJKLMNPRSTWXYZ")
    return (
        rng.choice([f"{head}{d}C", f"{head} {d[:2]} {d[2:4]} {d[4:]} C"])
        if head not in ("BG", "GB", "NK", "KN", "TN", "NT", "ZZ")
        else f"AB{d}C"
    )


def _sin(rng: random.Random) -> str:
    body = rng.choice("1245679") + digits(rng, 7)
    total = sum(sum(divmod(int(d) * (1 + i % 2), 10)) for i, d in enumerate(body))
    number = body + str(-total % 10)
    return rng.choice([" ", "-"]).join(_cut(number, [3, 6]))


def _verhoeff(body: str) -> str:
    """Verhoeff's check digit: the dihedral group of ten elements."""

    def times(a: int, b: int) -> int:
        if a < 5:
            return (a + b) % 5 if b < 5 else 5 + (a + b - 5) % 5
        return 5 + (a - 5 - b) % 5 if b < 5 else (a - b) % 5

    turn, check = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4], 0
    for index, char in enumerate(reversed(body)):
        value = int(char)
        for _ in range((index + 1) % 8):
            value = turn[value]
        check = times(check, value)
    return str(next(c for c in range(10) if times(check, c) == 0))


def _aadhaar(rng: random.Random) -> str:
    body = rng.choice("23456789") + digits(rng, 10)
    number = body + _verhoeff(body)
    return " ".join(_cut(number, [4, 8])) if rng.random() < 0.7 else number


def _cpf(rng: random.Random) -> str:
    body = [int(d) for d in digits(rng, 9)]
    for size in (10, 11):
        rest = sum(d * w for d, w in zip(body, range(size, 1, -1), strict=True)) * 10 % 11
        body.append(rest % 10)
    d = "".join(map(str, body))
    return f"{d[:3]}.{d[3:6]}.{d[6:9]}-{d[9:]}"


def _nir(rng: random.Random) -> str:
    body = f"{rng.choice('12')}{rng.randrange(40, 99):02d}{rng.randrange(1, 13):02d}{rng.randrange(1, 95):02d}{digits(rng, 6)}"
    key = f"{97 - int(body) % 97:02d}"
    return (
        f"{body[0]} {body[1:3]} {body[3:5]} {body[5:7]} {body[7:10]} {body[10:]} {key}"
        if rng.random() < 0.5
        else body + key
    )


def _pesel(rng: random.Random) -> str:
    body = f"{rng.randrange(40, 99):02d}{rng.randrange(1, 13):02d}{rng.randrange(1, 29):02d}{digits(rng, 4)}"
    total = sum(int(d) * w for d, w in zip(body, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), strict=True))
    return body + str(-total % 10)


def _personnummer(rng: random.Random) -> str:
    body = f"{rng.randrange(40, 99):02d}{rng.randrange(1, 13):02d}{rng.randrange(1, 29):02d}{digits(rng, 3)}"
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(body))
    return f"{body[:6]}-{body[6:]}{-total % 10}"


def _codice(rng: random.Random) -> str:
    body = (
        letters(rng, 6, "BCDFGLMNPRSTVZ")
        + f"{rng.randrange(40, 99)}"
        + rng.choice("ABCDEHLMPRST")
        + f"{rng.randrange(1, 29):02d}"
    )
    body += rng.choice("ABCDEFGHIL") + digits(rng, 3)
    odd = dict(zip("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", [1, 0, 5, 7, 9, 13, 15, 17, 19, 21] + [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23], strict=True))  # fmt: skip
    total = sum(odd[c] if i % 2 == 0 else int(c) if c.isdigit() else ord(c) - 65 for i, c in enumerate(body))
    return body + chr(65 + total % 26)


def _curp(rng: random.Random) -> str:
    born = f"{rng.randrange(40, 99):02d}{rng.randrange(1, 13):02d}{rng.randrange(1, 29):02d}"
    return f"{letters(rng, 1, 'BCDFGLMNPRST')}{rng.choice('AEIOU')}{letters(rng, 2, 'BCDFGLMNPRST')}{born}{rng.choice('HM')}{rng.choice(['DF', 'JC', 'NL', 'OC', 'VZ'])}{letters(rng, 3, 'BCDFGLMNPRST')}0{rng.randrange(10)}"


def _nric(rng: random.Random) -> str:
    body = digits(rng, 7)
    total = sum(int(d) * w for d, w in zip(body, (2, 7, 6, 5, 4, 3, 2), strict=True))
    return f"S{body}{'JZIHGFEDCBA'[total % 11]}"


_NATIONAL: dict[str, Callable[[random.Random], str]] = {
    "uk nino": _nino, "ca sin": _sin, "in aadhaar": _aadhaar, "br cpf": _cpf, "fr nir": _nir, "pl pesel": _pesel,
    "se personnummer": _personnummer, "it codice fiscale": _codice, "mx curp": _curp, "sg nric": _nric,
    "in pan": lambda rng: f"{letters(rng, 3)}P{letters(rng, 1)}{digits(rng, 4)}{letters(rng, 1)}",
    "es dni": lambda rng: (lambda n: f"{n}{'TRWAGMYFPDXBNJZSQVHLCKE'[int(n) % 23]}")(digits(rng, 8)),
    "es nie": lambda rng: (lambda n: f"X{n}{'TRWAGMYFPDXBNJZSQVHLCKE'[int(n) % 23]}")(digits(rng, 7)),
}  # fmt: skip


def us_bank(rng: random.Random) -> tuple[str, str]:
    """A routing number with the check digit of the ABA, and an account number."""
    body = f"{rng.randrange(1, 13):02d}{digits(rng, 6)}"
    total = sum(int(d) * w for d, w in zip(body, (3, 7, 1, 3, 7, 1, 3, 7), strict=True))
    return body + str(-total % 10), digits(rng, rng.randrange(8, 13))


def korean_account(rng: random.Random) -> str:
    sizes = rng.choice([(3, 3, 6), (3, 2, 6), (6, 2, 6), (4, 3, 6), (3, 4, 4, 2)])
    return "-".join(digits(rng, size) for size in sizes)


def korean_business(rng: random.Random) -> str:
    body = f"{rng.randrange(101, 800)}{rng.randrange(1, 90):02d}{digits(rng, 4)}"
    total = sum(int(d) * w for d, w in zip(body, (1, 3, 7, 1, 3, 7, 1, 3, 5), strict=True)) + int(body[8]) * 5 // 10
    return f"{body[:3]}-{body[3:5]}-{body[5:]}{-total % 10}"


def korean_licence(rng: random.Random) -> str:
    return f"{rng.randrange(11, 29)}-{rng.randrange(80, 100)}-{digits(rng, 6)}-{digits(rng, 2)}"


def korean_passport(rng: random.Random) -> str:
    return rng.choice(
        [f"M{digits(rng, 8)}", f"M{digits(rng, 3)}{letters(rng, 1)}{digits(rng, 4)}", f"S{digits(rng, 8)}"]
    )


def passport(rng: random.Random) -> str:
    return rng.choice(
        [digits(rng, 9), f"{letters(rng, 1, 'ACEGX')}{digits(rng, 8)}", f"{letters(rng, 2)}{digits(rng, 7)}"]
    )


def driver_licence(rng: random.Random) -> str:
    return rng.choice([f"{letters(rng, 1)}{digits(rng, 7)}", f"{letters(rng, 1)}{digits(rng, 3)}-{digits(rng, 4)}-{digits(rng, 4)}", digits(rng, 8), f"{letters(rng, 5)}{digits(rng, 6)}{letters(rng, 2)}9{letters(rng, 2)}"])  # fmt: skip


def plate(rng: random.Random) -> str:
    d, a = partial(digits, rng), partial(letters, rng, alphabet="BCDFGHJKLMNPRSTVWX")
    return rng.choice(
        [f"{rng.choice('456789')}{a(3)}{d(3)}", f"{a(3)}-{d(4)}", f"{a(2)}{d(2)} {a(3)}", f"{a(1)}-{a(2)} {d(4)}"]
    )


def korean_plate(rng: random.Random) -> str:
    return f"{rng.randrange(10, 999)}{rng.choice('가나다라마거너더러머버서어저고노도로모보소오조구누두루무부수우주허하호')}{rng.choice(['', ' '])}{digits(rng, 4)}"


def _cut(text: str, at: Sequence[int]) -> list[str]:
    return [text[a:b] for a, b in zip([0, *at], [*at, len(text)], strict=True)]
