"""Our path for the comparison: exports to published tables, all of it but the cleaning of text.

`Untouched` stands in for the cleaner, since how fast text is cleaned is another question; records, rejects, both
readings, the audit's walk over rows, validation, hashes and manifests are the product's own.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from datetime import date
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

from assets import privacy
from assets.ingest import land
from assets.mill import Mill, open_mill
from transforms.privacy.deidentifier import Cleaned, Leak
from transforms.privacy.propagation import Known
from warehouse.catalog import DAILY

T = TypeVar("T")

DAY = date(2026, 11, 30)


class Untouched:
    """A cleaner that finds nothing."""

    def __init__(self, *_: object) -> None:
        pass

    def learn(self, scope: str, value: object) -> None:
        """Learn nothing."""

    def knowledge(self) -> dict[str, set[Known]]:
        """Nothing."""
        return {}

    def share(self, knowledge: dict[str, set[Known]]) -> None:
        """Know nothing more."""

    def clean(self, value: T, scopes: Collection[str]) -> Cleaned[T]:
        """The same value."""
        return Cleaned(value, (), False)

    def audit(self, rows: Iterable[tuple[str, object]]) -> list[Leak]:
        """No leaks; the rows are gone through."""
        for _ in rows:
            pass
        return []


def prepared(exports: list[Path], out: Path, workers: int = 1) -> Mill:
    """A new home below `out` in which exports have arrived; `workers` processes work on the day."""
    config = out / "tracemill.yaml"
    config.write_text(f"workers: {workers}\n")
    os.environ |= {"TRACEMILL_HOME": str(out / "home"), "TRACEMILL_KEY": "5eed" * 16, "TRACEMILL_CONFIG": str(config)}
    mill = open_mill()
    mill.register(exports, DAY)
    return mill


def run(mill: Mill) -> None:
    """Land the day and publish its spans and messages."""
    with patch.object(privacy, "Deidentifier", Untouched):
        made = land(mill, DAY)
        mill.lake.publish("landed", DAY, made.frames, mill.provenance("landed", {}), made.sources)
        landed = {table.name: mill.lake.scan(table, only=DAY) for table in DAILY["landed"]}
        made = privacy.clean_day(mill, DAY, privacy.DayScans(landed))
        mill.lake.publish("clean_spans", DAY, made.frames, mill.provenance("clean_spans", {}), made.sources)
