"""The jobs run in this process, without a daemon: what the command line does."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from typing import Any

import dagster as dg
import yaml
from rich.console import Console
from sqlalchemy.exc import SQLAlchemyError

from assets.failures import REFUSED_BY
from assets.mill import Mill, open_mill
from assets.partitions import days, releases
from assets.progress import bars_shown
from assets.staleness import stale_days
from pipelines.sensors import nightly_release, release_config
from transforms.datasets.release_spec import ReleaseSpec
from warehouse.duck import rebuild
from warehouse.files import writer_lock
from warehouse.home import Home
from warehouse.problem import Problem


class Refusal(Problem):
    """The run did what it could, and the data do not carry its result: says which rule refuses, with the counts."""


INSTANCE = {
    "telemetry": {"enabled": False},
    # What a step prints may quote what it reads: nothing that steps print is kept.
    "compute_logs": {"module": "dagster._core.storage.noop_compute_log_manager", "class": "NoOpComputeLogManager"},
    "run_coordinator": {
        "module": "dagster._core.run_coordinator",
        "class": "QueuedRunCoordinator",
        "config": {"max_concurrent_runs": 2},
    },
}
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def prepare_instance(home: Home) -> None:
    """Give Dagster its home below ours, with telemetry and compute logs off, and name it in the environment.

    It is built aside and renamed, by one process at a time: Dagster's databases do not survive being made by two,
    or by one that is killed half-way. Raises Problem where it cannot be written.
    """
    with writer_lock(home.lock_file), dagster_told(home):
        if not home.dagster.exists():
            fresh = home.dagster.with_name("dagster.part")
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            (fresh / "dagster.yaml").write_text(yaml.safe_dump(INSTANCE), encoding="utf-8")
            with dg.DagsterInstance.from_config(str(fresh)) as instance:
                instance.get_runs(limit=1)
            fresh.rename(home.dagster)
    os.environ["DAGSTER_HOME"] = str(home.dagster)
    os.environ["DAGSTER_DISABLE_TELEMETRY"] = "1"


@contextmanager
def dagster_told(home: Home) -> Iterator[None]:
    """Turn what keeps Dagster from its databases, such as a full disk, into a Problem."""
    try:
        yield
    except (OSError, SQLAlchemyError) as error:
        raise Problem(
            f"cannot write below {home.dagster} ({type(error).__name__}): is the disk full, or read-only? "
            "What is published stays; run again then"
        ) from None


def run_day(day: date, console: Console) -> None:
    """The nightly job for one arrival day. Raises Problem with the reason where it fails."""
    if not days.has_partition_key(day.isoformat()):
        raise Problem(f"{day} is no arrival day: days run from {days.get_first_partition_key()} to today (UTC)")
    _run("nightly", day.isoformat(), {}, console)


def run_rewards(day: date, console: Console) -> None:
    """Gates and rewards of one arrival day anew, out of what is stored: no export is read. Raises as `run_day` does."""
    _run("score", day.isoformat(), {}, console)


def run_stale(mill: Mill, console: Console) -> list[date]:
    """Run every stale day, again where running one made another stale; return the days that were run, in order."""
    done: list[date] = []
    while stale := stale_days(mill):
        if len(done) > 2 * len(mill.lake.days("landed")) + len(stale):
            raise Problem(f"{stale[0]} stays stale however often it is run: its exports keep changing")
        run_day(stale[0], console)
        done.append(stale[0])
    return sorted(set(done))


def run_release(name: str, through: date | None, spec: ReleaseSpec | None, console: Console) -> None:
    """The release job. Raises Refusal where the data do not carry it, Problem with the reason where it fails."""
    _run("release", name, release_config(through.isoformat() if through else "", spec), console)


def run_nightly_release(through: date, console: Console) -> str:
    """The release of a night; return its name. Raises as `run_release` does."""
    name, _ = nightly_release(through)
    run_release(name, through, None, console)
    return name


def run_training(objective: str, name: str, model: str, console: Console) -> None:
    """Train and evaluate a policy of a release. Raises Problem with the reason where it fails."""
    config = {"ops": {f"{objective}_policy": {"config": {"model": model}}}}
    _run(f"train_{objective}", name, config, console)


def refresh_warehouse(mill: Mill) -> None:
    rebuild(mill.home)


def _run(job: str, partition: str, config: Mapping[str, Any], console: Console) -> None:
    from pipelines.definitions import defs

    home = open_mill().home
    prepare_instance(home)
    warnings.filterwarnings("ignore", category=dg.PreviewWarning)  # Dagster's own use of Pipes
    with dagster_told(home), dg.DagsterInstance.get() as instance, bars_shown(console):
        if job not in ("nightly", "score"):
            instance.add_dynamic_partitions(str(releases.name), [partition])
        result = defs.resolve_job_def(job).execute_in_process(
            partition_key=partition, instance=instance, run_config={**QUIET, **config}, raise_on_error=False
        )
    if not result.success:
        raise why_it_failed(result) or Problem(f"{job} of {partition} failed")


def _told(error: str) -> str:
    return "interrupted: the same command goes on from there" if "Interrupt" in error else error


def why_it_failed(result: dg.ExecuteInProcessResult) -> Problem | None:
    """The sentence of the first step that failed; else the type of what kept the run from starting."""
    for event in result.filter_events(lambda event: event.is_step_failure):
        failed = event.step_failure_data.user_failure_data
        if failed and failed.description:
            return (Refusal if REFUSED_BY in failed.metadata else Problem)(failed.description)
        if event.step_failure_data.error:
            return Problem(_told(str(event.step_failure_data.error.cls_name)))
    for event in result.filter_events(lambda event: event.is_job_failure):
        error = event.job_failure_data.error
        return Problem(f"the run did not start ({(error.cause or error).cls_name})") if error else None
    return None
