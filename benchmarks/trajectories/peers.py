"""What one would script by hand for steps and tool calls, by three common means.

Each reads the lake's files and returns two tables: `steps` (trace_id, span_id, step, columns of the span) and
`tool_calls` (trace_id, step, call_id, tool_span_id). None of them looks at prompts: no segments, no observations, no
tasks, no reasons, no ends; a trace is one thread.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

KEPT = ("model", "finish_reason", "started_at", "ended_at", "input_tokens", "output_tokens", "content_state", "tools")
READ = ("day", "trace_id", "span_id", "kind", "status", "response_id", "output", "tool_call_id", *KEPT)
Tables = tuple[pl.DataFrame, pl.DataFrame]


def by_python(lake: Path) -> Tables:
    """Rows as dicts, and loops over them."""
    spans = pl.read_parquet(lake / "tables/spans/**/*.parquet", columns=[*READ]).to_dicts()
    told = pl.read_parquet(lake / "tables/messages/**/*.parquet", columns=["message_id", "tool_calls"]).to_dicts()
    messages = {row["message_id"]: row["tool_calls"] for row in told}
    latest: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(spans, key=lambda row: row["day"]):
        latest[row["trace_id"], row["span_id"]] = row
    traces: dict[str, list[dict[str, Any]]] = defaultdict(list)
    runs = {}
    for row in latest.values():
        if row["kind"] == "llm" and row["output"]:
            traces[row["trace_id"]].append(row)
        elif row["kind"] == "tool":
            runs[row["trace_id"], row["tool_call_id"]] = row["span_id"]
    steps, calls = [], []
    for trace, rows in traces.items():
        seen: set[str] = set()
        for row in sorted(rows, key=lambda row: (row["started_at"], row["span_id"])):
            if row["response_id"] in seen:
                continue
            number = len(seen)
            seen.add(row["response_id"])
            kept = {name: row[name] for name in KEPT}
            steps.append({"trace_id": trace, "span_id": row["span_id"], "step": number, **kept})
            for call in json.loads(messages.get(row["output"][0]) or "[]"):
                tool = runs.get((trace, call["id"]))
                calls.append({"trace_id": trace, "step": number, "call_id": call["id"], "tool_span_id": tool})
    return pl.DataFrame(steps, infer_schema_length=None), pl.DataFrame(calls, infer_schema_length=None)


def by_polars(lake: Path) -> Tables:
    """Windows and joins of Polars."""
    spans = pl.read_parquet(lake / "tables/spans/**/*.parquet", columns=[*READ])
    spans = spans.sort("day").unique(["trace_id", "span_id"], keep="last")
    calling = spans.filter((pl.col("kind") == "llm") & (pl.col("output").list.len() > 0))
    ordered = calling.sort("trace_id", "started_at", "span_id").unique(
        ["trace_id", "response_id"], keep="first", maintain_order=True
    )
    steps = ordered.with_columns(step=pl.int_range(pl.len()).over("trace_id"), message_id=pl.col("output").list.first())
    said = pl.read_parquet(lake / "tables/messages/**/*.parquet", columns=["message_id", "tool_calls"]).drop_nulls()
    call = pl.List(pl.Struct({"id": pl.String, "name": pl.String, "arguments": pl.String}))
    asked = steps.join(said.unique("message_id"), on="message_id").with_columns(
        pl.col("tool_calls").str.json_decode(call)
    )
    calls = asked.select("trace_id", "step", "tool_calls").explode("tool_calls").unnest("tool_calls")
    runs = spans.filter(pl.col("kind") == "tool").select("trace_id", call_id="tool_call_id", tool_span_id="span_id")
    calls = calls.rename({"id": "call_id"}).join(runs, on=["trace_id", "call_id"], how="left")
    return steps.select("trace_id", "span_id", "step", *KEPT), calls


def by_duckdb(lake: Path) -> Tables:
    """SQL with windows."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(SQL.replace("$lake", str(lake)).replace("$kept", ", ".join(KEPT)).replace(
        "$read", ", ".join(READ)))  # fmt: skip
    steps, calls = (pl.DataFrame(connection.sql(f"FROM {name}").to_arrow_table()) for name in ("steps", "calls"))
    return steps, calls


SQL = """
CREATE TEMP TABLE latest AS
SELECT $read FROM read_parquet('$lake/tables/spans/*/*.parquet', hive_partitioning = false)
QUALIFY row_number() OVER (PARTITION BY trace_id, span_id ORDER BY day DESC) = 1;
CREATE TEMP TABLE numbered AS
SELECT *, row_number() OVER (PARTITION BY trace_id ORDER BY started_at, span_id) - 1 AS step FROM (
    SELECT * FROM latest WHERE kind = 'llm' AND len(output) > 0
    QUALIFY row_number() OVER (PARTITION BY trace_id, response_id ORDER BY started_at, span_id) = 1
);
CREATE TEMP TABLE steps AS SELECT trace_id, span_id, step, $kept FROM numbered;
CREATE TEMP TABLE calls AS
SELECT n.trace_id, n.step, call ->> 'id' AS call_id, call ->> 'name' AS name, call ->> 'arguments' AS arguments,
    r.span_id AS tool_span_id
FROM (
    SELECT trace_id, step, unnest(from_json(tool_calls, '["JSON"]')) AS call
    FROM numbered JOIN (
        SELECT DISTINCT message_id, tool_calls
        FROM read_parquet('$lake/tables/messages/*/*.parquet', hive_partitioning = false)
        WHERE tool_calls IS NOT NULL
    ) AS m ON m.message_id = output[1]
) AS n LEFT JOIN latest AS r ON r.kind = 'tool' AND r.trace_id = n.trace_id AND r.tool_call_id = call ->> 'id'
"""

PEERS: dict[str, Callable[[Path], Tables]] = {
    "Python dicts": by_python,
    "Polars windows": by_polars,
    "DuckDB SQL": by_duckdb,
}
