"""Old days leave the lake; what newer days and releases rest on stays, or goes with them where that is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from assets.erasure import models_of
from assets.mill import Mill
from warehouse.catalog import DAILY
from warehouse.duck import rebuild
from warehouse.files import writer_lock
from warehouse.leftovers import leftover_files, sweep
from warehouse.schemas import CUT, SPANS

KEPT = "landed"
"""What a dropped day keeps: which files it had, by hash and size, so that a copy of one does not bring it back."""


@dataclass(frozen=True)
class Drop:
    """What goes, and what stays although it is old."""

    days: tuple[date, ...]
    needed: dict[date, date]  # old days that stay, and the newest day that goes on with their traces
    releases: tuple[str, ...]  # those that hold trajectories of the days that go
    traces: int
    leftovers: int  # files that nothing refers to


def drop_of(mill: Mill, before: date) -> Drop:
    """What `retain` would drop of the days before `before`."""
    lake, assets = mill.lake, [asset for asset in DAILY if asset != KEPT]
    old = sorted({day for asset in assets for day in lake.days(asset) if day < before})
    needed = _needed(mill, before)
    going = tuple(day for day in old if day not in needed)
    traces = lake.scan(SPANS).filter(pl.col("day").is_in(going)).select("trace_id").unique().collect().height
    releases = tuple(name for name in mill.releases.names() if _rests_on(mill, name, going))
    return Drop(
        going, {day: needed[day] for day in old if day in needed}, releases, traces, len(leftover_files(mill.home.lake))
    )


def retain(mill: Mill, before: date, withdraw_releases: bool = False) -> dict[str, Any]:
    """Drop days before `before`, and files that nothing refers to; return the deed. Repeated, it finishes what a kill
    left. Days whose traces a newer day goes on with stay until that day goes as well."""
    with writer_lock(mill.home.lock_file):
        drop = drop_of(mill, before)
        mill.erasures.retain_from(before)  # first: no run that begins now may make again what goes
        released = drop.releases if withdraw_releases else ()
        models = models_of(mill, released)
        for name in released:
            mill.releases.withdraw(name, f"it held traces from before {before}, which are not kept")
        for day in drop.days:
            for asset in reversed(DAILY):
                if asset != KEPT:
                    mill.lake.drop(asset, day)
        files = sweep(mill.home.lake)
        facts = {"kind": "retain", "days": [str(day) for day in drop.days], "traces": drop.traces}
        deed = {**facts, "releases": list(released), "models": list(models), "files": files, "left": 0}
        if drop.days or files or released:
            deed = mill.erasures.finish(str(before), deed)
    rebuild(mill.home)
    return deed


def _needed(mill: Mill, before: date) -> dict[date, date]:
    """Days of which a day that stays has threaded spans, and the newest such day."""
    needed: dict[date, date] = {}
    for day in mill.lake.days("trajectories"):
        if day >= before:
            for name in (mill.lake.manifest("trajectories", day) or {"inputs": {}})["inputs"]:
                needed[date.fromisoformat(name.rpartition("/")[2])] = day
    return {old: newest for old, newest in needed.items() if old < before}


def _rests_on(mill: Mill, name: str, going: tuple[date, ...]) -> bool:
    """Whether a release holds trajectories whose last day goes."""
    cut = mill.releases.read(name, CUT)
    return bool(cut.filter(pl.col("split").is_not_null() & pl.col("revision").is_in(going)).height)
