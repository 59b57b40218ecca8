# ruff: noqa: E501  (tables are read across)
"""What a key, a label or a heading in a text says of the value beside or under it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.fields import may_hold_fields, personal_fields

Clean = Callable[[object], object]

GONE = [
    ("id,full_name,phone\n1,Zed Qux,0171 3949787\n2,Yma Wex,0171 3949788", ["Zed", "Qux", "3949787", "Yma", "3949788"]),
    ('"이름";"휴대폰"\n"박지민";"01023456789"', ["박지민", "2345"]),
    ("a\tlast_name\n1\tQuillfeather\n2\tOyelaran", ["Quill", "Oyel"]),
    ("| Name | E-mail | DOB |\n|---|:-:|---|\n| Zed Qux | z@q.test | 1990-04-05 |", ["Zed", "z@q", "04-05"]),
    (" id | last_name \n----+-----------\n  1 | Quillfeather\n(1 row)", ["Quill"]),
    ("INSERT INTO u (id, first_name, ssn) VALUES (1, 'Zed', '078051120'), (2, 'O''Wex', NULL)", ["Zed", "078051120", "Wex"]),
    ("Row: {'recipient': 'Zed Qux', 'street': 'Rua das Flores 8'}", ["Zed", "Flores"]),
    ('{"rows": [{"account_holder": "Zed Qux", "dob": "1990-04-', ["Zed"]),
    ("UPDATE a SET pin = '0471' WHERE account_holder = 'Zed Qux'", ["Zed", "0471"]),
    ("User(first_name='Zed', last_name=\"Qux\", phone='0171 3949787')", ["Zed", "Qux", "3949787"]),
    ("INFO sent phone_number=+491713949787 user_id=zqux_17 ok", ["3949787", "zqux"]),
    ('<input name="full_name" value="Zed Qux"><input name="ssn" value="078051120">', ["Zed", "078051120"]),
    ("<tr><td>Customer</td><td>Zed Qux</td></tr><dt>Phone:</dt> <dd>0171 3949787</dd>", ["Zed", "3949787"]),
    ("<p>고객명: <b>박지민</b> / 연락처: <b>02-312-4567</b></p>", ["박지민", "4567"]),
    ("<customer><last_name>Quillfeather</last_name></customer>", ["Quill"]),
    ("- **Date of Birth:** 5 Apr 90\n- **Passenger name:** Zed Qux", ["5 Apr", "Zed"]),
    ("smtp:\n  password: hunter2\n", ["hunter2"]),
    ("1 validation error\ndob\n  Input should be a date [type=date, input_value='05.04.1990', input_type=str]", ["05.04"]),
]  # fmt: skip

KEPT = [
    "user_id: str\nemail: str | None = None\nname: the caller's\npassword: required",
    "image: registry.local/token:2.4.8@sha256:905a9abeb4ff721245186ccd792e18c4fdb4930c3674f6ad85110c79249d09bc",
    "headers = {Authorization: `Bearer ${token}`}",
    "id,status,amount\n1,open,17.50\n2,closed,18.00",
    "| Name | Value |\n|---|---|\n| timeout | 30 |",
    "INSERT INTO orders (id, status) VALUES (17, 'open')",
    "Address: localhost:8080\nName: my-service\nOwner: Platform Team\nCustomer: Acme Corp",
    '<meta name="viewport" value="width=device-width">',
    "author=OpenAI model=gpt-4o customer=acme-prod token=refunded",
]


@pytest.mark.parametrize(("text", "values"), GONE)
def test_a_field_in_text_goes_by_its_key(clean: Clean, text: str, values: list[str]) -> None:
    made = str(clean(text))
    assert not [value for value in values if value in made]
    assert clean(made) == made


@pytest.mark.parametrize("text", KEPT)
def test_words_about_fields_stay(rules: Deidentifier, text: str) -> None:
    assert rules.clean(text, []).value == text


def test_rows_far_below_their_heading_count() -> None:
    text = "id,last_name\n" + "\n".join(f"{number},Quillfeather" for number in range(3_000))
    assert sum(1 for _ in personal_fields(text)) == 3_000


@given(st.text("<>a \n", max_size=12))
def test_an_element_sets_a_key_apart_wherever_it_begins(text: str) -> None:
    assert may_hold_fields(text) == (re.search(r"<[^>]*>|\n", text) is not None)


def test_a_sign_is_looked_for_in_the_time_of_the_length() -> None:
    started = time.process_time()
    assert not may_hold_fields("<" * 200_000)
    assert time.process_time() - started < 4.0
