"""The lake: Parquet partitions that are published whole, and found through their manifests only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.catalog import DAILY
from warehouse.digest import Parts, text_digest
from warehouse.files import read_json, write_json
from warehouse.rows import Held, held, scan_rows, write_rows
from warehouse.schemas import MESSAGES, Table


@dataclass(frozen=True)
class Provenance:
    """What a partition rests on beside its rows: hash of the configuration, versions of the code and of what message
    ids hash, the key's fingerprint, and the versions of what it was made of."""

    config: str
    code: str
    canonical: str
    key: str
    inputs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lake:
    """A folder of partitions. Reading needs no lock; `publish` is for the one who holds the writer's lock."""

    root: Path

    def publish(
        self,
        asset: str,
        day: date,
        frames: Mapping[str, pl.DataFrame | Parts],
        provenance: Provenance,
        sources: Iterable[Mapping[str, str]] = (),
    ) -> str:
        """Publish all tables of an asset's day at once; return the data version.

        `frames` holds one frame a table of the asset, or its parts. A kill at any moment leaves the old partition or
        the new one, since the manifest is written last. Equal content changes no byte. Raises SchemaError, Problem.
        """
        tables = {
            table.name: write_rows(self.root, _folder(table, day), table, frames[table.name]) for table in DAILY[asset]
        }
        manifest = {
            "asset": asset,
            "day": day.isoformat(),
            "version": text_digest({name: entry["digest"] for name, entry in tables.items()}, provenance.config),
            "tables": tables,
            "config": provenance.config,
            "code": provenance.code,
            "canonical": provenance.canonical,
            "key": provenance.key,
            "inputs": provenance.inputs,
            "sources": sorted((dict(source) for source in sources), key=lambda source: sorted(source.items())),
        }
        before = self.manifest(asset, day)
        if before != manifest:
            write_json(self._manifest_path(asset, day), manifest)
        self._sweep(day, DAILY[asset], before)  # also what a run that was killed here left behind
        return str(manifest["version"])

    def drop(self, asset: str, day: date) -> None:
        """Take an asset's day out of the lake; its files stay until somebody sweeps. For the holder of the writer's
        lock."""
        self._manifest_path(asset, day).unlink(missing_ok=True)

    def version_of(self, asset: str, day: date) -> str:
        """The data version of an asset's day; empty where it was never published."""
        return str((self.manifest(asset, day) or {"version": ""})["version"])

    def manifest(self, asset: str, day: date) -> dict[str, Any] | None:
        """The manifest of an asset's day; None where it was never published."""
        path = self._manifest_path(asset, day)
        return read_json(path) if path.exists() else None

    def mark(self, asset: str, day: date) -> tuple[int, int]:
        """What changes whenever an asset's day is published anew; zeros where it never was."""
        path = self._manifest_path(asset, day)
        found = path.stat() if path.exists() else None
        return (found.st_mtime_ns, found.st_ino) if found else (0, 0)

    def days(self, asset: str, through: date | None = None) -> list[date]:
        """Days on which `asset` is published, up to `through`, in order."""
        folder = self.root / "manifests" / asset
        days = sorted(date.fromisoformat(path.stem) for path in folder.glob("*.json"))
        return [day for day in days if through is None or day <= through]

    def held(self, table: Table, through: date | None = None, only: date | None = None) -> Held:
        """What holds `table`, of all days, up to a day, or of one day."""
        owners = [asset for asset, tables in DAILY.items() if table in tables]
        pairs = [(asset, day) for asset in owners for day in self.days(asset, through) if only in (None, day)]
        manifests = [self.manifest(asset, day) for asset, day in pairs]
        return held(table, ((self.root, entry["tables"][table.name]) for entry in manifests if entry))

    def files(self, table: Table, through: date | None = None, only: date | None = None) -> list[Path]:
        """Parquet files that hold `table`, of all days, up to a day, or of one day."""
        return self.held(table, through, only).files

    def scan(self, table: Table, through: date | None = None, only: date | None = None) -> pl.LazyFrame:
        """`table` as a lazy frame over its files; empty where there are none."""
        return scan_rows(table, self.files(table, through, only))

    def newest_messages(self, wanted: pl.LazyFrame, through: date | None = None) -> pl.DataFrame:
        """`messages` of the ids in `wanted` (message_id), each as its latest day has it."""
        held = self.scan(MESSAGES, through).join(wanted, on="message_id", how="semi").collect()
        return held.sort("day").unique("message_id", keep="last", maintain_order=True)

    def version(self, through: date | None = None) -> str:
        """One hash of all that is published up to a day."""
        pairs = [(asset, day) for asset in DAILY for day in self.days(asset, through)]
        return text_digest([(asset, day, self.version_of(asset, day)) for asset, day in pairs])

    def key_fingerprints(self) -> set[str]:
        """Fingerprints of the keys that the lake was written with."""
        return {read_json(path)["key"] for path in self.root.glob("manifests/*/*.json")}

    def is_empty(self) -> bool:
        return next(self.root.glob("manifests/*/*.json"), None) is None

    def _sweep(self, day: date, tables: tuple[Table, ...], before: dict[str, Any] | None) -> None:
        """Remove files that neither a manifest names nor the one just replaced, which readers may still hold."""
        named = {path for table in tables for path in self.files(table, only=day)}
        named |= {self.root / name for name in _file_names(before)}
        for table in tables:
            for path in (self.root / _folder(table, day)).glob("*"):
                if path not in named:
                    path.unlink(missing_ok=True)

    def _manifest_path(self, asset: str, day: date) -> Path:
        return self.root / "manifests" / asset / f"{day.isoformat()}.json"


def _folder(table: Table, day: date) -> str:
    return f"tables/{table.name}/day={day.isoformat()}"


def _file_names(manifest: dict[str, Any] | None) -> list[str]:
    return [name for entry in (manifest or {"tables": {}})["tables"].values() for name in entry["files"]]
