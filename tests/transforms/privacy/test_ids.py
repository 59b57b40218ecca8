# ruff: noqa: E501  (tables are read across)
"""Ids of citizens, accounts, drivers and cars, by label or by form and check digit."""

from __future__ import annotations

import pytest

from transforms.privacy import check_digits
from transforms.privacy.deidentifier import Deidentifier

GONE = [
    ("my passport number is 782883526, thanks", "782883526"), ("여권번호 M480S8375를 확인", "M480S8375"),
    ("Driver's license: D123-4567-8901", "4567"), ("운전면허번호 13-95-599983-88입니다", "599983"), ("면허 13-95-599983-88", "599983"),
    ("license plate 7ABC123", "7ABC123"), ("Kennzeichen: V-MK 8044", "8044"), ("차량번호 12가 3456입니다", "3456"), ("12가3456", "3456"),
    ("account number is 0012345678", "0012345678"), ("Routing number 021000021", "021000021"), ("계좌번호: 110-234-567890", "567890"),
    ("국민은행 123456-04-123456으로 입금", "123456-04"), ("사업자등록번호 120-81-47521", "47521"), ("sort code 20-00-00 account no. 55779911", "55779911"),
    ("NI number: AB123456C", "AB123456C"), ("it is QQ 12 34 56 C, no: AB 12 34 56 C", "AB 12"), ("social insurance number: 046 454 286", "454 286"),
    ("Aadhaar 2341 2341 2346", "2341"), ("PAN ABCPE1234F", "ABCPE1234F"), ("Mi DNI es 12345678Z", "12345678Z"), ("NIE X1234567L", "X1234567L"),
    ("sécurité sociale est 1 85 05 78 006 084 91", "006 084"), ("codice fiscale è RSSMRA85T10A562S", "RSSMRA"), ("CPF 529.982.247-25", "982.247"),
    ("CURP HEGG560427MVZRRL04", "HEGG"), ("NRIC S1234567D", "S1234567D"), ("PESEL 44051401359", "44051401359"), ("personnummer 811218-9876", "9876"),
    ("身份证 11010519491231002X", "19491231"), ("hetu 131052-308T", "308T"), ("AHV 756.9217.0769.85", "9217"), ("NHS number 943 476 5919", "476 5919"),
    ("Steuer-ID: 86095742719", "86095742719"), ("Medicare MBI: 1EG4-TE5-MK73", "TE5"),
]  # fmt: skip

KEPT = [
    "order account: 17 items", "the plate is hot", "2026-03-14 12:00", "passport expired in 2024", "license: Apache-2.0", "licence MIT",
    "tax 19.00 EUR, tin can", "build 123-45-67892", "part 046 454 287", "id 20260314", "pan 12 cm", "the fin is 3 cm", "12월 3000원",
    "Patient since 2019", "sin(0.12345)", "account_number: int", "routing table 10.0.0.0/8",
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), GONE)
def test_an_id_goes(rules: Deidentifier, text: str, value: str) -> None:
    cleaned = rules.clean(text, [])
    assert value not in cleaned.value
    assert rules.clean(cleaned.value, []).value == cleaned.value


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_an_id_stays(rules: Deidentifier, text: str) -> None:
    assert rules.clean(text, []).value == text


@pytest.mark.parametrize(
    ("check", "number"),
    [
        (check_digits.verhoeff, "234123412346"), (check_digits.dni, "12345678Z"), (check_digits.nir, "185057800608491"),
        (check_digits.codice_fiscale, "RSSMRA85T10A562S"), (check_digits.cpf, "52998224725"), (check_digits.nric, "S1234567D"),
        (check_digits.pesel, "44051401359"), (check_digits.personnummer, "8112189876"), (check_digits.resident_id, "11010519491231002X"),
        (check_digits.hetu, "131052-308T"), (check_digits.aba, "021000021"), (check_digits.korean_business, "1208147521"), (check_digits.nhs, "9434765919"),
        (check_digits.luhn, "046454286"),
    ],
)  # fmt: skip
def test_a_check_digit_tells_the_right_number_from_its_neighbours(check: object, number: str) -> None:
    assert callable(check) and check(number)
    digits = [at for at, char in enumerate(number) if char.isdigit()]
    wrong = [number[:at] + str((int(number[at]) + 1) % 10) + number[at + 1 :] for at in digits[-4:-1]]
    assert not all(check(other) for other in wrong)
