"""A trajectory to read step by step, or a preference pair side by side."""

from __future__ import annotations

import json
from typing import Any

import duckdb
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel

from assets.settings import load_settings
from warehouse.duck import reader
from warehouse.problem import Problem

STYLES = {"system": "dim", "user": "cyan", "assistant": "green", "tool": "yellow"}
SHOWN_CHARACTERS = 2000

BY_ID = """
    SELECT DISTINCT t.trajectory_id
    FROM trajectories AS t LEFT JOIN steps AS s USING (trajectory_id)
    WHERE starts_with(t.trajectory_id, $id) OR starts_with(t.rollout_id, $id)
       OR list_contains(list_transform(t.trace_ids, lambda trace: starts_with(trace, $id)), true)
       OR starts_with(s.span_id, $id)
    ORDER BY 1
"""
MESSAGES = """
    WITH shown AS (
        SELECT step, unnest(list_append(observed, action)) AS message_id,
               generate_subscripts(list_append(observed, action), 1) AS position
        FROM steps WHERE trajectory_id = $id
    )
    SELECT s.step, m.role, m.content, m.tool_calls
    FROM shown AS s
    JOIN (SELECT * FROM messages QUALIFY row_number() OVER (PARTITION BY message_id ORDER BY day DESC) = 1) AS m
    USING (message_id)
    ORDER BY s.step, s.position
"""


def show_any(identifier: str, console: Console) -> None:
    """Print what `identifier` begins. Raises Problem where nothing or too much does."""
    with reader(load_settings().home) as connection:
        found = connection.execute(BY_ID, {"id": identifier}).fetchall()
        pairs = connection.execute(
            "SELECT DISTINCT pair_id FROM preference_pairs WHERE starts_with(pair_id, $id) ORDER BY 1",
            {"id": identifier},
        ).fetchall()
        if len(found) + len(pairs) > 1:
            several = ", ".join(row[0][:16] for row in (*found, *pairs)[:8])
            raise Problem(f"{identifier} is the beginning of several: {several}; give more of the id")
        if found:
            _show_trajectory(connection, found[0][0], console)
        elif pairs:
            _show_pair(connection, pairs[0][0], console)
        else:
            raise Problem(f"no trajectory, trace, span or pair begins with {identifier}")


def _show_trajectory(connection: duckdb.DuckDBPyConnection, trajectory: str, console: Console) -> None:
    columns = "source, agent, task, reward, gated, broken_rules, termination, steps, trainable, flags"
    row = connection.execute(
        f"SELECT {columns} FROM curated_trajectories WHERE trajectory_id = $id", {"id": trajectory}
    ).fetchall()[0]
    facts = [f"[bold]{name}[/bold] {escape(str(value))}" for name, value in zip(columns.split(", "), row, strict=True)]
    console.print(Panel("  ".join(facts), title=trajectory))
    last = -1
    for step, role, content, calls in connection.execute(MESSAGES, {"id": trajectory}).fetchall():
        if step != last:
            console.rule(f"step {step}", align="left", style="dim")
            last = step
        _print_message(console, role, content, json.loads(calls or "[]"))


def _show_pair(connection: duckdb.DuckDBPyConnection, pair: str, console: Console) -> None:
    columns = "release, rule, split, chosen_reward, rejected_reward, prompt, chosen, rejected"
    row = connection.execute(
        f"SELECT {columns} FROM preference_pairs JOIN releases USING (release) WHERE pair_id = $id"
        " ORDER BY through DESC, len(release) DESC, release DESC LIMIT 1",  # each night's release holds it again
        {"id": pair},
    ).fetchall()[0]
    facts = dict(zip(columns.split(", "), row, strict=True))
    for part in ("prompt", "chosen", "rejected"):
        console.rule(part, align="left")
        for message in facts.pop(part):
            calls = [call["function"] for call in message["tool_calls"] or []]
            _print_message(console, message["role"], message["content"] or "", calls)
    console.print(Panel("  ".join(f"[bold]{name}[/bold] {value}" for name, value in facts.items()), title=pair))


def _print_message(console: Console, role: str, content: str, calls: list[dict[str, Any]]) -> None:
    style = STYLES.get(role, "")
    cut = content if len(content) <= SHOWN_CHARACTERS else content[:SHOWN_CHARACTERS] + " …"
    if cut:
        console.print(f"[{style}]{role:>9}[/{style}]  {escape(cut)}")
    for call in calls:
        console.print(f"[{style}]{role:>9}[/{style}]  → {escape(call['name'])}({escape(call['arguments'])})")
