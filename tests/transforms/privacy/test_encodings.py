# ruff: noqa: E501  (tables are read across)
"""Values in encodings go, and what stands around them keeps its spelling."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.encodings import spelling
from transforms.privacy.packings import packed, repacked
from transforms.privacy.policy import PrivacyPolicy

Clean = Callable[[object], object]

GONE = [
    ("q=I%27m%20Tobias%20Quillfeather%2C%20hi", "Quill"),
    ("/find?who=jane.roe%2540mail.test", "jane"),
    ("?name=Tobias+Quillfeather&n=1 I'm Tobias Quillfeather.", "Quill"),
    ("<p>jane&#64;mail.test &#x40; 10</p>", "jane"),
    ("제 이름은 &#45224;&#44417;&#45796;&#50728;이고", "45796"),
    (r"repr: \uc81c \uc774\ub984\uc740 \ubc15\uc9c0\ubbfc\uc774\uace0", "ubc15"),
    (r"b'\xec\xa0\x9c \xec\x9d\xb4\xeb\xa6\x84\xec\x9d\x80 \xeb\xb0\x95\xec\xa7\x80\xeb\xaf\xbc\xec\x9d\xb4\xea\xb3\xa0'", "xb0"),
    (r'cut: \"note\": \"SSN 078-05-1120\", \"x', "078-05"),
    (r"two lines\nTel: (212) 555-0187\nend", "555-0187"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value"), GONE)
def test_a_value_in_an_encoding_goes_and_comes_back_in_it(rules: Deidentifier, text: str, value: str) -> None:
    cleaned = rules.clean(text, [])
    assert value not in cleaned.value and cleaned.altered
    again = rules.clean(cleaned.value, [])
    assert again.value == cleaned.value and not again.altered


def test_what_is_not_replaced_keeps_its_spelling(clean: Clean) -> None:
    made = str(clean("a%20b+c?x=%2F&amp;\\n\\u00e9 %zz jane%40mail.test %e9 100%"))
    assert re.fullmatch(r"a%20b\+c\?x=%2F&amp;\\n\\u00e9 %zz [a-z0-9]+%40d[0-9a-f]{8}\.example %e9 100%", made)


@pytest.mark.parametrize("coder", [base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes])
def test_text_in_base64_is_cleaned_and_packed_again(clean: Clean, coder: Callable[[bytes], bytes]) -> None:
    text = "Hello, I'm Tobias Quillfeather? My card is 4111 1111 1111 1111. " * 3 + json.dumps({"first_name": "Zed"})
    made = str(clean(f"payload={coder(text.encode()).decode()}"))
    assert made.startswith("payload=")
    inside = base64.b64decode(made.removeprefix("payload=").replace("-", "+").replace("_", "/")).decode()
    assert "Quill" not in inside and "1111" not in inside and "Zed" not in inside
    assert inside.startswith("Hello, I'm ") and clean(made) == made


@pytest.mark.parametrize(
    "run", ["550e8400e29b41d4a716446655440000", "iVBORw0KGgoAAAANSUhEUgAA", "call_m4fwuiwb2KPg2TVwScPZpxnX"]
)
def test_ids_and_pictures_are_no_text_in_base64(run: str) -> None:
    assert list(packed(run)) == []


def test_a_windows_path_is_no_run_of_escapes(clean: Clean) -> None:
    assert clean(r"C:\new\table\robert.txt") == r"C:\new\table\robert.txt"
    assert "nina" not in str(clean(r"C:\Users\nina.roe\tax.xlsx"))


def test_a_known_value_goes_from_an_encoding() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None), b"a tenant's key, 32 bytes at least")
    cleaner.learn("t", {"first_name": "Zora", "last_name": "Kettlewell"})
    made = cleaner.clean("?q=Zora%20Kettlewell", ["t"]).value
    assert "Kettle" not in made and re.fullmatch(r"\?q=[A-Z][a-z]+%20[A-Z][a-z]+", made)
    assert cleaner.audit([("row", "?q=Zora%20Kettlewell")]) != [] and cleaner.audit([("row", made)]) == []


@given(st.text(max_size=40), st.integers(0, 40), st.integers(0, 40), st.sampled_from(["%{:02X}", "&#{};", "\\u{:04x}"]))
def test_exchanging_nothing_changes_nothing_and_places_hold(text: str, a: int, b: int, form: str) -> None:
    coded = "".join(form.format(ord(char)) if char in "@ é" and ord(char) < 128 else char for char in text)
    written = spelling(coded)
    if written is None:
        return
    assert written.respelled([]) == coded
    start, end = sorted((min(a, len(written.plain)), min(b, len(written.plain))))
    made = written.respelled([(start, end, "Q")] if start < end else [])
    assert len(made) <= len(coded) + 6


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_base64_is_packed_as_it_was(text: str) -> None:
    for run in (base64.b64encode(text.encode()).decode(), base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")):
        if list(packed(run)):
            assert repacked(text, run) == run


def test_percent_encoding_stays_decodable(clean: Clean) -> None:
    made = str(clean("https://a.test/?to=%2B1-415-555-0142&mail=jane%40mail.test&x=%7B1%7D"))
    assert "415-555" not in made and "jane" not in unquote(made) and made.endswith("&x=%7B1%7D")
