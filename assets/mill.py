"""The mill as assets see it: one tenant's home, its settings, and what is kept there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import dagster as dg

from assets.partitions import FIRST_DAY
from assets.settings import Settings, load_settings
from transforms.identity import CANONICAL, Identity
from transforms.privacy.erasure import Tombs, Tombstone
from warehouse.arrivals import Arrivals
from warehouse.erasures import Erasures
from warehouse.files import writer_lock
from warehouse.home import Home
from warehouse.key import fingerprint, tenant_key
from warehouse.lake import Lake, Provenance
from warehouse.places import Places, named
from warehouse.records import Records
from warehouse.releases import Releases

CODE_VERSION = version("tracemill")


@dataclass(frozen=True)
class Mill:
    """One tenant's home with its settings."""

    home: Home
    settings: Settings

    @cached_property
    def key(self) -> bytes:
        return tenant_key(self.home)

    @cached_property
    def identity(self) -> Identity:
        return Identity(self.key)

    @property
    def lake(self) -> Lake:
        return Lake(self.home.lake)

    @property
    def releases(self) -> Releases:
        return Releases(self.home.lake)

    @property
    def records(self) -> Records:
        return Records(self.home.lake)

    @property
    def erasures(self) -> Erasures:
        return Erasures(self.home.lake)

    def tombs(self) -> Tombs:
        """All who are to be forgotten, as of now."""
        return Tombs(self.key, map(Tombstone.of, self.erasures.tombstones()))

    @cached_property
    def places(self) -> Places:
        return Places(self.settings.storage_options)

    @cached_property
    def arrivals(self) -> Arrivals:
        return Arrivals(named(self.settings.landing), self.home.lake, self.places)

    def register(self, given: Iterable[str | Path], today: date) -> list[date]:
        """Note what arrived without a day of its own, one process at a time; return the arrival days of what is given
        by name. Raises Problem."""
        with writer_lock(self.home.lock_file):
            return self.arrivals.register(given, today, date.fromisoformat(FIRST_DAY))

    def waiting(self, day: date) -> int:
        """How many exports of a day end in a record that is not complete yet."""
        sources = (self.lake.manifest("landed", day) or {"sources": []})["sources"]
        return sum(one["read"] == "yes" and one.get("size") != one.get("end") for one in sources)

    def provenance(self, asset: str, inputs: Mapping[str, str]) -> Provenance:
        """What an asset's day rests on, for its manifest."""
        config, key = self.settings.read_by(asset), fingerprint(self.key)
        return Provenance(config, CODE_VERSION, CANONICAL, key, dict(inputs))


def open_mill() -> Mill:
    """The mill that `TRACEMILL_HOME` and `tracemill.yaml` name. Raises Problem for a wrong configuration."""
    settings = load_settings()
    return Mill(settings.home, settings)


class MillResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens the mill inside a run, so that loading the code location touches nothing."""

    def open(self) -> Mill:
        return open_mill()
