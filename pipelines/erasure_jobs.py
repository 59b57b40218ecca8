"""The jobs `forget` and `retain`: the same code as the commands, with nothing but hashes and days in their settings."""

import warnings
from collections.abc import Mapping
from datetime import date
from typing import Any

import dagster as dg
from pydantic import Field
from rich.console import Console

from assets.erasure import forget as erase
from assets.failures import told_safely
from assets.mill import MillResource, open_mill
from assets.retention import retain as drop
from warehouse.problem import Problem


class ForgetConfig(dg.Config):
    """Whom to forget, told by nothing that says who it is."""

    tombstones: list[str] = Field(
        default=[], description="keyed hashes that `tracemill forget` made; empty: all who were to be forgotten so far"
    )


class RetainConfig(dg.Config):
    """What to keep."""

    before: str = Field(description="first arrival day that stays, YYYY-MM-DD")
    withdraw_releases: bool = Field(default=False, description="whether releases that hold older traces go as well")


@dg.op
def forget_person(context: dg.OpExecutionContext, config: ForgetConfig, mill: MillResource) -> None:
    """Remove a person's traces, withdraw releases that held them, and see that nothing is left."""
    with told_safely():
        opened = mill.open()
        asked = [config.tombstones] if config.tombstones else map(opened.erasures.of, opened.erasures.requested())
        deeds = [erase(opened, tombstones) for tombstones in asked]
    context.add_output_metadata({
        "erasures": len(deeds), "traces": sum(deed["traces"] for deed in deeds),
        "days": len({day for deed in deeds for day in deed["days"]}),
        "releases": sum(len(deed["releases"]) for deed in deeds), "left": sum(deed["left"] for deed in deeds),
    })  # fmt: skip


@dg.op
def drop_old_days(context: dg.OpExecutionContext, config: RetainConfig, mill: MillResource) -> None:
    """Drop days before a day, and files that nothing refers to."""
    with told_safely():
        deed = drop(mill.open(), date.fromisoformat(config.before), config.withdraw_releases)
    context.add_output_metadata({"days": len(deed["days"]), "traces": deed["traces"], "files": deed["files"]})


@dg.job(description="A person leaves the lake, by keyed hashes; no run brings them back.")
def forget() -> None:
    forget_person()


@dg.job(description="Old days leave the lake, and files that nothing refers to.")
def retain() -> None:
    drop_old_days()


def run_forget(tombstones: list[str], console: Console) -> None:
    """The job `forget` in this process. Raises Problem with the reason where it fails."""
    _run("forget", {"ops": {"forget_person": {"config": {"tombstones": tombstones}}}}, console)


def run_retain(before: date, withdraw_releases: bool, console: Console) -> None:
    """The job `retain` in this process. Raises as `run_forget` does."""
    config = {"before": before.isoformat(), "withdraw_releases": withdraw_releases}
    _run("retain", {"ops": {"drop_old_days": {"config": config}}}, console)


def _run(job: str, config: Mapping[str, Any], console: Console) -> None:
    from assets.progress import bars_shown
    from pipelines.definitions import defs
    from pipelines.runs import QUIET, dagster_told, prepare_instance, why_it_failed

    home = open_mill().home
    prepare_instance(home)
    warnings.filterwarnings("ignore", category=dg.PreviewWarning)
    with dagster_told(home), dg.DagsterInstance.get() as instance, bars_shown(console):
        result = defs.resolve_job_def(job).execute_in_process(
            instance=instance, run_config={**QUIET, **config}, raise_on_error=False
        )
    if not result.success:
        raise why_it_failed(result) or Problem(f"{job} failed")
