"""Append-only records of the lake: what was trained, and how it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.digest import text_digest
from warehouse.files import read_json, write_json
from warehouse.schemas import EVALUATIONS, MODELS, Table


@dataclass(frozen=True)
class Records:
    """Records of a lake: one small JSON file each, named by content, never changed."""

    lake: Path

    def add_model(self, row: Mapping[str, Any]) -> None:
        self._add(MODELS, row)

    def add_evaluation(self, row: Mapping[str, Any]) -> None:
        self._add(EVALUATIONS, row)

    def models(self) -> pl.DataFrame:
        """Trained policies, the newest record of each."""
        return self._table(MODELS)

    def evaluations(self) -> pl.DataFrame:
        """Verdicts, the newest record of each policy and measure."""
        return self._table(EVALUATIONS)

    def _add(self, table: Table, row: Mapping[str, Any]) -> None:
        folder = self._folder(table)
        if text_digest(row) not in {path.stem.split("-")[1] for path in folder.glob("*.json")}:
            number = len(list(folder.glob("*.json")))
            write_json(folder / f"{number:06d}-{text_digest(row)}.json", dict(row))

    def _table(self, table: Table) -> pl.DataFrame:
        rows = [read_json(path) for path in sorted(self._folder(table).glob("*.json"))]
        newest = {tuple(row[column] for column in table.key): row for row in rows}
        return table.frame(list(newest.values()))

    def _folder(self, table: Table) -> Path:
        return self.lake / table.name
