"""A person who asks to be forgotten is gone from the shipped captures, and no run brings them back."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from canaries import encodings, leaks
from conftest import CORPUS
from mills import QUIET, ROOT, Night, mill_at

from assets import erasure, privacy
from assets.erasure import reach_of
from assets.lake_search import held_rows
from assets.mill import Mill
from pipelines.runs import run_day
from transforms.privacy.erasure import Tombs, Tombstone, read_value
from transforms.privacy.surrogates import Surrogates
from warehouse.catalog import DAILY
from warehouse.duck import reader
from warehouse.problem import Problem
from warehouse.schemas import SPANS

DAY = date(2026, 11, 30)
PERSON = "marguerite.ow@example.org"
EXPECTED = json.loads((CORPUS / "expected" / "otlp-genai-openai.json").read_text())
TRACES = {trace for run in EXPECTED["runs"] for trace in run["trace_ids"]}
PRIVATE = [PERSON, "marguerite.ow"]


@pytest.fixture
def mill(night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A copy of the night's home."""
    shutil.copytree(night.mill.home.root, tmp_path / "home")
    shutil.rmtree(tmp_path / "home" / "dagster")
    return mill_at(tmp_path / "home", monkeypatch)


def told(mill: Mill, *values: str) -> Tombs:
    empty = Tombs(mill.key)
    read = [read_value(value, empty, Surrogates(mill.key)) for value in values]
    return Tombs(mill.key, {one for value in read if value.strong for one in value.tombstones})


def forget(mill: Mill, given: str, *flags: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, with the values on standard input."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", "from pipelines.cli import main; main()", "forget", *flags],
        input=given.encode(), capture_output=True, env=environment, cwd=mill.home.root, check=False,
    )  # fmt: skip


def forget_here(mill: Mill, *values: str) -> dict[str, Any]:
    return erasure.forget(mill, sorted(map(str, told(mill, *values).tombstones)))


def versions(mill: Mill) -> dict[str, str]:
    return {asset: mill.lake.version_of(asset, DAY) for asset in DAILY}


def test_a_person_is_gone_from_every_table_and_release_and_their_value_is_nowhere(mill: Mill) -> None:
    tombs = told(mill, PERSON)
    reach = reach_of(mill, tombs)
    assert reach.traces
    assert reach.days == [DAY]
    assert len(reach.releases) == 1
    assert held_rows(mill, tombs) > 0
    before = mill.lake.scan(DAILY["clean_spans"][0]).collect()["trace_id"].n_unique()

    done = forget(mill, PERSON + "\n")

    assert done.returncode == 0, done.stderr.decode()
    assert held_rows(mill, tombs) == 0
    assert not reach_of(mill, tombs).days
    after = mill.lake.scan(DAILY["clean_spans"][0]).collect()["trace_id"]
    assert after.n_unique() == before - len(reach.traces)
    assert mill.releases.names() == []
    assert leaks(mill.home.root, PRIVATE) == {}
    said = done.stdout + done.stderr
    assert not any(form in said for value in PRIVATE for form in encodings(value))
    deed = mill.erasures.deeds()[0]
    assert (deed["traces"], deed["releases"], deed["left"]) == (len(reach.traces), list(reach.releases), 0)
    with pytest.raises(Problem, match="withdrawn"):
        mill.releases.manifest(deed["releases"][0])


def test_running_the_exports_again_makes_the_very_rows_that_forgetting_left(mill: Mill) -> None:
    assert forget(mill, PERSON).returncode == 0
    rewritten = versions(mill)
    run_day(DAY, QUIET)
    assert versions(mill) == rewritten
    assert held_rows(mill, told(mill, PERSON)) == 0


def test_a_new_export_of_another_day_does_not_bring_a_person_back(mill: Mill, tmp_path: Path) -> None:
    assert forget(mill, PERSON).returncode == 0
    other = date(2026, 11, 29)
    fresh = tmp_path / "fresh.jsonl"
    with gzip.open(next((CORPUS / "exports" / "otlp-genai-openai").iterdir())) as lines:
        fresh.write_bytes(b"".join(lines))
    mill.register([fresh], other)
    run_day(other, QUIET)
    arrived = mill.lake.scan(SPANS, only=other).collect()["trace_id"].n_unique()
    seen = {trace for trace in TRACES if mill.tombs().holds_trace(trace)}
    assert arrived == len(TRACES) - len(seen) > 0
    assert seen
    assert held_rows(mill, told(mill, PERSON)) == 0


def test_forgetting_again_changes_nothing_and_a_dry_run_never_does(mill: Mill) -> None:
    untouched = versions(mill)
    shown = forget(mill, PERSON, "--dry-run")
    assert b"would remove" in shown.stdout
    assert versions(mill) == untouched
    assert mill.erasures.deeds() == []
    assert forget(mill, PERSON).returncode == 0
    once, deeds = versions(mill), mill.erasures.deeds()
    assert forget(mill, PERSON).returncode == 0
    assert forget(mill, "", "--again").returncode == 0
    assert versions(mill) == once
    assert mill.erasures.deeds()[: len(deeds)] == deeds


def test_a_value_that_may_be_several_peoples_is_refused_with_counts_only(mill: Mill) -> None:
    done = forget(mill, "Marguerite\n94105\n")
    assert done.returncode == 1
    assert b"traces" in done.stdout
    assert b"full name" in done.stderr
    assert b"arguerite" not in done.stdout + done.stderr
    assert mill.erasures.requested() == []


class Killed(BaseException):
    """What stands for a kill: nothing of ours catches it."""


@pytest.mark.parametrize(
    "step", ["reach_of", "rewrite_without", "thread_again", "sweep", "held_rows", "_record", "rebuild"]
)
def test_forgetting_that_is_killed_at_any_step_is_finished_by_repeating_it(
    mill: Mill, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tombs = told(mill, PERSON)
    reach, asked = reach_of(mill, tombs), sorted(map(str, tombs.tombstones))

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(erasure, step, killed)
        with pytest.raises(Killed):
            erasure.forget(mill, asked)
    deed = erasure.forget(mill, asked)
    assert held_rows(mill, tombs) == 0
    assert mill.releases.names() == []
    assert (deed["traces"], deed["days"], deed["releases"]) == (len(reach.traces), [str(DAY)], list(reach.releases))
    assert erasure.forget(mill, asked) == deed
    assert len(mill.erasures.deeds()) == 1


def test_what_a_run_began_before_somebody_was_forgotten_is_not_published_after(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = sorted(map(str, told(mill, PERSON).tombstones))
    clean = privacy.clean_day

    def overtaken(*given: object) -> object:
        made = clean(*given)  # type: ignore[arg-type]
        erasure.forget(mill, asked)
        return made

    monkeypatch.setattr(privacy, "clean_day", overtaken)
    with pytest.raises(Problem, match="somebody was forgotten"):
        run_day(DAY, QUIET)
    monkeypatch.undo()
    assert held_rows(mill, told(mill, PERSON)) == 0


def test_an_empty_lake_takes_tombstones_and_the_first_run_heeds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = mill_at(tmp_path / "home", monkeypatch)
    done = forget_here(fresh, PERSON)
    assert done["traces"] == 0
    fresh.register([CORPUS / "exports" / "otlp-genai-openai"], DAY)
    run_day(DAY, QUIET)
    assert fresh.lake.scan(SPANS).collect().height > 0
    assert held_rows(fresh, told(fresh, PERSON)) == 0
    assert fresh.erasures.seen()  # traces that were left out are known again when more of them arrives
    with reader(fresh.home) as connection:
        assert connection.sql("SELECT count(*) FROM rejects").fetchall() == [(0,)]
        assert connection.sql('SELECT kind, traces, "left" FROM erasures').fetchall() == [("forget", 0, 0)]


def test_the_job_is_told_hashes_only(mill: Mill) -> None:
    assert forget(mill, PERSON).returncode == 0
    with dg.DagsterInstance.from_config(str(mill.home.dagster)) as instance:
        (run,) = instance.get_runs(filters=dg.RunsFilter(job_name="forget"))
    asked = run.run_config["ops"]["forget_person"]["config"]["tombstones"]
    assert asked == sorted(map(str, told(mill, PERSON).tombstones))
    assert all(Tombstone.of(one) for one in asked)
