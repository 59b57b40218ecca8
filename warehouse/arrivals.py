"""Which exports arrived on which day: by the folder they lie in, else by the day they were first seen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path, PurePosixPath

from warehouse.arrival_ledger import ArrivalLedger, Pin
from warehouse.digest import text_digest
from warehouse.erasures import Erasures
from warehouse.places import Places, State, is_url, named
from warehouse.problem import Problem

DAY_FOLDER = re.compile(r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})")
HIVE_DAY = re.compile(r"year=(?P<y>\d{4})/month=(?P<m>\d{1,2})/day=(?P<d>\d{1,2})")

LANDING = "what `landing` in tracemill.yaml names"


@dataclass(frozen=True, order=True)
class Arrival:
    """A place from which something arrived on a day: `size` bytes from its beginning on, as they were at `stamp`.

    `pinned` where what may follow them belongs to a later day; `outgrown` where it does follow, so that the place is
    in another state now. A `size` of -1 says that nothing lies there any more.
    """

    uri: str
    size: int
    stamp: str
    pinned: bool = False
    outgrown: bool = False


@dataclass(frozen=True)
class Arrivals:
    """The landing folder or URL, and the ledger of what lies in no folder of a day, or was handed over by name."""

    landing: str
    lake: Path
    places: Places = field(default_factory=Places)

    def register(self, given: Iterable[str | Path], today: date, first: date = date.min) -> list[date]:
        """Note what is given by name, what lies in the landing folder outside of the folders of days, and what of this
        has grown; return the arrival days of what is given: that of a dated folder, else of first sight.

        A folder that names a day before `first` or after `today` dates nothing, where it is given. What a file has
        more than on an earlier day arrives today. Raises Problem where there is nothing at a place.
        """
        states = {uri: state for place in given for uri, state in exports_below(str(place), self.places).items()}
        asked = set(states)
        self.__dict__.pop("_listed", None)  # asked anew: this is when it counts
        states |= {uri: state for uri, state in self._landed().items() if folder_day(uri) is None}
        last = self._ledger.last()
        for uri, (_, pin) in last.items():
            if uri not in states and pin.end is not None and not is_url(uri) and (state := self.places.state(uri)):
                states[uri] = state
        noted: dict[date, list[Pin]] = {}
        days: set[date] = set()
        for uri, state in states.items():
            day, pin = _pinned(uri, state, last.get(uri), today, first)
            noted.setdefault(day, []).append(pin)
            days |= {day} if uri in asked else set()
        for day, pins in sorted(noted.items()):
            self._ledger.note(day, pins)
        return sorted(days)

    def of(self, day: date) -> list[Arrival]:
        """What arrived on `day`, by uri."""
        landed = {uri: Arrival(uri, *_told(state)) for uri, state in self._landed().items() if folder_day(uri) == day}
        return sorted(({pin.uri: self._arrival(pin) for pin in self._ledger.of(day)} | landed).values())

    def days(self) -> list[date]:
        """Days on which anything arrived, in order, but for those that are not kept any more."""
        landed = {day for uri in self._landed() if (day := folder_day(uri))}
        kept = Erasures(self.lake).retained_from() or date.min
        return sorted(day for day in landed | set(self._ledger.days()) if day >= kept)

    def everything(self) -> dict[str, State]:
        """All that lies where exports arrived from, by uri; objects that were given by name as they were noted."""
        found = self._landed()
        for uri, (_, pin) in self._ledger.last().items():
            if uri in found:
                continue
            if state := State(pin.end or 0, pin.stamp) if is_url(uri) else self.places.state(uri):
                found[uri] = state
        return found

    def digest(self, day: date) -> str:
        """Hash of the day's arrivals by place, size and time of change; what grew later is none of it."""
        return text_digest([(one.uri, one.size, one.stamp) for one in self.of(day) if one.size >= 0])[:16]

    @cached_property
    def _ledger(self) -> ArrivalLedger:
        return ArrivalLedger(self.lake / "arrivals")

    @cached_property
    def _listed(self) -> dict[str, State]:
        return self.places.below(self.landing, LANDING)

    def _landed(self) -> dict[str, State]:
        """What lies in the landing folder; that of an object store is asked once, until something is registered."""
        return dict(self._listed if is_url(self.landing) else self.places.below(self.landing))

    def _arrival(self, pin: Pin) -> Arrival:
        if pin.end is None:
            return Arrival(pin.uri, *_told(self.places.state(pin.uri)))
        if is_url(pin.uri) or self._ledger.last()[pin.uri][1] != pin:
            outgrown = self._ledger.last()[pin.uri][1] != pin
            return Arrival(pin.uri, pin.end, pin.stamp, pinned=True, outgrown=outgrown)
        size, stamp = _told(self.places.state(pin.uri))
        if size > pin.end:
            return Arrival(pin.uri, pin.end, pin.stamp, pinned=True, outgrown=True)
        return Arrival(pin.uri, size, stamp, pinned=True)


def _pinned(uri: str, state: State, last: tuple[date, Pin] | None, today: date, first: date) -> tuple[date, Pin]:
    """The day on which a place, or what it has more than before, arrived, and its pin there."""
    now = Pin(uri, state.size, state.stamp)
    if last is None:
        day = folder_day(uri)
        return (day, Pin(uri)) if day and first <= day <= today else (today, now)
    day, pin = last
    if pin.end is None:
        return day, pin
    return (day, now) if pin.end == state.size or day > today else (today, now)


def _told(state: State | None) -> tuple[int, str]:
    return (state.size, state.stamp) if state else (-1, "")


def exports_below(place: str, places: Places) -> dict[str, State]:
    """The export at `place`, or those below that folder, by uri. Raises Problem where there is none."""
    place = named(place)
    found = places.below(place)
    if not found:
        raise Problem(f"there is no export at {place}: name a file or a folder that holds some")
    return found


def folder_day(place: str | Path) -> date | None:
    """The day that a file's folders name: `2026-11-30/` or `year=2026/month=11/day=30/`; else None."""
    folder = PurePosixPath(place).parent
    for part in reversed(folder.parts):
        if match := DAY_FOLDER.fullmatch(part):
            return _date(match)
    match = HIVE_DAY.search(folder.as_posix())
    return _date(match) if match else None


def _date(match: re.Match[str]) -> date | None:
    try:
        return date(int(match["y"]), int(match["m"]), int(match["d"]))
    except ValueError:
        return None
