"""One run: reference log-probs, the loop, and what it leaves behind."""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from training import artifacts, launch
from training.encode import Pair, Replay, data_hash
from training.tokens import Report, Row
from warehouse.files import read_json, write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import TrainingArguments

    from training.loop import Batch, Objective

log = logging.getLogger("training")

Reference = dict[str, "NDArray[np.float32]"]
"""Log-probs of the reference by row key, one a sampled token."""

INDIFFERENT = {"release", "out", "model", "resume", "save_steps"}
"""Options that name places or manners, not what is trained."""


@dataclass(frozen=True)
class Data:
    """What a run trains on: items and their rows, how a batch is made of them, and what was left out."""

    items: Sequence[Pair | Replay]
    rows: list[Row]
    collate: Callable[[Sequence[Any], Reference], Batch]
    report: Report
    facts: dict[str, Any]


def fit(
    options: argparse.Namespace,
    arguments: TrainingArguments,
    start: launch.Start,
    data: Data,
    objective: Objective,
    metrics: tuple[str, ...],
) -> None:
    """Train, then write the policy, its report and a plot of `metrics`. Raises Alarm, Interrupted."""
    from training.loop import ActionTrainer, Interruption, Watch, steps

    config = {name: value for name, value in sorted(vars(options).items()) if name not in INDIFFERENT}
    hashes = start.hashes | {"data": data_hash(data.items)}
    version = hashlib.sha256(json.dumps([config, hashes], sort_keys=True).encode()).hexdigest()[:32]
    if options.resume and (finished := _finished(options, version)):
        log.info("this run is already finished")
        artifacts.report_to_dagster(_headline(finished), version)
        return
    reference = _reference(options, arguments, start, data.rows)
    interruption = Interruption()
    trainer = ActionTrainer(
        objective,
        model=start.model,
        args=arguments,
        train_dataset=data.items,
        data_collator=lambda items: data.collate(items, reference),
        processing_class=start.tokenizer,
        callbacks=[Watch(), interruption],
    )
    checkpoint = launch.resumable(options, arguments, version)
    with interruption.listening():
        trainer.train(resume_from_checkpoint=checkpoint)
    losses = (
        whole_loss(objective, data, reference, reference),
        whole_loss(objective, data, reference, _scored(trainer.model_wrapped, data.rows)),
    )
    state = trainer.accelerator.get_state_dict(trainer.model_wrapped)
    if not trainer.is_world_process_zero():
        return
    curve = steps(trainer.state)
    report = _report(config, hashes, version, data, curve, losses)
    artifacts.save_policy(trainer.accelerator.unwrap_model(trainer.model), state, start.tokenizer, options.out)
    artifacts.plot(curve, ("loss", *metrics), options.out / "curve.png")
    write_json(options.out / artifacts.REPORT, report)
    artifacts.remove_checkpoints(launch.checkpoints(options.out))
    artifacts.report_to_dagster(_headline(report), version)
    log.info("loss %.4f → %.4f in %d steps", report["first_loss"], report["last_loss"], report["steps"])


def _finished(options: argparse.Namespace, version: str) -> dict[str, Any]:
    """The report in --out, where it is of this very run; else an empty one."""
    path = options.out / artifacts.REPORT
    report: dict[str, Any] = read_json(path) if path.is_file() else {}
    return report if report.get("data_version") == version else {}


def _reference(
    options: argparse.Namespace, arguments: TrainingArguments, start: launch.Start, rows: list[Row]
) -> Reference:
    from training.reference import reference_logprobs, store_path

    path = store_path(options.out, start.hashes, launch.device())
    with arguments.main_process_first():
        return reference_logprobs(start.model, rows, path, launch.device())


def whole_loss(objective: Objective, data: Data, reference: Reference, logprobs: Reference) -> float:
    """The loss over all of `data` under a model's log-probs: unlike those of single steps, two such compare."""
    import torch

    from training.logprobs import Scores

    total = count = 0.0
    for item in data.items:
        batch = data.collate([item], reference)
        logp = torch.from_numpy(np.concatenate([logprobs[row.key] for row in item.rows]))
        total += float(objective.loss(Scores(logp, torch.zeros_like(logp)), batch)[0])
        count += float(batch["count"])
    return total / count


def _scored(model: Any, rows: list[Row]) -> Reference:
    from training.logprobs import row_logprobs

    distinct = list({row.key: row for row in rows}.values())
    return dict(zip((row.key for row in distinct), row_logprobs(model, distinct, launch.device()), strict=True))


def _report(
    config: dict[str, Any],
    hashes: dict[str, str],
    version: str,
    data: Data,
    curve: list[dict[str, float]],
    losses: tuple[float, float],
) -> dict[str, Any]:
    return {
        "config": config,
        "hashes": hashes,
        "data_version": version,
        "counts": asdict(data.report),
        "curve": curve,
        "first_loss": losses[0],
        "last_loss": losses[1],
        "steps": len(curve),
        "tokens": int(sum(entry["tokens"] for entry in curve)),
        "ess": curve[-1].get("ess"),
        **data.facts,
    }


def _headline(report: dict[str, Any]) -> dict[str, str | int | float | None]:
    """What fits in an asset's metadata: numbers and names, no text of the data."""
    shown = {
        name: report[name] for name in ("first_loss", "last_loss", "steps", "tokens", "anchor", "ess", "data_version")
    }
    shown |= {name: report[name] for name in ("rows", "rows_without_signal") if name in report}
    return shown | {"items": report["counts"]["items"], "rejected_calls": sum(report["counts"]["rejected"].values())}
