"""The training loop: transformers' Trainer, told how a batch is scored, what its loss is, and when to stop."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

import torch
from torch import Tensor
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from training import alarms
from training.launch import Interrupted
from training.logprobs import Scores

log = logging.getLogger("training")

Batch = dict[str, Tensor]


class Objective(Protocol):
    """What is minimised."""

    def loss(self, scores: Scores, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Sum of the batch's losses, not yet divided by its count, and sums that metrics are made of."""

    def metrics(self, sums: dict[str, float]) -> dict[str, float]:
        """Metrics of an optimiser step from the sums of its batches."""


class ActionTrainer(Trainer):  # type: ignore[misc]
    """Trainer over action tokens: loss = Σ batch losses / Σ batch counts, over accumulation and ranks.

    A batch holds `input_ids`, `row`, `position` as `logprobs.pad` makes them, a scalar `count`, and what the
    objective asks for. Both sums are of the whole optimiser step, so its layout in batches does not matter.
    """

    def __init__(self, objective: Objective, **options: Any) -> None:
        super().__init__(**options)
        self.remove_callback(PrinterCallback)
        self.objective = objective
        self.model_accepts_loss_kwargs = True
        self._sums: dict[str, Tensor] = {}

    def get_batch_samples(
        self, epoch_iterator: Iterator[Batch], num_batches: int, device: torch.device
    ) -> tuple[list[Batch], Tensor]:
        """Batches of one optimiser step, and the count that its loss is divided by."""
        batches, _ = super().get_batch_samples(epoch_iterator, num_batches, device)
        count = torch.stack([batch["count"] for batch in batches]).sum().to(device)
        return batches, self.accelerator.reduce(count, "sum")

    def compute_loss(
        self, model: Any, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Tensor | None = None
    ) -> Any:
        scores = Scores(*model(**{name: inputs[name] for name in ("input_ids", "row", "position")}))
        loss, sums = self.objective.loss(scores, inputs)
        sums |= {"entropy_sum": scores.entropy.sum(), "token_count": loss.new_tensor(len(scores.entropy))}
        for name, value in sums.items():
            self._sums[name] = self._sums.get(name, torch.zeros_like(value)) + value.detach()
        assert num_items_in_batch is not None, "get_batch_samples gives the count of every step"
        # Ranks average their gradients, while the count is already that of all ranks.
        loss = loss / num_items_in_batch * self.accelerator.num_processes
        return (loss, scores) if return_outputs else loss

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if self._sums:
            stacked = torch.stack([value.double() for value in self._sums.values()])
            summed = self.accelerator.reduce(stacked, "sum").tolist()
            sums = dict(zip(self._sums, summed, strict=True))
            logs |= {"entropy": sums["entropy_sum"] / sums["token_count"], "tokens": sums["token_count"]}
            logs |= self.objective.metrics(sums)
            self._sums = {}
        super().log(logs, start_time)


def steps(state: TrainerState) -> list[dict[str, float]]:
    """What was logged of each optimiser step, those before a resume included."""
    return [entry for entry in state.log_history if "loss" in entry]


class Watch(TrainerCallback):  # type: ignore[misc]
    """Raises Alarm when a step says so, and keeps what a doubtful step left from being saved.

    Both come before the step's own checkpoint, since Trainer logs a step before it saves it.
    """

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        history = steps(state)
        if not history or history[-1] is not state.log_history[-1]:
            return
        norms = [entry["grad_norm"] for entry in history]
        reason = alarms.alarm([entry["loss"] for entry in history], norms, [entry["entropy"] for entry in history])
        if reason:
            raise alarms.Alarm(reason)
        control.should_save = control.should_save and not alarms.doubtful(norms)
        if args.disable_tqdm and state.is_world_process_zero:
            log.info("%s", _line(history[-1], state.max_steps))


def _line(entry: dict[str, float], last: int) -> str:
    shown = [f"{name} {value:.4g}" for name, value in entry.items() if name not in ("step", "epoch", "learning_rate")]
    return f"step {entry['step']:.0f}/{last}: {', '.join(shown)}"


class Interruption(TrainerCallback):  # type: ignore[misc]
    """On SIGINT or SIGTERM: finish the step, save a checkpoint, stop. All ranks agree on the step."""

    def __init__(self) -> None:
        self.number = 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While inside, signals are noted. Raises Interrupted at the end if one came."""
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if self.number:
            raise Interrupted(self.number)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        if args.world_size > 1:
            seen = torch.tensor(self.number, device=args.device)
            torch.distributed.all_reduce(seen, torch.distributed.ReduceOp.MAX)
            self.number = int(seen)
        if self.number:
            control.should_save = control.should_training_stop = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        # torchrun passes a terminal's Ctrl-C on, so that workers get it twice; alone, a second one means now.
        if self.number == number == signal.SIGINT and not torch.distributed.is_initialized():
            raise KeyboardInterrupt
        self.number = number
