"""Dagster's way into the lake: an asset's day is published whole, and read lazily."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.mill import Mill, open_mill
from assets.staleness import inputs_of
from warehouse.catalog import DAILY
from warehouse.digest import Parts
from warehouse.files import writer_lock
from warehouse.problem import Problem


@dataclass(frozen=True)
class DayTables:
    """What an asset makes of a day: one frame a table, or its parts, and for `landed` the files it rests on."""

    frames: Mapping[str, pl.DataFrame | Parts]
    sources: list[dict[str, str]] = field(default_factory=list)


class DayScans(dict[str, pl.LazyFrame]):
    """A day's tables of an asset, by name, unread."""


class LakeIO(dg.ConfigurableIOManager):
    """Publishes and reads partitions of the lake. The data version is the content's hash."""

    def handle_output(self, context: dg.OutputContext, obj: DayTables) -> None:
        with told_safely():
            mill, asset, day = open_mill(), context.asset_key.path[-1], date.fromisoformat(context.partition_key)
            provenance = mill.provenance(asset, inputs_of(mill, asset, day, obj.sources))
            with writer_lock(mill.home.lock_file):
                _refuse_overtaken(mill, context.step_context, day)
                version = mill.lake.publish(asset, day, obj.frames, provenance, obj.sources)
        context.step_context.set_data_version(context.asset_key, dg.DataVersion(version))
        rows = {f"rows/{table}": frame.height for table, frame in obj.frames.items()}
        context.add_output_metadata({"dagster/row_count": next(iter(rows.values())), **rows})

    def load_input(self, context: dg.InputContext) -> DayScans:
        with told_safely():
            lake, day = open_mill().lake, date.fromisoformat(context.partition_key)
            tables = DAILY[context.asset_key.path[-1]]
            return DayScans({table.name: lake.scan(table, only=day) for table in tables})


def _refuse_overtaken(mill: Mill, step: dg.StepExecutionContext, day: date) -> None:
    """Publish nothing that was made of what an erasure has since removed. The caller holds the writer's lock.

    Raises Problem where somebody was forgotten after the run began, or the day is not kept any more.
    """
    kept = mill.erasures.retained_from()
    if kept and day < kept:
        raise Problem(f"{day} is not kept any more: `tracemill retain` dropped the days before {kept}")
    changed = mill.erasures.changed_at()
    record = step.instance.get_run_record_by_id(step.run_id) if changed else None
    if record and record.start_time is not None and record.start_time <= changed:
        raise Problem("somebody was forgotten while this ran, and nothing was published: run it again")
