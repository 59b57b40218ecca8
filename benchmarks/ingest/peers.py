"""What one would script by hand for LangSmith's runs: the same spans and distinct messages, by four common means.

Each writes `spans.parquet` and `messages.parquet`; a prompt is a list of ids of messages. None of them keeps rejects,
validates, cleans, or survives a broken line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

KEPT = ("id", "trace_id", "parent_run_id", "name", "run_type", "start_time", "end_time", "status", "error",
        "dotted_order", "session_id", "prompt_tokens", "completion_tokens")  # fmt: skip


def by_pandas(export: Path, out: Path) -> None:
    """`json.loads` a line, data frames by pandas."""
    import pandas as pd

    spans, messages = _looped(export, json.loads, lambda value: json.dumps(value, sort_keys=True).encode())
    pd.DataFrame(spans).to_parquet(out / "spans.parquet")
    pd.DataFrame(messages).to_parquet(out / "messages.parquet")


def by_orjson(export: Path, out: Path) -> None:
    """`orjson.loads` a line, data frames by Polars."""
    import orjson

    spans, messages = _looped(export, orjson.loads, lambda value: orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    pl.DataFrame(spans, infer_schema_length=None).write_parquet(out / "spans.parquet")
    pl.DataFrame(messages, infer_schema_length=None).write_parquet(out / "messages.parquet")


def _looped(
    export: Path, loads: Callable[[bytes], Any], dumps: Callable[[Any], bytes]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    spans, messages = [], {}

    def known(message: dict[str, Any]) -> str:
        key = hashlib.blake2b(dumps(message), digest_size=16).hexdigest()
        if key not in messages:
            calls = message.get("tool_calls")
            messages[key] = {
                "message_id": key, "role": message["role"], "content": message.get("content"),
                "tool_call_id": message.get("tool_call_id"), "tool_calls": dumps(calls).decode() if calls else None,
            }  # fmt: skip
        return key

    with export.open("rb", buffering=4 << 20) as lines:
        for line in lines:
            run = loads(line)
            span = {name: run.get(name) for name in KEPT}
            span["tags"], span["model"] = run.get("tags"), run["inputs"].get("model")
            span["metadata"] = dumps(run["extra"]["metadata"]).decode()
            span["tools"] = dumps(run["inputs"].get("tools")).decode()
            span["prompt"] = [known(message) for message in run["inputs"]["messages"]]
            span["output"] = [known(choice["message"]) for choice in (run["outputs"] or {}).get("choices", [])]
            spans.append(span)
    return spans, list(messages.values())


def by_duckdb(export: Path, out: Path) -> None:
    """SQL from the file to Parquet."""
    import duckdb

    columns = {name: "VARCHAR" for name in KEPT} | dict.fromkeys(("tags", "inputs", "outputs", "extra"), "JSON")
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE runs AS SELECT * FROM read_json(?, format = 'newline_delimited', columns = {columns})",
        [str(export)],
    )
    for query in SQL.split(";"):
        connection.execute(query.replace("$out", str(out)).replace("$kept", ", ".join(KEPT)))


SQL = """
CREATE TABLE said AS
SELECT *, md5(message) AS message_id FROM (
    SELECT id, 'prompt' AS part, unnest(m) AS message, generate_subscripts(m, 1) AS place
    FROM (SELECT id, from_json(inputs -> '$.messages', '["JSON"]') AS m FROM runs)
    UNION ALL
    SELECT id, 'output' AS part, unnest(m) AS message, generate_subscripts(m, 1) AS place
    FROM (SELECT id, outputs -> '$.choices[*].message' AS m FROM runs)
);
COPY (
    SELECT message_id, message ->> 'role' AS role, message ->> 'content' AS content,
        message ->> 'tool_call_id' AS tool_call_id, message -> 'tool_calls' AS tool_calls
    FROM (SELECT DISTINCT message_id, message FROM said)
) TO '$out/messages.parquet' (COMPRESSION zstd);
COPY (
    SELECT $kept, tags, inputs ->> 'model' AS model, inputs -> 'tools' AS tools, extra -> 'metadata' AS metadata,
        prompt, output
    FROM runs LEFT JOIN (
        SELECT id, list(message_id ORDER BY place) FILTER (WHERE part = 'prompt') AS prompt,
            list(message_id ORDER BY place) FILTER (WHERE part = 'output') AS output
        FROM said GROUP BY id
    ) USING (id)
) TO '$out/spans.parquet' (COMPRESSION zstd)
"""


def by_polars(export: Path, out: Path) -> None:
    """Polars alone: lines, decoded with a schema."""
    text = pl.String
    call = pl.Struct({"id": text, "type": text, "function": pl.Struct({"name": text, "arguments": text})})
    message = pl.Struct({"role": text, "content": text, "tool_call_id": text, "tool_calls": pl.List(call)})
    run = pl.Struct({
        **dict.fromkeys(KEPT, text), "prompt_tokens": pl.Int64, "completion_tokens": pl.Int64, "tags": pl.List(text),
        "inputs": pl.Struct({"messages": pl.List(message), "model": text}),
        "outputs": pl.Struct({"choices": pl.List(pl.Struct({"message": message}))}),
    })  # fmt: skip
    lines = pl.scan_lines(export).collect()
    runs = lines.select(
        pl.col("line").str.json_decode(run).struct.unnest(),
        tools=pl.col("line").str.json_path_match("$.inputs.tools"),
        metadata=pl.col("line").str.json_path_match("$.extra.metadata"),
    )
    said = {
        "prompt": runs.select("id", said=pl.col("inputs").struct.field("messages")),
        "output": runs.select(
            "id", said=pl.col("outputs").struct.field("choices").list.eval(pl.element().struct.field("message"))
        ),
    }
    told = {
        name: frame.explode("said").drop_nulls("said").with_columns(message_id=pl.col("said").hash())
        for name, frame in said.items()
    }
    distinct = pl.concat([frame.select("message_id", "said") for frame in told.values()]).unique("message_id")
    calls = pl.when(pl.col("tool_calls").list.len() > 0).then(pl.struct(calls="tool_calls").struct.json_encode())
    distinct.select("message_id", pl.col("said").struct.unnest()).with_columns(tool_calls=calls).write_parquet(
        out / "messages.parquet"
    )
    spans = runs.drop("inputs", "outputs").with_columns(model=runs["inputs"].struct.field("model"))
    for name, frame in told.items():
        spans = spans.join(frame.group_by("id").agg(pl.col("message_id").alias(name)), on="id", how="left")
    spans.write_parquet(out / "spans.parquet")


PEERS: dict[str, Callable[[Path, Path], None]] = {
    "pandas + json": by_pandas,
    "DuckDB SQL": by_duckdb,
    "orjson + Polars": by_orjson,
    "Polars alone": by_polars,
}
