"""`tracemill`: the jobs by hand, the warehouse in SQL, and what is wrong in words."""

from __future__ import annotations

import os
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from pipelines.forget import forget
from pipelines.privacy_report import app as report_app
from pipelines.pull.command import pull
from pipelines.retain import retain
from warehouse.problem import Problem

REJECTS = 3  # exit code: done, but some records could not be used

app = typer.Typer(
    name="tracemill",
    help="Traces of LLM agents in, de-identified training data out.\n\n"
    "A first day:  tracemill run --from EXPORTS  →  tracemill sql 'SELECT * FROM curated_trajectories'  →  "
    "tracemill train dpo --release NAME",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
release_app = typer.Typer(help="Cut, list and check releases: named, frozen sets to train on.", no_args_is_help=True)
warehouse_app = typer.Typer(help="The DuckDB file over the lake.", no_args_is_help=True)
rewards_app = typer.Typer(help="Compute rewards anew, and see what another reward would change.", no_args_is_help=True)
app.add_typer(release_app, name="release")
app.add_typer(rewards_app, name="rewards")
app.add_typer(warehouse_app, name="warehouse")
app.add_typer(report_app, name="report")
out, err = Console(), Console(stderr=True)


@app.callback()
def options(
    config: Annotated[
        Path | None, typer.Option("--config", help="Settings to use instead of ./tracemill.yaml.", metavar="FILE")
    ] = None,
) -> None:
    if config:
        os.environ["TRACEMILL_CONFIG"] = str(config)


@app.command()
def run(
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="PATH_OR_URL",
            help="A file or folder of exports, or its URL (s3://…). It arrives today, or on the day its folder names.",
        ),
    ] = None,
    day: Annotated[str | None, typer.Option(help="Run one arrival day, YYYY-MM-DD.")] = None,
    all_days: Annotated[bool, typer.Option("--all", help="Run every day on which anything arrived.")] = False,
    stale: Annotated[
        bool, typer.Option("--stale", help="Run the days whose exports, settings or earlier days have changed.")
    ] = False,
) -> None:
    """Run arrival days from exports to rewards, then cut the night's release.

    Without options: every day of the landing folder that is new or has changed. Running a day again changes nothing
    unless its exports or the settings changed. Exit code 3: done, but some records could not be used.
    """
    from assets.mill import open_mill
    from assets.staleness import stale_days
    from pipelines.runs import Refusal, refresh_warehouse, run_day, run_nightly_release, run_stale
    from pipelines.summary import print_run

    mill = open_mill()
    arrived = mill.register(source or [], datetime.now(UTC).date())
    if stale:
        chosen = run_stale(mill, err) or mill.lake.days("rewards")[-1:]
        if not chosen:
            raise Problem("nothing is stale: no day was run yet")
    else:
        chosen = _chosen_days(mill, arrived, _day(day, "--day"), all_days)
        for one in chosen:
            run_day(one, err)
    try:
        name, refusal = run_nightly_release(chosen[-1], err), None
    except Refusal as refused:
        name, refusal = None, str(refused)
    refresh_warehouse(mill)
    rejects = print_run(out, mill.home, chosen, name, refusal)
    if waiting := sum(map(mill.waiting, chosen)):
        out.print(f"{waiting} exports end in an incomplete record, which is read once it is complete")
    if later := [one for one in stale_days(mill, after=chosen[0]) if one not in chosen]:
        out.print(f"{len(later)} later days rest on what has changed: tracemill run --stale")
    raise typer.Exit(REJECTS if rejects else 0)


app.command()(pull)
app.command()(forget)
app.command()(retain)


@app.command()
def train(
    objective: Annotated[str, typer.Argument(help="dpo or grpo.")],
    release: Annotated[str, typer.Option(help="What to train on; `tracemill release list` names them.")],
    model: Annotated[Path | None, typer.Option(help="Folder of the start policy; none: a tiny one.")] = None,
) -> None:
    """Train a policy on a release and judge it on the release's held-out tasks."""
    from assets.mill import open_mill
    from pipelines.runs import refresh_warehouse, run_training
    from pipelines.summary import print_training

    if objective not in ("dpo", "grpo"):
        raise typer.BadParameter("dpo or grpo", param_hint="OBJECTIVE")
    mill = open_mill()
    mill.releases.manifest(release)
    run_training(objective, release, str(model.resolve()) if model else "", err)
    refresh_warehouse(mill)
    print_training(out, mill.home, release, objective)


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="SQL over the views; `SHOW TABLES` lists them.")],
    output: Annotated[str, typer.Option("--format", help="table, json, csv or parquet.")] = "table",
) -> None:
    """Ask the warehouse in SQL. Waits for no writer; opens no file but the lake's."""
    from pipelines.sql import answer

    answer(query, output, out)


@app.command()
def show(
    identifier: Annotated[str, typer.Argument(help="Id of a trajectory, trace, span or pair, or its beginning.")],
) -> None:
    """Read one trajectory, step by step, or one preference pair, side by side."""
    from pipelines.show import show_any

    show_any(identifier, out)


@app.command()
def doctor(
    files: Annotated[
        list[str] | None, typer.Argument(help="Exports to look into, or their URLs; none: the installation.")
    ] = None,
    output: Annotated[str, typer.Option("--format", help="table or json.")] = "table",
) -> None:
    """Tell what files hold and what of them can be trained on; without files, whether everything is in place.

    Files and folders are read as `run` would read them, and nothing is written. Exit code 3: some records could not be
    used; 1: a file could not be read.
    """
    from pipelines.doctor import examine
    from pipelines.installation import installation

    if output not in ("table", "json"):
        raise typer.BadParameter("table or json", param_hint="--format")
    raise typer.Exit(examine(files, output, out) if files else int(not installation(output, out)))


@release_app.command("create")
def release_create(
    spec: Annotated[Path | None, typer.Argument(help="A specification; none: `release` in tracemill.yaml.")] = None,
    name: Annotated[str | None, typer.Option(help="Its name; none: `manual-DAY`.")] = None,
    through: Annotated[str | None, typer.Option(help="Last arrival day, YYYY-MM-DD; none: the newest.")] = None,
) -> None:
    """Cut a release: splits, credit, preference pairs and rollouts, frozen under one name."""
    from assets.datasets import release_day, rests_on_input
    from assets.mill import open_mill
    from assets.settings import load_spec
    from pipelines.runs import refresh_warehouse, run_release
    from pipelines.summary import print_release

    reach = _day(through, "--through")
    mill = open_mill()
    wanted = load_spec(spec) if spec else mill.settings.release
    last = release_day(mill, reach.isoformat() if reach else "")
    given = _release_name(name) or mill.releases.name_for(f"manual-{last}", rests_on_input(mill, last, wanted))
    run_release(given, last, wanted, err)
    refresh_warehouse(mill)
    print_release(out, mill.home, given)


@release_app.command("list")
def release_list() -> None:
    """List the sealed releases."""
    from pipelines.sql import answer

    answer("SELECT release, through, trajectories, tasks, pairs, rollouts FROM releases", "table", out)


@release_app.command("show")
def release_show(name: str) -> None:
    """Show what a release holds and which rule dropped how many."""
    from pipelines.summary import print_release

    print_release(out, _home(), name)


@release_app.command("verify")
def release_verify(name: str) -> None:
    """Check that the rows of a release are those that its manifest seals."""
    from warehouse.releases import Releases

    broken = Releases(_home().lake).verify(name)
    if broken:
        raise Problem(f"release {name} is not what was sealed: {', '.join(broken)} changed")
    out.print(f"release {name} is as it was sealed")


@release_app.command("delete")
def release_delete(name: str) -> None:
    """Delete a release for good; what was trained on it stays."""
    from warehouse.duck import rebuild
    from warehouse.files import writer_lock
    from warehouse.releases import Releases

    home = _home()
    with writer_lock(home.lock_file):
        Releases(home.lake).delete(name)
    rebuild(home)
    out.print(f"release {name} is deleted")


@rewards_app.command("run")
def rewards_run(
    day: Annotated[str | None, typer.Option(help="One arrival day, YYYY-MM-DD; none: every stored day.")] = None,
) -> None:
    """Compute gates and rewards of stored trajectories anew; no export is read, so they may be gone."""
    from assets.mill import open_mill
    from pipelines.runs import refresh_warehouse, run_rewards

    wanted, mill = _day(day, "--day"), open_mill()
    stored = mill.lake.days("trajectories")
    chosen = [one for one in stored if wanted in (None, one)]
    if not chosen:
        raise Problem(f"no trajectories are stored of {wanted or 'any day'}: run it first (`tracemill run`)")
    for one in chosen:
        run_rewards(one, err)
    refresh_warehouse(mill)
    out.print(f"rewards of {len(chosen)} days are version {mill.settings.rewards.version}")


@rewards_app.command("diff")
def rewards_diff(
    one: Annotated[str, typer.Argument(help="A file with `rewards:`, `now`, `stored`, or a stored version.")],
    other: Annotated[str, typer.Argument(help="What to compare it with; a file or `now` may have `:PHASE` behind it.")],
    limit: Annotated[int, typer.Option(help="Trajectories that are listed, those that change most first.")] = 20,
    output: Annotated[str, typer.Option("--format", help="table or json.")] = "table",
) -> None:
    """Which trajectories another reward changes, by how much, and who overtakes whom in its group; nothing is kept."""
    from assets.mill import open_mill
    from pipelines.rewards_diff import print_diff

    if output not in ("table", "json"):
        raise typer.BadParameter("table or json", param_hint="--format")
    print_diff(open_mill(), one, other, limit, output, out)


@warehouse_app.command("rebuild")
def warehouse_rebuild() -> None:
    """Build warehouse.duckdb anew from the lake and swap it in."""
    from warehouse.duck import rebuild

    out.print(f"built {rebuild(_home())}")


def main() -> None:
    """Run the command line; a problem is a sentence on standard error and exit code 1."""
    from transforms.datasets.release_spec import Refused

    try:
        app()
    except (Problem, Refused) as problem:
        _fail(str(problem))
    except Exception as error:  # noqa: BLE001 - whatever it is, its message and its values must not be printed
        from assets.failures import place

        reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
        _fail(f"{type(error).__name__}{reason} at {place(error)}: this was not foreseen")


def _fail(sentence: str) -> None:
    err.print(Text.assemble(("✗ ", "red"), sentence), soft_wrap=True)
    sys.exit(1)


def _home() -> Any:
    from assets.settings import load_settings

    return load_settings().home


def _day(text: str | None, option: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter("a day is written YYYY-MM-DD", param_hint=option) from None


def _release_name(name: str | None) -> str | None:
    if name and not all(part.isalnum() or part in "-_." for part in name) or name in ("", ".", ".."):
        raise typer.BadParameter("letters, digits, '-', '_' and '.' only", param_hint="--name")
    return name


def _chosen_days(mill: Any, arrived: list[date], day: date | None, all_days: bool) -> list[date]:
    """Days to run, in order. Raises Problem that says where it looked where there are none."""
    from assets.partitions import FIRST_DAY, days
    from assets.staleness import has_news

    found = mill.arrivals.days()
    known = [one for one in found if days.has_partition_key(one.isoformat())]
    for one in sorted({*found} - {*known}):
        err.print(f"left alone: what arrived on {one}, since days run from {FIRST_DAY} to today (UTC)", soft_wrap=True)
    if day and day not in known:
        listed = ", ".join(map(str, known[-5:])) or "none yet"
        raise Problem(f"nothing arrived on {day}; the newest days with arrivals: {listed}")
    if day:
        chosen = sorted({day, *arrived})
    elif all_days:
        chosen = known
    else:
        chosen = arrived or [one for one in known if has_news(mill, one)] or known[-1:]
    if not chosen:
        raise Problem(
            f"no exports: none were named with --from, and {mill.arrivals.landing} holds none; put them there, best in "
            f"the folder of a day, such as {datetime.now(UTC).date() - timedelta(days=1)}/, or name them: "
            "tracemill run --from FILE_OR_FOLDER"
        )
    return chosen
