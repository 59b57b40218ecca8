"""Tombstones find a person however they are written, raw or as surrogates, and say nothing of them."""

import json
import pickle
import time

import pytest

from transforms.privacy.erasure import Tombs, Tombstone, Value, read_value
from transforms.privacy.surrogates import Surrogates

KEY = bytes.fromhex("5eed" * 16)
SURROGATES = Surrogates(KEY)


def read(value: str) -> Value:
    return read_value(value, Tombs(KEY), SURROGATES)


def tombs(value: str) -> Tombs:
    return Tombs(KEY, read(value).tombstones)


WRITTEN = {
    "mia.li3818@example.com": (
        "mail Mia.Li3818@Example.com.",
        "mia.li3818%40example.com",
        "mia.li3818@example.com입니다",
        "landing/mia.li3818@example.com-2026.jsonl.gz",
        "mia.li3818@example.com.json",
    ),
    "Mia Li": ("Hi Mia Li!", "LI, MIA", "mia_li_3668", "mia.li@example.com", "mia j. li"),
    "Marguerite Ow": ("margueriteow77", "ow_marguerite"),
    "José García": ("Jose Garcia", "GARCÍA, José"),
    "mia_li_3668": ("user_id=MIA_LI_3668;", "/home/mia_li_3668/x", "mia_li_3668@example.com"),
    "+1 (415) 555-2671": ("4155552671", "415.555.2671", "1-415-555-2671", "on 2026 4155552671"),
    "010-1234-5678": ("+82 10-1234-5678", "01012345678"),
    "4111 1111 1111 1111": ("4111-1111-1111-1111", "4111111111111111"),
    "GB29 NWBK 6016 1331 9268 19": ("gb29nwbk60161331926819", "IBAN GB29 NWBK 6016 1331 9268 19."),
    "김민수": ("김민수입니다", "고객 김민수님"),
}
SURROGATE_OF = [
    ("mia.li3818@example.com", "EMAIL_ADDRESS"), ("mia.li3818@example.com", "USER_ID"), ("Mia Li", "PERSON"),
    ("Mia Li", "USER_ID"), ("mia_li_3668", "USER_ID"), ("mia_li_3668", "ID_NUMBER"),
    ("+1 (415) 555-2671", "PHONE_NUMBER"), ("4111 1111 1111 1111", "CREDIT_CARD"),
    ("GB29 NWBK 6016 1331 9268 19", "IBAN_CODE"), ("900-12-3456", "US_SSN"), ("김민수", "PERSON"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "text"), [(value, text) for value, texts in WRITTEN.items() for text in texts])
def test_a_person_is_found_however_they_are_written(value: str, text: str) -> None:
    assert read(value).strong
    assert tombs(value).finds_text(text)
    assert tombs(value).finds({"deep": [json.dumps({"q": text}), 1]})


@pytest.mark.parametrize(("value", "entity"), SURROGATE_OF)
def test_a_person_is_found_by_what_stands_for_them_in_the_lake(value: str, entity: str) -> None:
    assert tombs(value).finds_text(f"so {SURROGATES.replace(entity, value)}, yes")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("li@example.com", "mia.li@example.com"), ("li@example.com", "li@example.com.au"),
        ("Mia Li", "Mia and Li"), ("Mia Li", "Mia Lindt"),
        ("mia_li_3668", "mia_li_36680"), ("4155552671", "41555526710"), ("김민수", "김민지"),
    ],
)  # fmt: skip
def test_others_are_not_taken_for_a_person(value: str, text: str) -> None:
    assert not tombs(value).finds_text(text)


@pytest.mark.parametrize("value", ["Mia", "94105", "1990-04-05", "SW1A 1AA", "10.0.0.1", "12 Main Street", "민수"])
def test_what_may_be_several_peoples_is_weak(value: str) -> None:
    assert not read(value).strong


def test_the_same_value_in_other_letters_is_the_same_erasure() -> None:
    assert read("Mia.Li3818@Example.com").tombstones == read("mia.li3818@example.com").tombstones


@pytest.mark.parametrize("text", ["a@" + "b.co-" * 20_000 + "@", "a@b.co" + ".json" * 30_000 + "!9"])
def test_a_long_token_is_looked_at_in_the_time_of_its_length(text: str) -> None:
    started = time.process_time()
    assert not tombs("mia.li3818@example.com").finds_text(text)
    assert time.process_time() - started < 4.0


def test_tombstones_travel_as_text_and_another_key_reads_nothing_from_them() -> None:
    made = read("Mia Li").tombstones
    assert {Tombstone.of(str(one)) for one in made} == made
    assert not Tombs(bytes(32), made).finds_text("Mia Li")
    assert pickle.loads(pickle.dumps(Tombs(KEY, made))).finds_text("Mia Li")
    with pytest.raises(ValueError, match="KIND"):
        Tombstone.of("Mia Li")


def test_an_erased_trace_is_known_again_by_its_id() -> None:
    one = Tombs(KEY)
    assert Tombs(KEY, [one.trace("a1")]).holds_trace("a1")
    assert not Tombs(KEY, [one.trace("a1")]).holds_trace("a2")
