"""Token ids are stored for calls that cleaning left as they were, and for no other."""

from __future__ import annotations

import base64
import json
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.cleaning import DayCleaning
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.records import Message, Span, ToolCall
from transforms.tokens import prompt_token_ids, without_tokens
from warehouse.schemas import SPANS

KEY = b"a tenant's key, 32 bytes at least"
TRACE = "a" * 32
IDS = st.lists(st.integers(0, 3), min_size=1, max_size=6)


def packed(numbers: list[Any], kind: str = "<i4") -> str:
    return base64.b64encode(np.array(numbers, kind).tobytes()).decode()


def span(number: int, prompt: list[Message], said: str, ids: tuple[list[int], list[int]], **fields: Any) -> Span:
    made = Span("otlp", "otlp_genai", number, TRACE, f"{number:016x}", "llm", "chat", started_ns=number)
    made.prompt, made.output, made.status, made.content_state = prompt, [Message("assistant", said)], "ok", "full"
    made.prompt_token_ids, made.output_token_ids = map(packed, ids)
    made.output_logprobs = packed([-0.5] * len(ids[1]), "<f8")
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def cleaned(*spans: Span) -> pl.DataFrame:
    kept = KeptRecords(Identity(KEY))
    file = kept.start_file("file")
    for one in spans:
        kept.add(one, file)
    cleaning = DayCleaning(date(2026, 11, 30), lambda: Deidentifier(PrivacyPolicy(model=None), KEY))
    tables = cleaning.tables(kept, max_quarantined=0.5)["spans"]
    assert isinstance(tables, pl.DataFrame)
    return SPANS.enforce(tables).sort("position")


HELLO, MAIL = Message("user", "hello"), Message("user", "write to jane.doe@mail.test")


def test_a_call_that_was_left_as_it_was_keeps_its_tokens() -> None:
    (row,) = cleaned(span(1, [HELLO], "yes", ([1, 2], [3, 4]))).to_dicts()
    assert (row["token_state"], row["altered"], row["prompt_tokens_shared"]) == ("kept", False, 0)
    assert (row["prompt_token_ids"], row["output_token_ids"], row["output_logprobs"]) == ([1, 2], [3, 4], [-0.5, -0.5])


def test_log_probabilities_without_ids_say_so() -> None:
    (row,) = cleaned(span(1, [HELLO], "yes", ([], []), output_logprobs=packed([-1.0], "<f8"))).to_dicts()
    assert (row["token_state"], row["output_token_ids"], row["output_logprobs"]) == ("logprobs", None, [-1.0])


@pytest.mark.parametrize(
    "personal",
    [
        {"prompt": [MAIL]},
        {"prompt": [HELLO, MAIL, Message("assistant", "done"), HELLO]},
        {"output": [Message("assistant", "it is jane.doe@mail.test")]},
        {"output": [Message("assistant", tool_calls=(ToolCall("c", "mail", '{"to": "jane.doe@mail.test"}'),))]},
        {"tools": [{"type": "function", "function": {"name": "mail", "description": "as jane.doe@mail.test"}}]},
    ],
)
def test_a_call_in_which_anything_was_replaced_keeps_none(personal: dict[str, Any]) -> None:
    second = span(2, [HELLO], "yes", ([1, 2, 3], [4]))
    for name, value in personal.items():
        setattr(second, name, value)
    before, row = cleaned(span(1, [HELLO], "yes", ([1, 2], [3, 4])), second).to_dicts()
    assert before["token_state"] == "kept"
    assert (row["token_state"], row["altered"]) == ("altered", True)
    assert (row["prompt_token_ids"], row["output_token_ids"], row["output_logprobs"]) == (None, None, None)


def test_what_a_later_call_gives_away_takes_the_tokens_of_an_earlier_one() -> None:
    told = [Message("user", "I am Jane Marie Doe")]
    first = span(1, told, "yes", ([1, 2], [3, 4]))
    later = span(2, [Message("user", '{"full_name": "Jane Marie Doe"}')], "yes", ([1], [2]))
    assert set(cleaned(first, later)["token_state"]) == {"altered"}


def test_metadata_that_was_replaced_takes_no_tokens() -> None:
    (row,) = cleaned(span(1, [HELLO], "yes", ([1], [2]), attributes={"user": "jane.doe@mail.test"})).to_dicts()
    assert (row["token_state"], row["altered"]) == ("kept", True)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"content_state": "truncated"}, "unverified"),
        ({"content_state": "redacted"}, "unverified"),
        ({"output_token_ids": "", "output_logprobs": "", "flags": ["tokens_unverified"]}, "unverified"),
        ({"output_token_ids": "", "output_logprobs": ""}, "absent"),
    ],
)
def test_a_call_without_its_whole_text_keeps_none(fields: dict[str, Any], state: str) -> None:
    (row,) = cleaned(span(1, [HELLO], "yes", ([1], [2]), **fields)).to_dicts()
    assert (row["token_state"], row["prompt_token_ids"], row["output_token_ids"]) == (state, None, None)


def test_a_prompt_that_goes_on_stores_only_new_ids() -> None:
    first = span(1, [HELLO], "yes", ([1, 2], [3, 4]))
    second = span(2, [HELLO, Message("assistant", "yes"), Message("user", "and?")], "no", ([1, 2, 3, 4, 5], [6]))
    rows = cleaned(first, second)
    assert rows["prompt_token_ids"].to_list() == [[1, 2], [5]]
    assert rows["prompt_tokens_shared"].to_list() == [0, 4]
    assert list(prompt_token_ids(rows).values()) == [[1, 2], [1, 2, 3, 4, 5]]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(IDS, IDS, st.integers(0, 3)), min_size=1, max_size=8))
def test_every_prompt_comes_back_from_its_base_and_what_is_new(calls: list[tuple[list[int], list[int], int]]) -> None:
    spans, history = [], [HELLO]
    for number, (prompt, output, kind) in enumerate(calls):
        spans.append(span(number + 1, list(history), f"yes {number}", (prompt, output)))
        if kind:
            history += [Message("assistant", f"yes {number}"), Message("user", "go on")][:kind]
        if kind == 3:
            spans[-1].output_token_ids = ""
    rows = cleaned(*spans)
    told = prompt_token_ids(rows)
    wanted = {f"{n + 1:016x}": prompt for n, (prompt, _, kind) in enumerate(calls) if kind != 3}
    assert {span_id: ids for (_, span_id), ids in told.items()} == wanted


def test_metadata_that_lists_tokens_is_no_metadata() -> None:
    listed: dict[str, Any] = {
        "prompt_token_ids": [1, 2], "llm.hosted_vllm.choices": '[{"token_ids": [1, 2]}]', "return_token_ids": True,
        "logprobs": True, "response": {"choices": [{"logprobs": {"content": [{"token": "a"}]}, "index": 0}]},
        "completionTokenIds": "[1, 2]", "note": "token_ids are off",
    }  # fmt: skip
    left = {"return_token_ids": True, "logprobs": True, "response": {"choices": [{"index": 0}]},
            "note": "token_ids are off"}  # fmt: skip
    assert without_tokens(listed) == left
    (row,) = cleaned(span(1, [HELLO], "yes", ([], []), output_logprobs="", attributes=listed)).to_dicts()
    assert json.loads(row["attributes"]) == left
