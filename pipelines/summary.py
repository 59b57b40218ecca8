"""What a run did, in the numbers that its user asks for."""

from __future__ import annotations

from datetime import date
from typing import Any

import duckdb
import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from assets.settings import settings_file
from warehouse.duck import reader
from warehouse.home import Home
from warehouse.releases import Releases
from warehouse.schemas import CREDIT_DIAGNOSTICS

ENTITIES_SHOWN = 8


def print_run(console: Console, home: Home, days: list[date], release: str | None, refusal: str | None) -> int:
    """Print what was read, replaced and made on `days`; return how many records were rejected."""
    with reader(home) as connection:
        listed = ", ".join(f"DATE '{day}'" for day in days)
        files, records = _row(connection, f"SELECT count(*), sum(records) FROM exports WHERE day IN ({listed})")
        rejects = connection.sql(
            "SELECT reason, (count(*) + coalesce(sum(more), 0))::BIGINT FROM rejects "
            f"WHERE day IN ({listed}) GROUP BY 1 ORDER BY 2 DESC, 1"
        ).fetchall()
        table = _facts(f"{days[0]}" if len(days) == 1 else f"{days[0]} … {days[-1]}, {len(days)} days")
        table.add_row("read", f"{records or 0:,} records in {files:,} files")
        if rejects:
            table.add_row("rejected", ", ".join(f"{count:,} {reason}" for reason, count in rejects))
        table.add_row("replaced", replaced(connection, f"day IN ({listed})"))
        for name, value in trajectory_facts(connection):
            table.add_row(name, value)
    if release:
        _add_release(table, Releases(home.lake).manifest(release))
    console.print(table)
    if refusal:
        console.print(Text.assemble(("no release: ", "yellow"), refusal))
    file = settings_file()
    console.print(f"settings: {file.resolve() if file.exists() else 'the defaults'}", soft_wrap=True, highlight=False)
    console.print(f"warehouse: {home.warehouse}", soft_wrap=True, highlight=False)
    return sum(count for _, count in rejects)


def replaced(connection: duckdb.DuckDBPyConnection, where: str) -> str:
    """How many values of which type were replaced, the most frequent first."""
    query = f"SELECT entity, count(*) FROM pii_findings WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1"
    found = connection.sql(query).fetchall()
    shown = ", ".join(f"{count:,} {entity}" for entity, count in found[:ENTITIES_SHOWN])
    rest = sum(count for _, count in found[ENTITIES_SHOWN:])
    return (shown + (f", {rest:,} others" if rest else "")) or "nothing"


def trajectory_facts(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Counts over all days: trajectories, steps, tasks, rewards, gates."""
    trajectories, tasks, steps, calls = _row(
        connection, "SELECT count(*), count(DISTINCT task_id), sum(steps), sum(tool_calls) FROM trajectories"
    )
    rewarded, mean, gated = _row(
        connection, "SELECT count(reward), avg(reward), count(*) FILTER (WHERE gated) FROM curated_trajectories"
    )
    return [
        ("trajectories", f"{trajectories:,} in {tasks:,} tasks; {steps or 0:,} steps, {calls or 0:,} tool calls"),
        ("rewards", f"{rewarded:,} rewarded, mean {mean or 0:.3f}; {gated:,} gated"),
    ]


def print_release(console: Console, home: Home, name: str) -> None:
    """Print what a release holds and how its funnel narrowed. Raises Problem for an unknown one."""
    manifest = Releases(home.lake).manifest(name)
    table = _facts(f"release {name}")
    table.add_row("through", manifest["through"])
    _add_release(table, manifest)
    for rule in manifest["funnel"]:
        table.add_row(f"  {rule['rule']}", f"{rule['left']:,} left")
    for row in credit_facts(Releases(home.lake).read(name, CREDIT_DIAGNOSTICS)):
        table.add_row(*row)
    console.print(table)


def credit_facts(measured: pl.DataFrame) -> list[tuple[str, str]]:
    """What a release's credit was measured on, as CREDIT_DIAGNOSTICS has it; null measures are left out."""
    told = measured.drop_nulls("value").filter(~(pl.col("measure").str.starts_with("share_") & (pl.col("value") == 0)))
    own = told.filter(~pl.col("measure").str.starts_with("agreement"))
    rows = [
        (f"  {measure}", f"{value:.3f} on {count:,}")
        for measure, value, count in own.select("measure", "value", "count").iter_rows()
    ]
    methods = own["method"].unique().to_list()
    others = told.filter(pl.col("measure") == "agreement").select("method", "value").iter_rows()
    agreed = ", ".join(f"{method} {value:.2f}" for method, value in others)
    return [("credit", ", ".join(methods)), *rows, ("  agreement", agreed)] if rows else []


def print_training(console: Console, home: Home, release: str, objective: str) -> None:
    """Print losses and held-out measures of a release's policies of one objective."""
    with reader(home) as connection:
        models = connection.execute(
            "SELECT model, first_loss, last_loss, steps, path FROM models"
            " WHERE release = ? AND objective = ? ORDER BY model",
            [release, objective],
        ).fetchall()
        for model, first, last, steps, path in models:
            table = _facts(model)
            table.add_row("loss", f"{first:.4f} → {last:.4f} on the training split, in {steps} steps")
            for row in measures(connection, model):
                table.add_row(*row)
            console.print(table)
            console.print(f"checkpoint: {home.root / path}", soft_wrap=True, highlight=False)


def measures(connection: duckdb.DuckDBPyConnection, model: str) -> list[tuple[str, str]]:
    """A policy's held-out measures, before and after, with counts and intervals."""
    rows = connection.execute(
        "SELECT measure, before, after, low, high, count, verdict FROM evaluations WHERE model = ? ORDER BY measure",
        [model],
    ).fetchall()
    return [(measure, _measured(*rest)) for measure, *rest in rows]


def _measured(before: Any, after: Any, low: Any, high: Any, count: int, verdict: str) -> str:
    start = "" if before is None else f"{before:.3f} → "
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    value = "none" if after is None else f"{after:.3f}"
    return f"{start}{value}{interval} on {count:,}: {verdict}"


def _add_release(table: Table, manifest: dict[str, Any]) -> None:
    counts = manifest["counts"]
    table.add_row("release", manifest["release"])
    table.add_row("in it", f"{counts['trajectories']:,} trajectories, {counts['tasks']:,} tasks")
    table.add_row("groups", f"{counts['mixed_groups']:,} with both outcomes; {counts['rollouts']:,} rows of rollouts")
    table.add_row("pairs", f"{counts['pairs']:,}, {counts['test_pairs']:,} of them held out")


def _facts(title: str) -> Table:
    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    return table


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    return connection.execute(query).fetchall()[0]
