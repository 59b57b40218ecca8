"""`clean_spans`: everything that the day's exports say, with personal data and secrets replaced."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from pathlib import Path

import dagster as dg

from assets.failures import told_safely
from assets.lake_io import DayScans, DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.progress import tracked
from assets.sources import Export, read_records
from transforms.cleaning import DayCleaning
from transforms.privacy.deidentifier import Deidentifier
from transforms.readers.exports import Tally
from warehouse.lake import Lake
from warehouse.problem import Problem
from warehouse.schemas import SPANS


@dg.asset(partitions_def=days, group_name="privacy", kinds={"presidio"}, io_manager_key="lake_io")
def clean_spans(context: dg.AssetExecutionContext, mill: MillResource, landed: DayScans) -> DayTables:
    """Spans, distinct messages and feedback of the day, audited before they are published."""
    with told_safely():
        return clean_day(mill.open(), date.fromisoformat(context.partition_key), landed)


def clean_day(mill: Mill, day: date, landed: DayScans) -> DayTables:
    """Read the day's exports twice: collect what is personal, then replace it."""
    cleaning = DayCleaning(day, Deidentifier(mill.settings.privacy, mill.key), mill.identity, _Earlier(mill.lake, day))
    exports = _exports(mill, day, landed)
    for export in exports:
        for record in tracked(read_records(export.path, Tally()), f"{day} looking for personal data"):
            cleaning.survey(record)
    for export in exports:
        for record in tracked(read_records(export.path, Tally()), f"{day} replacing it"):
            cleaning.clean(record, export.file_id)
    if exports != _exports(mill, day, landed):
        raise Problem(f"an export of {day} changed while it was read: run the day again")
    return DayTables(cleaning.tables(mill.settings.max_quarantined))


@dataclass(frozen=True)
class _Earlier:
    """Traces of the spans of earlier days, read when the first verdict asks for one."""

    lake: Lake
    day: date

    def __call__(self, span_id: str) -> str | None:
        return self._traces.get(span_id)

    @cached_property
    def _traces(self) -> dict[str, str]:
        known = self.lake.scan(SPANS, through=self.day - timedelta(days=1)).select("span_id", "trace_id")
        return dict(known.collect().iter_rows())


def _exports(mill: Mill, day: date, landed: DayScans) -> list[Export]:
    """The files that `landed` names, still the same. Raises Problem where one is gone or has other bytes."""
    manifest = mill.lake.manifest("landed", day) or {"sources": []}
    rows = landed["exports"].select("file_id", "dialects").collect().rows()
    dialects = {file_id: names for file_id, names in rows}
    paths = {source["file_id"]: Path(source["uri"]) for source in manifest["sources"] if source["read"] == "yes"}
    exports = [Export.of(paths[file_id], dialects[file_id]) for file_id in sorted(paths)]
    if [export.file_id for export in exports] != sorted(paths):
        raise Problem(f"an export of {day} is not the file that landed: run the day again")
    return exports
