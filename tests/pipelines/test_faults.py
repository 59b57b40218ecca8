"""Faults on purpose: killed at any moment, twice at once, and exports that change or go."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mills import ROOT

DAY = "2026-11-29"
CORPUS = ROOT / "tests/corpus/exports/langsmith-wrap-openai"


def command(folder: Path, home: str, largest_file: int = resource.RLIM_INFINITY) -> subprocess.Popen[str]:
    """`tracemill run` of the landed day, in a process of its own that may write files of `largest_file` bytes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRACEMILL_", "DAGSTER_"))}
    environment = kept | {"TRACEMILL_HOME": str(folder / home), "TRACEMILL_KEY": "5eed" * 16, "COLUMNS": "200"}
    return subprocess.Popen(
        [sys.executable, "-c", "from pipelines.cli import main; main()", "run", "--day", DAY],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=environment, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY)),
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out + err


def state(home: Path) -> dict[str, str]:
    """Every manifest of the lake and its releases, and the names of the files that they name."""
    lake = home / "lake"
    manifests = {str(path.relative_to(lake)): path.read_text() for path in lake.rglob("*.json")}
    named = [name for text in manifests.values() for name in _files(json.loads(text))]
    return manifests | {name: "there" for name in named}


def _files(manifest: dict[str, object]) -> list[str]:
    tables = manifest.get("tables", {})
    assert isinstance(tables, dict)
    return [name for table in tables.values() for name in table["files"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with one landed day."""
    landed = tmp_path / "landing" / DAY
    shutil.copytree(CORPUS, landed)
    shutil.copy(ROOT / "tracemill.yaml", tmp_path)
    return tmp_path


def kill_at_random(folder: Path, times: int, seed: int) -> None:
    """Kill a run `times` times at random moments, run it to its end, and compare with a run in peace."""
    peace = command(folder, "peace")
    started = time.monotonic()
    code, told = finish(peace)
    assert code == 0, told
    whole = time.monotonic() - started
    moments = random.Random(seed)
    for _ in range(times):
        run = command(folder, "killed")
        try:
            run.wait(timeout=moments.uniform(0.2, 1.0) * whole)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
    code, told = finish(command(folder, "killed"))
    assert code == 0, told
    assert state(folder / "killed") == state(folder / "peace")
    assert not list((folder / "killed" / "lake").rglob("*.part"))


def test_killed_and_run_again_the_lake_is_the_same(folder: Path) -> None:
    kill_at_random(folder, times=2, seed=1)


@pytest.mark.slow
def test_killed_at_ten_random_moments_and_run_again_the_lake_is_the_same(folder: Path) -> None:
    kill_at_random(folder, times=10, seed=2)


def test_two_runs_at_once_do_the_same_as_one(folder: Path) -> None:
    both = [command(folder, "both"), command(folder, "both")]
    for code, told in map(finish, both):
        assert code == 0, told
    code, told = finish(command(folder, "alone"))
    assert code == 0, told
    assert state(folder / "both") == state(folder / "alone")


@pytest.mark.parametrize("largest_file", [40_000, 150_000])
def test_where_nothing_more_can_be_written_it_says_so_in_a_sentence(folder: Path, largest_file: int) -> None:
    code, told = finish(command(folder, "home", largest_file))
    assert code == 1 and "cannot write below" in told and "Traceback" not in told, told


def test_an_export_that_is_gone_keeps_its_day_and_says_so(folder: Path) -> None:
    assert finish(command(folder, "home"))[0] == 0
    before = state(folder / "home")
    (folder / "landing" / DAY / "runs.jsonl.gz").unlink()
    code, told = finish(command(folder, "home"))
    assert code == 1 and "1 of the exports" in told and "Traceback" not in told
    assert state(folder / "home") == before


def test_a_broken_warehouse_file_is_replaced(folder: Path) -> None:
    (folder / "home").mkdir()
    (folder / "home" / "warehouse.duckdb").write_bytes(b"not a database")
    code, told = finish(command(folder, "home"))
    assert code == 0, told
