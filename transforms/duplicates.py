"""One span out of several records of it: retries, overlapping exports, halves that were sent apart."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
Part = tuple[int | None, tuple[bytes, ...], tuple[bytes, ...]]
"""When one reading of a call's logs began, and what it told of the prompt and the output."""

# What a record says where it knows nothing.
SILENT: tuple[Any, ...] = (None, "", "{}", "[]", [], "unknown", "other", "absent", "pending")
LOGGED, PARTIAL = "from_logs", "partial"
HALVES = {PARTIAL, LOGGED}  # records that never claimed to be the whole span
CONTENT = ("prompt", "output", "tool_arguments", "tool_result")


def merged(first: Row, second: Row) -> Row:
    """One row of two of the same span, `second` read later: the fuller one, completed by the other.

    Fuller is the one that ended, then the one with more messages, then the later one. Events of one call that were
    logged apart are put behind each other in the order of their times, those that came twice once. Records that are
    whole and not the same are marked: `duplicate_merged`, and `duplicate_conflict` where both hold content and it
    differs.
    """
    fuller, other = (first, second) if _fullness(first) > _fullness(second) else (second, first)
    row = {name: value if _says(value) else other[name] for name, value in fuller.items()}
    if LOGGED in first["flags"] or LOGGED in second["flags"]:
        row |= _put_together(first, second, row)
    flags = {*fuller["flags"], *other["flags"]}
    whole = not HALVES & {*first["flags"]} or not HALVES & {*second["flags"]} or row["ended_at"] is not None
    if whole:
        flags.discard(PARTIAL)
    if not HALVES & {*first["flags"], *second["flags"]}:
        flags.add("duplicate_conflict" if _conflict(first, second) else "duplicate_merged")
    return row | {"flags": sorted(flags), "altered": first["altered"] or second["altered"]}


def _put_together(first: Row, second: Row, row: Row) -> Row:
    """What events of one call tell that were read apart, where its span does not tell it.

    The row keeps each reading (`logged`) for those that still come.
    """
    told = sorted(dict.fromkeys(_logged(first) + _logged(second)), key=lambda part: part[0] or 0)
    spoken = _spoken(first) or _spoken(second)
    made: Row = {"logged": told, "spoken": spoken, "alone": _alone(first) and _alone(second)}
    if made["alone"]:
        made["started_at"] = min((time for time, *_ in told if time is not None), default=None)
    if not spoken:
        made["prompt"] = [message for _, prompt, _ in told for message in prompt]
        made["output"] = [message for _, _, output in told for message in output]
    elif _spoken(first) != _spoken(second):
        own = first if _spoken(first) else second
        made |= {name: own[name] or row[name] for name in ("prompt", "output")}
    return made


def _logged(row: Row) -> list[Part]:
    alone = [(row["started_at"], tuple(row["prompt"]), tuple(row["output"]))] if LOGGED in row["flags"] else []
    logged: list[Part] = row.get("logged", alone)
    return logged


def _alone(row: Row) -> bool:
    """Whether logs alone tell of a span so far."""
    return bool(row.get("alone", LOGGED in row["flags"]))


def _spoken(row: Row) -> bool:
    """Whether the span itself tells its messages."""
    return bool(row.get("spoken", LOGGED not in row["flags"] and (row["prompt"] or row["output"])))


def _fullness(row: Row) -> tuple[bool, int, int]:
    return row["ended_at"] is not None, len(row["output"]), len(row["prompt"])


def _says(value: Any) -> bool:
    return all(value != silent for silent in SILENT)


def _conflict(first: Row, second: Row) -> bool:
    both = [(first[name], second[name]) for name in CONTENT if _says(first[name]) and _says(second[name])]
    return any(one != other for one, other in both)
