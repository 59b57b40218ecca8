"""Exports are read by several processes as by one: the same tables, and the same sentences where one is wrong."""

import shutil
from datetime import date
from pathlib import Path

import pytest
from landings import line, publish, rejects
from mills import mill_at

from assets.lake_io import DayScans
from assets.mill import Mill
from assets.privacy import clean_day
from warehouse.catalog import DAILY
from warehouse.problem import Problem

CORPUS = Path(__file__).parents[1] / "corpus" / "exports"
DAY = date(2026, 11, 30)


def mill_with(workers: int, folder: Path, landing: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    folder.mkdir()
    (folder / "tracemill.yaml").write_text(f"landing: {landing}\nworkers: {workers}\nprivacy:\n  model: null\n")
    monkeypatch.chdir(folder)
    return mill_at(folder / "home", monkeypatch, folder / "tracemill.yaml")


@pytest.fixture
def landing(tmp_path: Path) -> Path:
    """The captures that the project ships, and lines of which one is torn."""
    folder = tmp_path / "landing" / DAY.isoformat()
    folder.mkdir(parents=True)
    for number, export in enumerate(path for path in sorted(CORPUS.rglob("*")) if path.is_file()):
        shutil.copy(export, folder / f"{number} {export.name}")
    (folder / "torn.jsonl").write_bytes(line(0) + b'{"torn": \n' + line(1))
    return folder.parent


def cleaned(mill: Mill) -> str:
    """The version of the day's clean tables, read again if need be and published."""
    scans = DayScans({table.name: mill.lake.scan(table, only=DAY) for table in DAILY["landed"]})
    made = clean_day(mill, DAY, scans)
    return mill.lake.publish("clean_spans", DAY, made.frames, mill.provenance("clean_spans", {}), made.sources)


def test_several_processes_give_the_tables_that_one_gives(
    landing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = []
    for workers in (1, 2):
        mill = mill_with(workers, tmp_path / str(workers), landing, monkeypatch)
        mill.register([], DAY)
        versions.append((publish(mill, DAY), cleaned(mill), rejects(mill)))
        assert [reason for _, reason in rejects(mill)] == ["broken_json"]
    assert versions[0] == versions[1]
    assert cleaned(mill) == versions[1][1], "read once more, since what was handed over is used up"


def test_what_is_wrong_with_an_export_is_told_by_whoever_reads_it(
    landing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill = mill_with(2, tmp_path / "2", landing, monkeypatch)
    mill.register([], DAY)
    publish(mill, DAY)
    cleaned(mill)
    (landing / DAY.isoformat() / "torn.jsonl").unlink()
    with pytest.raises(Problem, match="cannot be read"):
        cleaned(mill)
