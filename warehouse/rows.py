"""Rows of a table as one Parquet file that is named by its content."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.digest import rows_digest, text_digest
from warehouse.files import write_whole
from warehouse.schemas import Table


def write_rows(root: Path, folder: str, table: Table, frame: pl.DataFrame) -> dict[str, Any]:
    """Write `frame` as `table` into `folder` below `root`; return its entry in a manifest.

    The entry has `files` (relative to `root`; none where there are no rows), `rows`, `digest`, and `schema`, a hash of
    the columns and their types. A file that is there already stays as it is. Raises SchemaError, Problem.
    """
    rows = table.enforce(frame)
    digest = rows_digest(rows)
    name = f"{folder}/{digest}.parquet"
    path = root / name
    if rows.height and not path.exists():
        write_whole(path, partial(rows.write_parquet, compression="zstd"))
    schema = text_digest([(column, str(dtype)) for column, dtype in table.schema.items()])
    return {"files": [name] if rows.height else [], "rows": rows.height, "digest": digest, "schema": schema}
