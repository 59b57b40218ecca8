"""What a privacy report is made of: counts of a day or a release, and a search of the clean text as it lies there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any

import duckdb

from assets.mill import Mill
from warehouse.duck import reader
from warehouse.problem import Problem

SEARCHED = 20_000
"""Messages, and calls, that the search reads at most; the report says where there are more."""

TEXTS = {
    "messages": "content, reasoning, tool_calls, name, tool_call_id",
    "spans": "attributes, tool_arguments, tool_result, error, name, conversation_id, task, tools, parameters",
}
SCOPES_END = "-- Above:"
OF_RELEASE = """
WITH taken AS (SELECT trajectory_id, revision FROM cut WHERE release = $release AND split IS NOT NULL),
through AS (SELECT through FROM releases WHERE release = $release),
own_steps AS (SELECT s.* FROM raw.steps AS s SEMI JOIN taken USING (trajectory_id, revision)),
shown AS (SELECT DISTINCT unnest(list_append(observed, action)) AS message_id FROM own_steps),
scoped_messages AS (
    SELECT * REPLACE ((SELECT through FROM through) AS day) FROM messages AS m SEMI JOIN shown USING (message_id)
),
scoped_spans AS (
    SELECT * REPLACE ((SELECT through FROM through) AS day) FROM spans AS s
    SEMI JOIN own_steps AS o ON (s.trace_id = o.trace_id AND s.span_id = o.span_id)
),
scoped_findings AS (
    SELECT DISTINCT ON (place, row_id, path, start) * REPLACE ((SELECT through FROM through) AS day)
    FROM pii_findings
    WHERE row_id IN (SELECT message_id FROM shown)
       OR row_id IN (SELECT trace_id || ':' || span_id FROM own_steps)
),
scoped_rejects AS (SELECT * FROM rejects WHERE false),
scoped_trajectories AS (
    SELECT *, (SELECT through FROM through) AS day FROM raw.trajectories SEMI JOIN taken USING (trajectory_id, revision)
),
"""


@dataclass(frozen=True)
class PrivacyFacts:
    """Rows of `privacy_report` (section, item, place, count, total, smallest), and what the search found."""

    rows: list[tuple[Any, ...]]
    searched: int
    texts: int  # messages and calls there are
    remains: dict[str, int]  # by type: rows in which a strong type stands that is no surrogate
    forgotten: int  # rows that hold somebody who was forgotten
    missing: int  # trajectories of a release whose steps have left the lake

    def of(self, section: str) -> list[tuple[Any, ...]]:
        """Rows of one section without its name."""
        return [row[1:] for row in self.rows if row[0] == section]


def facts_of_day(mill: Mill, day: date) -> PrivacyFacts:
    """What a day's report is made of. Raises Problem for a day that was not run."""
    if mill.lake.manifest("clean_spans", day) is None:
        known = ", ".join(map(str, mill.lake.days("clean_spans")[-5:])) or "none yet"
        raise Problem(f"{day} is not in the lake; the newest days that are: {known}")
    with reader(mill.home) as connection:
        chosen = "SELECT section, item, place, count, total, smallest FROM privacy_report WHERE day = $day ORDER BY ALL"
        rows = connection.execute(chosen, {"day": day}).fetchall()
        texts = _texts(connection, "", "raw.", "WHERE day = $day", {"day": day})
    return _facts(mill, rows, texts, missing=0)


def facts_of_release(mill: Mill, name: str) -> PrivacyFacts:
    """The same of what a release holds. Raises Problem for an unknown release."""
    mill.releases.manifest(name)
    counted = _view().partition(SCOPES_END)[2].partition("\n")[2]
    given = {"release": name}
    with reader(mill.home) as connection:
        select = "SELECT section, item, place, count, total, smallest FROM report ORDER BY ALL"
        rows = connection.execute(f"WITH report AS ({OF_RELEASE}{counted}) {select}", given).fetchall()
        texts = _texts(connection, OF_RELEASE.rstrip().rstrip(","), "scoped_", "", given)
        gone = connection.execute(
            "SELECT count(*) FROM cut AS c WHERE release = $release AND split IS NOT NULL AND NOT EXISTS "
            "(FROM raw.steps AS s WHERE s.trajectory_id = c.trajectory_id AND s.revision = c.revision)", given,
        ).fetchall()  # fmt: skip
    return _facts(mill, rows, texts, missing=gone[0][0])


def _facts(mill: Mill, rows: list[tuple[Any, ...]], texts: tuple[int, list[Any]], missing: int) -> PrivacyFacts:
    count, read = texts
    tombs = mill.tombs()
    forgotten = sum(tombs.finds(list(row)) for row in read) if tombs else 0
    return PrivacyFacts(rows, len(read), count, _remains(mill, read), forgotten, missing)


def _texts(
    connection: duckdb.DuckDBPyConnection, scope: str, prefix: str, where: str, given: dict[str, Any]
) -> tuple[int, list[Any]]:
    """How many messages and calls there are, and the texts of those that are searched."""
    count, read = 0, []
    for table, columns in TEXTS.items():
        query = f"{scope} SELECT {{}} FROM {prefix}{table} {where}"
        count += connection.execute(query.format("count(*)"), given).fetchall()[0][0]
        read += connection.execute(f"{query.format(columns)} LIMIT {SEARCHED}", given).fetchall()
    return count, read


def _remains(mill: Mill, rows: list[Any]) -> dict[str, int]:
    """Strong types that the rules find in clean text and that are neither surrogates, kept nor allowed."""
    from transforms.privacy.deidentifier import Deidentifier

    policy = mill.settings.privacy.model_copy(update={"model": None})  # rules only: a name proves nothing by itself
    leaks = Deidentifier(policy, mill.key).audit((str(number), list(row)) for number, row in enumerate(rows))
    return dict(Counter(leak.entity for leak in leaks))


def _view() -> str:
    return files("warehouse").joinpath("views", "privacy_report.sql").read_text(encoding="utf-8")
