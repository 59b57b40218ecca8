"""One span out of several records of it: retries, overlapping exports, halves that were sent apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
# What a record says where it knows nothing.
SILENT: tuple[Any, ...] = (None, "", "{}", "[]", [], "unknown", "other", "absent", "pending")
LOGGED, PARTIAL = "from_logs", "partial"
HALVES = {PARTIAL, LOGGED}  # records that never claimed to be the whole span
CONTENT = ("prompt", "output", "tool_arguments", "tool_result")


def merged(rows: Sequence[Row]) -> Row:
    """One row of all records of a span, in the order in which they were read: the fullest, completed by the others.

    Fuller is one that ended, then one with more messages, then one that was read later. Events of one call that were
    logged apart are put behind each other in the order of their times, those that came twice once. Several records that
    are whole are marked: `duplicate_merged`, or `duplicate_conflict` where they hold content and it differs.
    """
    if len(rows) == 1:
        return rows[0]
    fullest = [rows[at] for at in sorted(range(len(rows)), key=lambda at: (_fullness(rows[at]), at), reverse=True)]
    row = {name: _first_said(name, fullest) for name in fullest[0]}
    if any(LOGGED in one["flags"] for one in rows):
        row |= _put_together(rows, fullest)
    flags = {flag for one in rows for flag in one["flags"]}
    whole = [one for one in rows if HALVES.isdisjoint(one["flags"])]
    if whole or row["ended_at"] is not None:
        flags.discard(PARTIAL)
    if len(whole) > 1:
        flags.add("duplicate_conflict" if any(_differs(name, whole) for name in CONTENT) else "duplicate_merged")
    return row | {"flags": sorted(flags), "altered": any(one["altered"] for one in rows)}


def _put_together(rows: Sequence[Row], fullest: Sequence[Row]) -> Row:
    """What events of one call tell that were read apart, where its span does not tell it."""
    logged = [one for one in rows if LOGGED in one["flags"]]
    parts = [(one["started_at"], tuple(one["prompt"]), tuple(one["output"])) for one in logged]
    told = sorted(dict.fromkeys(parts), key=lambda part: part[0] or 0)
    spoken = [one for one in fullest if LOGGED not in one["flags"] and (one["prompt"] or one["output"])]
    made: Row = {}
    if len(logged) == len(rows):
        made["started_at"] = min((time for time, *_ in told if time is not None), default=None)
    if not spoken:
        made["prompt"] = [message for _, prompt, _ in told for message in prompt]
        made["output"] = [message for _, _, output in told for message in output]
    else:
        made |= {name: _first_said(name, [*spoken, *fullest]) for name in ("prompt", "output")}
    return made


def _fullness(row: Row) -> tuple[bool, int, int]:
    return row["ended_at"] is not None, len(row["output"]), len(row["prompt"])


def _first_said(name: str, rows: Sequence[Row]) -> Any:
    """What the first row says that says something of a column."""
    return next((row[name] for row in rows if _says(row[name])), rows[-1][name])


def _says(value: Any) -> bool:
    return all(value != silent for silent in SILENT)


def _differs(name: str, rows: Sequence[Row]) -> bool:
    """Whether rows that say something of a column say different things."""
    said = [row[name] for row in rows if _says(row[name])]
    return any(one != said[0] for one in said[1:])
