"""Small tables of a day, for tests of the lake."""

from datetime import date

import polars as pl

from warehouse.lake import Provenance
from warehouse.schemas import EXPORTS, REJECTS

DAY = date(2026, 3, 4)
BY = Provenance("config", "code", "canonical", "key")


def landed(*file_ids: str) -> dict[str, pl.DataFrame]:
    rows = [
        {
            "day": DAY, "file_id": name, "bytes": 1, "container": "jsonl", "dialects": ["langsmith"],
            "records": 1, "rejects": 0, "blanks": 0,
        }
        for name in file_ids
    ]  # fmt: skip
    return {"exports": EXPORTS.frame(rows), "rejects": REJECTS.empty()}
