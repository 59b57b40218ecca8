"""What manifests remember of the files that landed: which are known without being read, and which only grew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

from assets.sources import readable
from assets.stretches import Stretch, begins_with, hash_of, possible_ids, stretch_of
from warehouse.arrivals import Arrival, Arrivals
from warehouse.lake import Lake
from warehouse.places import Places

if TYPE_CHECKING:
    from hashlib import _Hash


@dataclass(frozen=True)
class History:
    """The files of a day, as it was last published, those of earlier days, and what is known of a place in a state."""

    own: list[Stretch] = field(default_factory=list)
    earlier: list[Stretch] = field(default_factory=list)
    _states: dict[tuple[str, int, str], Stretch] = field(default_factory=dict)

    @classmethod
    def of(cls, lake: Lake, day: date) -> History:
        """The history of a day as the manifests tell it."""
        history = cls()
        for one in lake.days("landed"):
            for source in (lake.manifest("landed", one) or {"sources": []})["sources"]:
                stretch = stretch_of(source)
                if stretch.stamp:
                    history._states[stretch.uri, stretch.size, stretch.stamp] = stretch
                if one == day:
                    history.own.append(stretch)
                elif one < day and source["read"] == "yes":
                    history.earlier.append(stretch)
        return history

    def at(self, arrival: Arrival) -> Stretch | None:
        """What arrived, without reading it, where it was read in this state on any day."""
        trusted = arrival.stamp and not arrival.outgrown
        return self._states.get((arrival.uri, arrival.size, arrival.stamp)) if trusted else None

    def twins(self, stretch: Stretch) -> bool:
        """Whether a file of an earlier day may be the same."""
        return any((one.end, one.heads) == (stretch.end, stretch.heads) for one in self.earlier)

    def last_of(self, uri: str) -> Stretch | None:
        """What last arrived from a place before this day."""
        return max((one for one in self.earlier if one.uri == uri), key=lambda one: one.end, default=None)

    def begun(self, stretch: Stretch) -> list[Stretch]:
        """Files of earlier days that may be the beginning of a stretch."""
        return [one for one in self.earlier if begins(one, stretch)]

    def continued(self, places: Places, stretch: Stretch) -> tuple[Stretch, _Hash | None]:
        """What of a stretch no earlier day has, with the hash of what comes before it. Raises Problem."""
        begun = sorted(self.begun(stretch), key=lambda one: one.end)
        tail, known = replace(stretch, start=0, first=0, documents=0), None
        if not begun:
            return tail, None
        with readable(), closing(places.open(stretch.uri)) as stream:
            at, sha256 = 0, None
            for one in begun:
                sha256 = hash_of(stream, one.end - at, sha256)
                at = one.end
                if one.file_id in possible_ids(sha256.digest(), stretch.uri):
                    tail, known = replace(stretch, start=one.end, first=one.documents), sha256.copy()
        return tail, known


def begins(earlier: Stretch, later: Stretch) -> bool:
    """Whether an earlier file may be the beginning of a later one, of which only the tail is new then."""
    return (
        earlier.lines and later.lines and earlier.documents > 0 and earlier.end < later.end and earlier.may_begin(later)
    )


def begun_before(lake: Lake, day: date, sources: Sequence[Mapping[str, str]]) -> set[str]:
    """Ids of files of earlier days that files of a day may begin with, as far as manifests tell."""
    later = [stretch_of(source) for source in sources if source.get("lines") == "yes"]
    fitting = {one.heads[:count] for one in later for count in range(1, len(one.heads) + 1)}
    found: set[str] = set()
    for before in lake.days("landed", through=day - timedelta(days=1)) if later else []:
        fit = [one for one in _lines_of(lake, before, lake.mark("landed", before)) if one.heads in fitting]
        found |= {one.file_id for one in fit if any(begins(one, other) for other in later)}
    return found


@lru_cache(maxsize=4096)
def _lines_of(lake: Lake, day: date, mark: tuple[int, int]) -> list[Stretch]:
    """The files of a day that may grow, as its manifest of that mark tells."""
    sources = (lake.manifest("landed", day) or {"sources": []})["sources"]
    return [stretch_of(source) for source in sources if source["read"] == "yes" and source.get("lines") == "yes"]


def moved(places: Places, arrivals: Arrivals, stretch: Stretch) -> Stretch | None:
    """The same stretch where it lies now, if there is another place from which exports arrive that begins with it."""
    for uri in _of_size(arrivals, stretch):
        with readable():
            if uri != stretch.uri and begins_with(places, uri, stretch):
                return replace(stretch, uri=uri, stamp="")
    return None


def _of_size(arrivals: Arrivals, stretch: Stretch) -> Iterable[str]:
    return (uri for uri, state in sorted(arrivals.everything().items()) if state.size >= stretch.end > 0)
