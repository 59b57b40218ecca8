"""`tracemill pull`: from a service into the landing folder."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from pipelines.pull.landing import Landing
    from pipelines.pull.pulling import Pull
    from pipelines.pull.sources import Source

FIRST_PULL_DAYS = 7
out, err = Console(), Console(stderr=True)


def pull(
    service: Annotated[str, typer.Argument(help="langsmith, langfuse or phoenix.")],
    project: Annotated[
        str, typer.Option(help="Its project; none: the one that the environment names, or the keys open.")
    ] = "",
    since: Annotated[
        str | None, typer.Option(help="First day, YYYY-MM-DD UTC; none: where pulls began, at first a week ago.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Last day, itself included; none: up to now.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many new runs; the next pull goes on.")
    ] = None,
    into: Annotated[Path | None, typer.Option(help="Folder to land in; none: `landing` of the settings.")] = None,
    late: Annotated[
        int | None, typer.Option(min=0, help="Hours before the last pull's end that are asked for again; none: 6.")
    ] = None,
) -> None:
    """Land runs and feedback of a tracing service; only what is new since the last pull.

    Credentials come from the variables that the service's own client reads. Running it again is always right.
    """
    from assets.settings import load_settings
    from pipelines.pull.landing import Landing

    first, last = _day(since, "--since"), _day(until, "--until")
    if first and last and last < first:
        raise typer.BadParameter("the last day lies before the first", param_hint="--until")
    folder = into or _landing(load_settings().landing)
    with closing(open_source(service, project, folder)) as source:
        landing = Landing.of(folder, service, source.project, source.identity)
        _print(pull_into(source, landing, first, last, limit, late))


def _landing(landing: str) -> Path:
    """The landing folder of the settings. Raises Problem where it is none of this machine."""
    from warehouse.places import is_url
    from warehouse.problem import Problem

    if is_url(landing):
        raise Problem("`landing` is a URL, and a pull lands on this machine: name a folder with --into")
    return Path(landing)


def pull_into(
    source: Source,
    landing: Landing,
    since: date | None,
    until: date | None,
    limit: int | None,
    late: int | None = None,
    now: datetime | None = None,
) -> Pull:
    """Pull a project into its landing, one process at a time. Raises Problem."""
    from pipelines.pull.ledger import Ledger
    from pipelines.pull.pulling import Pull
    from warehouse.files import writer_lock

    with writer_lock(landing.lock), err.status("") as status:
        landing.sweep()
        ledger = Ledger.read(landing.ledger, source.project)
        if ledger is None:
            ledger = Ledger(landing.ledger, source.project, landing.next_number())
            ledger.write()
        now = now or datetime.now(UTC)
        start = _midnight(since) if since else ledger.begun or _midnight(now.date() - timedelta(days=FIRST_PULL_DAYS))
        end = min(now, _midnight(until + timedelta(days=1))) if until else now
        one = Pull(
            source, landing, ledger, now, limit=limit, late=None if late is None else timedelta(hours=late),
            tell=_tell, show=status.update,
        )  # fmt: skip
        one.run(start, end)
    return one


def open_source(service: str, project: str, folder: Path) -> Source:
    """The project of a service. Raises Problem: no client, no credentials, no such project, no network."""
    if service == "langsmith":
        from pipelines.pull.langsmith import LangSmith

        return LangSmith(project, _tell)
    if service == "langfuse":
        from pipelines.pull.langfuse import Langfuse

        return Langfuse(project, _tell)
    if service == "phoenix":
        from pipelines.pull.phoenix import Phoenix

        return Phoenix(project, folder, _tell)
    raise typer.BadParameter("langsmith, langfuse or phoenix", param_hint="SERVICE")


def _tell(said: str) -> None:
    err.print(said, soft_wrap=True)


def _print(pull: Pull) -> None:
    """What was landed and what to do next."""
    landed = ", ".join(f"{pull.landed[stream.name]:,} {stream.name}" for stream in pull.source.streams)
    if pull.files:
        out.print(f"landed {landed} in {len(pull.files)} files below {pull.landing.folder}", soft_wrap=True)
        out.print("next: tracemill run")
    else:
        out.print(f"nothing new in {pull.source.project}: {pull.reads:,} records were read again", soft_wrap=True)
    if pull.stopped:
        out.print("the limit left something behind: run the same command again to go on")


def _day(text: str | None, option: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter("a day is written YYYY-MM-DD", param_hint=option) from None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
