"""`landed`: the files that arrived on a day, each read once to the end and accounted for."""

from datetime import date, timedelta
from pathlib import Path

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.garbage import seldom_collected
from assets.handed_over import hand_over
from assets.lake_io import DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.progress import tracked
from assets.sources import Export, possible_ids, read_file
from assets.staleness import earlier_files
from transforms.kept import KeptRecords
from warehouse.problem import Problem
from warehouse.schemas import EXPORTS, REJECTS


@dg.asset(partitions_def=days, group_name="ingest", kinds={"polars"}, io_manager_key="lake_io")
def landed(context: dg.AssetExecutionContext, mill: MillResource) -> DayTables:
    """Files that arrived on the day, what they hold and what in them could not be used."""
    with told_safely():
        return land(mill.open(), date.fromisoformat(context.partition_key))


@seldom_collected()
def land(mill: Mill, day: date) -> DayTables:
    """Read every file of a day that no earlier day has; a file that arrived twice counts once."""
    seen, kept = earlier_files(mill.lake, day), KeptRecords(mill.identity)
    exports: list[Export] = []
    sources: list[dict[str, str]] = []
    for path, ids in tracked(_in_order(mill, day), f"{day} reading"):
        known = next((one for one in ids if one in seen), None)
        export = None if known else read_file(path, kept)
        if export is not None and export.file_id not in seen:
            exports.append(export)
        file_id = export.file_id if export else str(known)
        sources.append({"file_id": file_id, "uri": str(path), "read": "seen before" if file_id in seen else "yes"})
        seen.add(file_id)
    _refuse_loss(mill, day, seen)
    if kept.files == sorted({export.file_id for export in exports}):
        hand_over(mill.home.root, day, kept)
    return DayTables(_tables(day, exports), sources)


def _in_order(mill: Mill, day: date) -> list[tuple[Path, tuple[str, ...]]]:
    """The day's files in the order of the ids that they may have; none are told of a file that can have no double."""
    paths = mill.arrivals.of(day)
    sizes = set(mill.lake.scan(EXPORTS, through=day - timedelta(days=1)).select("bytes").collect()["bytes"])
    if len(paths) == 1 and paths[0].exists() and paths[0].stat().st_size not in sizes:
        return [(paths[0], ())]
    return sorted(((path, possible_ids(path)) for path in paths), key=lambda found: found[1])


def _tables(day: date, exports: list[Export]) -> dict[str, pl.DataFrame]:
    rows = [
        {
            "day": day, "file_id": export.file_id, "bytes": export.tally.bytes, "container": export.tally.container,
            "dialects": sorted(export.tally.dialects), "records": export.tally.records,
            "rejects": export.tally.rejects, "blanks": export.tally.blanks,
        }
        for export in exports
    ]  # fmt: skip
    rejects = [
        {"day": day, "file_id": export.file_id, "position": r.position, "reason": r.reason, "bytes": r.bytes}
        for export in exports
        for r in export.rejects
    ]
    unique = pl.DataFrame(rejects, schema=REJECTS.schema).unique(REJECTS.key, maintain_order=True)
    return {"exports": EXPORTS.frame(rows), "rejects": unique}


def _refuse_loss(mill: Mill, day: date, seen: set[str]) -> None:
    """Raise Problem where an export that the day already holds is gone or overwritten: its data would go with it.

    A file that has grown still holds what it held.
    """
    before = (mill.lake.manifest("landed", day) or {"sources": []})["sources"]
    missing = [source for source in before if source["file_id"] not in seen]
    sizes = dict(mill.lake.scan(EXPORTS, only=day).select("file_id", "bytes").collect().iter_rows())
    lost = [source for source in missing if not _still_begins(source, sizes.get(source["file_id"], 0))]
    if lost:
        raise Problem(
            f"{len(lost)} of the exports that {day} was made of are gone or overwritten; put them back and run again "
            "(an export that comes every night needs a name of its own each time)"
        )


def _still_begins(source: dict[str, str], size: int) -> bool:
    """Whether the file at a source's place begins with the bytes that it had."""
    path = Path(source["uri"])
    return path.exists() and size > 0 and source["file_id"] in possible_ids(path, size)
