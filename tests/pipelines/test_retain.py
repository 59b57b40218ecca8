"""Old days leave the lake; what newer days rest on stays, and nothing brings back what went."""

import gzip
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS
from mills import QUIET, mill_at
from typer.testing import CliRunner

from assets import retention
from assets.mill import Mill
from assets.retention import drop_of, retain
from assets.staleness import stale_days
from pipelines.cli import app
from pipelines.runs import run_day, run_nightly_release
from warehouse.duck import reader
from warehouse.files import write_whole
from warehouse.leftovers import leftover_files
from warehouse.problem import Problem
from warehouse.schemas import TRAJECTORIES

OLD, NEW = date(2026, 11, 2), date(2026, 11, 3)


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """Two days of the shipped captures: spans and verdicts of one SDK, then the spans of another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracemill.yaml").write_text("privacy: {model: null}\n")
    mill = mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")
    for day, capture in ((OLD, "langsmith-wrap-openai"), (NEW, "otlp-genai-openai")):
        mill.register([CORPUS / "exports" / capture], day)
        run_day(day, QUIET)
    return mill


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def curated(mill: Mill, day: date) -> list[tuple[Any, ...]]:
    with reader(mill.home) as connection:
        query = f"SELECT trajectory_id, steps, reward FROM curated_trajectories WHERE revision = '{day}' ORDER BY 1"
        return connection.sql(query).fetchall()


def days_with_rows(mill: Mill) -> list[date]:
    with reader(mill.home) as connection:
        return [day for (day,) in connection.sql("SELECT DISTINCT day FROM spans ORDER BY 1").fetchall()]


def test_an_old_day_goes_with_its_files_and_is_not_run_again(mill: Mill) -> None:
    release = run_nightly_release(NEW, QUIET)
    assert drop_of(mill, NEW).days == (OLD,)
    done = CliRunner().invoke(app, ["retain", "--before", NEW.isoformat()])
    assert done.exit_code == 0, done.output
    assert days_with_rows(mill) == [NEW]
    assert not list((mill.home.lake / "tables" / "spans").glob(f"day={OLD}"))
    assert mill.lake.days("landed") == [OLD, NEW]  # which files they were stays known
    assert stale_days(mill) == []
    assert mill.arrivals.days() == [NEW]
    with pytest.raises(Problem, match="not kept any more"):
        run_day(OLD, QUIET)
    assert mill.releases.verify(release) == []
    (deed,) = mill.erasures.deeds()
    assert (deed["kind"], deed["days"], deed["releases"]) == ("retain", [OLD.isoformat()], [])
    assert deed["traces"] > 0


def test_a_copy_of_a_file_of_a_dropped_day_does_not_bring_it_back(mill: Mill, tmp_path: Path) -> None:
    retain(mill, NEW)
    source = next((CORPUS / "exports" / "langsmith-wrap-openai").glob("runs*"))
    copy = tmp_path / source.name
    copy.write_bytes(source.read_bytes())
    later = date(2026, 11, 4)
    mill.register([copy], later)
    run_day(later, QUIET)
    assert days_with_rows(mill) == [NEW]


def test_of_a_day_that_a_newer_one_goes_on_with_only_those_traces_stay(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = next((CORPUS / "exports" / "langsmith-wrap-openai").glob("feedback*"))
    late = tmp_path / "late.jsonl"
    with gzip.open(verdicts) as lines:
        verdict = json.loads(next(lines)) | {"id": "00000000-0000-4000-8000-000000000001"}
    later = date(2026, 11, 4)
    late.write_text(json.dumps(verdict) + "\n")
    mill.register([late], later)
    run_day(later, QUIET)
    before = curated(mill, later)
    assert before
    drop = drop_of(mill, later)
    assert drop.days == (NEW,)
    assert drop.needed == {OLD: (later,)}
    assert len(drop.trimmed[OLD]) > 1
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):  # what stands for a kill
        patch.setattr(retention, "thread_again", interrupted)
        retain(mill, later)
    retain(mill, later)
    assert curated(mill, later) == before
    with reader(mill.home) as connection:
        traces = connection.sql("SELECT DISTINCT trace_id FROM spans").fetchall()
    assert traces == [(verdict["trace_id"],)]
    assert stale_days(mill) == []
    assert drop_of(mill, later).trimmed == {}
    assert mill.lake.scan(TRAJECTORIES).explode("trace_ids", empty_as_null=False).collect()[
        "trace_ids"
    ].unique().to_list() == [verdict["trace_id"]]


def test_releases_of_dropped_days_are_withdrawn_where_that_is_asked(mill: Mill) -> None:
    release = run_nightly_release(NEW, QUIET)
    assert drop_of(mill, NEW).releases == (release,)
    retain(mill, NEW, withdraw_releases=True)
    assert mill.releases.names() == []
    assert mill.releases.is_withdrawn(release)
    assert mill.releases.name_for(release, "anything") == f"{release}.2"


def test_files_that_nothing_refers_to_go_and_repeating_finds_nothing(mill: Mill) -> None:
    stray = mill.home.lake / "tables" / "spans" / f"day={NEW}" / "stray.parquet"
    write_whole(stray, lambda path: path.write_bytes(b"left by a writer that was killed"))
    assert leftover_files(mill.home.lake) == [stray]
    before = {asset: mill.lake.version_of(asset, NEW) for asset in ("clean_spans", "trajectories", "rewards")}
    retain(mill, OLD)
    assert not stray.exists()
    assert {asset: mill.lake.version_of(asset, NEW) for asset in before} == before
    assert days_with_rows(mill) == [OLD, NEW]
    deeds = mill.erasures.deeds()
    retain(mill, OLD)
    assert mill.erasures.deeds() == deeds


@pytest.mark.parametrize("flags", [[], ["--days", "3", "--before", "2026-11-03"], ["--before", "x"], ["--days", "0"]])
def test_a_bound_is_said_once_and_rightly(flags: list[str]) -> None:
    assert CliRunner().invoke(app, ["retain", *flags]).exit_code == 2
