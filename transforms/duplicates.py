"""One span out of several records of it: retries, overlapping exports, halves that were sent apart."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

# What a record says where it knows nothing.
SILENT: tuple[Any, ...] = (None, "", "{}", "[]", [], "unknown", "other", "absent", "pending")
LOGGED, PARTIAL = "from_logs", "partial"
HALVES = {PARTIAL, LOGGED}  # records that never claimed to be the whole span
CONTENT = ("prompt", "output", "tool_arguments", "tool_result")


def merged(first: Row, second: Row) -> Row:
    """One row of two of the same span, `second` read later: the fuller one, completed by the other.

    Fuller is the one that ended, then the one with more messages, then the later one. Events of one call that were
    logged apart are put behind each other. Records that are whole and not the same are marked: `duplicate_merged`,
    and `duplicate_conflict` where both hold content and it differs.
    """
    fuller, other = (first, second) if _fullness(first) > _fullness(second) else (second, first)
    row = {name: value if _says(value) else other[name] for name, value in fuller.items()}
    if LOGGED in first["flags"] and LOGGED in second["flags"]:
        row |= {name: first[name] + second[name] for name in ("prompt", "output")}
    flags = {*fuller["flags"], *other["flags"]}
    whole = not HALVES & {*first["flags"]} or not HALVES & {*second["flags"]} or row["ended_at"] is not None
    if whole:
        flags.discard(PARTIAL)
    if not HALVES & {*first["flags"], *second["flags"]}:
        flags.add("duplicate_conflict" if _conflict(first, second) else "duplicate_merged")
    return row | {"flags": sorted(flags), "altered": first["altered"] or second["altered"]}


def _fullness(row: Row) -> tuple[bool, int, int]:
    return row["ended_at"] is not None, len(row["output"]), len(row["prompt"])


def _says(value: Any) -> bool:
    return all(value != silent for silent in SILENT)


def _conflict(first: Row, second: Row) -> bool:
    both = [(first[name], second[name]) for name in CONTENT if _says(first[name]) and _says(second[name])]
    return any(one != other for one, other in both)
