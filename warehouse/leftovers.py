"""Files of the lake that nothing refers to any more: found, and removed by whoever holds the writer's lock."""

from __future__ import annotations

import shutil
from pathlib import Path

from warehouse.catalog import daily_tables
from warehouse.files import read_json


def leftover_files(lake: Path) -> list[Path]:
    """Table files that no manifest names: those of versions that were replaced, dropped or never published.

    Only the holder of the writer's lock may remove them: a writer gives files their names, then names them in a
    manifest, and does both under the lock.
    """
    named = {
        lake / name
        for path in (lake / "manifests").glob("*/*.json")
        for entry in read_json(path)["tables"].values()
        for name in entry["files"]
    }
    found = [path for table in daily_tables() for path in (lake / "tables" / table.name).glob("day=*/*")]
    return sorted(path for path in found if path not in named)


def leftover_releases(lake: Path) -> list[Path]:
    """Folders of releases that were never sealed, or of which a deletion was killed half-way."""
    return sorted(path for path in (lake / "releases").glob("*") if not (path / "manifest.json").exists())


def sweep(lake: Path) -> int:
    """Remove what nothing refers to; return how many files went. The caller holds the writer's lock."""
    files = leftover_files(lake)
    for path in files:
        path.unlink(missing_ok=True)
    for folder in (lake / "tables").glob("*/day=*"):
        if not any(folder.iterdir()):
            folder.rmdir()
    gone = leftover_releases(lake)
    for folder in gone:
        files += [path for path in folder.rglob("*") if path.is_file()]
        shutil.rmtree(folder)
    return len(files)
