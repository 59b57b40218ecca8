"""`clean_spans`: everything that the day's exports say, with personal data and secrets replaced."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, partial

import dagster as dg

from assets.failures import told_safely
from assets.handed_over import take_over
from assets.lake_io import DayScans, DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.progress import tracked
from assets.reading import read_together, records_of, workers_for
from assets.sources import read_stretch, told_of_space
from assets.stretches import stretch_of
from transforms.cleaning import DayCleaning, Watch
from transforms.crew import WorkerLost
from transforms.garbage import seldom_collected
from transforms.kept import KeptRecords
from transforms.privacy.deidentifier import Deidentifier
from warehouse.files import writer_lock
from warehouse.lake import Lake
from warehouse.problem import Problem
from warehouse.schemas import SPANS


@dg.asset(partitions_def=days, group_name="privacy", kinds={"presidio"}, io_manager_key="lake_io")
def clean_spans(context: dg.AssetExecutionContext, mill: MillResource, landed: DayScans) -> DayTables:
    """Spans, distinct messages and feedback of the day, audited before they are published."""
    with told_safely():
        return clean_day(mill.open(), date.fromisoformat(context.partition_key), landed)


@seldom_collected()
def clean_day(mill: Mill, day: date, landed: DayScans) -> DayTables:
    """Collect what is personal in the day's exports, then replace it.

    Raises Problem where one is gone or has other bytes than the file that landed, and where a worker is lost.
    """
    file_ids = sorted(landed["exports"].select("file_id").collect()["file_id"])
    kept = take_over(mill.home.root, day, file_ids) or _read(mill, day, file_ids)
    deidentifier = partial(Deidentifier, mill.settings.privacy, mill.key)
    earlier, tombs = _Earlier(mill.lake, day), mill.tombs()
    cleaning = DayCleaning(day, deidentifier, earlier, _watch(day), mill.settings.workers, tombs)
    try:
        with told_of_space():
            tables = cleaning.tables(kept, mill.settings.max_quarantined)
    except WorkerLost as lost:
        raise Problem(f"{lost} (`workers` in tracemill.yaml says how many there may be)") from None
    if cleaning.erased:
        with writer_lock(mill.home.lock_file):
            mill.erasures.note_seen(str(tombs.trace(trace)) for trace in cleaning.erased)
    return DayTables(tables)


def _read(mill: Mill, day: date, file_ids: list[str]) -> KeptRecords:
    """The records of the files that `landed` names, read once more."""
    manifest = mill.lake.manifest("landed", day) or {"sources": []}
    stretches = [stretch_of(source) for source in manifest["sources"] if source["read"] == "yes"]
    kept = records_of(mill.identity, stretches)
    ordered = sorted(stretches, key=lambda one: one.order)
    count = workers_for(ordered, mill.settings.workers)
    if count > 1 and not any(one.start for one in ordered):
        read_together(mill.places, mill.identity, ordered, count, kept)
    else:
        for stretch in tracked(ordered, f"{day} reading"):
            if read_stretch(mill.places, stretch, kept).stretch.file_id != stretch.file_id:
                break
    if sorted(kept.files) != file_ids:
        raise Problem(f"an export of {day} is not the file that landed: run the day again")
    return kept


def _watch(day: date) -> Watch:
    return lambda items, what: tracked(items, f"{day} {what}")


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
