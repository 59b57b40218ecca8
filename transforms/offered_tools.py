"""Tools that an agent's span offers, for calls that do not say what they were offered: Strands tells them so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from transforms.tokens import drop_tokens

TOOLS_OF_AGENT = "tools_of_agent"
"""Flag of a call whose tools are those of the agent's span around it."""

Row = dict[str, Any]
Key = tuple[str, str]
"""Trace and span."""


def inherit_tools(rows: Iterable[Row]) -> None:
    """Give calls the tools of the nearest agent around them, where no call of that agent tells any.

    A call that says nothing among calls that do was offered none. The rows (SPANS) are those of whole traces; they are
    changed.
    """
    by_id = {(row["trace_id"], row["span_id"]): row for row in rows}
    agents = {key for key, row in by_id.items() if row["kind"] == "agent" and row["tools"]}
    if not agents:
        return
    calls: dict[Key, list[Row]] = defaultdict(list)
    for row in by_id.values():
        if row["kind"] == "llm" and (agent := _agent(row, by_id)) in agents:
            calls[agent].append(row)
    for agent, made in calls.items():
        if not any(row["tools"] for row in made):
            for row in made:
                _give(row, by_id[agent])


def _agent(row: Row, by_id: dict[Key, Row]) -> Key | None:
    """The nearest agent above a span."""
    seen = {row["span_id"]}
    above: Row | None = row
    while above is not None and above["parent_span_id"] not in seen:
        seen.add(above["parent_span_id"])
        key = (row["trace_id"], above["parent_span_id"])
        above = by_id.get(key)
        if above is not None and above["kind"] == "agent":
            return key
    return None


def _give(row: Row, agent: Row) -> None:
    row["tools"] = agent["tools"]
    row["flags"] = sorted({*row["flags"], TOOLS_OF_AGENT})
    if agent["altered"]:  # perhaps in the tools
        row["altered"] = True
        drop_tokens(row)
