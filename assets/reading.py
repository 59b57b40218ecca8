"""Stretches of exports become kept records: read by this process alone, or by several beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from assets.sources import Export, read_stretch
from assets.stretches import Stretch
from transforms.crew import WorkerLost, crew, worth
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.kept_shelves import parts_for
from transforms.sealed import Sealed
from warehouse.places import Places
from warehouse.problem import Problem

PACKED = 16
"""Times that a file may grow which is not JSON lines as it lies there."""

BYTES_EACH = 128 << 20
"""Bytes of exports from which on one more worker is worth its start."""


@dataclass
class Reader:
    """Reads stretches into a sealed file of its own; what a worker does."""

    identity: Identity
    places: Places
    parts: int
    sealed: Sealed = field(default_factory=Sealed)

    def read(self, stretches: Iterable[Stretch]) -> tuple[list[Export], Any, str]:
        """The exports, what they hold for another process, and what was wrong, in a sentence."""
        kept = KeptRecords(self.identity, self.sealed, self.parts)
        try:
            exports = [read_stretch(self.places, one, kept) for one in stretches]
        except Problem as problem:
            return [], None, str(problem)
        return exports, kept.for_another(), ""


def records_of(identity: Identity, stretches: Iterable[Stretch]) -> KeptRecords:
    """Where the records of stretches are kept, none of which was read yet; what may be packed counts for more."""
    size = sum((one.end - one.start) * (1 if one.lines else PACKED) for one in stretches)
    return KeptRecords(identity, parts=parts_for(size))


def workers_for(stretches: Sequence[Stretch], wanted: int | None) -> int:
    """How many processes may read stretches, each of which is a whole file of its own."""
    size = sum(one.end - one.start for one in stretches)
    return min(len(stretches), wanted or worth(size, BYTES_EACH))


def read_together(
    places: Places, identity: Identity, stretches: Sequence[Stretch], workers: int, kept: KeptRecords
) -> list[Export]:
    """Read stretches in order, by several processes at once; their records are kept as if one had read them.

    Raises Problem where one cannot be read or a worker is lost.
    """
    sealed = [Sealed() for _ in range(workers)]
    exports: list[Export] = []
    try:
        with crew([partial(Reader, identity, places, kept.parts, one) for one in sealed]) as team:
            told = team.shared("read", _shares(stretches, workers))
            for own, (read, records, wrong) in zip(sealed, told, strict=True):
                if wrong:
                    raise Problem(wrong)
                kept.absorb(KeptRecords.of_another(identity, own, records))  # while others still read
                exports += read
    except WorkerLost as lost:
        raise Problem(f"{lost} (`workers` in tracemill.yaml says how many there may be)") from None
    return exports


def _shares(stretches: Sequence[Stretch], workers: int) -> list[list[Stretch]]:
    """Runs of stretches of about the same size together, in order."""
    shares: list[list[Stretch]] = [[] for _ in range(workers)]
    whole = sum(one.end - one.start for one in stretches)
    before = 0
    for one in stretches:
        middle = before + (one.end - one.start) / 2
        shares[min(int(middle * workers / max(whole, 1)), workers - 1)].append(one)
        before += one.end - one.start
    return shares
