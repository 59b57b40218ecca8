"""Tables of a release as token rows: both sides of a pair, and the calls of a rollout with their advantages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from training.progress import progress
from training.release import messages, tools
from training.tokens import NOT_TRAINED, Renderer, Report, Row, rows

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A better and a worse continuation; each side is at least one row."""

    pair_id: str
    task_id: str
    chosen: list[Row]
    rejected: list[Row]

    @property
    def rows(self) -> list[Row]:
        return self.chosen + self.rejected


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """A row of a rollout; advantages [T] of its action tokens."""

    rollout_id: str
    task_id: str
    row: Row
    advantages: NDArray[np.float64]

    @property
    def rows(self) -> list[Row]:
        return [self.row]


def encode_pairs(frame: pl.DataFrame, renderer: Renderer, max_length: int) -> tuple[list[Pair], Report]:
    """Pairs of PREFERENCE_PAIRS as tokens. A pair that keeps no call of one side is left out and counted."""
    report, kept = Report(), []
    for record in progress(frame.to_dicts(), "tokens of pairs"):
        chosen = _side(record, "chosen", renderer, max_length, report)
        rejected = _side(record, "rejected", renderer, max_length, report)
        if chosen and rejected:
            kept.append(Pair(record["pair_id"], record["task_id"], chosen, rejected))
    report.items, report.items_dropped = len(kept), frame.height - len(kept)
    return kept, report


def encode_rollouts(frame: pl.DataFrame, renderer: Renderer, max_length: int) -> tuple[list[Replay], Report]:
    """Rows of ROLLOUTS as tokens; each action token bears the advantage of its call."""
    report, kept, empty = Report(), [], 0
    for record in progress(frame.to_dicts(), "tokens of rollouts"):
        made = _side(record, "completion", renderer, max_length, report)
        advantages = np.asarray(record["advantages"], np.float64)
        empty += not made
        for row in made:
            credit = advantages[row.calls[row.calls != NOT_TRAINED]]
            kept.append(Replay(record["rollout_id"], record["task_id"], row, credit))
    report.items, report.items_dropped = len(kept), empty
    return kept, report


def data_hash(items: Iterable[Pair | Replay]) -> str:
    """Hash of what is trained on: tokens, masks, sides, advantages, in order."""
    digest = hashlib.sha256()
    for item in items:
        if isinstance(item, Pair):
            digest.update(f"{[row.key for row in item.chosen]}{[row.key for row in item.rejected]}".encode())
        else:
            digest.update(f"{item.rollout_id}{item.row.key}".encode() + item.advantages.tobytes())
    return digest.hexdigest()


def _side(record: dict[str, Any], side: str, renderer: Renderer, max_length: int, report: Report) -> list[Row]:
    """Rows of the actions in column `side`, after the record's prompt."""
    prompt = messages(record["prompt"])
    own = "" if side == "completion" else f"{side}_"
    positions = [len(prompt) + action for action in record[f"{own}actions"]]
    finishes, offered = record[f"{own}finish_reasons"], tools(record["tools"])
    return rows(renderer, prompt + messages(record[side]), positions, finishes, offered, max_length, report)
