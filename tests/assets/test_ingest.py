"""A day holds every file that arrived on it, once, whatever it is called."""

import shutil
from datetime import date
from pathlib import Path

import pytest
from mills import ROOT, mill_at

from assets.ingest import land
from assets.mill import Mill
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
