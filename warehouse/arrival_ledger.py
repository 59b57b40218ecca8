"""The ledger of what arrived on which day where no folder says so, a JSON file a day in the lake."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from warehouse.files import read_json, write_json


@dataclass(frozen=True)
class Pin:
    """What of a place arrived on a day: its bytes up to `end`, as they were at `stamp`; all of it where there is no
    end, since its folder names the day. A file that grew has a pin on each day on which more of it came."""

    uri: str
    end: int | None = None
    stamp: str = ""


class ArrivalLedger:
    """The pins of every day, read anew where somebody wrote some."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = 0
        self._days: dict[date, dict[str, Pin]] = {}
        self._last: dict[str, tuple[date, Pin]] = {}

    def of(self, day: date) -> list[Pin]:
        """The pins of a day, by uri."""
        self._read()
        return sorted(self._days.get(day, {}).values(), key=lambda pin: pin.uri)

    def days(self) -> list[date]:
        """Days that hold a pin, in order."""
        self._read()
        return sorted(self._days)

    def last(self) -> dict[str, tuple[date, Pin]]:
        """The latest pin of each place, with its day."""
        self._read()
        return self._last

    def note(self, day: date, pins: Iterable[Pin]) -> None:
        """Put pins on a day, in place of those of the same places there. The caller holds the writer's lock."""
        self._read()
        before = self._days.get(day, {})
        held = before | {pin.uri: pin for pin in pins}
        if held != before:
            ends = {uri: {"end": pin.end, "stamp": pin.stamp} for uri, pin in held.items() if pin.end is not None}
            write_json(
                self._folder / f"{day.isoformat()}.json",
                {"day": day.isoformat(), "uris": sorted(held), "ends": ends},
            )
            self._changed = -1  # the folder's clock may tick too slowly to tell

    def _read(self) -> None:
        changed = self._folder.stat().st_mtime_ns if self._folder.exists() else 0
        if changed == self._changed:
            return
        files = sorted(self._folder.glob("*.json"))
        self._days = {date.fromisoformat(path.stem): _pins(path) for path in files}
        self._last = {uri: (day, pin) for day in sorted(self._days) for uri, pin in self._days[day].items()}
        self._changed = changed


def _pins(path: Path) -> dict[str, Pin]:
    content = read_json(path)
    ends = content.get("ends", {})
    return {uri: Pin(uri, **ends.get(uri, {})) for uri in content["uris"]}
