"""A day holds every file that arrived on it, once, whatever it is called."""

import errno
import shutil
from datetime import date
from pathlib import Path

import pytest
from mills import ROOT, mill_at

from assets.handed_over import take_over
from assets.ingest import land
from assets.lake_io import DayScans
from assets.mill import Mill
from assets.privacy import clean_day
from transforms import kept_blocks
from transforms.sealed import Sealed
from warehouse.catalog import DAILY
from warehouse.digest import rows_digest
from warehouse.places import Places
from warehouse.problem import Problem

DAY = date(2026, 11, 29)
EXPORTS = ROOT / "tests/corpus/exports/langsmith-wrap-openai"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The landing folder of DAY, with captures in it."""
    return Path(shutil.copytree(EXPORTS, tmp_path / "landing" / DAY.isoformat()))


@pytest.fixture
def mill(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "tracemill.yaml"
    config.write_text("landing: landing\n")
    return mill_at(tmp_path / "home", monkeypatch, config)


def publish(mill: Mill) -> str:
    made = land(mill, DAY)
    return mill.lake.publish("landed", DAY, made.frames, mill.provenance("landed", {}), made.sources)


def test_a_file_that_arrived_twice_counts_once(mill: Mill, folder: Path) -> None:
    version = publish(mill)
    shutil.copy(folder / "runs.jsonl.gz", folder / "again.jsonl.gz")
    assert publish(mill) == version


def test_a_renamed_export_is_the_same_file(mill: Mill, folder: Path) -> None:
    version = publish(mill)
    (folder / "runs.jsonl.gz").rename(folder / "exported.jsonl.gz")
    assert publish(mill) == version
    manifest = mill.lake.manifest("landed", DAY)
    assert manifest and {Path(source["uri"]).name for source in manifest["sources"]} >= {"exported.jsonl.gz"}


def test_an_export_that_is_gone_keeps_what_was_published(mill: Mill, folder: Path) -> None:
    publish(mill)
    (folder / "runs.jsonl.gz").unlink()
    with pytest.raises(Problem, match="1 of the exports"):
        land(mill, DAY)


def test_an_export_that_was_overwritten_is_refused_and_one_that_grew_is_not(mill: Mill, folder: Path) -> None:
    growing = folder / "growing.jsonl"
    growing.write_text('{"id": "a", "run_type": "llm"}\n')
    publish(mill)
    with growing.open("a") as stream:
        stream.write('{"id": "b", "run_type": "llm"}\n')
    grown = publish(mill)
    growing.write_text('{"id": "c", "run_type": "llm"}\n' * 3)
    with pytest.raises(Problem, match="gone or overwritten"):
        land(mill, DAY)
    assert mill.lake.version_of("landed", DAY) == grown


def test_a_full_temporary_folder_is_told_with_its_place(mill: Mill, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(kept_blocks, "BLOCK_BYTES", 1)
    monkeypatch.setattr(Sealed, "put", full)
    with pytest.raises(Problem, match=r"no space left in /.*: free some"):
        land(mill, DAY)


def test_records_that_landing_read_are_read_again_in_another_process(mill: Mill) -> None:
    publish(mill)
    landed = DayScans({table.name: mill.lake.scan(table, only=DAY) for table in DAILY["landed"]})
    handed = clean_day(mill, DAY, landed).frames
    read_again = clean_day(mill, DAY, landed).frames  # what was handed over is taken once
    assert handed["spans"].height > 0
    assert {name: rows_digest(frame) for name, frame in handed.items()} == {
        name: rows_digest(frame) for name, frame in read_again.items()
    }


def test_an_export_with_other_bytes_than_landed_stops_the_day(mill: Mill, folder: Path) -> None:
    publish(mill)
    take_over(mill.home.root, DAY, [])  # as in another process
    runs = folder / "runs.jsonl.gz"
    runs.write_bytes(b"\0" * runs.stat().st_size)
    landed = DayScans({table.name: mill.lake.scan(table, only=DAY) for table in DAILY["landed"]})
    with pytest.raises(Problem, match="not the file that landed"):
        clean_day(mill, DAY, landed)


def test_a_file_that_landed_before_is_not_opened_again(
    mill: Mill, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(mill)
    again = folder.with_name("2026-11-30")
    shutil.copytree(folder, again)
    opened: list[str] = []
    open_place = Places.open
    monkeypatch.setattr(Places, "open", lambda self, uri: (opened.append(uri), open_place(self, uri))[1])
    made = land(mill, date(2026, 11, 30))
    assert opened and made.frames["exports"].height == 0
    mill.lake.publish("landed", date(2026, 11, 30), made.frames, mill.provenance("landed", {}), made.sources)
    opened.clear()
    assert land(mill, date(2026, 11, 30)).sources == made.sources
    assert opened == []
