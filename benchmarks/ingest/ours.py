"""Our path for the comparison: exports to published tables, all of it but the cleaning of text.

`Untouched` stands in for the cleaner, since how fast text is cleaned is another question; records, rejects, both
readings, the audit's walk over rows, validation, hashes and manifests are the product's own.
"""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from unittest.mock import patch

from assets import privacy
from assets.ingest import land
from assets.mill import Mill, open_mill
from benchmarks.ingest.untouched import Untouched
from warehouse.catalog import DAILY

DAY = date(2026, 11, 30)


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
