"""Which files arrived on which day: by the folder they lie in, else by the day they were first seen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from warehouse.digest import text_digest
from warehouse.files import read_json, write_json
from warehouse.problem import Problem

DAY_FOLDER = re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})")
HIVE_DAY = re.compile(r"year=(?P<y>\d{4})/month=(?P<m>\d{1,2})/day=(?P<d>\d{1,2})")
IGNORED = re.compile(r"^[._]|\.part$|\.tmp$|^README|^LICENSE", re.IGNORECASE)


@dataclass(frozen=True)
class Arrivals:
    """The landing folder, and the ledger of files that were handed over by name."""

    landing: Path
    lake: Path

    def register(self, given: list[Path], today: date, first: date = date.min) -> list[date]:
        """Note files given by name; return their arrival days: that of a dated folder, else of first sight.

        A folder that names a day before `first` or after `today` dates nothing. Raises Problem where there is
        nothing at a path.
        """
        seen = {uri: day for day in self._ledger_days() for uri in self._ledger(day)}
        days: dict[str, date] = {}
        for path in [file for place in given for file in exports_below(place)]:
            named = folder_day(path)
            dated = named if named and first <= named <= today else today
            days[str(path)] = seen.get(str(path)) or dated
        for day in sorted(set(days.values())):
            uris = sorted({*self._ledger(day), *(uri for uri, of in days.items() if of == day)})
            if uris != self._ledger(day):
                write_json(self._ledger_path(day), {"day": day.isoformat(), "uris": uris})
        return sorted(set(days.values()))

    def of(self, day: date) -> list[Path]:
        """Files that arrived on `day`, sorted by path."""
        landed = [path for path in self._landed() if folder_day(path) == day]
        return sorted({*landed, *map(Path, self._ledger(day))})

    def days(self) -> list[date]:
        """Days on which anything arrived, in order."""
        landed = {day for path in self._landed() if (day := folder_day(path))}
        return sorted(landed | set(self._ledger_days()))

    def digest(self, day: date) -> str:
        """Hash of the day's files by place, size and time of change."""
        states = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in self.of(day) if path.exists()]
        return text_digest(states)[:16]

    def _landed(self) -> list[Path]:
        return _below(self.landing)

    def _ledger(self, day: date) -> list[str]:
        path = self._ledger_path(day)
        return list(read_json(path)["uris"]) if path.exists() else []

    def _ledger_days(self) -> list[date]:
        return sorted(date.fromisoformat(path.stem) for path in self._ledger_path(date.min).parent.glob("*.json"))

    def _ledger_path(self, day: date) -> Path:
        return self.lake / "arrivals" / f"{day.isoformat()}.json"


def exports_below(place: Path) -> list[Path]:
    """The file `place`, or the files below that folder that may be exports; hidden, half-written ones are not.

    Raises Problem where there is none.
    """
    place = place.expanduser().resolve()
    found = [place] if place.is_file() else _below(place)
    if not found:
        raise Problem(f"there is no export at {place}: name a file or a folder that holds some")
    return found


def folder_day(path: Path) -> date | None:
    """The day that a file's folders name: `2026-11-30/` or `year=2026/month=11/day=30/`; else None."""
    for part in reversed(path.parent.parts):
        if match := DAY_FOLDER.fullmatch(part):
            return _date(match)
    match = HIVE_DAY.search(path.parent.as_posix())
    return _date(match) if match else None


def _date(match: re.Match[str]) -> date | None:
    try:
        return date(int(match["y"]), int(match["m"]), int(match["d"]))
    except ValueError:
        return None


def _below(folder: Path) -> list[Path]:
    folder = folder.expanduser().resolve()
    return sorted(path for path in folder.rglob("*") if path.is_file() and not _ignored(path.relative_to(folder)))


def _ignored(path: Path) -> bool:
    return any(IGNORED.search(part) for part in path.parts)
