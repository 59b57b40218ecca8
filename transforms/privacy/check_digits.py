"""Check digits of ids, each by the rule of who issues them. All take the id as it is written and ignore punctuation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_VERHOEFF_TURN = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (*(1, 0, 5, 7, 9, 13, 15, 17, 19, 21) * 2, *(2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)),
        strict=True,
    )
)


def bare(text: str) -> str:
    """Letters in capitals and digits only."""
    return re.sub(r"[^0-9A-Za-z]", "", text).upper()


def weighted(text: str, weights: Sequence[int]) -> int:
    """The sum of the leading digits, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(text, weights, strict=False))


def dated(text: str) -> bool:
    """Whether six digits are a day of some century, year first."""
    try:
        date(2000 + int(text[:2]), int(text[2:4]), int(text[4:6]))
    except ValueError:
        return False
    return True


def luhn(text: str) -> bool:
    """ISO/IEC 7812-1; Canada's social insurance number, Sweden's personal number, and cards."""
    digits = bare(text)
    total = sum(sum(divmod(int(digit) * (1 + at % 2), 10)) for at, digit in enumerate(reversed(digits)))
    return total % 10 == 0


def verhoeff(text: str) -> bool:
    """India's Aadhaar: the dihedral group of order ten (Verhoeff 1969)."""
    check = 0
    for at, char in enumerate(reversed(bare(text))):
        value = int(char)
        for _ in range(at % 8):
            value = _VERHOEFF_TURN[value]
        check = _dihedral(check, value)
    return check == 0


def _dihedral(a: int, b: int) -> int:
    if a < 5:
        return (a + b) % 5 if b < 5 else 5 + (a + b) % 5
    return 5 + (a - b) % 5 if b < 5 else (a - b) % 5


def dni(text: str) -> bool:
    """Spain's DNI and NIE: the letter is the number modulo 23."""
    plain = bare(text)
    number = plain[:-1].translate({88: "0", 89: "1", 90: "2"})
    return plain[-1] == _LETTERS[int(number) % 23]


def nir(text: str) -> bool:
    """France's social security number: a key of 97 less the number modulo 97; Corsica's letters count as digits."""
    plain = bare(text).replace("2A", "19").replace("2B", "18")
    return plain.isdigit() and int(plain[-2:]) == 97 - int(plain[:-2]) % 97


def codice_fiscale(text: str) -> bool:
    """Italy's tax code: the last letter, with its own values for odd places."""
    plain = bare(text)
    total = sum(
        _ODD[char] if at % 2 == 0 else int(char) if char.isdigit() else ord(char) - 65
        for at, char in enumerate(plain[:15])
    )
    return plain[15] == chr(65 + total % 26)


def cpf(text: str) -> bool:
    """Brazil's taxpayer number: two digits modulo 11; eleven equal digits are none."""
    plain = bare(text)
    first = weighted(plain, range(10, 1, -1)) * 10 % 11 % 10
    second = weighted(plain, range(11, 1, -1)) * 10 % 11 % 10
    return len(set(plain)) > 1 and plain[9:] == f"{first}{second}"


def nric(text: str) -> bool:
    """Singapore's NRIC and FIN."""
    plain = bare(text)
    total = weighted(plain[1:8], (2, 7, 6, 5, 4, 3, 2)) + {"S": 0, "F": 0, "T": 4, "G": 4, "M": 3}[plain[0]]
    letters = {"S": "JZIHGFEDCBA", "T": "JZIHGFEDCBA", "M": "XWUTRQPNJLK"}.get(plain[0], "XWUTRQPNMLK")
    return plain[8] == (letters[::-1][total % 11] if plain[0] == "M" else letters[total % 11])


def pesel(text: str) -> bool:
    """Poland's PESEL."""
    plain = bare(text)
    return -weighted(plain[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == int(plain[10])


def personnummer(text: str) -> bool:
    """Sweden's personal number: a day and a check digit of Luhn's."""
    plain = bare(text)[-10:]
    day = int(plain[4:6])
    return dated(plain[:4] + f"{day - 60 if day > 60 else day:02d}") and luhn(plain)


def resident_id(text: str) -> bool:
    """China's resident id (GB 11643): modulo 11, X for ten."""
    plain = bare(text)
    total = weighted(plain[:17], (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2))
    return dated(plain[8:14]) and "10X98765432"[total % 11] == plain[17]


def hetu(text: str) -> bool:
    """Finland's personal identity code."""
    plain = re.sub(r"[-+A-FU-Y](?=\d{3}.$)", "", text.upper())
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(plain[:9]) % 31] == plain[9]


def aba(text: str) -> bool:
    """A routing number of the American Bankers Association."""
    plain = bare(text)
    return plain != "000000000" and weighted(plain, (3, 7, 1) * 3) % 10 == 0


def korean_business(text: str) -> bool:
    """A Korean business registration number."""
    plain = bare(text)
    total = weighted(plain[:9], (1, 3, 7, 1, 3, 7, 1, 3, 5)) + int(plain[8]) * 5 // 10
    return -total % 10 == int(plain[9])


def nhs(text: str) -> bool:
    """The number of a patient in England: modulo 11."""
    plain = bare(text)
    check = 11 - weighted(plain[:9], range(10, 1, -1)) % 11
    return check != 10 and check % 11 == int(plain[9])
