"""What is known anywhere in a trace goes everywhere in it, and what only looks like it stays."""

from __future__ import annotations

import json

import pytest

from transforms.privacy.deidentifier import Deidentifier, Leak
from transforms.privacy.policy import PrivacyPolicy

KEY = b"a tenant's key, 32 bytes at least"
PROFILE = json.dumps(
    {
        "name": {"first_name": "Mia", "last_name": "Li"},
        "address": {"address1": "975 Sunset Drive", "address2": "Suite 217", "city": "Austin", "zip": "78750"},
        "email": "mia.li3818@mail.test",
        "dob": "1990-04-05",
        "user_id": "mia_li_3668",
        "saved_passengers": [{"first_name": "Amelia", "last_name": "Ahmed", "dob": "1957-03-21"}],
    }
)


@pytest.fixture
def mia() -> Deidentifier:
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    cleaner.learn("trace", PROFILE)
    return cleaner


@pytest.mark.parametrize(
    "text",
    [
        "booked for Mia Li.",
        "LI, MIA",
        "Thanks, Mia.",
        "Li, Mia",
        "log: user=mia_li_3668 ok",
        "home of mia.li on disk",
        "see mia-li.txt",
        "Mia씨가 왔다",
        "Amelia Ahmed flies too",
        "Amelia's seat",
        "at 975 SUNSET drive",
        "born 5 April 1990",
        "the 04/05/1990 one",
        "for mia.li3818",
    ],
)
def test_a_known_value_goes_however_it_is_written(mia: Deidentifier, text: str) -> None:
    made = mia.clean(text, ["trace"]).value
    for value in ("Mia", "mia", "MIA", "Li,", "Amelia", "SUNSET", "April", "04/05"):
        assert value not in made.replace("1990-01-01", "")


@pytest.mark.parametrize(
    "text",
    ["MIA is Miami's airport", "Li-ion cells in 78750 parts", "Suite 217", "the city of Austin", "a lithium list"],
)
def test_short_and_ambiguous_values_are_not_replaced_blindly(mia: Deidentifier, text: str) -> None:
    assert mia.clean(text, ["trace"]).value == text


def test_names_ids_and_addresses_of_a_person_stay_aligned(mia: Deidentifier) -> None:
    made = json.loads(mia.clean(PROFILE, ["trace"]).value)
    first, last = made["name"]["first_name"].lower(), made["name"]["last_name"].lower()
    assert made["user_id"].startswith(f"{first}_{last}_")
    assert made["email"].startswith(f"{first}.{last}")
    assert mia.clean("Mia Li", ["trace"]).value == f"{first.capitalize()} {last.capitalize()}"


def test_other_traces_know_nothing_of_it_and_several_are_joined(mia: Deidentifier) -> None:
    mia.learn("other", {"first_name": "Zora"})
    assert mia.clean("Zora or Amelia", []).value == "Zora or Amelia"
    joined = mia.clean("Zora met Amelia", ["other", "trace"]).value
    assert "Zora" not in joined and "Amelia" not in joined


def test_a_value_learnt_later_changes_an_earlier_message() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    assert cleaner.clean("ask Zora about it", ["t"]).value == "ask Zora about it"
    cleaner.learn("t", {"first_name": "Zora"})
    assert "Zora" not in cleaner.clean("ask Zora about it", ["t"]).value


def test_korean_names_go_before_particles() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    cleaner.learn("t", "제 이름은 남궁다온이고 연락처는 010-2345-6789입니다.")
    made = cleaner.clean("남궁다온은, 남궁다온에게 01023456789로 전화했다. 다온 님!", ["t"]).value
    assert "다온" not in made and "2345" not in made and "은, " in made and "에게 " in made


def test_names_that_the_model_finds_are_searched_for(with_model: Deidentifier) -> None:
    with_model.learn("prose", "Yesterday the manager met Marguerite Whitcombe in Madrid.")
    assert "Whitcombe" not in with_model.clean("mwhitcombe; notes by Whitcombe", ["prose"]).value.title()


def test_a_product_that_the_model_takes_for_a_person_stays_in_other_traces() -> None:
    cleaner = Deidentifier(PrivacyPolicy(), KEY)
    cleaner.learn("a", "I spoke to Sofitel Legend yesterday and they agreed.")
    cleaner.learn("e", "My laptop, a Thinkpad Zenith, broke. Then Grand Brixton said that it is fine.")
    assert cleaner.audit([("row", "a Thinkpad Zenith at Grand Brixton")]) == []
    cleaner.learn("b", "Yesterday the manager met Tamsin Whitcombe in Madrid.")
    booking = "booking: Sofitel Legend, 2 nights"
    assert "Sofitel" not in cleaner.clean(booking, ["a"]).value
    assert cleaner.clean(booking, ["c"]).value == booking and cleaner.audit([("row", booking)]) == []
    assert cleaner.audit([("row", "booking: Tamsin Whitcombe, 2 nights")]) == [Leak("row", "PERSON")]
    cleaner.learn("d", {"customer_name": "Sofitel Legend"})
    assert cleaner.audit([("row", booking)]) == [Leak("row", "PERSON")], "where a field says that it is somebody"


def test_the_same_value_has_the_same_surrogate_in_every_trace_and_process() -> None:
    made = set()
    for scope in ("a", "b"):
        cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
        cleaner.learn(scope, {"email": "jane@mail.test"})
        made.add(cleaner.clean("x jane@mail.test y", [scope]).value)
    assert len(made) == 1


def test_another_tenant_has_other_surrogates() -> None:
    texts = ["jane@mail.test", "Mr. Jones", "4111 1111 1111 1111", "AKIAIOSFODNN7EXAMPLE", "김철수님"]
    ours, theirs = (Deidentifier(PrivacyPolicy(model=None), key) for key in (KEY, b"another key of another tenant!!!"))
    for text in texts:
        assert ours.clean(text, []).value != theirs.clean(text, []).value
