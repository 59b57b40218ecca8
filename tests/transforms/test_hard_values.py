"""A day's records become clean tables; what cannot be cleared is held back, and takes no neighbour with it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import polars as pl
import pytest

from transforms.cleaning import DayCleaning
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.records import Feedback, Message, Span, ToolCall

KEY = b"a tenant's key, 32 bytes at least"
FINE, ODD = "a" * 32, "b" * 32


def span(trace: str, number: int, *prompt: str, **fields: Any) -> Span:
    made = Span("otlp", "otlp_genai", number, trace, f"{number:016x}", "llm", "chat")
    made.prompt, made.output = [Message("user", text) for text in prompt], [Message("assistant", f"done {number}")]
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def cleaned(records: Sequence[Span | Feedback], **policy: Any) -> dict[str, pl.DataFrame]:
    cleaner = Deidentifier(PrivacyPolicy(model=None, **policy), KEY)
    cleaning = DayCleaning(date(2026, 11, 30), lambda: cleaner)
    kept = KeptRecords(Identity(KEY))
    file = kept.start_file("file")
    for record in records:
        kept.add(record, file)
    return cleaning.tables(kept, max_quarantined=0.5)


@pytest.mark.parametrize("place", ["attributes", "parameters", "tools"])
def test_keys_that_become_one_hold_back_their_trace_alone(place: str) -> None:
    keys: Any = {"jane@mail.test": 1, "john@mail.test": 2}
    odd = {place: [keys] if place == "tools" else keys}
    records = [span(FINE, 1, "hello"), span(ODD, 2, "hello"), span(ODD, 3, "hello", "again", **odd)]
    tables = cleaned(records, entities={"EMAIL_ADDRESS": "drop"})
    assert set(tables["spans"]["trace_id"]) == {FINE}
    assert set(tables["messages"]["content"]) == {"hello", "done 1"}
    refused = tables["rejects"].select("position", "reason").rows()
    assert refused == [(2, "unscannable_key_collision"), (3, "unscannable_key_collision")]


def test_a_text_that_grows_beyond_the_limit_holds_back_its_trace_alone() -> None:
    tables = cleaned([span(FINE, 1, "hello"), span(ODD, 2, "a@b.com " * 12)], max_leaf_chars=100)
    assert set(tables["spans"]["trace_id"]) == {FINE}
    assert tables["rejects"]["reason"].to_list() == ["unscannable_too_long"]


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "9" * 400 + ".5", "NaN", "-Infinity"])
def test_numbers_beyond_all_bounds_stay_as_they_are_written(number: str) -> None:
    call = ToolCall("c", "look_up", f'{{"a": {number}, "email": "jane@mail.test", "b": 2}}')
    made = span(FINE, 1, "hello", output=[Message("assistant", tool_calls=(call,))])
    (text,) = cleaned([made])["messages"]["tool_calls"].drop_nulls()
    assert f'{{\\"a\\": {number}, \\"email\\": ' in text and "jane" not in text
    assert text.endswith('\\"b\\": 2}"}]')


def test_arguments_of_any_depth_stay_as_they_are_written() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    made = span(FINE, 1, "hello", output=[Message("assistant", tool_calls=(ToolCall("c", "look_up", deep),))])
    assert deep in cleaned([made])["messages"]["tool_calls"].drop_nulls()[0]


def test_ids_orders_and_counts_say_nothing() -> None:
    """They are copied, not cleaned: what they may hold beside what they should must not pass."""
    card, iban = "4111111111111111", "be68539007547034"
    fine = "20261130T010000000000Z5eed5eed-5eed-5eed-5eed-5eed5eed5eed"
    odd = span(card, 1, "hello", span_id=iban, sequence=f"{fine}.jane@mail.test.{card}.7", trial=int(card))
    odd.input_tokens = odd.output_tokens = odd.cache_read_tokens = odd.reasoning_tokens = int(card)
    verdict = Feedback(1, card, "reward", feedback_id=card, span_id=iban, score=float(card))
    tables = cleaned([odd, verdict, span(FINE, 2, "hello", sequence=fine, input_tokens=7)])
    for table in tables.values():
        text = str(table.to_dicts())
        assert not any(value in text for value in (card, iban, "jane"))
    (plain,) = tables["spans"].filter(pl.col("trace_id") == FINE).to_dicts()
    assert (plain["sequence"], plain["input_tokens"], plain["span_id"]) == (fine, 7, "0" * 15 + "2")
    (hidden,) = tables["spans"].filter(pl.col("trace_id") != FINE).to_dicts()
    assert hidden["sequence"].startswith(fine + ".") and hidden["sequence"].endswith(".7")
    assert tables["feedback"]["trace_id"].to_list() == [hidden["trace_id"]]
    assert tables["feedback"]["span_id"].to_list() == [hidden["span_id"]]
