"""`tracemill retain`: days that are too old leave the lake, and files that nothing refers to."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pipelines.forget import print_facts, shown_list

if TYPE_CHECKING:
    from assets.retention import Drop

out, err = Console(), Console(stderr=True)


def retain(
    days: Annotated[
        int | None, typer.Option(min=1, help="Keep the days of the last so many, today (UTC) and N days before it.")
    ] = None,
    before: Annotated[str | None, typer.Option(help="Drop the days before this one, YYYY-MM-DD.")] = None,
    withdraw_releases: Annotated[
        bool, typer.Option("--withdraw-releases", help="Withdraw releases that hold traces of the days that go, too.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")] = False,
) -> None:
    """Drop old arrival days and files that nothing refers to.

    Traces stay while a newer day goes on with them. Releases carry their own rows and stay, unless you say
    otherwise. A dropped day is not run again, and its files are still known, so that a copy does not bring it back.
    """
    from assets.mill import open_mill
    from assets.retention import drop_of
    from pipelines.erasure_jobs import run_retain

    bound, mill = _bound(days, before), open_mill()
    drop = drop_of(mill, bound)
    if not dry_run:
        run_retain(bound, withdraw_releases, err)
    _print(drop, bound, withdraw_releases, dry_run)


def _bound(days: int | None, before: str | None) -> date:
    if (days is None) == (before is None):
        raise typer.BadParameter("say either --days N or --before DAY", param_hint="--days")
    today = datetime.now(UTC).date()
    if days is not None:
        return today - timedelta(days=days)
    try:
        bound = date.fromisoformat(before or "")
    except ValueError:
        raise typer.BadParameter("a day is written YYYY-MM-DD", param_hint="--before") from None
    if bound > today:
        raise typer.BadParameter("a day that has not come yet would leave nothing", param_hint="--before")
    return bound


def _print(drop: Drop, bound: date, withdraw_releases: bool, dry_run: bool) -> None:
    rows = {
        "days": shown_list(drop.days), "parts of days": shown_list(drop.trimmed), "traces": f"{drop.traces:,}",
        "files nothing referred to before": f"{drop.leftovers:,}",
        "releases withdrawn": shown_list(drop.releases if withdraw_releases else ()),
    }  # fmt: skip
    print_facts(f"from {bound} on is kept; {'would go' if dry_run else 'gone'}", rows)
    for day, newer in sorted(drop.needed.items()):
        out.print(f"{day}: traces stay that {shown_list(newer)} goes on with", soft_wrap=True)
    if drop.releases and not withdraw_releases:
        out.print(
            f"{shown_list(drop.releases)} keep their own rows of these days; the spans behind them have left the "
            "lake (--withdraw-releases removes such releases)",
            soft_wrap=True,
        )
