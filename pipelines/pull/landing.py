"""The files that a pull lands: numbered, packed JSON lines in the folder of their arrival day, for their owner only."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pipelines.pull.sources import Row
from warehouse.files import TEMPORARY, write_whole

OWNER_ONLY = 0o600
ENDING = ".jsonl.gz"


@dataclass(frozen=True)
class Landing:
    """Where a project's files land: `landing/DAY/STEM-NUMBER.jsonl.gz`, its ledger beside the days."""

    folder: Path
    stem: str

    @classmethod
    def of(cls, folder: Path, service: str, project: str, identity: str) -> Landing:
        """The landing of a project; its name is made fit for a file, and told apart from its likes by `identity`."""
        fit = re.sub(r"[^A-Za-z0-9._-]+", "-", project).strip("-.")[:60]
        mark = hashlib.blake2b(identity.encode(), digest_size=3).hexdigest()
        return cls(folder.expanduser().resolve(), f"{service}-{fit}-{mark}")

    @property
    def ledger(self) -> Path:
        return self.folder / f".{self.stem}.json"

    @property
    def lock(self) -> Path:
        return self.folder / f".{self.stem}.lock"

    def write(self, number: int, lines: list[bytes], today: date) -> Path:
        """Land a part in place of one of its number that lies there already: a kill kept that one from being noted."""
        there = sorted(self.folder.glob(f"*/{self.stem}-{number:06d}{ENDING}"))
        path = there[0] if there else self.folder / today.isoformat() / f"{self.stem}-{number:06d}{ENDING}"
        write_private(path, gzip.compress(b"".join(lines), compresslevel=6, mtime=0))
        return path

    def parts(self) -> list[Path]:
        """The parts that lie in the landing folder, in order."""
        return sorted(self.folder.glob(f"*/{self.stem}-*{ENDING}"), key=lambda path: path.name)

    def next_number(self) -> int:
        """The number after the highest that lies there."""
        parts = self.parts()
        return int(parts[-1].name.removesuffix(ENDING).rpartition("-")[2]) + 1 if parts else 0

    def rows(self) -> Iterator[Row]:
        """Every record that was landed and still lies there."""
        for path in self.parts():
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                yield from map(json.loads, lines)

    def sweep(self) -> None:
        """Remove what a killed pull left half-written."""
        for path in self.folder.glob(f"*/{self.stem}-*{TEMPORARY}"):
            path.unlink(missing_ok=True)


def write_private(path: Path, content: bytes) -> None:
    """A file that appears whole, and that only its owner may read from the first byte on."""

    def write(temporary: Path) -> None:
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as handle:
            handle.write(content)

    write_whole(path, write)
