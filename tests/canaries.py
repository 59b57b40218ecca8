"""Looks for given values in everything below a folder, raw and decoded, in the encodings they might hide in."""

import base64
import html
import json
import urllib.parse
from collections.abc import Iterable, Iterator
from pathlib import Path

import duckdb
import polars as pl


def leaks(folder: Path, values: Iterable[str]) -> dict[str, list[str]]:
    """Values that occur below `folder`, with the places they occur in."""
    needles = {form: value for value in values for form in encodings(value)}
    found: dict[str, list[str]] = {}
    for place, haystack in haystacks(folder):
        for form, value in needles.items():
            if form in haystack:
                found.setdefault(value, []).append(place)
    return found


def encodings(value: str) -> set[bytes]:
    """What a value may look like in bytes: escaped, quoted, in base64 at any alignment, in hexadecimal, in UTF-16."""
    texts = {value, value.lower(), value.upper(), html.escape(value), urllib.parse.quote(value)}
    texts |= {json.dumps(value)[1:-1], json.dumps(json.dumps(value)[1:-1])[1:-1]}
    raw = value.encode()
    shifted = [base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    forms = {text.encode() for text in texts} | {value.encode("utf-16-le")}
    if len(raw) >= 4:  # fewer stand in any digest
        forms |= {raw.hex().encode(), raw.hex().upper().encode()}
    return forms | {form for form in shifted if len(form) >= 8}


def haystacks(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file's bytes, and the decoded content of Parquet and DuckDB files."""
    for path in sorted(folder.rglob("*")):
        yield f"name of {path.name}", path.name.encode()
        if not path.is_file():
            continue
        yield str(path.relative_to(folder)), path.read_bytes()
        if path.suffix == ".parquet":
            yield f"rows of {path.relative_to(folder)}", decoded(pl.read_parquet(path))
        if path.suffix == ".duckdb":
            with duckdb.connect(str(path), read_only=True) as connection:
                tables = connection.sql("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
                for schema, table in tables:
                    rows = connection.sql(f'SELECT * FROM "{schema}"."{table}"').pl()
                    yield f"table {table} of {path.relative_to(folder)}", decoded(rows)


def decoded(frame: pl.DataFrame) -> bytes:
    """All of a frame as text: binary columns as their bytes, nested ones as JSON."""
    plain = json.dumps(frame.to_dicts(), default=str, ensure_ascii=False).encode("utf-8", "replace")
    binary = [name for name, dtype in frame.schema.items() if dtype == pl.Binary]
    return plain + b"".join(value or b"" for name in binary for value in frame[name])
