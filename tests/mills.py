"""Real homes for tests: the real jobs, the real model, real files."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from rich.console import Console

from assets.mill import Mill, open_mill
from pipelines.runs import refresh_warehouse, run_day, run_nightly_release

ROOT = Path(__file__).parent.parent
QUIET = Console(quiet=True)
KEY = "5eed" * 16


@dataclass(frozen=True)
class Night:
    """A home after one night, the day and the release."""

    mill: Mill
    day: date
    release: str


def mill_at(folder: Path, patch: pytest.MonkeyPatch, config: Path = ROOT / "tracemill.yaml") -> Mill:
    """The mill of a home in `folder`, for this process and its children, with a key that is always the same."""
    patch.setenv("TRACEMILL_HOME", str(folder))
    patch.setenv("TRACEMILL_CONFIG", str(config))
    patch.setenv("TRACEMILL_KEY", KEY)
    return open_mill()


@contextmanager
def day_of(folder: Path, export: str, day: date) -> Iterator[Mill]:
    """The mill of a home in `folder` after the day of one export, cleaned by rules alone."""
    (folder / "export.jsonl").write_text(export, encoding="utf-8")
    (folder / "tracemill.yaml").write_text("privacy: {model: null}\n")
    with pytest.MonkeyPatch.context() as patch:
        mill = mill_at(folder / "home", patch, folder / "tracemill.yaml")
        mill.register([folder / "export.jsonl"], day)
        run_day(day, QUIET)
        yield mill


def run_night(folder: Path, patch: pytest.MonkeyPatch, exports: Path, day: date) -> Night:
    """Exports to sealed release, as the command line does it."""
    mill = mill_at(folder, patch)
    mill.register([exports], day)
    run_day(day, QUIET)
    release = run_nightly_release(day, QUIET)
    refresh_warehouse(mill)
    return Night(mill, day, release)
