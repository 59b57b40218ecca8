"""`dpo_policy`, `grpo_policy` and `evaluation`: trained in a process of their own, judged on held-out tasks."""

import os
import sys
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from dagster._core.errors import DagsterPipesExecutionError  # not exported, and no DagsterError

from assets.failures import told_safely
from assets.mill import Mill, MillResource
from assets.partitions import releases
from assets.settings import TrainSettings
from warehouse.digest import text_digest
from warehouse.files import read_json, writer_lock
from warehouse.problem import Problem

REFERENCE = "reference"  # folder, in a policy's, of the tiny model that it started from
REPORT = "training.json"
VERDICT = "evaluation.json"


class TrainConfig(dg.Config):
    """What to train from; empty: as tracemill.yaml says."""

    model: str = ""


@dg.asset(partitions_def=releases, group_name="training", kinds={"torch"}, deps=["preference_pairs"])
def dpo_policy(
    context: dg.AssetExecutionContext, config: TrainConfig, mill: MillResource, pipes: dg.PipesSubprocessClient
) -> Any:
    """A policy that prefers the better side of each training pair (direct preference optimisation)."""
    return _train(context, config, mill, pipes, "dpo")


@dg.asset(partitions_def=releases, group_name="training", kinds={"torch"}, deps=["rollouts"])
def grpo_policy(
    context: dg.AssetExecutionContext, config: TrainConfig, mill: MillResource, pipes: dg.PipesSubprocessClient
) -> Any:
    """A policy moved towards rollouts that did better than their group (GRPO replayed offline)."""
    return _train(context, config, mill, pipes, "grpo")


@dg.asset(
    partitions_def=releases, group_name="training", kinds={"torch"}, deps=["preference_pairs", dpo_policy, grpo_policy]
)
def evaluation(context: dg.AssetExecutionContext, mill: MillResource, pipes: dg.PipesSubprocessClient) -> Any:
    """How each policy of the release does on held-out pairs, before and after."""
    with told_safely():
        opened, release = mill.open(), context.partition_key
        waiting = [model for model in _models(opened, release) if not _is_judged(opened.home.root / model["path"])]
        for model in waiting:
            policy = opened.home.root / model["path"]
            flags = ["--release", _folder(opened, release), "--reference", opened.home.root / model["reference"]]
            _launch(context, pipes, "training.evaluate", [*flags, "--policy", policy, "--out", policy / VERDICT])
            _record_evaluation(opened, release, policy)
    return dg.MaterializeResult(metadata={"policies": len(waiting)})


def model_name(release: str, objective: str, settings: TrainSettings, start: str) -> str:
    """A policy's name: the same release, settings and start give the same name."""
    return f"{release}-{objective}-{text_digest(settings.model_dump(), start)[:8]}"


def _train(
    context: dg.AssetExecutionContext, config: TrainConfig, mill: MillResource, pipes: Any, objective: str
) -> dg.MaterializeResult[Any]:
    with told_safely():
        opened, release = mill.open(), context.partition_key
        settings: TrainSettings = getattr(opened.settings.training, objective)
        given = config.model or opened.settings.training.model
        start = str(Path(given).resolve()) if given else ""
        out = opened.home.models / release / model_name(release, objective, settings, start)
        flags = ["--release", _folder(opened, release), "--out", out, "--resume", *settings.flags()]
        told = _launch(context, pipes, f"training.{objective}", [*flags, *(["--model", start] if start else [])])
        facts = _record_model(opened, release, objective, out, Path(start) if start else out / REFERENCE)
    return dg.MaterializeResult(metadata={**(told.metadata or {}), **facts}, data_version=told.data_version)


def _models(mill: Mill, release: str) -> list[dict[str, Any]]:
    return mill.records.models().filter(pl.col("release") == release).to_dicts()


def _is_judged(policy: Path) -> bool:
    verdict, trained = policy / VERDICT, policy / REPORT
    return verdict.exists() and verdict.stat().st_mtime_ns > trained.stat().st_mtime_ns


def _folder(mill: Mill, release: str) -> Path:
    mill.releases.manifest(release)
    return mill.releases.folder(release)


def _launch(
    context: dg.AssetExecutionContext, pipes: Any, module: str, flags: list[object]
) -> dg.MaterializeResult[Any]:
    """Run a program of `training` in its own process; return what it reports of itself.

    Raises Problem where it fails: its own words are on standard error.
    """
    command = [sys.executable, "-m", module, *map(str, flags)]
    try:
        told: dg.MaterializeResult[Any] = pipes.run(context=context, command=command).get_materialize_result()
    except dg.DagsterExecutionInterruptedError:
        raise
    except (dg.DagsterError, DagsterPipesExecutionError):
        raise Problem(f"{module} did not finish; its last lines, above, say why") from None
    return told


def _record_model(mill: Mill, release: str, objective: str, out: Path, start: Path) -> dict[str, Any]:
    report = read_json(out / REPORT)
    row = {
        "model": out.name, "release": release, "objective": objective, "state": "candidate",
        "path": str(out.relative_to(mill.home.root)), "reference": os.path.relpath(start, mill.home.root),
        "first_loss": report["first_loss"],
        "last_loss": report["last_loss"], "steps": report["steps"],
    }  # fmt: skip
    with writer_lock(mill.home.lock_file):
        mill.records.add_model(row)
    return {key: row[key] for key in ("model", "first_loss", "last_loss", "steps")}


def _record_evaluation(mill: Mill, release: str, policy: Path) -> None:
    report = read_json(policy / VERDICT)
    with writer_lock(mill.home.lock_file):
        for measure in report["measures"]:
            mill.records.add_evaluation({"model": policy.name, "release": release, **measure})
