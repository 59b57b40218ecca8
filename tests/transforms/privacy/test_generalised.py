# ruff: noqa: E501  (tables are read across)
"""What is generalised says less, says it in the same form, and is not made coarser twice."""

from __future__ import annotations

import ipaddress
import json
import re
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.generalised import LEVELS, generalised
from transforms.privacy.policy import PrivacyPolicy

KEY = b"a tenant's key, 32 bytes at least"
PATIENT = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
SAMPLES = [
    ("AGE", "band", "34", "30"), ("AGE", "band", "7", "0"), ("AGE", "band", "101", "90"),
    ("COORDINATES", "tenth", "37.774929, -122.419416", "37.8, -122.4"), ("COORDINATES", "tenth", "-0.04", "0.0"),
    ("COORDINATES", "degree", "37.774929", "38.0"), ("COORDINATES", "degree", "-122", "-122"),
    ("AGE", "band", "34.5", "30.0"), ("AGE", "band", "34 years", "30 years"), ("AGE", "band", "34yo male", "30yo male"),
    ("DATE_OF_BIRTH", "month", "1990-25-12", "1990-01-01"), ("DATE_OF_BIRTH", "month", "1990-00-12", "1990-01-01"),
    ("DATE_OF_BIRTH", "year", "1990-04-05", "1990-01-01"), ("DATE_OF_BIRTH", "month", "1990-04-05", "1990-04-01"),
    ("DATE_OF_BIRTH", "month", "April 5th, 1990", "April 1st, 1990"), ("DATE_OF_BIRTH", "month", "19900405", "19900401"),
    ("DATE_OF_BIRTH", "month", "1990년 4월 5일", "1990년 4월 1일"), ("DATE_OF_BIRTH", "month", "04/05/1990", "01/01/1990"),
    ("DATE_OF_BIRTH", "month", "1911-04-05", "1936-01-01"), ("DATE_OF_BIRTH", "decade", "5 April 1995", "1 January 1990"),
    ("DATE_OF_BIRTH", "decade", "19950405", "19900101"), ("DATE_OF_BIRTH", "year", "Apr 5 1990 in Rome 12", "1990"),
    ("IP_ADDRESS", "network", "203.0.113.77", "203.0.113.0"), ("IP_ADDRESS", "provider", "203.0.113.77", "203.0.0.0"),
    ("IP_ADDRESS", "network", "2001:DB8:1:2::3", "2001:db8:1::0"), ("IP_ADDRESS", "provider", "2001:db8:1:2::3", "2001:db8::0"),
    ("PHONE_NUMBER", "country", "+82 10-2345-6789", "+82 00-0000-0000"), ("PHONE_NUMBER", "country", "0044 20 7946 0958", "0044 00 0000 0000"),
    ("PHONE_NUMBER", "country", "(415) 555-0142", "(000) 000-0000"), ("PHONE_NUMBER", "country", "+1.415.555.0142", "+1.000.000.0000"),
    ("ZIP_CODE", "area", "78750-1234", "78700-0000"), ("ZIP_CODE", "area", "8001", "8000"), ("ZIP_CODE", "area", "03601", "00000"),
    ("ZIP_CODE", "area", "SW1A 1AA", "SW1A"), ("ZIP_CODE", "area", "M5V 3L9", "M5V"), ("ZIP_CODE", "area", "06236", "06200"),
]  # fmt: skip


@pytest.mark.parametrize(("entity", "level", "text", "coarse"), SAMPLES)
def test_a_value_becomes_the_first_of_its_range(entity: str, level: str, text: str, coarse: str) -> None:
    assert generalised(entity, text, level) == coarse == generalised(entity, coarse, level)


@pytest.mark.parametrize("entity", LEVELS)
@given(st.text(max_size=20))
def test_what_has_not_the_form_of_its_type_is_never_left_as_it_is(entity: str, text: str) -> None:
    for level in LEVELS[entity]:
        made = generalised(entity, text, level)
        assert not made or generalised(entity, made, level) == made
        assert not re.search(r"[^\W\d_]{5,}", made) or entity == "DATE_OF_BIRTH"


def policy(**levels: str) -> PrivacyPolicy:
    return PrivacyPolicy.model_validate(
        {"model": None, "entities": {entity: {"generalise": level} for entity, level in levels.items()}}
    )


COARSE = policy(**{entity: next(iter(levels)) for entity, levels in LEVELS.items()})
COARSEST = policy(**{entity: list(levels)[-1] for entity, levels in LEVELS.items()})
MONTHS = policy(DATE_OF_BIRTH="month")
BORN = st.integers(0, 25_000).map(lambda days: date(1936, 1, 1) + timedelta(days=days))
RECORDS = st.fixed_dictionaries({
    "age": st.integers(0, 119),
    "dob": st.tuples(BORN, st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%b %d, %Y", "%Y%m%d", "%Y.%m.%d"])).map(lambda at: at[0].strftime(at[1])),
    "zip": st.one_of(st.integers(10_000, 99_999), st.from_regex(r"[0-9]{5}(-[0-9]{4})?|[A-Z]{2}[0-9] [0-9][A-Z]{2}", fullmatch=True)),
    "phone": st.from_regex(r"\+(1|44|82|49)[ -][0-9]{3}[ -][0-9]{3}[ -][0-9]{4}", fullmatch=True),
    "latitude": st.floats(-89, 89, allow_subnormal=False).map(lambda degrees: round(degrees, 6)),
    "last_ip": st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(str),
    "note": st.sampled_from(["she is 34 years old", "나이는 34세입니다", "at 37.774929, -122.419416", "Age: 57", "born 1990-04-05", "203.0.113.77:8080", "ZIP 78750"]),
})  # fmt: skip


@pytest.mark.parametrize("chosen", [COARSE, COARSEST, MONTHS])
@PATIENT
@given(record=RECORDS)
def test_cleaning_again_changes_nothing_and_the_audit_is_content(chosen: PrivacyPolicy, record: dict[str, Any]) -> None:
    cleaner = Deidentifier(chosen, KEY)
    for value in (record, json.dumps(record)):
        cleaner.learn("t", value)
        once = cleaner.clean(value, ["t"])
        again = cleaner.clean(once.value, ["t"])
        assert again.value == once.value and not again.altered
        assert cleaner.audit([("row", once.value)]) == []


@PATIENT
@given(RECORDS)
def test_nothing_of_what_is_dropped_is_left(record: dict[str, Any]) -> None:
    made = Deidentifier(COARSE, KEY).clean(record, []).value
    assert made["age"] == min(record["age"] // 10 * 10, 90)
    assert made["latitude"] == round(record["latitude"], 1) + 0.0
    code = re.match(r"\+(1|44|82|49)", record["phone"])
    assert code and set(made["phone"].removeprefix(code.group())) <= set(" -0")
    assert re.fullmatch(r"\d{3}00(-0000)?|[A-Z]{2}\d", str(made["zip"]))
    assert re.search(r"(0?1|January 0?1|Jan 0?1)\D|0101$|^0?1 January", made["dob"])
    before, after = map(ipaddress.ip_address, (record["last_ip"], made["last_ip"]))
    assert after == before or after.packed == before.packed[: 3 if before.version == 4 else 6].ljust(
        len(before.packed), b"\0"
    )


def test_numbers_stay_numbers_and_schemas_hold() -> None:
    made = Deidentifier(COARSE, KEY).clean({"age": 34, "zip": 78750, "latitude": 37.774929, "lng": -122.4194}, []).value
    assert made == {"age": 30, "zip": 78700, "latitude": 37.8, "lng": -122.4}


DEGREES = policy(COORDINATES="degree", AGE="band", DATE_OF_BIRTH="month")


@pytest.mark.parametrize(
    ("value", "coarse"),
    [
        ({"lat": 37.7}, {"lat": 38.0}), ({"lat": "37.7"}, {"lat": "38.0"}), ({"user_lng": -122.4}, {"user_lng": -122.0}),
        ("at 37.77, -122.41", "at 38.0, -122.0"), ("37.774929 -122.419416", "38.0 -122.0"),
        ("POINT(-122.419416 37.774929)", "POINT(-122.0 38.0)"), ("lat 37.77 lng -122.41", "lat 38.0 lng -122.0"),
        ({"type": "Point", "coordinates": [-122.419416, 37.774929, 12]}, {"type": "Point", "coordinates": [-122.0, 38.0, 12]}),
        ({"coordinates": [[[-122.419416, 37.774929], [-122.4, 37.5]]]}, {"coordinates": [[[-122.0, 38.0], [-122.0, 38.0]]]}),
        ({"age": 34.5}, {"age": 30.0}), ({"age": "34 y"}, {"age": "30 y"}), ({"age": "34 years"}, {"age": "30 years"}),
        ({"age": "34yo male"}, {"age": "30yo male"}), ("a 34yo male", "a 30yo male"), ("34.5 years old", "30.0 years old"),
        ({"dob": "1990-25-12"}, {"dob": "1990-01-01"}),
    ],
)  # fmt: skip
def test_values_are_made_coarser_in_whatever_form_they_are_written(value: object, coarse: object) -> None:
    cleaner = Deidentifier(DEGREES, KEY)
    for before, after in ((value, coarse), (json.dumps(value), json.dumps(coarse))):
        made = cleaner.clean(before, []).value
        assert made == after and not cleaner.clean(made, []).altered
    kept = json.dumps(value) if "dob" not in value else ""
    assert Deidentifier(PrivacyPolicy(model=None), KEY).clean(kept, []).value == kept


def test_other_numbers_are_no_ages_and_no_places() -> None:
    for text in (
        "for 34 years",
        "at 12.50, 250.75",
        "0.123456 0.234567 0.345678",
        "from 1.5 to 2.5",
        "v37.77",
        "loss 3.4 y",
    ):
        assert Deidentifier(DEGREES, KEY).clean(text, []).value == text


def test_ages_and_coordinates_stay_unless_the_policy_speaks_of_them() -> None:
    value = {"age": 34, "latitude": 37.774929, "note": "34 years old, at 37.774929, -122.419416"}
    assert Deidentifier(PrivacyPolicy(model=None), KEY).clean(value, []).value == value
    dropped = PrivacyPolicy(model=None, entities={"AGE": "drop", "COORDINATES": "drop"})
    made = Deidentifier(dropped, KEY).clean(value, []).value
    assert made == {"age": "[AGE]", "latitude": "[COORDINATES]", "note": "[AGE] years old, at [COORDINATES]"}


def test_a_value_known_from_a_field_is_generalised_in_prose_too() -> None:
    cleaner = Deidentifier(COARSE, KEY)
    cleaner.learn("t", {"phone": "+1-415-555-0142"})
    assert cleaner.clean("call +1-415-555-0142", ["t"]).value == "call +1-000-000-0000"


@pytest.mark.parametrize(
    ("entities", "told"),
    [
        (
            {"PERSON": "generalise"},
            "entities.PERSON: cannot be generalised, only AGE, COORDINATES, .* can; say replace",
        ),
        ({"PERSON": {"generalise": "word"}}, "entities.PERSON: cannot be generalised"),
        (
            {"DATE_OF_BIRTH": {"generalise": "week"}},
            "entities.DATE_OF_BIRTH.generalise: no such level, only year or month or",
        ),
        ({"ZIP_CODE": {"generalize": "area"}}, "ZIP_CODE: no such choice"),
        ({"ZIP_CODE": "generalize"}, "ZIP_CODE: no such choice"),
    ],
)
def test_what_cannot_be_generalised_is_refused(entities: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        PrivacyPolicy.model_validate({"entities": entities})


def test_generalise_alone_means_the_first_level() -> None:
    chosen = PrivacyPolicy(model=None, entities=dict.fromkeys(LEVELS, "generalise"))
    assert {entity: chosen.level(entity) for entity in LEVELS} == {
        entity: next(iter(of)) for entity, of in LEVELS.items()
    }
    assert PrivacyPolicy().level("ZIP_CODE") == "" and PrivacyPolicy().level("DATE_OF_BIRTH") == "year"
