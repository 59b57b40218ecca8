"""Erasures in the lake: tombstones that every later run consults, plans that a kill cannot lose, and the deeds done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.digest import text_digest
from warehouse.files import read_json, write_json
from warehouse.schemas import ERASURES


@dataclass(frozen=True)
class Erasures:
    """The erasures of a lake. Writing is for the one who holds the writer's lock."""

    lake: Path

    def tombstones(self) -> set[str]:
        """All tombstones: of persons, and of traces that were erased or were seen to hold one."""
        return self.seen().union(*(self.of(name) for name in self.requested()))

    def seen(self) -> set[str]:
        """Tombstones of traces that were erased, or in which a run saw somebody to be forgotten."""
        return {one for path in self._folder("seen").glob("*.json") for one in read_json(path)["tombstones"]}

    def of(self, erasure: str) -> set[str]:
        """The tombstones of one erasure; none where there is no such."""
        path = self._folder("tombstones") / f"{erasure}.json"
        return set(read_json(path)["tombstones"]) if path.exists() else set()

    def requested(self) -> list[str]:
        """Names of the erasures asked for so far."""
        return sorted(path.stem for path in self._folder("tombstones").glob("*.json"))

    def add(self, erasure: str, tombstones: Iterable[str]) -> None:
        """Add tombstones to those of an erasure; nothing is written where they are there already."""
        before = self.of(erasure)
        whole = before | set(tombstones)
        if whole != before:
            write_json(self._folder("tombstones") / f"{erasure}.json", {"tombstones": sorted(whole)})

    def note_seen(self, tombstones: Iterable[str]) -> None:
        """Remember traces in which a run saw somebody who is to be forgotten."""
        fresh = sorted(set(tombstones) - self.tombstones())
        if fresh:
            write_json(self._folder("seen") / f"{text_digest(fresh)}.json", {"tombstones": fresh})

    def plan(self, erasure: str) -> dict[str, Any] | None:
        """What an erasure that is not done yet has to do; None where it is done or was never begun."""
        path = self._folder("plans") / f"{erasure}.json"
        return read_json(path) if path.exists() else None

    def save_plan(self, erasure: str, plan: Mapping[str, Any]) -> None:
        write_json(self._folder("plans") / f"{erasure}.json", dict(plan))

    def finish(self, erasure: str, deed: Mapping[str, Any]) -> dict[str, Any]:
        """Record a deed, now, and drop its plan."""
        row = {"erasure": erasure, "at": datetime.now(UTC).isoformat(), **deed}
        folder = self._folder("deeds")
        write_json(folder / f"{len(list(folder.glob('*.json'))):06d}-{text_digest(row)}.json", row)
        (self._folder("plans") / f"{erasure}.json").unlink(missing_ok=True)
        return row

    def deeds(self) -> list[dict[str, Any]]:
        """The deeds in order."""
        return [read_json(path) for path in sorted(self._folder("deeds").glob("*.json"))]

    def retained_from(self) -> date | None:
        """The first day that is kept; None where no day was dropped."""
        path = self.lake / "erasures" / "retained.json"
        return date.fromisoformat(read_json(path)["from"]) if path.exists() else None

    def retain_from(self, day: date) -> None:
        """Let no day before `day` be run again; a later bound stays."""
        before = self.retained_from()
        if before is None or before < day:
            write_json(self.lake / "erasures" / "retained.json", {"from": day.isoformat()})

    def changed_at(self) -> float:
        """Seconds since the epoch of the last change of what is to be forgotten or was; 0 where there is nothing."""
        paths = [path for name in ("tombstones", "plans", "deeds") for path in self._folder(name).glob("*.json")]
        return max((path.stat().st_mtime for path in paths), default=0.0)

    def table(self) -> pl.DataFrame:
        """The deeds as the table `erasures`."""
        return ERASURES.frame([_row(deed) for deed in self.deeds()])

    def _folder(self, name: str) -> Path:
        return self.lake / "erasures" / name


def _row(deed: Mapping[str, Any]) -> dict[str, Any]:
    row = {name: deed[name] for name in ERASURES.columns}
    return row | {"at": datetime.fromisoformat(deed["at"]), "days": [date.fromisoformat(day) for day in deed["days"]]}
