"""Old days leave the lake; what newer days and releases rest on stays, or goes with them where that is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from assets.erasure import models_of, rewrite_without, thread_again
from assets.lake_search import Found
from assets.mill import Mill
from assets.staleness import inputs_of, touched_traces
from warehouse.catalog import DAILY
from warehouse.duck import rebuild
from warehouse.files import writer_lock
from warehouse.leftovers import leftover_files, sweep
from warehouse.schemas import CUT, FEEDBACK, SPANS

KEPT = "landed"
"""What a dropped day keeps: which files it had, by hash and size, so that a copy of one does not bring it back."""


@dataclass(frozen=True)
class Drop:
    """What goes, and what stays although it is old."""

    days: tuple[date, ...]
    needed: dict[date, tuple[date, ...]]  # old days of which something stays, and the days that go on with it
    trimmed: dict[date, set[str]]  # of those days, the traces that no newer day goes on with
    releases: tuple[str, ...]  # those that hold trajectories of the days that go
    traces: int
    leftovers: int  # files that nothing refers to


def drop_of(mill: Mill, before: date) -> Drop:
    """What `retain` would drop of the days before `before`."""
    lake, assets = mill.lake, [asset for asset in DAILY if asset != KEPT]
    old = sorted({day for asset in assets for day in lake.days(asset) if day < before})
    needed = {day: newer for day, newer in _needed(mill, before).items() if day in old}
    going = tuple(day for day in old if day not in needed)
    trimmed = {day: extra for day, newer in needed.items() if (extra := _unneeded(mill, day, newer))}
    gone = {*_traces(mill, *going)}.union(*trimmed.values())
    releases = tuple(name for name in mill.releases.names() if _rests_on(mill, name, (*going, *trimmed)))
    return Drop(going, needed, trimmed, releases, len(gone), len(leftover_files(mill.home.lake)))


def retain(mill: Mill, before: date, withdraw_releases: bool = False) -> dict[str, Any]:
    """Drop days before `before`, and files that nothing refers to; return the deed. Repeated, it finishes what a kill
    left. Of a day whose traces a newer day goes on with, those traces stay until that day goes as well."""
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
        for day, extra in drop.trimmed.items():
            rewrite_without(mill, day, Found(traces=extra))
        for day in sorted({one for old, newer in drop.needed.items() for one in (old, *newer)}):
            if _rests_on_older(mill, day):
                thread_again(mill, day)
        files = sweep(mill.home.lake)
        days = sorted(str(day) for day in (*drop.days, *drop.trimmed))
        facts = {"kind": "retain", "days": days, "traces": drop.traces}
        deed = {**facts, "releases": list(released), "models": list(models), "files": files, "left": 0}
        if days or files or released:
            deed = mill.erasures.finish(str(before), deed)
    rebuild(mill.home)
    return deed


def _needed(mill: Mill, before: date) -> dict[date, tuple[date, ...]]:
    """Days before `before` of which days that stay have threaded spans, with those days."""
    needed: dict[date, list[date]] = {}
    for day in mill.lake.days("trajectories"):
        if day >= before:
            for name in (mill.lake.manifest("trajectories", day) or {"inputs": {}})["inputs"]:
                needed.setdefault(date.fromisoformat(name.rpartition("/")[2]), []).append(day)
    return {old: tuple(newer) for old, newer in sorted(needed.items()) if old < before}


def _unneeded(mill: Mill, day: date, newer: tuple[date, ...]) -> set[str]:
    """Traces of a day that none of the newer days goes on with."""
    touched = {trace for one in newer for trace in touched_traces(mill.lake, one)["trace_id"]}
    return _traces(mill, day) - touched


def _traces(mill: Mill, *days: date) -> set[str]:
    held = [mill.lake.scan(table, only=day).select("trace_id") for day in days for table in (SPANS, FEEDBACK)]
    return set(pl.concat(held).unique().collect()["trace_id"]) if held else set()


def _rests_on_older(mill: Mill, day: date) -> bool:
    """Whether a day's trajectories were made of other versions than are there now, as after a kill."""
    manifest = mill.lake.manifest("trajectories", day)
    return manifest is not None and manifest["inputs"] != inputs_of(mill, "trajectories", day, [])


def _rests_on(mill: Mill, name: str, going: tuple[date, ...]) -> bool:
    """Whether a release holds trajectories whose last day goes."""
    cut = mill.releases.read(name, CUT)
    return bool(cut.filter(pl.col("split").is_not_null() & pl.col("revision").is_in(going)).height)
