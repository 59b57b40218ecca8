"""Exports in an object store arrive, are read and are remembered as files of this machine are."""

import gzip
import io
import json
import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import moto.settings
import polars as pl
import pytest
from landings import counts, line, publish, publish_stale, spans
from mills import ROOT, mill_at
from object_store import BUCKET, SECRET, Store

from assets.mill import Mill, open_mill
from warehouse.places import Places, named
from warehouse.problem import Problem

DAY, NEXT = date(2026, 11, 29), date(2026, 11, 30)


@pytest.fixture
def mill(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A home whose landing folder is in the store."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracemill.yaml").write_text(f"landing: s3://{BUCKET}/landing\n")
    return mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")


def test_a_landing_url_has_the_days_that_its_folders_name(mill: Mill, store: Store) -> None:
    store.put("landing/2026-11-29/a.jsonl", line(0) + line(1))
    store.put("landing/runs/year=2026/month=11/day=29/b.jsonl.gz", gzip.compress(line(2)))
    store.put("landing/2026-11-30/c.jsonl", line(3))
    store.put("landing/2026-11-30/_half", line(4))
    store.put("landing/2026-11-30/d.jsonl.part", line(5))
    store.put("landing/anywhere.jsonl", line(6))
    assert mill.arrivals.days() == [DAY, NEXT]
    assert mill.register([], NEXT) == []
    for day in (DAY, NEXT):
        publish(mill, day)
    assert [one for _, one in spans(mill, DAY)] == ["run-0", "run-2", "run-1"]
    assert {one for _, one in spans(mill, NEXT)} == {"run-3", "run-6"}
    manifest = mill.lake.manifest("landed", NEXT)
    assert manifest and sorted(source["uri"] for source in manifest["sources"]) == [
        f"s3://{BUCKET}/landing/2026-11-30/c.jsonl", f"s3://{BUCKET}/landing/anywhere.jsonl",
    ]  # fmt: skip


def test_an_object_that_was_replaced_by_a_longer_one_gives_its_tail(mill: Mill, store: Store) -> None:
    url = store.put("elsewhere/runs.jsonl", line(0) + line(1)[:30])
    assert mill.register([url], DAY) == [DAY]
    first = publish(mill, DAY)
    store.put("elsewhere/runs.jsonl", line(0) + line(1) + line(2))
    assert mill.register([f"s3://{BUCKET}/elsewhere"], NEXT) == [NEXT]
    publish(mill, NEXT)
    assert spans(mill, NEXT) == [(1, "run-1"), (2, "run-2")]
    assert publish(mill, DAY) == first
    publish_stale(mill, [DAY, NEXT])
    assert counts(mill) == (3, 0, 0, len(line(0) * 3))


def test_captures_land_from_a_store_as_they_land_from_a_folder(mill: Mill, store: Store) -> None:
    captures = ROOT / "tests/corpus/exports"
    for path in captures.rglob("*"):
        if path.is_file():
            store.put(f"captures/{path.relative_to(captures)}", path.read_bytes())
    mill.register([f"s3://{BUCKET}/captures"], DAY)
    version = publish(mill, DAY)
    held = spans(mill, DAY)
    shutil.rmtree(mill.home.lake)
    mill.register([captures], DAY)
    assert publish(mill, DAY) == version
    assert spans(mill, DAY) == held and len(held) > 100


def test_parquet_and_archives_are_read_where_they_are(mill: Mill, store: Store) -> None:
    held = io.BytesIO()
    pl.read_ndjson(io.BytesIO(line(0) + line(1))).write_parquet(held)
    store.put("landing/2026-11-29/runs.parquet", held.getvalue())
    publish(mill, DAY)
    assert [one for _, one in spans(mill, DAY)] == ["run-0", "run-1"]


def test_an_object_that_landed_before_is_not_read_again(
    mill: Mill, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("landing/2026-11-29/a.jsonl", line(0))
    publish(mill, DAY)
    store.put("landing/2026-11-30/again.jsonl", line(0))
    publish(open_mill(), NEXT)  # a mill asks once what lies in an object store
    opened: list[str] = []
    open_place = Places.open
    monkeypatch.setattr(Places, "open", lambda self, uri: (opened.append(uri), open_place(self, uri))[1])
    made = publish(open_mill(), NEXT)
    assert opened == []
    assert made == mill.lake.version_of("landed", NEXT)


def test_an_object_that_is_gone_or_changed_before_it_is_read_stops_the_day_and_loses_nothing(
    mill: Mill, store: Store
) -> None:
    store.put("landing/2026-11-29/a.jsonl", line(0))
    version = publish(mill, DAY)
    store.put("landing/2026-11-29/b.jsonl", line(1))
    listed = open_mill()
    assert len(listed.arrivals.of(DAY)) == 2
    store.delete("landing/2026-11-29/b.jsonl")
    with pytest.raises(Problem, match="an export of that day is not there"):
        publish(listed, DAY)
    assert mill.lake.version_of("landed", DAY) == version
    assert publish(open_mill(), DAY) == version
    store.put("landing/2026-11-29/b.jsonl", line(1))
    listed = open_mill()
    assert len(listed.arrivals.of(DAY)) == 2
    store.put("landing/2026-11-29/b.jsonl", line(7))
    with pytest.raises(Problem, match="changed while it was read: run again"):
        publish(listed, DAY)


def test_a_landing_url_that_cannot_be_listed_is_told_without_its_name(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tracemill.yaml").write_text("landing: s3://somewhere-else/landing\n")
    with pytest.raises(Problem, match="^what `landing` in tracemill.yaml names is not there") as told:
        open_mill().register([], DAY)
    assert "somewhere" not in str(told.value)


def test_what_an_object_store_refuses_is_a_sentence_without_what_was_asked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places()
    with pytest.raises(Problem, match="^s3://nowhere is not there"):
        places.below("s3://nowhere")
    assert places.below(f"s3://{BUCKET}/nothing") == {}
    with monkeypatch.context() as patch:
        patch.setattr(moto.settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0.0)  # from now on it asks who one is
        with pytest.raises(Problem, match="may not be read: are the credentials right"):
            places.below(f"s3://{BUCKET}/")
    away = Places({"s3": {"endpoint_url": "http://127.0.0.1:9", "secret": SECRET, "key": "k"}})
    with pytest.raises(Problem, match=r"cannot be read \(\w+\): is the endpoint right") as told:
        away.below(f"s3://{BUCKET}/")
    assert SECRET not in str(told.value) + repr(away) and told.value.__cause__ is None
    with pytest.raises(Problem, match="knows no such protocol"):
        places.below("nonsense://x")


def test_a_lake_in_an_object_store_is_refused_and_not_made_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tracemill.yaml").write_text(f"lake: s3://{BUCKET}/lake\n")
    with pytest.raises(Problem, match="lake: a folder of this machine, not a URL"):
        mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("url", ["s3://key:secret@bucket/x", "https://host/runs.jsonl?token=secret"])
def test_a_url_with_credentials_is_not_read_and_not_repeated(url: str) -> None:
    with pytest.raises(Problem, match="credentials or a query") as told:
        named(url)
    assert "secret" not in str(told.value)


def test_the_command_line_reads_urls_and_repeats_no_credentials(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in store.environment:
        monkeypatch.delenv(name)
    store.put("nightly/runs.jsonl", b"".join(map(line, range(3))))
    options = {"s3": {"endpoint_url": store.address, "key": "id", "secret": SECRET}}
    (tmp_path / "tracemill.yaml").write_text(json.dumps({"privacy": {"model": None}, "storage_options": options}))
    environment = {**os.environ, "TRACEMILL_HOME": str(tmp_path / "home"), "COLUMNS": "200", "PYTHONPATH": str(ROOT)}

    def tracemill(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from pipelines.cli import main; main()", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)

    done = tracemill("run", "--from", f"s3://{BUCKET}/nightly/")
    assert done.returncode == 0, done.stderr
    assert "3 records in 1 files" in done.stdout
    again = tracemill("doctor", f"s3://{BUCKET}/nightly/runs.jsonl", "--format", "json")
    assert json.loads(again.stdout)[0]["records"] == 3
    gone = tracemill("run", "--from", "s3://no-such-bucket/x")
    assert gone.returncode == 1 and "s3://no-such-bucket/x is not there" in gone.stderr
    written = [path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in content for content in written)
    assert SECRET not in done.stdout + done.stderr + gone.stderr
    assert not [
        path
        for path in (tmp_path / "home").rglob("*.json")
        if "dagster" in path.parts and b"s3://" in path.read_bytes()
    ]
