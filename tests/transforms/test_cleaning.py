"""A day's cleaning: what one reading learns the other replaces, and what cannot be cleared is held back."""

from collections.abc import Callable
from datetime import date

import polars as pl
import pytest

from transforms import part_cleaning, surroundings
from transforms.cleaning import DayCleaning, LeakFound
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.kept_shelves import MOST_PARTS, PARTS
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.erasure import Tombs, read_value
from transforms.privacy.policy import PrivacyPolicy
from transforms.privacy.surrogates import Surrogates
from transforms.records import Feedback, Media, Message, Record, Span

DAY = date(2026, 11, 30)
KEY = b"a tenant's key, 32 bytes at least"
Tables = dict[str, pl.DataFrame]


@pytest.fixture
def cleaned() -> Callable[..., Tables]:
    """The tables of a day's records, by rules alone; a leaf of more than 200 characters cannot be searched."""

    def clean(*records: Record, max_quarantined: float = 0.5) -> Tables:
        policy = PrivacyPolicy(model=None, max_leaf_chars=200)
        cleaning = DayCleaning(DAY, lambda: Deidentifier(policy, KEY))
        kept = KeptRecords(Identity(KEY))
        file = kept.start_file("file")
        for record in records:
            kept.add(record, file)
        return cleaning.tables(kept, max_quarantined)

    return clean


def call(trace: str, *said: str, number: int = 0, **fields: object) -> Span:
    """A model call: what was said before it, and its answer last."""
    *prompt, answer = said
    return Span(
        "otlp", "otlp_genai", number, trace * 16, f"{number:016x}", "llm", "chat",
        prompt=[Message("user", text) for text in prompt], output=[Message("assistant", answer)],
        content_state="full", **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def contents(tables: Tables) -> str:
    return "\n".join(tables["messages"]["content"])


def test_what_the_last_span_gives_away_goes_from_the_first_message(cleaned) -> None:
    first = call("a", "Please help Wendeline Okonkwo-Bray today", "Sure.")
    last = call("a", "Which?", "Done.", number=1, attributes={"customer_name": "Wendeline Okonkwo-Bray"})
    assert "Okonkwo" not in contents(cleaned(first, last))
    assert "Okonkwo" in contents(cleaned(first)), "without the last span nothing here tells that it is a name"


def test_what_one_trace_knows_is_found_by_the_audit_in_another(cleaned) -> None:
    knows = call("a", "Hello", "Hi.", attributes={"customer_name": "Wendeline Okonkwo-Bray"})
    says = call("b", "Please help Wendeline Okonkwo-Bray today", "Sure.")
    tables = cleaned(knows, says)
    assert "Okonkwo" not in contents(tables)
    assert tables["messages"].filter(pl.col("content").str.starts_with("Please"))["altered"].to_list() == [True]
    assert tables["rejects"].is_empty()


def test_a_row_that_leaks_one_value_of_another_trace_keeps_words_that_are_only_names_there(cleaned) -> None:
    knows = call("a", "Hello", "Hi.", attributes={"customer_name": "Wendeline Okonkwo-Bray", "first_name": "Sienna"})
    says = call("b", "Please help Wendeline Okonkwo-Bray to paint in Sienna today", "Sure.")
    (said,) = (text for text in contents(cleaned(knows, says)).split("\n") if text.startswith("Please"))
    assert "Okonkwo" not in said and said.endswith(" to paint in Sienna today")


def test_a_trace_that_cannot_be_searched_is_held_back_with_its_reason_and_its_neighbours_are_not(cleaned) -> None:
    verdict = Feedback(2, "a" * 16, "score", score=1.0)
    tables = cleaned(call("a", "shared", "x" * 201), call("b", "shared", "fine", number=1), verdict)
    assert tables["rejects"].select("position", "reason").rows() == [
        (0, "unscannable_too_long"), (2, "unscannable_too_long")
    ]  # fmt: skip
    assert tables["spans"]["trace_id"].to_list() == ["b" * 16]
    assert sorted(tables["messages"]["content"]) == ["fine", "shared"]
    assert tables["feedback"].is_empty()


def test_more_held_back_than_is_allowed_fails_the_day_with_the_counts(cleaned) -> None:
    with pytest.raises(LeakFound, match=r"1 of 2 traces .*allowed: 40%"):
        cleaned(call("a", "x" * 201, "y"), call("b", "fine", "too", number=1), max_quarantined=0.4)


def test_of_two_copies_of_a_span_the_more_complete_one_stays_and_is_flagged(cleaned) -> None:
    pending = call("a", "hello", "", started_ns=1)
    pending.output = []
    ended = call("a", "hello", "done", started_ns=1, ended_ns=2)
    for records in ([pending, ended], [ended, pending]):
        row = cleaned(*records)["spans"].row(0, named=True)
        assert row["ended_at"] is not None and row["flags"] == ["duplicate_merged"]


def test_media_keep_their_type_and_nothing_else_that_an_export_says_of_them(cleaned) -> None:
    span = call("a", "look", "nice")
    span.prompt[0].media = (
        Media("image", "image/png; name=wendeline.png", "data"), Media("image", "wendeline's picture", "more")
    )  # fmt: skip
    tables = cleaned(span)
    media = tables["messages"]["media"].drop_nulls().item()
    assert "wendeline" not in media and '"mime":"image/png"' in media
    assert tables["spans"]["content_state"].item() == "redacted"


def test_a_verdict_that_names_only_a_span_finds_its_trace_today_or_earlier_or_is_counted() -> None:
    known = {"2" * 16: "c" * 32}
    cleaning = DayCleaning(DAY, lambda: Deidentifier(PrivacyPolicy(model=None), KEY), known.get)
    verdicts = [Feedback(n, "", "score", span_id=f"{n}" * 16, score=1.0) for n in (1, 2, 3)]
    records: list[Record] = [*verdicts, call("a", "hello", "done", number=4)]
    records[-1].span_id = "1" * 16  # type: ignore[union-attr]
    kept = KeptRecords(Identity(KEY))
    file = kept.start_file("file")
    for record in records:
        kept.add(record, file)
    tables = cleaning.tables(kept, 0.5)
    judged = dict(tables["feedback"].select("span_id", "trace_id").iter_rows())
    assert judged == {"1" * 16: "a" * 16, "2" * 16: "c" * 32}
    assert tables["rejects"].select("position", "reason").rows() == [(3, "unknown_span")]


def test_of_a_verdict_that_was_changed_the_last_word_stays_whichever_is_read_first(cleaned) -> None:
    span = call("a", "Hello", "Hi.")
    first = Feedback(1, "a" * 16, "score", "f" * 32, score=0.0, created_ns=8)
    last = Feedback(2, "a" * 16, "score", "f" * 32, score=1.0, created_ns=9)
    assert cleaned(span, first, last)["feedback"]["score"].to_list() == [1.0]
    assert cleaned(span, last, first)["feedback"]["score"].to_list() == [1.0]


def test_surroundings_are_found_in_each_span_that_has_them_however_few_are_remembered_and_read_in_one_or_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {"customer_name": "Wendeline Okonkwo-Bray", "plan": "gold"}
    shared: list[Record] = [
        call(trace, "Hi", f"Hello {number}.", number=number, attributes=dict(known), agent="desk")
        for number, trace in enumerate("abab" * 3)
    ]
    alone: list[Record] = [
        call(
            "a", "Hi", "Bye.", number=20, attributes={**known, "step": 1_000_020}, tool_result="wendeline@example.org"
        ),
        call("b", "Hi", "Bye.", number=21, response_id="Ask Wendeline Okonkwo-Bray"),
        call("b", "Hi", "x" * 201, number=22, attributes=dict(known)),
        call("c", "Hi", "Bye.", number=23, attributes={"said": "x" * 201}),
    ]
    records = [*shared[:6], *alone, *shared[6:]]

    def tables(first: int, parts: int = PARTS) -> Tables:
        readings = KeptRecords(Identity(KEY), parts=parts), KeptRecords(Identity(KEY), parts=parts)
        for number, record in enumerate(records):
            into = readings[number >= first]
            into.add(record, into.start_file(f"file {number}"))
        readings[0].absorb(readings[1])
        cleaning = DayCleaning(DAY, lambda: Deidentifier(PrivacyPolicy(model=None, max_leaf_chars=200), KEY))
        made = cleaning.tables(readings[0], 1.0)
        assert all(isinstance(frame, pl.DataFrame) for frame in made.values())
        return made  # type: ignore[return-value]

    whole = tables(len(records))
    assert set(whole["spans"]["trace_id"]) == {"a" * 16} and len(whole["rejects"]) == 9
    assert "Okonkwo" not in str(whole["spans"].rows()) and whole["spans"]["altered"].all()
    found = whole["pii_findings"].filter(pl.col("place") == "spans.attributes")
    assert set(found["row_id"]) == {f"{'a' * 16}:{number:016x}" for number in (0, 2, 4, 6, 8, 10, 20)}
    assert set(found["path"]) == {".0"} and "spans.tool_result" in set(whole["pii_findings"]["place"])

    monkeypatch.setattr(surroundings, "FORGOTTEN_BYTES", 0)
    monkeypatch.setattr(part_cleaning, "RECENT", 1)
    for again in (tables(len(records)), tables(5), tables(9), tables(5, MOST_PARTS)):
        assert all(again[name].equals(frame) for name, frame in whole.items())


@pytest.mark.parametrize("parts", [PARTS, MOST_PARTS])
def test_a_trace_of_somebody_to_be_forgotten_is_erased_and_no_reject_whatever_part_finds_it_first(parts: int) -> None:
    tombs = Tombs(KEY, read_value("jane.roe@mail.test", Tombs(KEY), Surrogates(KEY)).tombstones)
    kept = KeptRecords(Identity(KEY), parts=parts)
    file = kept.start_file("file")
    for number in range(40):
        unread = "jane.roe@mail.test " + "x" * 201  # learning from it fails, so nothing but its own search tells
        span = call("a", "Hi", f"{number}" + "x" * 201, number=number, tool_result=unread)
        span.trace_id = f"{number:032x}"
        kept.add(span, file)
    policy = PrivacyPolicy(model=None, max_leaf_chars=200)
    cleaning = DayCleaning(DAY, lambda: Deidentifier(policy, KEY), tombs=tombs)
    tables = cleaning.tables(kept, 0.0)
    assert len(cleaning.erased) == 40 and all(len(frame) == 0 for frame in tables.values())
