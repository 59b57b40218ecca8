"""Cleaning fails closed, and the audit sees what is left."""

from __future__ import annotations

import time

import pytest

from transforms.privacy import recognisers
from transforms.privacy.deidentifier import Deidentifier, Leak, Unscannable
from transforms.privacy.policy import PrivacyPolicy, UserPattern, UserRecogniser

KEY = b"a tenant's key, 32 bytes at least"


def test_a_leaf_over_the_limit_is_refused() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None, max_leaf_chars=100), KEY)
    for act in (lambda: cleaner.learn("t", {"a": ["x " * 60]}), lambda: cleaner.clean(["x " * 60], [])):
        with pytest.raises(Unscannable) as problem:
            act()
        assert problem.value.reason == "too_long" and "x x" not in str(problem.value)


def test_a_pattern_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognisers, "MATCH_SECONDS", 0.05)
    slow = UserRecogniser(
        name="slow", supported_entity="SLOW", patterns=(UserPattern(name="slow", regex=r"(?:a|aa)+b\d", score=0.9),)
    )
    cleaner = Deidentifier(PrivacyPolicy(model=None, recognisers=(slow,)), KEY)
    with pytest.raises(Unscannable) as problem:
        cleaner.clean("jane@mail.test " + "a" * 60, [])
    assert problem.value.reason == "timeout"
    assert problem.value.__cause__ is None and problem.value.__suppress_context__


def test_text_that_no_encoding_holds_is_refused(rules: Deidentifier) -> None:
    with pytest.raises(Unscannable) as problem:
        rules.clean({"a": "half \ud83d of a pair"}, [])
    assert problem.value.reason == "undecodable"


def test_keys_that_would_become_one_are_refused(rules: Deidentifier) -> None:
    with pytest.raises(Unscannable) as problem:
        rules.clean({"1990-04-05 jane@mail.test": 1, "1990-04-05 jane@Mail.test": 2}, [])
    assert problem.value.reason == "key_collision"


def test_very_deep_values_end_cleanly(rules: Deidentifier) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(Unscannable) as problem:
        rules.clean(deep, [])
    assert problem.value.reason == "too_deep"
    assert rules.clean("[" * 50_000 + "]" * 50_000, []).altered is False


@pytest.mark.parametrize(
    "unit",
    [
        "a.",
        "1.",
        "1-",
        "+1",
        "::",
        '{"',
        "@",
        "password:",
        "://a:",
        "Mary Ann ",
        "김철수님 ",
        "-----BEGIN PRIVATE KEY-----",
        "암호=",
        "pwd=",
        "secret=",
        "cookie=",
        "login1",
        "sk-",
        "변호사 ",
        "이름은 ",
        "passport 123456789 ",
        "[",
        "<",
    ],
)
def test_no_twenty_kilobytes_take_long(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    started = time.process_time()
    cleaner.learn("t", text)
    cleaner.clean(text, ["t"])
    assert time.process_time() - started < 4.0


def test_the_audit_finds_what_is_known_and_what_is_new_and_says_no_more() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    value = {"name": {"first_name": "Mia", "last_name": "Li-Smith"}, "password": "tr0ub4dor", "zip": "78750"}
    cleaner.learn("t", value)
    assert cleaner.audit([("ok", cleaner.clean(value, ["t"]).value)]) == []
    leaks = cleaner.audit(
        [("a", ["Mia Li-Smith"]), ("b", '{"x": "my tr0ub4dor"}'), ("c", "new@mail.test"), ("d", "78750 Mia")]
    )
    assert leaks == [Leak("a", "PERSON"), Leak("b", "SECRET"), Leak("c", "EMAIL_ADDRESS")]


def test_findings_say_where_by_numbers_only(rules: Deidentifier) -> None:
    cleaned = rules.clean({"secret_plan": ["ok", '{"jane@mail.test": "bob@mail.test"}']}, [])
    assert [finding.path for finding in cleaned.findings] == [".0.1>.0k", ".0.1>.0"]
    assert "jane" not in repr(cleaned.findings)


def test_what_overlaps_leave_of_an_address_is_replaced_too() -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    assert cleaner.clean("rediss://default:tr0ub4dor@cache-1.internal:6380/0", []).value.endswith(
        "@cache-1.internal:6380/0"
    )
    assert (
        "mail" not in cleaner.clean({"password": "tr0ub4dor"} | {"email": "Key=tr0ub4dor@mail.test"}, []).value["email"]
    )
