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
    """Records of a lake: one small JSON file each, named by number and content, never changed."""

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
        """Add `row` unless it is what the newest record of its key says already."""
        before = self._newest(table).get(_key(table, row))
        if before is None or text_digest(before) != text_digest(row):
            folder = self._folder(table)
            number = len(list(folder.glob("*.json")))
            write_json(folder / f"{number:06d}-{text_digest(row)}.json", dict(row))

    def _table(self, table: Table) -> pl.DataFrame:
        return table.frame(list(self._newest(table).values()))

    def _newest(self, table: Table) -> dict[tuple[Any, ...], dict[str, Any]]:
        rows = [read_json(path) for path in sorted(self._folder(table).glob("*.json"))]
        return {_key(table, row): row for row in rows}

    def _folder(self, table: Table) -> Path:
        return self.lake / table.name


def _key(table: Table, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column] for column in table.key)
