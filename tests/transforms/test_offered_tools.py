"""Calls that do not say what they were offered have the tools of the agent around them."""

from __future__ import annotations

import io
import json
from datetime import date
from typing import Any

import pytest

from transforms.cleaning import DayCleaning
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.offered_tools import TOOLS_OF_AGENT
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.readers.exports import Tally, read_export
from transforms.records import Reject

KEY = b"a tenant's key, 32 bytes at least"
STRANDS = {"name": "look", "description": "Look up.", "inputSchema": {"json": {"type": "object"}}, "outputSchema": None}
LOOK = {"type": "function",
        "function": {"name": "look", "description": "Look up.", "parameters": {"type": "object"}}}  # fmt: skip


def span(name: str, parent: str, operation: str, **said: Any) -> dict[str, Any]:
    told = {"gen_ai.operation.name": operation, **{key.replace("__", "."): value for key, value in said.items()}}
    attributes = [{"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}
                  for key, value in told.items()]  # fmt: skip
    return {"traceId": "a" * 32, "spanId": name * 16, "parentSpanId": parent * 16, "name": operation,
            "startTimeUnixNano": str(int(name, 16)), "endTimeUnixNano": "99", "attributes": attributes}  # fmt: skip


def call(name: str, parent: str, **said: Any) -> dict[str, Any]:
    asked, answered = ([{"role": role, "parts": [{"type": "text", "content": text}]}]
                       for role, text in (("user", "hi"), ("assistant", f"yes {name}")))  # fmt: skip
    return span(name, parent, "chat", gen_ai__input__messages=asked, gen_ai__output__messages=answered, **said)


def offered(*spans: dict[str, Any]) -> dict[str, tuple[list[Any] | None, bool]]:
    """Tools of each span in the lake, and whether they are said to be the agent's."""
    lines = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]})
    kept = KeptRecords(Identity(KEY))
    file = kept.start_file("file")
    for record in read_export(io.BytesIO(lines.encode()), Tally()):
        assert not isinstance(record, Reject)
        kept.add(record, file)
    cleaning = DayCleaning(date(2026, 11, 30), lambda: Deidentifier(PrivacyPolicy(model=None), KEY))
    rows = cleaning.tables(kept, max_quarantined=0.5)["spans"].to_dicts()  # type: ignore[union-attr]
    return {row["span_id"][0]: (json.loads(row["tools"]) if row["tools"] else None, TOOLS_OF_AGENT in row["flags"])
            for row in rows}  # fmt: skip


def test_calls_below_an_agent_that_offers_tools_have_them() -> None:
    told = offered(
        call("3", "2"), span("2", "1", "execute_event_loop_cycle"), call("4", "1"),
        span("1", "", "invoke_agent", gen_ai__tool__definitions=[STRANDS]), call("5", ""),
    )  # fmt: skip
    assert told["3"] == told["4"] == ([LOOK], True)
    assert told["1"] == ([LOOK], False)
    assert told["2"] == told["5"] == (None, False)


@pytest.mark.parametrize("own", [[LOOK], [{"name": "other"}]])
def test_where_calls_tell_their_tools_one_that_tells_none_was_offered_none(own: list[Any]) -> None:
    told = offered(
        span("1", "", "invoke_agent", gen_ai__tool__definitions=[STRANDS]),
        call("2", "1", gen_ai__tool__definitions=own), call("3", "1"),
    )  # fmt: skip
    assert told["3"] == (None, False)
    assert told["2"][0] is not None and not told["2"][1]


def test_a_sub_agent_that_offers_nothing_offers_nothing() -> None:
    told = offered(
        span("1", "", "invoke_agent", gen_ai__tool__definitions=[STRANDS]), span("2", "1", "invoke_agent"),
        call("3", "2"), call("4", "1"),
    )  # fmt: skip
    assert (told["3"], told["4"]) == ((None, False), ([LOOK], True))


def test_parents_in_a_circle_offer_nothing() -> None:
    told = offered(call("3", "2"), span("2", "4", "other"), span("4", "2", "other"),
                   span("1", "", "invoke_agent", gen_ai__tool__definitions=[STRANDS]))  # fmt: skip
    assert told["3"] == (None, False)
