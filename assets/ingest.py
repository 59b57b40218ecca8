"""`landed`: the files that arrived on a day, each read once to the end and accounted for."""

from datetime import date
from pathlib import Path

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.lake_io import DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.progress import tracked
from assets.sources import Export, read_records
from assets.staleness import earlier_files
from transforms.readers.exports import Tally
from transforms.records import Reject
from warehouse.problem import Problem
from warehouse.schemas import EXPORTS, REJECTS


@dg.asset(partitions_def=days, group_name="ingest", kinds={"polars"}, io_manager_key="lake_io")
def landed(context: dg.AssetExecutionContext, mill: MillResource) -> DayTables:
    """Files that arrived on the day, what they hold and what in them could not be used."""
    with told_safely():
        return land(mill.open(), date.fromisoformat(context.partition_key))


def land(mill: Mill, day: date) -> DayTables:
    """Read every file of a day that no earlier day has; a file that arrived twice counts once."""
    seen = earlier_files(mill.lake, day)
    exports, rejects, sources = [], [], []
    for path in tracked(mill.arrivals.of(day), f"{day} reading"):
        tally = Tally()
        refused = [record for record in read_records(path, tally) if isinstance(record, Reject)]
        export = Export.of(path, tally.dialects)
        is_new = export.file_id not in seen
        sources.append({"file_id": export.file_id, "uri": str(path), "read": "yes" if is_new else "seen before"})
        if not is_new:
            continue
        seen.add(export.file_id)
        exports.append({
            "day": day, "file_id": export.file_id, "bytes": tally.bytes, "container": tally.container,
            "dialects": sorted(tally.dialects), "records": tally.records, "rejects": tally.rejects,
            "blanks": tally.blanks,
        })  # fmt: skip
        rejects += [
            {"day": day, "file_id": export.file_id, "position": r.position, "reason": r.reason, "bytes": r.bytes}
            for r in refused
        ]
    _refuse_loss(mill, day, seen)
    unique = pl.DataFrame(rejects, schema=REJECTS.schema).unique(REJECTS.key, maintain_order=True)
    return DayTables({"exports": EXPORTS.frame(exports), "rejects": unique}, sources)


def _refuse_loss(mill: Mill, day: date, seen: set[str]) -> None:
    """Raise Problem where an export that the day already holds is gone or overwritten: its data would go with it.

    A file that has grown still holds what it held.
    """
    before = (mill.lake.manifest("landed", day) or {"sources": []})["sources"]
    missing = [source for source in before if source["file_id"] not in seen]
    held = mill.lake.scan(EXPORTS, only=day).select("file_id", "bytes", "dialects").collect().rows()
    known = {file_id: (size, dialects) for file_id, size, dialects in held}
    lost = [source for source in missing if not _still_begins(source, *known.get(source["file_id"], (0, [])))]
    if lost:
        raise Problem(
            f"{len(lost)} of the exports that {day} was made of are gone or overwritten; put them back and run again "
            "(an export that comes every night needs a name of its own each time)"
        )


def _still_begins(source: dict[str, str], size: int, dialects: list[str]) -> bool:
    """Whether the file at a source's place begins with the bytes that it had."""
    path = Path(source["uri"])
    return path.exists() and size > 0 and Export.of(path, dialects, size).file_id == source["file_id"]
