"""Which days a run without options takes: those on which something came, and those that no run came to the end of."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from lake_samples import landed
from mills import ROOT, mill_at

from assets.mill import Mill
from assets.staleness import has_news, inputs_of
from warehouse.catalog import DAILY

DAY = date(2026, 11, 29)


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A home whose landing folder holds one export of DAY."""
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "tracemill.yaml"
    config.write_text("landing: landing\n")
    put(tmp_path / "landing" / DAY.isoformat() / "runs.jsonl")
    return mill_at(tmp_path / "home", monkeypatch, config)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}\n")
    return path


def publish(mill: Mill, asset: str, **frames: pl.DataFrame) -> None:
    """Publish what an asset made of the day: empty tables, but for `frames`."""
    tables = {table.name: table.empty() for table in DAILY[asset]} | frames
    mill.lake.publish(asset, DAY, tables, mill.provenance(asset, inputs_of(mill, asset, DAY, [])))


def run(mill: Mill) -> None:
    for asset in DAILY:
        publish(mill, asset)


def test_a_day_is_new_until_a_run_came_to_its_end(mill: Mill) -> None:
    assert has_news(mill, DAY)
    publish(mill, "landed")
    assert has_news(mill, DAY)
    run(mill)
    assert not has_news(mill, DAY)
    publish(mill, "landed", exports=landed("a")["exports"].with_columns(day=pl.lit(DAY)))
    assert has_news(mill, DAY)


def test_an_export_that_is_moved_in_with_an_old_date_makes_its_day_new(mill: Mill, tmp_path: Path) -> None:
    run(mill)
    old = put(tmp_path / "elsewhere" / "more.jsonl")
    os.utime(old, (0, 0))
    old.rename(tmp_path / "landing" / DAY.isoformat() / "more.jsonl")
    assert has_news(mill, DAY)


def test_files_that_two_processes_hand_over_at_once_are_all_remembered(mill: Mill, tmp_path: Path) -> None:
    given = [put(tmp_path / "given" / f"{number}.jsonl") for number in range(8)]
    code = (
        "import sys; from datetime import date; from assets.mill import open_mill\n"
        "mill = open_mill(); print('ready', flush=True); sys.stdin.readline()\n"
        "for path in sys.argv[1:]: mill.register([path], date(2026, 11, 29))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, *map(str, part)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for part in (given[::2], given[1::2])
    ]  # fmt: skip
    for process in both:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in both:
        process.communicate("\n")
    assert set(map(str, given)) <= {one.uri for one in mill.arrivals.of(DAY)}
