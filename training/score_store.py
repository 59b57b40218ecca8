"""What a model scored, kept by the tokens it read: the same tokens are scored once, however often one asks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from training.hindsight import Segment, Told
from training.launch import device, load_model
from warehouse.files import write_whole

if TYPE_CHECKING:
    from training.tokens import Renderer, Row

MAX_LENGTH = 32_768
"""Tokens of a call with its prompt; longer ones are not scored."""

KEPT = pl.Schema(
    {"key": pl.String(), "call": pl.Int64(), "logprob": pl.Float64(), "tokens": pl.Int64(), "entropy": pl.Float64()}
)


class Scorer:
    """Scores rows of tokens once, and keeps what it found in a folder of files that are named by their content."""

    def __init__(self, model: Path, tokenizer: Any, folder: Path, key: bytes = b"") -> None:
        from training.tokens import Renderer

        self._path, self._folder, self._key, self._model = model, folder, key, None
        self._renderer: Renderer = Renderer(tokenizer)
        self._known = {key: values for file in sorted(folder.glob("*.parquet")) for key, values in _read(file)}

    def scores(self, items: Iterable[tuple[Segment, Told]]) -> list[tuple[Any, ...]]:
        """Rows of SCORES; of what was scored before, the model sees nothing."""
        from training.tokens import Report, rows

        report, made = Report(), []
        for segment, one in items:
            tokens = rows(
                self._renderer, one.messages, one.actions, one.finishes, segment.tools, MAX_LENGTH, report
            )  # fmt: skip
            made += [(segment.trajectory_id, one, row, row_key(row, self._key)) for row in tokens]
        self._score({key: row for _, _, row, key in made if key not in self._known})
        return [
            (trajectory, one.steps[call], one.context, logprob, tokens, entropy)
            for trajectory, one, _, key in made
            for call, logprob, tokens, entropy in self._known[key]
        ]

    def _score(self, rows: dict[str, Row]) -> None:
        if not rows:
            return
        from training.logprobs import row_scores

        self._model = self._model or load_model(self._path)
        found = row_scores(self._model, [*rows.values()], device())
        fresh = {key: [*_by_call(row, *scores)] for (key, row), scores in zip(rows.items(), found, strict=True)}
        self._known |= fresh
        frame = pl.DataFrame([(key, *call) for key, calls in fresh.items() for call in calls], KEPT, orient="row")
        name = hashlib.sha256("\n".join(sorted(fresh)).encode()).hexdigest()[:32]
        write_whole(
            self._folder / f"{name}.parquet", partial(frame.sort("key", "call").write_parquet, compression="zstd")
        )


def row_key(row: Row, key: bytes) -> str:
    """Keyed hash of a row's ids and of which call sampled which: without the key nobody can test a guess at them."""
    return hashlib.blake2b(row.ids.tobytes() + b"/" + row.calls.tobytes(), key=key[:64], digest_size=16).hexdigest()


def _by_call(row: Row, logprobs: Any, entropies: Any) -> Iterator[tuple[int, float, int, float]]:
    """(call, sum of log-probs, tokens, mean entropy) of each call in a row, summed in double precision."""
    owners = row.calls[row.positions]
    for call in np.unique(owners):
        own = owners == call
        yield (
            int(call),
            float(logprobs[own].sum(dtype=np.float64)),
            int(own.sum()),
            float(entropies[own].mean(dtype=np.float64)),
        )


def _read(file: Path) -> Iterator[tuple[str, list[tuple[int, float, int, float]]]]:
    """What a file keeps; one that cannot be read keeps nothing, and is scored and written again."""
    try:
        frame = pl.read_parquet(file, schema=KEPT)
    except (OSError, pl.exceptions.PolarsError):
        return
    for (key,), part in frame.group_by("key", maintain_order=True):
        yield str(key), part.drop("key").rows()
