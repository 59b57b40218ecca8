"""What was pulled of a project, in a small file beside what was landed: written last, so that a kill loses nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pipelines.pull.coverage import joined
from pipelines.pull.landing import write_private
from pipelines.pull.sources import Row, Stream, Window
from warehouse.files import read_json
from warehouse.problem import Problem

VERSION = 1
DIGEST_BYTES = 9  # 12 characters; two of a million records meet by chance once in a billion pulls
MOVING = frozenset({"updatedAt", "modified_at", "updated_at", "last_queued_at", "feedback_stats"})
"""Fields that change while what the record says does not."""


@dataclass
class Progress:
    """How far a stream is: stretches that are done, the one under way, and digests of what overlaps may bring again."""

    covered: list[Window] = field(default_factory=list)
    open: Window | None = None
    cursor: str | None = None
    seen: dict[Window, list[str]] = field(default_factory=dict)

    @property
    def windows(self) -> list[Window]:
        """The stretches that are done or under way."""
        return [*self.covered, *([self.open] if self.open else [])]

    def begin(self, window: Window) -> None:
        """Take up a window; one that was left half-way goes on at its cursor."""
        if self.open != window:
            self.open, self.cursor = window, None

    def finish(self, overlap: timedelta) -> None:
        """Count the open window as done, and forget digests that no later pull can meet."""
        assert self.open
        self.covered = joined(self.covered, self.open)
        self.open = self.cursor = None
        self.seen = {
            window: digests
            for window, digests in self.seen.items()
            if any(window.start < done.end and window.end > done.end - overlap for done in self.covered)
        }


@dataclass
class Ledger:
    """The state of one project's pulls, and the file that holds it."""

    path: Path
    project: str
    parts: int = 0
    streams: dict[str, Progress] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, project: str) -> Ledger | None:
        """The ledger in `path`; none where there is no such file. Raises Problem where it cannot be understood."""
        if not path.exists():
            return None
        content = read_json(path)
        try:
            if content["version"] != VERSION:
                raise Problem(f"{path} was written by another version of tracemill; use that one")
            streams = {name: _progress(told) for name, told in content["streams"].items()}
            return cls(path, project, int(content["parts"]), streams)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Problem(f"{path} is not what tracemill wrote; delete it and pull again with --since") from None

    def of(self, stream: Stream) -> Progress:
        """How far a stream is."""
        return self.streams.setdefault(stream.name, Progress())

    @property
    def begun(self) -> datetime | None:
        """Where pulls began; none before the first."""
        return min((window.start for one in self.streams.values() for window in one.windows), default=None)

    def write(self) -> None:
        """Put the file in place of the old one, whole."""
        content = {
            "version": VERSION,
            "project": self.project,
            "parts": self.parts,
            "streams": {name: _told(progress) for name, progress in self.streams.items()},
        }
        write_private(self.path, (json.dumps(content, indent=1) + "\n").encode())


def digest(record: Row) -> str:
    """A short hash of what a record says, without the fields that change by themselves."""
    said = {name: value for name, value in record.items() if name not in MOVING}
    text = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    return base64.b64encode(hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest()).decode()


def _told(progress: Progress) -> dict[str, Any]:
    return {
        "covered": [_pair(window) for window in progress.covered],
        "open": _pair(progress.open) if progress.open else None,
        "cursor": progress.cursor,
        "seen": [[*_pair(window), *digests] for window, digests in progress.seen.items()],
    }


def _progress(told: dict[str, Any]) -> Progress:
    return Progress(
        [_window(pair) for pair in told["covered"]],
        _window(told["open"]) if told["open"] else None,
        told["cursor"],
        {_window(row[:2]): row[2:] for row in told["seen"]},
    )


def _pair(window: Window) -> list[str]:
    return [window.start.isoformat(), window.end.isoformat()]


def _window(pair: list[str]) -> Window:
    return Window(datetime.fromisoformat(pair[0]), datetime.fromisoformat(pair[1]))
