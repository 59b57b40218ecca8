"""Where everything lives: the home of one tenant, with its lake, key, Dagster's home and warehouse."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

DEFAULT_HOME = ".tracemill"


@dataclass(frozen=True)
class Home:
    """A tenant's folder. `lake` may lie elsewhere; the rest is always below `root`."""

    root: Path
    lake: Path

    @classmethod
    def at(cls, root: Path, lake: str = "lake") -> Home:
        """The home at `root`; a relative `lake` lies in it."""
        root = root.expanduser().resolve()
        return cls(root, (root / Path(lake).expanduser()).resolve())

    @property
    def dagster(self) -> Path:
        return self.root / "dagster"

    @property
    def warehouse(self) -> Path:
        return self.root / "warehouse.duckdb"

    @property
    def key_file(self) -> Path:
        return self.root / "key"

    @property
    def lock_file(self) -> Path:
        return self.root / "lock"

    @property
    def models(self) -> Path:
        return self.root / "models"


def home_folder() -> Path:
    """`TRACEMILL_HOME`, or `.tracemill` in the working folder."""
    return Path(os.environ.get("TRACEMILL_HOME") or DEFAULT_HOME)
