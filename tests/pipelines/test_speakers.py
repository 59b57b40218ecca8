"""The name beside a message, through a real day: users lose theirs, functions and agents keep theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import polars as pl
import pytest
from canaries import leaks
from mills import day_of

from assets.mill import Mill
from warehouse.schemas import MESSAGES

DAY = date(2026, 11, 30)
PEOPLE = ["mia_li", "Mia", "민수", "Zoltan Quillfeather", "jdoe4711", "Summer Rain", "Dahlia Peregrine"]
PARTS = ["planner", "CodeReviewer", "user_proxy", "customer_1", "Travel Agent", "Code Reviewer"]
TOOL, AGENT = "get_may_report", "Concierge"


def chat(name: str, number: int) -> dict[str, Any]:
    calls = [{"id": "c1", "type": "function", "function": {"name": TOOL, "arguments": "{}"}}]
    return {"messages": [
        {"role": "user", "name": name, "content": f"Where is blue bag no. {number}?"},
        {"role": "assistant", "name": AGENT, "content": "", "tool_calls": calls},
        {"role": "tool", "name": TOOL, "tool_call_id": "c1", "content": "on its way"},
        {"role": "assistant", "name": AGENT, "content": f"On its way, {name}."},
    ]}  # fmt: skip


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mill]:
    export = "\n".join(json.dumps(chat(name, number), ensure_ascii=False) for number, name in enumerate(PEOPLE + PARTS))
    with day_of(tmp_path_factory.mktemp("speakers"), export, DAY) as mill:
        yield mill


def names(mill: Mill, role: str) -> set[str]:
    messages = mill.lake.scan(MESSAGES, only=DAY).filter(pl.col("role") == role).collect()
    return set(messages["name"].drop_nulls())


def test_the_name_of_a_user_is_nowhere_in_the_lake(mill: Mill) -> None:
    """In another's words, too, but for two syllables that may be any word."""
    assert leaks(mill.home.root, [name for name in PEOPLE if len(name) > 3]) == {}
    said = mill.lake.scan(MESSAGES, only=DAY).collect()
    assert not said.filter(pl.col("content").str.contains("Mia")).height


def test_users_have_surrogates_and_parts_that_agents_play_stay(mill: Mill) -> None:
    seen = names(mill, "user")
    assert set(PARTS) <= seen
    assert len(seen) == len(PARTS) + len(PEOPLE)
    assert not seen & set(PEOPLE)


def test_functions_and_agents_keep_their_names(mill: Mill) -> None:
    assert names(mill, "tool") == {TOOL}
    assert names(mill, "assistant") == {AGENT}
