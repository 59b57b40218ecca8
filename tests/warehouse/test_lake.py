"""Partitions appear whole or not at all, and equal content changes no byte."""

import errno
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from lake_samples import BY, DAY, landed

from warehouse import files
from warehouse.duck import reader
from warehouse.files import writer_lock
from warehouse.home import Home
from warehouse.lake import Lake, Provenance
from warehouse.problem import Problem
from warehouse.schemas import EXPORTS, REJECTS


def bytes_of(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_what_is_published_is_read_back_and_has_a_version(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    version = lake.publish("landed", DAY, landed("b", "a"), BY)
    assert lake.scan(EXPORTS).collect()["file_id"].to_list() == ["a", "b"]
    assert lake.manifest("landed", DAY)["version"] == version  # type: ignore[index]
    assert lake.days("landed") == [DAY]


def test_a_manifest_names_all_that_its_rows_rest_on(tmp_path: Path) -> None:
    Lake(tmp_path).publish("landed", DAY, landed("a"), BY)
    manifest = Lake(tmp_path).manifest("landed", DAY)
    assert manifest is not None
    named = {name: manifest[name] for name in ("config", "code", "canonical", "key")}
    assert named == {"config": "config", "code": "code", "canonical": "canonical", "key": "key"}
    assert set(manifest["tables"]["exports"]) == {"files", "rows", "digest", "schema"}
    assert manifest["tables"]["exports"]["schema"] != manifest["tables"]["rejects"]["schema"]


def test_the_same_content_in_another_order_changes_no_byte(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    first = lake.publish("landed", DAY, landed("a", "b"), BY)
    before = bytes_of(tmp_path)
    assert lake.publish("landed", DAY, landed("b", "a"), BY) == first
    assert bytes_of(tmp_path) == before


def test_the_version_follows_rows_and_configuration_but_not_code(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    first = lake.publish("landed", DAY, landed("a"), BY)
    assert lake.publish("landed", DAY, landed("a"), Provenance("config", "newer code", "canonical", "key")) == first
    assert lake.publish("landed", DAY, landed("a"), Provenance("other config", "code", "canonical", "key")) != first
    assert lake.publish("landed", DAY, landed("a", "b"), BY) != first


def test_a_reader_that_resolved_the_old_partition_can_still_read_it(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    lake.publish("landed", DAY, landed("a"), BY)
    old = lake.scan(EXPORTS)
    lake.publish("landed", DAY, landed("b"), BY)
    assert old.collect()["file_id"].to_list() == ["a"]
    lake.publish("landed", DAY, landed("c"), BY)
    assert len(list((tmp_path / "tables/exports").rglob("*.parquet"))) == 2


def test_a_full_disk_is_a_sentence_and_leaves_the_old_partition(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(tmp_path)
    lake.publish("landed", DAY, landed("a"), BY)
    before = bytes_of(tmp_path)

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "bob@corp.test")

    monkeypatch.setattr(files, "flush", full)
    with pytest.raises(Problem, match="no space left") as caught:
        lake.publish("landed", DAY, landed("b"), BY)
    assert "bob" not in str(caught.value)
    assert bytes_of(tmp_path) == before


def test_a_really_full_disk_publishes_nothing(tmp_path: Path) -> None:
    """A file size limit is the disk that a test may fill."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from datetime import date;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512));"
        "sys.path.insert(0, sys.argv[2]); from lake_samples import BY, DAY, landed; from warehouse.lake import Lake;"
        "Lake(Path(sys.argv[1])).publish('landed', DAY, landed('a'), BY)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent.parent)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Problem: cannot write below" in done.stderr
    assert bytes_of(tmp_path) == {}


def test_the_lock_of_a_killed_writer_is_free(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    code = (
        "import sys, time; from pathlib import Path; from warehouse.files import writer_lock\n"
        "with writer_lock(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout and holder.stdout.readline() == "held\n"
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    started = time.monotonic()
    with writer_lock(lock):
        assert time.monotonic() - started < 5


def test_a_lock_that_is_not_given_up_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_PATIENCE_S", 0.1)
    lock = tmp_path / "lock"
    with writer_lock(lock), pytest.raises(Problem, match="another tracemill process"), writer_lock(lock):
        raise AssertionError("two writers at once")


def test_an_empty_lake_reads_as_empty_tables(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert lake.is_empty()
    assert lake.scan(EXPORTS).collect().schema == EXPORTS.schema
    assert not list(tmp_path.iterdir())


def test_a_day_from_before_a_column_was_added_is_read_with_nulls(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.publish("landed", DAY, landed("a"), BY)
    (file,) = lake.files(EXPORTS)
    old = pl.read_parquet(file).drop("waiting").with_columns(gone=pl.lit(1))
    old.write_parquet(file)
    path = lake.root / "manifests" / "landed" / f"{DAY}.json"
    path.write_text(path.read_text().replace(lake.manifest("landed", DAY)["tables"]["exports"]["schema"], "older"))  # type: ignore[index]
    later = DAY + timedelta(days=1)
    frames = landed("b")
    lake.publish("landed", later, {name: frame.with_columns(day=pl.lit(later)) for name, frame in frames.items()}, BY)
    assert not lake.held(EXPORTS).alike and lake.held(REJECTS).alike
    assert lake.scan(EXPORTS).select("file_id", "waiting").collect().rows() == [("a", None), ("b", None)]
    with reader(Home.at(tmp_path, "lake")) as connection:
        assert connection.execute("SELECT file_id, waiting FROM exports ORDER BY day").fetchall() == [
            ("a", None),
            ("b", None),
        ]
