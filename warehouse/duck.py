"""DuckDB over the lake: views for whoever asks in SQL, and the warehouse file that any DuckDB client opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from importlib.resources import files
from pathlib import Path

import duckdb
import polars as pl
from polars.datatypes import DataTypeClass

from warehouse.catalog import RELEASED, daily_tables
from warehouse.erasures import Erasures
from warehouse.files import writer_lock
from warehouse.home import Home
from warehouse.lake import Lake
from warehouse.problem import Problem
from warehouse.records import Records
from warehouse.releases import Releases
from warehouse.rows import Held
from warehouse.schemas import CURATED, ERASURES, EVALUATIONS, MODELS, PRIVACY_REPORT, RELEASES, Table

DUCK_TYPES: dict[DataTypeClass, str] = {
    pl.String: "VARCHAR",
    pl.Binary: "VARCHAR",  # shown as hexadecimal text
    pl.Int32: "INTEGER",
    pl.Int64: "BIGINT",
    pl.Float64: "DOUBLE",
    pl.Boolean: "BOOLEAN",
    pl.Date: "DATE",
    pl.Datetime: "TIMESTAMP WITH TIME ZONE",
}

# In this order: each may read those before it.
DERIVED = (
    "spans", "messages", "feedback", "trajectories", "unstepped_spans", "steps", "tool_calls", "rewards", "gates",
    "curated_trajectories", "privacy_report",
)  # fmt: skip


@contextmanager
def reader(home: Home, through: date | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory connection with all views, up to a day; it waits for no writer and opens no file but the lake's."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        _define(connection, home, through, keep_datasets=False)
        connection.execute(f"SET allowed_directories = [{_quote(str(home.lake))}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection


def rebuild(home: Home) -> Path:
    """Build `warehouse.duckdb` aside from the lake and swap it in; return its path.

    Whoever has the old file open keeps reading it. Raises Problem where the disk is full.
    """
    fresh = home.warehouse.with_suffix(".duckdb.part")
    with writer_lock(home.lock_file):
        try:
            home.root.mkdir(parents=True, exist_ok=True)
            _remove(fresh)
            with duckdb.connect(str(fresh)) as connection:
                _define(connection, home, None, keep_datasets=True)
                connection.execute("CHECKPOINT")  # closing does it too, but says nothing where it fails
            # The log of a client that wrote into the old file would be taken for one of the new file.
            home.warehouse.with_suffix(".duckdb.wal").unlink(missing_ok=True)
            fresh.replace(home.warehouse)
        except (OSError, duckdb.Error) as error:
            raise Problem(f"cannot build {home.warehouse} ({type(error).__name__}): the lake is untouched") from None
        finally:
            _remove(fresh)
    return home.warehouse


def _remove(database: Path) -> None:
    """Remove a database that was not finished, and its log."""
    for path in (database, database.with_name(database.name + ".wal")):
        path.unlink(missing_ok=True)


def _define(connection: duckdb.DuckDBPyConnection, home: Home, through: date | None, keep_datasets: bool) -> None:
    lake, releases, records = Lake(home.lake), Releases(home.lake), Records(home.lake)
    connection.execute("CREATE SCHEMA raw")
    for table in daily_tables():
        schema = "raw" if table.name in DERIVED else "main"
        _view(connection, f"{schema}.{table.name}", table, _select(table, lake.held(table, through)))
    for name in DERIVED:
        connection.execute(f"CREATE VIEW main.{name} AS {_sql(name)}")
    for table in RELEASED:
        kind = "TABLE" if keep_datasets else "VIEW"
        _view(connection, f"main.{table.name}", table, _select(table, releases.held(table)), kind)
    for table, rows in (
        (RELEASES, releases.table()), (MODELS, records.models()), (EVALUATIONS, records.evaluations()),
        (ERASURES, Erasures(home.lake).table()),
    ):  # fmt: skip
        _small_table(connection, table, rows)
    _comment(connection)


def _view(connection: duckdb.DuckDBPyConnection, name: str, table: Table, select: str, kind: str = "VIEW") -> None:
    connection.execute(f"CREATE {kind} {name} AS {select}")
    connection.execute(f"COMMENT ON {kind} {name} IS {_quote(table.comment)}")


def _select(table: Table, held: Held) -> str:
    """SQL that reads a table's files; ids that are bytes in the lake are hexadecimal text here. Where files are not
    all alike, a column that is newer than a file is null there."""
    if not held.files:
        return f"SELECT {', '.join(_shown(name, _empty(dtype)) for name, dtype in table.schema.items())} LIMIT 0"
    columns = ", ".join(_shown(name, f'"{name}"', dtype) for name, dtype in table.schema.items())
    listed = ", ".join(_quote(str(path)) for path in held.files)
    if held.alike:
        return f"SELECT {columns} FROM read_parquet([{listed}], hive_partitioning = false)"
    blank = ", ".join(f'{_empty(dtype)} AS "{name}"' for name, dtype in table.schema.items())
    there = f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false, union_by_name = true)"
    return f"SELECT {columns} FROM (SELECT {blank} WHERE false UNION ALL BY NAME {there})"


def _shown(name: str, expression: str, dtype: pl.DataType | None = None) -> str:
    if dtype == pl.Binary:
        expression = f"lower(hex({expression}))"
    elif dtype == pl.List(pl.Binary):
        expression = f"list_transform({expression}, lambda id: lower(hex(id)))"
    return f'{expression} AS "{name}"'


def _empty(dtype: pl.DataType) -> str:
    return f"CAST(NULL AS {_duck_type(dtype)})"


def _duck_type(dtype: pl.DataType | DataTypeClass) -> str:
    if isinstance(dtype, pl.List):
        return f"{_duck_type(dtype.inner)}[]"
    if isinstance(dtype, pl.Struct):
        return f"STRUCT({', '.join(f'{field.name} {_duck_type(field.dtype)}' for field in dtype.fields)})"
    return DUCK_TYPES[dtype.base_type()]


def _small_table(connection: duckdb.DuckDBPyConnection, table: Table, rows: pl.DataFrame) -> None:
    columns = ", ".join(f'"{name}" {_duck_type(dtype)}' for name, dtype in table.schema.items())
    connection.execute(f"CREATE TABLE main.{table.name} ({columns})")
    connection.execute(f"COMMENT ON TABLE main.{table.name} IS {_quote(table.comment)}")
    marks = ", ".join("?" for _ in table.columns)
    for row in rows.iter_rows():
        connection.execute(f"INSERT INTO main.{table.name} VALUES ({marks})", list(row))


def _comment(connection: duckdb.DuckDBPyConnection) -> None:
    documented = {table.name: table for table in (*daily_tables(), *RELEASED, RELEASES, MODELS, EVALUATIONS, ERASURES)}
    documented |= {CURATED.name: CURATED, PRIVACY_REPORT.name: PRIVACY_REPORT}
    for name in DERIVED:
        connection.execute(f"COMMENT ON VIEW main.{name} IS {_quote(documented[name].comment)}")
    shown = "SELECT table_name, column_name FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    for name, column in connection.execute(shown).fetchall():
        comment = _quote(documented[name].columns[column].comment)
        connection.execute(f'COMMENT ON COLUMN main.{name}."{column}" IS {comment}')


def _sql(name: str) -> str:
    return files("warehouse").joinpath("views", f"{name}.sql").read_text(encoding="utf-8")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
