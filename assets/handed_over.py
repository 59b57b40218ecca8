"""Records that `landed` read, for `clean_spans` of the same run: an export is read once where both run in one process.

Where they do not, `clean_spans` reads the exports itself; nothing but time depends on it.
"""

from datetime import date
from pathlib import Path

from transforms.kept import KeptRecords

_held: dict[tuple[Path, date], KeptRecords] = {}


def hand_over(home: Path, day: date, kept: KeptRecords) -> None:
    """Hold the records of a day until they are taken; those of another day are let go."""
    _held.clear()
    _held[home, day] = kept


def take_over(home: Path, day: date, file_ids: list[str]) -> KeptRecords | None:
    """The records of a day, once, if they are of these very files."""
    kept = _held.pop((home, day), None)
    return kept if kept is not None and sorted(kept.files) == sorted(file_ids) else None
