"""Whether two queries give the same rows: execution match, on databases that nobody can write."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from transforms.rewards.code_checks import Ran
from transforms.rewards.sandbox import Command, Limits, Outcome, run_isolated
from transforms.rewards.text_checks import fenced
from transforms.rewards.verifier_spec import RUNS, Sql

TOLERANCE = 1e-6
MOST_ROWS = 50_000
GREEDY = 400
"""Rows alike but for their numbers up to which each is tried with each."""

RUNNER = """
import json, sys
kind, path, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
query = sys.stdin.read()
if kind == "sqlite":
    import sqlite3
    connection = sqlite3.connect("file:" + path + "?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA query_only = 1")
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
else:
    sys.path.insert(0, "/packages")
    import duckdb
    settings = {"threads": "1", "enable_external_access": "false", "lock_configuration": "true"}
    connection = duckdb.connect(path, read_only=True, config=settings)
def plain(value):
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if type(value).__name__ == "Decimal":
        return float(value)
    return value.hex() if isinstance(value, bytes) else str(value)
try:
    rows = connection.execute(query).fetchmany(most + 1)
except Exception as error:
    print(json.dumps({"failed": type(error).__name__}))
else:
    print(json.dumps({"rows": [[plain(value) for value in row] for row in rows]}))
"""

Rows = Sequence[Sequence[Any]]


def same_rows(check: Sql, text: str, reference: object) -> Ran:
    """Run the query in `text` and the reference on every database: 1 where all give equal rows.

    A query that fails or takes too long is 0; where the reference does, the verdict is an error.
    """
    if not isinstance(reference, str):
        return Ran("error", seen="the reference is no query")
    query = fenced(text, ("sql", "sqlite", "duckdb")).strip()
    ordered = orders(reference) if check.ordered is None else check.ordered
    values: list[float] = []
    for _ in range(RUNS):
        held = True
        for database in check.databases:
            wanted = _rows(Path(database), reference, check.limits)
            given = _rows(Path(database), query, check.limits)
            if "no_sandbox" in (wanted, given):
                return Ran("no_sandbox")
            if isinstance(wanted, str):
                return Ran("error", seen=f"the reference: {wanted}")
            held &= not isinstance(given, str) and rows_match(wanted, given, ordered)
        values.append(float(held))
    return Ran("ok", values[0], str(values[0])) if len(set(values)) == 1 else Ran("flaky")


def _rows(database: Path, query: str, limits: Limits) -> Rows | str:
    """The rows, or in a word why there are none."""
    if not database.is_file():
        return "no database"
    with database.open("rb") as file:
        kind = "sqlite" if file.read(16).startswith(b"SQLite format 3") else "duckdb"
    command = Command(
        ["run.py", kind, "/database", str(MOST_ROWS)], {"run.py": RUNNER}, query,
        [(str(database.resolve()), "/database"), *(_duckdb() if kind == "duckdb" else [])],
    )  # fmt: skip
    return _read(run_isolated(command, _roomy(limits)))


def _roomy(limits: Limits) -> Limits:
    """DuckDB maps much that it does not use, and prints rows."""
    return limits.model_copy(
        update={"memory_mb": max(limits.memory_mb, 2048), "output_kb": max(limits.output_kb, 16 << 10)}
    )


def _duckdb() -> list[tuple[str, str]]:
    found = [importlib.util.find_spec(name) for name in ("duckdb", "_duckdb")]
    files = [Path(one.origin) for one in found if one and one.origin]
    places = [file.parent if file.name == "__init__.py" else file for file in files]
    about = [info for place in places for info in place.parent.glob("duckdb-*.dist-info")]  # it asks for its version
    return [(str(place), f"/packages/{place.name}") for place in {*places, *about}]


def _read(outcome: Outcome) -> Rows | str:
    if outcome.ending != "exited" or outcome.code != 0:
        return outcome.ending if outcome.ending != "exited" else "failed"
    told = json.loads(outcome.output)
    rows: list[list[Any]] | None = told.get("rows")
    if rows is None:
        return str(told["failed"])
    return rows if len(rows) <= MOST_ROWS else "too many rows"


def orders(query: str) -> bool:
    """Whether the outermost query has an ORDER BY."""
    bare = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", " ", query, flags=re.DOTALL)
    while bare != (inner := re.sub(r"\([^()]*\)", " ", bare)):
        bare = inner
    return re.search(r"\border\s+by\b", bare, re.IGNORECASE) is not None


def rows_match(gold: Rows, given: Rows, ordered: bool) -> bool:
    """Whether two results are equal, as lists or as multisets. NULL equals NULL; numbers may differ by 1e-6."""
    if len(gold) != len(given):
        return False
    if ordered:
        return all(_equal(one, other) for one, other in zip(gold, given, strict=True))
    wanted, told = _alike(gold), _alike(given)
    if Counter({shape: len(rows) for shape, rows in wanted.items()}) != {s: len(rows) for s, rows in told.items()}:
        return False
    return all(_paired(rows, told[shape]) for shape, rows in wanted.items())


def _alike(rows: Rows) -> dict[tuple[Any, ...], list[Sequence[Any]]]:
    """Rows by all that is not a number."""
    found: dict[tuple[Any, ...], list[Sequence[Any]]] = defaultdict(list)
    for row in rows:
        found[tuple("number" if _is_number(value) else (value,) for value in row)].append(row)
    return found


def _paired(gold: list[Sequence[Any]], given: list[Sequence[Any]]) -> bool:
    ranked = [sorted(rows, key=lambda row: [v for v in row if _is_number(v)]) for rows in (gold, given)]
    if all(_equal(one, other) for one, other in zip(*ranked, strict=True)):
        return True
    if len(gold) > GREEDY:
        return False
    left = list(given)  # numbers that are all but equal may be sorted otherwise
    for row in gold:
        place = next((place for place, other in enumerate(left) if _equal(row, other)), None)
        if place is None:
            return False
        left.pop(place)
    return True


def _equal(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))


def _same(one: Any, other: Any) -> bool:
    if _is_number(one) and _is_number(other):
        if isinstance(one, int) and isinstance(other, int):
            return one == other
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE) or (one != one and other != other)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)
