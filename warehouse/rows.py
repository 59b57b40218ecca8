"""Rows of a table as one Parquet file that is named by its content."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.digest import rows_digest
from warehouse.files import write_whole
from warehouse.schemas import Table


def write_rows(root: Path, folder: str, table: Table, frame: pl.DataFrame) -> dict[str, Any]:
    """Write `frame` as `table` into `folder` below `root`; return its entry in a manifest.

    The entry has `files` (relative to `root`; none where there are no rows), `rows` and `digest`. A file that is
    there already stays as it is. Raises SchemaError, Problem.
    """
    rows = table.enforce(frame)
    digest = rows_digest(rows)
    name = f"{folder}/{digest}.parquet"
    path = root / name
    if rows.height and not path.exists():
        write_whole(path, partial(rows.write_parquet, compression="zstd"))
    return {"files": [name] if rows.height else [], "rows": rows.height, "digest": digest}
