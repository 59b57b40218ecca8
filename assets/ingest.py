"""`landed`: the files that arrived on a day, each read once to the end and accounted for."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.handed_over import hand_over
from assets.history import History, moved
from assets.lake_io import DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.progress import tracked
from assets.reading import read_together, records_of, workers_for
from assets.sources import Export, hashed, read_stretch, readable
from assets.staleness import earlier_files
from assets.stretches import Stretch, begins_with, look
from transforms.garbage import seldom_collected
from transforms.kept import KeptRecords
from warehouse.arrivals import Arrival
from warehouse.problem import Problem
from warehouse.schemas import EXPORTS, REJECTS

AGAIN = "put back what was there and run again (an export that comes every night needs a name of its own each time)"


@dg.asset(partitions_def=days, group_name="ingest", kinds={"polars"}, io_manager_key="lake_io")
def landed(context: dg.AssetExecutionContext, mill: MillResource) -> DayTables:
    """Files that arrived on the day, what they hold and what in them could not be used."""
    with told_safely():
        opened = mill.open()
        opened.register([], datetime.now(UTC).date())  # what lies outside of the folders of days is first seen now
        return land(opened, date.fromisoformat(context.partition_key))


@seldom_collected()
def land(mill: Mill, day: date) -> DayTables:
    """Read what arrived on a day and no earlier day has; a file that arrived twice counts once, one that grew with what
    is new."""
    history, seen = History.of(mill.lake, day), earlier_files(mill.lake, day)
    found = _in_order(mill, history, [_found(mill, history, arrival) for arrival in mill.arrivals.of(day)])
    kept = records_of(mill.identity, found)
    exports: list[Export] = []
    sources: list[dict[str, str]] = []
    together = _read_together(mill, history, found, seen, kept)
    for stretch in tracked(found, f"{day} reading"):
        known = next((one for one in (stretch.file_id, *stretch.ids) if one in seen), "")
        if known:
            sources.append(replace(stretch, file_id=known).source("seen before"))
            continue
        export = together.pop(0) if together else _read(mill, history, stretch, kept)
        if export.stretch.file_id not in seen:
            exports.append(export)
        sources.append(export.stretch.source("seen before" if export.stretch.file_id in seen else "yes"))
        seen.add(export.stretch.file_id)
    _refuse_loss(mill, day, history, found, {source["file_id"] for source in sources})
    if kept.files == [export.stretch.file_id for export in exports]:
        hand_over(mill.home.root, day, kept)
    return DayTables(_tables(day, exports), sources)


def _found(mill: Mill, history: History, arrival: Arrival) -> Stretch:
    """What of an arrival can be read now, where it lies now; what is known of it is not read. Raises Problem."""
    if known := history.at(arrival):
        return known
    before = next((one for one in history.own if one.uri == arrival.uri and arrival.pinned), None)
    try:
        with readable():
            stretch = look(mill.places, arrival)
    except Problem:
        if before and (there := moved(mill.places, mill.arrivals, before)):
            return there
        raise
    if before and not before.may_begin(stretch):
        return moved(mill.places, mill.arrivals, before) or stretch
    return stretch


def _in_order(mill: Mill, history: History, found: list[Stretch]) -> list[Stretch]:
    """The day's files in an order that depends on what they hold; only those that may have a double are hashed."""
    doubles = Counter((one.end, one.heads) for one in found)

    def told(one: Stretch) -> Stretch:
        alone = doubles[one.end, one.heads] == 1 and not history.twins(one)
        return one if one.sha256 or alone else replace(one, sha256=hashed(mill.places, one).hex())

    return sorted(map(told, found), key=lambda one: one.order)


def _read_together(
    mill: Mill, history: History, found: list[Stretch], seen: set[str], kept: KeptRecords
) -> list[Export]:
    """What several processes read at once, in order; none where the day is too small or a file hangs on another."""
    new = [one for one in found if one.file_id not in seen]
    count = workers_for(new, mill.settings.workers)
    alone = all(not one.sha256 and not history.last_of(one.uri) and not history.begun(one) for one in new)
    return read_together(mill.places, mill.identity, new, count, kept) if count > 1 and alone else []


def _read(mill: Mill, history: History, stretch: Stretch, kept: KeptRecords) -> Export:
    """Read what of a stretch is new. Raises Problem where its place held an earlier day's export, which is gone."""
    tail, sha256 = history.continued(mill.places, replace(stretch, file_id="", sha256=""))
    before = history.last_of(stretch.uri)
    if before and before.lines and tail.start < before.end and not moved(mill.places, mill.arrivals, before):
        raise Problem(f"an export of an earlier day was overwritten in its place: {AGAIN}")
    return read_stretch(mill.places, tail, kept, sha256)


def _tables(day: date, exports: list[Export]) -> dict[str, pl.DataFrame]:
    rows = [
        {
            "day": day, "file_id": one.stretch.file_id, "bytes": one.stretch.end - one.stretch.start,
            "container": one.tally.container, "dialects": sorted(one.tally.dialects), "records": one.tally.records,
            "rejects": one.tally.rejects, "blanks": one.tally.blanks, "waiting": one.stretch.size - one.stretch.end,
        }
        for one in exports
    ]  # fmt: skip
    rejects = [
        one.rejects.with_columns(day=pl.lit(day), file_id=pl.lit(one.stretch.file_id)).select(*REJECTS.columns)
        for one in exports
    ]
    return {"exports": EXPORTS.frame(rows), "rejects": REJECTS.enforce(pl.concat([REJECTS.empty(), *rejects]))}


def _refuse_loss(mill: Mill, day: date, history: History, found: Iterable[Stretch], now: set[str]) -> None:
    """Raise Problem where an export that the day already holds is gone or overwritten: its data would go with it.

    A file that has grown still holds what it held.
    """
    missing = [one for one in history.own if one.file_id not in now and one.end > 0]
    with readable():
        lost = [
            one
            for one in missing
            if not any(one.may_begin(other) and begins_with(mill.places, other.uri, one) for other in found)
        ]
    if lost:
        raise Problem(
            f"{len(lost)} of the exports that {day} was made of are gone or overwritten; put them back and run again "
            "(an export that comes every night needs a name of its own each time)"
        )
