"""`tracemill rewards diff`: what another reward changes, told before anybody trains on it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table as Grid

from assets.mill import Mill
from assets.rewards import Frames, gated, scored
from assets.settings import Settings, load_part
from transforms.rewards.compare import compare, summary
from transforms.rewards.composition import gdpo
from transforms.rewards.spec import GateSpec, RewardSpec
from warehouse.duck import reader
from warehouse.problem import Problem
from warehouse.schemas import REWARDS, STEPS, TOOL_CALLS, TRAJECTORIES, Table

NOW, STORED = "now", "stored"
PARTS: dict[str, type[BaseModel]] = {"rewards": RewardSpec, "gates": GateSpec}


def print_diff(mill: Mill, one: str, other: str, limit: int, output: str, console: Console) -> None:
    """Compare two rewards over all stored trajectories and print it. Raises Problem."""
    days = mill.lake.days("trajectories")
    if not days:
        raise Problem("nothing to compare rewards on: run a day first (`tracemill run --from EXPORTS`)")
    frames = _frames(mill, days[-1])
    before, after = (_rewards(mill, name, frames, days[-1]) for name in (one, other))
    rows = compare(frames["trajectories"], before, after)
    told = {"before": _version(before), "after": _version(after), **summary(rows)}
    if output == "json":
        changed = rows.filter(pl.col("changed") | pl.col("moved"))
        console.print_json(json.dumps({**told, "trajectories_that_change": changed.to_dicts()}))
        return
    for name, value in told.items():
        console.print(f"{name:>27}  {value:.4g}" if isinstance(value, float) else f"{name:>27}  {value}")
    console.print(_grid(rows.filter(pl.col("changed") | pl.col("moved")), limit))


def _frames(mill: Mill, through: date) -> dict[str, pl.DataFrame]:
    """Every trajectory at its highest revision, as the lake holds it."""
    with reader(mill.home, through) as connection:
        newest = connection.sql("SELECT trajectory_id, revision FROM trajectories").pl()

    def of(table: Table) -> pl.DataFrame:
        own = ["trajectory_id", "revision"]
        return mill.lake.scan(table, through).join(newest.lazy(), on=own, how="semi").collect()

    return {"trajectories": of(TRAJECTORIES), "steps": of(STEPS), "tool_calls": of(TOOL_CALLS)}


def _rewards(mill: Mill, name: str, frames: Frames, through: date) -> pl.DataFrame:
    """REWARDS as `name` makes them: a file, `now`, either with `:PHASE`, or `stored`, or a stored version."""
    text, _, phase = name.partition(":")
    own = frames["trajectories"].lazy().select("trajectory_id", "revision")
    held = mill.lake.scan(REWARDS, through).join(own, on=["trajectory_id", "revision"], how="semi")
    if text == STORED:
        return held.collect()
    if text != NOW and not Path(text).exists():
        return _of_version(held, text)
    settings = mill.settings if text == NOW else _of_file(Path(text), mill.settings)
    spec = settings.rewards
    if phase:
        if phase not in spec.phases:
            raise Problem(f"{text} has no phase `{phase}`; it has: {', '.join(spec.phases) or 'none'}")
        spec = spec.model_copy(update={"phase": phase})
    gates = gated(mill, frames, settings.gates, through)
    made = scored(mill, frames, gates, spec, through)
    return gdpo(made, frames["trajectories"], spec) if spec.normalise else made


def _of_version(held: pl.LazyFrame, version: str) -> pl.DataFrame:
    known = held.filter(pl.col("component") == "reward").select("version").unique().collect()["version"].sort()
    fitting = known.filter(known.str.starts_with(version)) if version else known.clear()
    if len(fitting) != 1:
        raise Problem(
            f"{version} is no file and no version of stored rewards ({', '.join(known)}); name a file with `rewards:`, "
            f"`{NOW}` for tracemill.yaml, or `{STORED}` for what was computed last"
        )
    composed = held.filter((pl.col("component") == "reward") & (pl.col("version") == fitting[0]))
    return held.join(composed.select("trajectory_id"), on="trajectory_id", how="semi").collect()


def _of_file(file: Path, current: Settings) -> Settings:
    """The settings with the `rewards`, and the `gates` where there are any, of another file."""
    return current.model_copy(update=load_part(file, PARTS))


def _version(rewards: pl.DataFrame) -> str:
    return ", ".join(rewards.filter(pl.col("component") == "reward")["version"].unique().sort()) or "none"


def _grid(rows: pl.DataFrame, limit: int) -> Grid:
    left = rows.height - limit
    caption = f"{left} more; --limit shows them, --format json all" if left > 0 else None
    grid = Grid("trajectory", "task", "before", "after", "change", "rank in its group", caption=caption)
    for row in rows.head(limit).iter_rows(named=True):
        ranks = f"{_shown(row['rank_before'])} → {_shown(row['rank_after'])} of {row['group_size']}"
        values = (_value(row, side) for side in ("before", "after"))
        change = "" if row["change"] is None else f"{row['change']:+.3f}"
        grid.add_row(row["trajectory_id"][:16], row["task"] or row["task_id"][:12], *values, change, ranks)
    return grid


def _value(row: dict[str, Any], side: str) -> str:
    value = row[side]
    return str(row[f"verdict_{side}"] or "none") if value is None else f"{value:.3f}"


def _shown(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
