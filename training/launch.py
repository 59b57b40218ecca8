"""What both trainers do before and around the loop: flags, devices, the starting model, resuming, exit codes."""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.alarms import Alarm
from warehouse.problem import Problem
from warehouse.schemas.table import SchemaError

if TYPE_CHECKING:
    from transformers import TrainingArguments

log = logging.getLogger("training")

REFERENCE = "reference"
"""Folder in --out of the tiny model that a run without --model started from."""


class Refused(Problem):
    """What was asked for is unsound on this data; says why."""


class Interrupted(RuntimeError):
    """A signal ended training after a checkpoint was saved; `code` is the exit status that says so."""

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}; a checkpoint is saved, --resume goes on")
        self.code = 128 + number


SMALL = 2_000_000
"""Parameters below which threads cost a model on a CPU more than they bring; one thread also means the same numbers on
machines with more or fewer cores."""


@dataclass(frozen=True)
class Start:
    """The model that training starts from, which is also the reference, and the hashes that name it."""

    model: Any
    tokenizer: Any
    path: Path
    hashes: dict[str, str]


def parser(description: str | None) -> argparse.ArgumentParser:
    """Flags that both trainers take."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = made.add_argument
    add("--release", type=Path, required=True, help="release folder: manifest.json and the tables' Parquet files")
    add("--out", type=Path, required=True, help="folder for the policy, training.json and curve.png")
    add("--model", type=Path, help="folder of the model to start from; without it a tiny one is made from the release")
    add("--epochs", type=float, default=2.0, help="passes over the data; replay overfits soon")
    add("--lr", type=float, help="peak learning rate; default 1e-6, or 1e-3 for the tiny model")
    add("--batch-size", type=int, default=1, help="items in one forward pass on one device: as memory allows")
    add("--accumulation", type=int, default=4, help="forward passes in one optimiser step; only the product matters")
    add("--max-length", type=int, default=32_768, help="tokens of a call with its prompt; longer calls are left out")
    add("--template-options", type=json_object, default={}, help="JSON object of chat template options, as served")
    add("--max-grad-norm", type=float, default=1.0, help="gradients are scaled down to this norm")
    add("--save-steps", type=int, default=50, help="optimiser steps between checkpoints")
    add("--gradient-checkpointing", action="store_true", help="recompute activations: less memory, a third more time")
    add("--resume", action="store_true", help="go on from the last checkpoint in --out, if it is of the same run")
    add("--seed", type=int, default=0, help="seed of the data order, of dropout and of the tiny model")
    return made


def guarded(program: Callable[[], None]) -> int:
    """Exit status of `program`: 0 done, 1 stopped by an alarm, 2 refused, 128 + signal when interrupted."""
    offline()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
    try:
        program()
    except (Problem, SchemaError) as refused:
        log.error("%s", refused)
        return 2
    except Alarm as alarm:
        log.error("stopped: %s; the policy in --out and the last good checkpoint are as they were", alarm)
        return 1
    except Interrupted as interrupted:
        log.error("%s", interrupted)
        return interrupted.code
    except OSError as error:
        log.error(
            "cannot read or write (%s): is the disk full? --resume goes on from the last checkpoint", error.strerror
        )
        return 1
    except KeyboardInterrupt:
        log.error("interrupted before or outside training; there is nothing to resume")
        return 128 + signal.SIGINT
    return 0


def device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def trainer_arguments(options: argparse.Namespace) -> TrainingArguments:
    """Trainer's own arguments. Made first, since they also join the process group when torchrun launched us."""
    from transformers import TrainingArguments

    on_gpu = device() == "cuda"
    return TrainingArguments(
        output_dir=str(checkpoints(options.out)),
        per_device_train_batch_size=options.batch_size,
        gradient_accumulation_steps=options.accumulation,
        num_train_epochs=options.epochs,
        learning_rate=learning_rate(options),
        lr_scheduler_type="cosine",
        max_grad_norm=options.max_grad_norm,
        logging_steps=1,
        logging_nan_inf_filter=False,
        save_steps=options.save_steps,
        save_total_limit=2,
        seed=options.seed,
        data_seed=options.seed,
        use_cpu=not on_gpu,
        bf16=on_gpu,
        dataloader_pin_memory=on_gpu,
        remove_unused_columns=False,
        label_names=[],
        report_to=[],
        disable_tqdm=not sys.stderr.isatty(),
        ddp_timeout=86_400,
    )


def learning_rate(options: argparse.Namespace) -> float:
    """The rate asked for, else one that suits the model's size."""
    if options.lr is not None:
        return float(options.lr)
    return 1e-6 if options.model else 1e-3


def start(options: argparse.Namespace, arguments: TrainingArguments) -> Start:
    """The model to start from: the folder that --model names, or a tiny one made in --out/reference."""
    from training import tiny

    path = options.model or options.out / REFERENCE
    if not options.model:
        with arguments.main_process_first():
            if arguments.process_index == 0:
                tiny.make(options.release, path, options.seed)
    begun = load(path)
    if options.gradient_checkpointing:
        begun.model.gradient_checkpointing_enable()
    return begun


def load(path: Path) -> Start:
    """Model and tokenizer of a local folder; weights in fp32, autocast does the rest. Raises Refused."""
    from training.logprobs import model_hash
    from training.reference import template_hash, tokenizer_hash

    tokenizer, model = load_tokenizer(path), load_model(path)
    if not tokenizer.chat_template:
        raise Refused(f"{path}: the tokenizer has no chat template, so nothing can be rendered as it was served")
    hashes = {
        "model": model_hash(model),
        "template": template_hash(tokenizer),
        "tokenizer": tokenizer_hash(tokenizer),
    }
    return Start(model, tokenizer, path, hashes)


def load_tokenizer(path: Path) -> Any:
    """Tokenizer of a local model folder. Raises Refused."""
    from transformers import AutoTokenizer

    _check_folder(path)
    try:
        return AutoTokenizer.from_pretrained(path, local_files_only=True)
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: model or tokenizer cannot be loaded ({_first_line(error)})") from None


def load_model(path: Path) -> Any:
    """Causal model of a local folder in fp32, prepared by `score_actions`. Raises Refused."""
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM

    from training.logprobs import score_actions

    _check_folder(path)
    try:
        model = AutoModelForCausalLM.from_pretrained(path, local_files_only=True, dtype="float32").to(device())
    except (OSError, ValueError, SafetensorError) as error:
        raise Refused(f"{path}: model or tokenizer cannot be loaded ({_first_line(error)})") from None
    if model.num_parameters() < SMALL:
        torch.set_num_threads(1)
    try:
        return score_actions(model)
    except ValueError as error:
        raise Refused(f"{path}: {error}") from None


def _check_folder(path: Path) -> None:
    if not (path / "config.json").is_file():
        raise Refused(f"{path}: no model there (config.json is missing)")


def _first_line(error: Exception) -> str:
    return str(error).partition(chr(10))[0]


def checkpoints(out: Path) -> Path:
    return out / "checkpoints"


def resumable(options: argparse.Namespace, arguments: TrainingArguments, version: str) -> str | None:
    """The last checkpoint, where --resume asks for it and it is of a run with the same version; others are removed."""
    from transformers.trainer_utils import get_last_checkpoint

    folder = checkpoints(options.out)
    mark = folder / "version"
    if options.resume and mark.is_file() and mark.read_text() == version:
        found: str | None = get_last_checkpoint(str(folder))
        return found
    with arguments.main_process_first():
        if arguments.process_index == 0:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            mark.write_text(version)
    return None


def json_object(text: str) -> dict[str, Any]:
    """A flag's JSON object."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("a JSON object, such as '{\"enable_thinking\": false}'")
    return value


def offline() -> None:
    """Before torch and transformers are imported: nothing is fetched or reported, and one process uses one device."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TRANSFORMERS_OFFLINE": "1"}
    if not sys.stderr.isatty():
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"  # those of loading weights, too
    if "WORLD_SIZE" not in os.environ:
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
