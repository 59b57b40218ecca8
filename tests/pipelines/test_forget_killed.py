"""Forgetting that the system kills at any moment leaves the old state or the new one, and a repeat finishes it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from mills import ROOT, Night, mill_at

from assets.erasure import reach_of
from assets.lake_search import held_rows
from assets.mill import Mill
from transforms.privacy.erasure import Tombs, read_value
from transforms.privacy.surrogates import Surrogates
from warehouse.catalog import DAILY
from warehouse.digest import rows_digest

DAY = date(2026, 11, 30)
PERSON = "marguerite.ow@example.org"
PROGRAM = """
import os, signal, sys
changes, last = 0, int(sys.argv[1])
def count(event, arguments):
    global changes
    if event in ("os.rename", "os.remove", "os.rmdir") and sys.argv[3] in str(arguments[0]):
        changes += 1
        if changes == last:
            os.kill(os.getpid(), signal.SIGKILL)
from assets.erasure import forget
from assets.mill import open_mill
mill, asked = open_mill(), sys.argv[2].split()
sys.addaudithook(count)  # each change of what lies on the disk, just before it is made
forget(mill, asked)
print(changes)
"""


@pytest.fixture
def mill(night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A copy of the night's home."""
    shutil.copytree(night.mill.home.root, tmp_path / "home")
    shutil.rmtree(tmp_path / "home" / "dagster")
    return mill_at(tmp_path / "home", monkeypatch)


def killed_at(mill: Mill, change: int, asked: list[str]) -> subprocess.CompletedProcess[str]:
    """Forgetting in a process of its own that is killed before its `change`th change on the disk."""
    command = [sys.executable, "-c", PROGRAM, str(change), " ".join(asked), str(mill.home.root)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=mill.home.root, check=False)


def whole(mill: Mill) -> dict[str, str]:
    """Version of each asset of the day; what a manifest names is there, and is what it says."""
    found = {}
    for asset, tables in DAILY.items():
        manifest = mill.lake.manifest(asset, DAY)
        assert manifest
        for table in tables:
            entry, rows = manifest["tables"][table.name], mill.lake.scan(table, only=DAY).collect()
            assert (rows.height, rows_digest(rows.drop(table.measured))) == (entry["rows"], entry["digest"])
        found[asset] = manifest["version"]
    return found


def test_a_kill_at_any_change_leaves_the_old_state_or_the_new_one_and_repeats_finish_it(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Tombs(mill.key)
    tombs = Tombs(mill.key, read_value(PERSON, empty, Surrogates(mill.key)).tombstones)
    asked = sorted(map(str, tombs.tombstones))
    reach, before = reach_of(mill, tombs), whole(mill)

    shutil.copytree(mill.home.root, tmp_path / "at once")
    once = mill_at(tmp_path / "at once", monkeypatch)
    done = killed_at(once, 0, asked)
    assert done.returncode == 0, done.stderr
    changes, after = int(done.stdout), whole(once)
    assert changes > 20 and after != before

    mill = mill_at(mill.home.root, monkeypatch)
    seen = set()
    for change in (5, *[11] * 20):
        killed = killed_at(mill, change, asked)
        now = whole(mill)
        assert all(version in (before[asset], after[asset]) for asset, version in now.items())
        seen.add(sum(now[asset] == after[asset] for asset in DAILY))
        if killed.returncode == 0:
            break
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(seen) > 3, "kills between the tables of a day, too"
    done = killed_at(mill, 0, asked)
    assert done.returncode == 0, done.stderr
    assert whole(mill) == after
    assert held_rows(mill, tombs) == 0 and mill.releases.names() == []
    (deed,) = mill.erasures.deeds()
    assert (deed["traces"], deed["days"], deed["releases"]) == (len(reach.traces), [str(DAY)], list(reach.releases))
    assert not list(mill.home.lake.rglob("*.part")), "nothing half-written stays"
