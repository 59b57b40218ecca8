"""A person is forgotten: their traces leave the lake, their releases are withdrawn, and no later run brings them back.

What goes is whole traces. The lake holds a person as surrogates only, and yet the rest of a conversation is about them;
a hole in it would be neither forgotten nor fit to train on; and traces are what a later run can leave out alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from assets.lake_search import Found, held_rows, search_day, search_release
from assets.mill import Mill
from assets.rewards import gated, scored
from assets.staleness import inputs_of
from assets.trajectories import thread_day
from transforms.privacy.erasure import Tombs, Tombstone
from warehouse.catalog import DAILY
from warehouse.digest import text_digest
from warehouse.duck import rebuild
from warehouse.files import writer_lock
from warehouse.lake import Provenance
from warehouse.leftovers import sweep
from warehouse.problem import Problem
from warehouse.rows import StoredRows
from warehouse.schemas import FEEDBACK, GATES, LEFT_OUT, MESSAGES, SPANS, TRAJECTORIES

CLEAN, THREADS = "clean_spans", "trajectories"


@dataclass(frozen=True)
class Reach:
    """What an erasure removes: traces and verdicts by day, and what was made of them."""

    found: dict[date, Found]
    threaded: tuple[date, ...]  # days whose trajectories rest on one of those
    releases: tuple[str, ...]
    models: tuple[str, ...]

    @property
    def traces(self) -> list[str]:
        return sorted({trace for one in self.found.values() for trace in one.traces})

    @property
    def days(self) -> list[date]:
        return sorted(self.found)


def erasure_name(tombstones: Iterable[str]) -> str:
    """What an erasure is called: the same person's values give the same name."""
    return text_digest(sorted(tombstones))[:16]


def reach_of(mill: Mill, tombs: Tombs) -> Reach:
    """What of the lake holds those whom `tombs` name; nothing is changed."""
    found = _found(mill, tombs)
    affected = {f"{CLEAN}/{day}" for day in found}
    threaded = [
        day for day in mill.lake.days(THREADS)
        if day in found or affected & set((mill.lake.manifest(THREADS, day) or {"inputs": {}})["inputs"])
    ]  # fmt: skip
    traces = {trace for one in found.values() for trace in one.traces}
    releases = [name for name in mill.releases.names() if search_release(mill, name, tombs, _threads(mill, traces))]
    return Reach(found, tuple(threaded), tuple(releases), models_of(mill, releases))


def models_of(mill: Mill, releases: Iterable[str]) -> tuple[str, ...]:
    """Policies that were trained on any of `releases`."""
    known = mill.records.models()
    return tuple(known.filter(pl.col("release").is_in(list(releases)))["model"].sort())


def forget(mill: Mill, tombstones: Iterable[str]) -> dict[str, Any]:
    """Erase whom `tombstones` name, and return the deed. Killed at any moment and repeated, it goes on.

    Tombstones come first, so that no run which begins later brings back what is being removed; then a plan, so that
    what a killed try did is counted; releases go before the days by which they are recognised. Raises Problem where a
    row still holds the person when all is done.
    """
    tombstones = sorted(set(tombstones))
    name, erasures = erasure_name(tombstones), mill.erasures
    with writer_lock(mill.home.lock_file):
        erasures.add(name, tombstones)
        tombs = _tombs(mill, name)
        reach = reach_of(mill, tombs)
        plan = _planned(mill, name, tombs, reach)
        for release in plan["releases"]:
            mill.releases.withdraw(release, "it held somebody who is forgotten")
        for day, found in sorted(reach.found.items()):
            rewrite_without(mill, day, found)
        for day in map(date.fromisoformat, plan["threaded"]):
            thread_again(mill, day)
        files = sweep(mill.home.lake)
        if left := held_rows(mill, _tombs(mill, name)):
            raise Problem(
                f"{left} rows of the lake still hold the person: run `tracemill forget` again, then report it"
            )
        deed = _record(mill, name, plan, files)
    rebuild(mill.home)
    return deed


def _tombs(mill: Mill, name: str) -> Tombs:
    """Those of one erasure, with all traces that were erased so far."""
    return Tombs(mill.key, map(Tombstone.of, mill.erasures.of(name) | mill.erasures.seen()))


def _planned(mill: Mill, name: str, tombs: Tombs, reach: Reach) -> dict[str, list[str]]:
    """What is to be done, with what an earlier try that did not finish had to do; written down before anything goes."""
    before = mill.erasures.plan(name) or {}
    fresh = {
        "days": [str(day) for day in reach.days],
        "threaded": [str(day) for day in reach.threaded],
        "releases": list(reach.releases),
        "models": list(reach.models),
        "traces": [str(tombs.trace(trace)) for trace in reach.traces],
    }
    plan = {key: sorted({*values, *before.get(key, [])}) for key, values in fresh.items()}
    if any(plan.values()):
        mill.erasures.save_plan(name, plan)
        mill.erasures.note_seen(plan["traces"])
    return plan


def _record(mill: Mill, name: str, plan: dict[str, list[str]], files: int) -> dict[str, Any]:
    """The deed of a plan; that of an earlier time where there was nothing left to do."""
    done = [deed for deed in mill.erasures.deeds() if deed["erasure"] == name]
    if done and not any(plan.values()):
        return done[-1]
    facts = {"kind": "forget", "days": plan["days"], "traces": len(plan["traces"]), "releases": plan["releases"]}
    return mill.erasures.finish(name, {**facts, "models": plan["models"], "files": files, "left": 0})


def _found(mill: Mill, tombs: Tombs) -> dict[date, Found]:
    """What holds the person, by day; and, of those traces, what other days have."""
    days = mill.lake.days(CLEAN)
    found = {day: search_day(mill, day, tombs) for day in days}
    traces = pl.Series(sorted({trace for one in found.values() for trace in one.traces}), dtype=pl.String)
    for day in days:
        for table in (SPANS, FEEDBACK):
            held = mill.lake.scan(table, only=day).filter(pl.col("trace_id").is_in(traces.implode()))
            found[day].traces.update(held.select("trace_id").collect()["trace_id"])
    return {day: one for day, one in found.items() if one}


def _threads(mill: Mill, traces: set[str]) -> set[str]:
    """Trajectories of any revision that hold any of `traces`."""
    held = mill.lake.scan(TRAJECTORIES).select("trajectory_id", pl.col("trace_ids").alias("trace_id"))
    kept = held.explode("trace_id", empty_as_null=False).filter(pl.col("trace_id").is_in(list(traces))).collect()
    return set(kept["trajectory_id"])


def rewrite_without(mill: Mill, day: date, found: Found) -> None:
    """Publish a day's clean tables without what was found in them; the rest stays byte for byte.

    A run of the day's exports that consults the same tombstones makes the same rows. Rows pass through memory a group
    at a time; what is held is what goes.
    """
    manifest = mill.lake.manifest(CLEAN, day) or {}
    traces = pl.col("trace_id").is_in(sorted(found.traces))
    verdicts = traces | pl.col("feedback_id").is_in(sorted(found.verdicts))
    messages = _gone_messages(mill, day, traces)
    rows = [
        mill.lake.scan(SPANS, only=day).filter(traces).select(pl.format("{}:{}", "trace_id", "span_id")),
        mill.lake.scan(FEEDBACK, only=day).filter(verdicts).select(pl.format("feedback:{}", "feedback_id")),
    ]
    told = [*(some.collect().to_series() for some in rows), messages.bin.encode("hex")]
    going = {
        "spans": traces, "messages": pl.col("message_id").is_in(messages.implode()), "feedback": verdicts,
        "pii_findings": pl.col("row_id").is_in(pl.concat(told).implode()), "rejects": pl.lit(False),
    }  # fmt: skip
    left = {
        table.name: StoredRows(table, mill.lake.files(table, only=day), ~going[table.name]) for table in DAILY[CLEAN]
    }
    provenance = Provenance(**{key: manifest[key] for key in ("config", "code", "canonical", "key", "inputs")})
    mill.lake.publish(CLEAN, day, left, provenance, manifest["sources"])


def _gone_messages(mill: Mill, day: date, traces: pl.Expr) -> pl.Series:
    """Messages of a day that no span is left to show or say: those of `traces`, and what a later record of a span
    superseded."""
    said, files = pl.col("prompt_suffix").list.concat("output"), mill.lake.files(SPANS, only=day)
    gone = mill.lake.scan(MESSAGES, only=day).select("message_id").collect().to_series()
    for ids in StoredRows(SPANS, files, ~traces).each(said):
        gone = gone.filter(~gone.is_in(ids.explode(empty_as_null=False).implode()))
    return gone


def thread_again(mill: Mill, day: date) -> None:
    """Trajectories, gates and rewards of a day anew, from what the lake holds now. For the holder of the lock."""
    _publish(mill, THREADS, day, thread_day(mill, day).frames)
    frames = {
        table.name: mill.lake.scan(table, only=day).collect() for table in DAILY[THREADS] if table is not LEFT_OUT
    }
    if mill.lake.manifest("gates", day):
        _publish(mill, "gates", day, {"gates": gated(mill, frames, mill.settings.gates, day)})
    if mill.lake.manifest("rewards", day):
        broken = mill.lake.scan(GATES, only=day).collect()
        _publish(mill, "rewards", day, {"rewards": scored(mill, frames, broken, mill.settings.rewards, day)})


def _publish(mill: Mill, asset: str, day: date, frames: Any) -> None:
    mill.lake.publish(asset, day, frames, mill.provenance(asset, inputs_of(mill, asset, day, [])))
