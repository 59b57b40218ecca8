"""Reference log-probs, one number a token, computed once and kept beside the checkpoint.

Per token and not per side: two long sums cancel badly, and any weighting of turns can be tried without the model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from training.logprobs import row_logprobs
from training.tokens import Row
from warehouse.files import write_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA = pl.Schema([("row", pl.String()), ("logprobs", pl.List(pl.Float32))])


def template_hash(tokenizer: Any) -> str:
    return hashlib.sha256(str(tokenizer.chat_template).encode()).hexdigest()


def tokenizer_hash(tokenizer: Any) -> str:
    """Hash of what turns text into ids: the tokenizer's whole state, not its name."""
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()


def store_path(folder: Path, hashes: dict[str, str], device: str) -> Path:
    """File of the log-probs under one model, tokenizer, template and arithmetic."""
    key = hashlib.sha256("\n".join([*(hashes[name] for name in sorted(hashes)), device]).encode()).hexdigest()
    return folder / f"reference-{key[:16]}.parquet"


def reference_logprobs(model: Any, rows: Sequence[Row], path: Path, device: str) -> dict[str, NDArray[np.float32]]:
    """Log-probs [T] of each row's action tokens by row key; only rows that `path` lacks are scored."""
    known = _read(path)
    missing = list({row.key: row for row in rows if row.key not in known}.values())
    if missing:
        known |= dict(zip((row.key for row in missing), row_logprobs(model, missing, device), strict=True))
        _write(path, known)
    return known


def _read(path: Path) -> dict[str, NDArray[np.float32]]:
    if not path.is_file():
        return {}
    frame = pl.read_parquet(path)
    return {row: np.asarray(values, np.float32) for row, values in frame.iter_rows()}


def _write(path: Path, known: dict[str, NDArray[np.float32]]) -> None:
    frame = pl.DataFrame({"row": list(known), "logprobs": [values.tolist() for values in known.values()]}, SCHEMA)
    write_whole(path, partial(frame.sort("row").write_parquet, compression="zstd"))
