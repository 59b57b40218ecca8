"""Answers in SQL, as a table, JSON, CSV or Parquet."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import duckdb
import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assets.settings import load_settings
from warehouse.duck import reader
from warehouse.problem import Problem

FORMATS = ("table", "json", "csv", "parquet")
AS_TEXT = re.compile(r"\b(?:INTERVAL|BIT|BLOB|TIME WITH TIME ZONE)\b")
WRITES = {"attach", "copy", "export", "import"}  # statements that could write where `reader` may read
SHOWN_ROWS = 100
SHOWN_CHARACTERS = 200


def answer(query: str, output: str, console: Console) -> None:
    """Write the answer to `query`. Raises Problem where DuckDB refuses it or the format is unknown."""
    if output not in FORMATS:
        raise Problem(f"--format {output} is unknown: {', '.join(FORMATS)}")
    if word := next((word for word in _keywords(query) if word in WRITES), None):
        raise Problem(f"`tracemill sql` only reads, and {word.upper()} writes: --format csv or parquet gives a file")
    home = load_settings().home
    try:
        with reader(home) as connection:
            relation = connection.sql(query)
            frame = _readable(relation).pl() if relation is not None else pl.DataFrame()
    except duckdb.Error as error:
        raise Problem(f"{type(error).__name__}: {str(error).strip()}") from None
    _write(frame, output, console)


def _readable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """`relation` with what neither Polars nor JSON can hold as text, and sums of integers as plain integers."""
    types = {name: _shown_as(str(dtype)) for name, dtype in zip(relation.columns, relation.types, strict=True)}
    if not any(types.values()):
        return relation
    names = {name: name.replace('"', '""') for name in types}
    shown = [f'CAST("{names[name]}" AS {dtype})' if dtype else f'"{names[name]}"' for name, dtype in types.items()]
    return relation.project(", ".join(f'{text} AS "{names[name]}"' for text, name in zip(shown, types, strict=True)))


def _shown_as(dtype: str) -> str | None:
    if AS_TEXT.search(dtype):
        return "VARCHAR"
    return "BIGINT" if dtype == "HUGEINT" else None


def _keywords(query: str) -> list[str]:
    """Words of `query` that are SQL's own, in lower case: neither quoted, nor in a text or a comment."""
    written, tokens = query.encode(errors="replace"), duckdb.tokenize(query)  # which counts in bytes
    ends = [offset for offset, _ in tokens[1:]] + [len(written)]
    return [
        written[offset:end].decode().strip().lower()
        for (offset, kind), end in zip(tokens, ends, strict=True)
        if kind == duckdb.token_type.keyword
    ]


def _write(frame: pl.DataFrame, output: str, console: Console) -> None:
    if output == "table":
        _print(frame, console)
    elif output == "json":
        sys.stdout.write(frame.write_json() + "\n")
    elif output == "csv":
        flat = [pl.col(name).cast(pl.String) for name, dtype in frame.schema.items() if not dtype.is_nested()]
        nested = [_as_json(frame[name]) for name, dtype in frame.schema.items() if dtype.is_nested()]
        sys.stdout.write(frame.select(flat).with_columns(nested).select(frame.columns).write_csv())
    else:
        frame.write_parquet(sys.stdout.buffer)


def _as_json(column: pl.Series) -> pl.Series:
    return pl.Series(column.name, [json.dumps(value, default=str, ensure_ascii=False) for value in column.to_list()])


def _print(frame: pl.DataFrame, console: Console) -> None:
    table = Table(show_lines=False)
    for name in frame.columns:
        table.add_column(name, overflow="fold")
    for row in frame.head(SHOWN_ROWS).iter_rows():
        table.add_row(*map(_cell, row))
    console.print(table)
    if frame.height > SHOWN_ROWS:
        console.print(f"{SHOWN_ROWS} of {frame.height} rows; --format csv shows them all")


def _cell(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…")
