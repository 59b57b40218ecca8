"""Keeps what was found: the input beside its place, a few for each, and the run goes on."""

from __future__ import annotations

import hashlib
import sys
from collections import Counter
from pathlib import Path

KEPT = 3
"""Inputs kept for each place, the smallest last."""


class Findings:
    """A folder of inputs that broke a promise."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._times: Counter[str] = Counter()
        self._smallest: dict[str, int] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, problem: Exception, data: bytes) -> None:
        """Writes the input down where its place is new, or it is smaller than those before."""
        place = _place(problem)
        self._times[place] += 1
        if self._times[place] > KEPT and len(data) >= self._smallest[place]:
            return
        self._smallest[place] = min(len(data), self._smallest.get(place, len(data)))
        name = hashlib.sha256(place.encode()).hexdigest()[:10]
        (self._folder / f"{name}-{min(self._times[place], KEPT + 1)}").write_bytes(data)
        print(f"found {name} ({len(data)} bytes): {place}", file=sys.stderr, flush=True)


def _place(problem: Exception) -> str:
    """Kind and line of an exception; what it says only where that is a promise of ours."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"{type(problem).__name__} {where} {problem if isinstance(problem, AssertionError) else ''}"
