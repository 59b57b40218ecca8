"""Releases: named, immutable cuts, published in one piece and sealed by their manifest."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.catalog import RELEASED
from warehouse.digest import rows_digest, text_digest
from warehouse.files import read_json, write_json
from warehouse.problem import Problem
from warehouse.rows import Held, held, write_rows
from warehouse.schemas import RELEASES, Table


@dataclass(frozen=True)
class Releases:
    """The releases of a lake. A folder without a manifest is not a release."""

    lake: Path

    def publish(self, name: str, frames: Mapping[str, pl.DataFrame], facts: Mapping[str, Any]) -> dict[str, Any]:
        """Write all tables of a release, then seal it; return its manifest.

        `facts` names what it rests on: window, specification, versions, funnel. Sealing the same content again
        changes nothing; other content under a sealed name raises Problem.
        """
        tables = {
            table.name: write_rows(self.folder(name), table.name, table, frames[table.name]) for table in RELEASED
        }
        digests = {table: entry["digest"] for table, entry in tables.items()}
        manifest = {"release": name, "version": text_digest(digests, facts), "tables": tables, **facts}
        if self.is_withdrawn(name):
            raise Problem(f"release {name} was withdrawn; give the new cut another name")
        if self.exists(name) and self.manifest(name) != manifest:
            raise Problem(f"release {name} is sealed with other content; give the new cut another name")
        if not self.exists(name):
            write_json(self._manifest_path(name), manifest)
        return manifest

    def names(self) -> list[str]:
        """Sealed releases, in the order of the days they reach, then of their cuts."""
        sealed = [path.parent.name for path in self._folder().glob("*/manifest.json")]
        return sorted(sealed, key=lambda name: (str(self.manifest(name)["through"]), len(name), name))

    def exists(self, name: str) -> bool:
        return self._manifest_path(name).exists()

    def manifest(self, name: str) -> dict[str, Any]:
        """The manifest of a sealed release. Raises Problem for an unknown name."""
        if not self.exists(name):
            if self.is_withdrawn(name):
                raise Problem(f"release {name} was withdrawn: {self.withdrawn()[name]}")
            known = ", ".join(self.names()) or "none is cut yet: `tracemill release create`"
            raise Problem(f"there is no release {name!r}; known: {known}")
        manifest: dict[str, Any] = read_json(self._manifest_path(name))
        return manifest

    def folder(self, name: str) -> Path:
        return self._folder() / name

    def name_for(self, base: str, rests_on: str) -> str:
        """`base`, or `base.2`, `base.3`, ...: the sealed release that rests on the same input, else a free name."""
        name, number = base, 1
        while self.is_withdrawn(name) or (self.exists(name) and self.manifest(name)["rests_on"] != rests_on):
            number += 1
            name = f"{base}.{number}"
        return name

    def held(self, table: Table) -> Held:
        """What holds `table`, of all releases."""
        return held(table, (one for name in self.names() for one in self._entries(name, table)))

    def files(self, table: Table) -> list[Path]:
        """Parquet files that hold `table`, of all releases."""
        return self.held(table).files

    def files_of(self, name: str, table: Table) -> list[Path]:
        """Files of a release's table; none where the release was sealed before there was such a table."""
        return held(table, self._entries(name, table)).files

    def _entries(self, name: str, table: Table) -> list[tuple[Path, dict[str, Any]]]:
        sealed = self.manifest(name)["tables"].get(table.name)
        return [(self.folder(name), sealed)] if sealed else []

    def read(self, name: str, table: Table) -> pl.DataFrame:
        """`table` of one release. Raises Problem for an unknown release."""
        files = self.files_of(name, table)
        return pl.read_parquet(files) if files else table.empty()

    def verify(self, name: str) -> list[str]:
        """Names of the tables whose rows are not those that the manifest seals."""
        sealed = self.manifest(name)["tables"]
        held = [table for table in RELEASED if table.name in sealed]
        return [table.name for table in held if self._digest(name, table) != sealed[table.name]["digest"]]

    def delete(self, name: str) -> None:
        """Unseal a release, then remove it. Raises Problem for an unknown name."""
        self.manifest(name)
        self._manifest_path(name).unlink()
        shutil.rmtree(self.folder(name))

    def withdraw(self, name: str, reason: str) -> None:
        """Delete a release and keep its name from being used again: what was trained on it bears that name."""
        write_json(self._withdrawn_path(name), {"release": name, "reason": reason})
        if self.exists(name):
            self.delete(name)
        shutil.rmtree(self.folder(name), ignore_errors=True)  # also what a withdrawal that was killed left behind

    def is_withdrawn(self, name: str) -> bool:
        return self._withdrawn_path(name).exists()

    def withdrawn(self) -> dict[str, str]:
        """Withdrawn releases with the reason."""
        found = [read_json(path) for path in sorted((self.lake / "withdrawn").glob("*.json"))]
        return {one["release"]: one["reason"] for one in found}

    def table(self) -> pl.DataFrame:
        """All sealed releases as the table `releases`."""
        return RELEASES.frame([_row(self.manifest(name)) for name in self.names()])

    def _digest(self, name: str, table: Table) -> str:
        try:
            return rows_digest(self.read(name, table))
        except (OSError, pl.exceptions.PolarsError):
            return "unreadable"

    def _manifest_path(self, name: str) -> Path:
        return self.folder(name) / "manifest.json"

    def _withdrawn_path(self, name: str) -> Path:
        return self.lake / "withdrawn" / f"{name}.json"

    def _folder(self) -> Path:
        return self.lake / "releases"


def _row(manifest: dict[str, Any]) -> dict[str, object]:
    counts = {key: manifest["counts"][key] for key in ("trajectories", "tasks", "pairs", "rollouts")}
    through = date.fromisoformat(manifest["through"])
    return {"release": manifest["release"], "through": through, "version": manifest["version"], **counts}
