"""Places of this machine and of a store are listed and opened, and what a client says in anger becomes a sentence."""

import io
import zipfile
from pathlib import Path

import polars as pl
import pytest

from transforms.readers.exports import Tally, read_export
from warehouse.places import Places, State, _Told, is_url, named
from warehouse.problem import Problem

LINE = b'{"id":"r","trace_id":"t","run_type":"tool","name":"x"}\n'


class Breaking(io.BytesIO):
    """A stream whose client loses its connection half-way, and says what it was asked for."""

    def read(self, size: int | None = -1, /) -> bytes:
        chunk = super().read(size)
        if self.tell() > len(self.getbuffer()) // 2:
            raise ConnectionResetError(f"GET https://id:secret@host/{len(chunk)}")
        return chunk


def packed(how: str) -> bytes:
    held = io.BytesIO()
    if how == "zip":
        with zipfile.ZipFile(held, "w") as archive:
            archive.writestr("runs.jsonl", LINE * 50_000)
    elif how == "parquet":
        pl.read_ndjson(io.BytesIO(LINE * 50)).write_parquet(held)
    else:
        held.write(LINE * 50_000)
    return held.getvalue()


@pytest.mark.parametrize("how", ["lines", "zip", "parquet"])
def test_a_connection_that_breaks_is_no_damage_of_the_export(how: str) -> None:
    with pytest.raises(Problem, match=r"an export of that day cannot be read \(ConnectionResetError\)") as told:
        list(read_export(_Told(Breaking(packed(how))), Tally()))  # type: ignore[arg-type]
    assert "secret" not in str(told.value) and told.value.__cause__ is None


def test_a_place_is_remembered_as_a_path_or_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert named("runs.jsonl") == str(tmp_path / "runs.jsonl")
    assert named(f"file://{tmp_path}/runs.jsonl") == str(tmp_path / "runs.jsonl")
    assert named("s3://bucket/2026-11-30/") == "s3://bucket/2026-11-30"
    assert named("gs://bucket/a b?c.jsonl") == "gs://bucket/a b?c.jsonl"
    assert [is_url(place) for place in ("s3://b", "S3://b", "a/b", "C:/b", "a:b")] == [True, True, False, False, False]


def test_a_file_and_its_folder_list_the_same_file(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_bytes(LINE)
    (tmp_path / "README.md").write_text("not an export")
    state = State(len(LINE), str(runs.stat().st_mtime_ns))
    places = Places()
    assert places.below(str(tmp_path)) == places.below(str(runs)) == {str(runs): state}
    assert places.state(str(runs)) == state
    assert places.state(str(tmp_path / "nothing")) is None
    with places.open(str(runs)) as stream:
        assert stream.read() == LINE


def test_any_file_system_of_fsspec_is_listed_and_read() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/exports/2026-11-30/runs.jsonl", LINE * 3)
    memory.pipe("/exports/2026-11-30/.hidden", LINE)
    places = Places()
    ((url, state),) = places.below("memory://exports").items()
    assert (url, state.size) == ("memory:///exports/2026-11-30/runs.jsonl", 3 * len(LINE))
    assert state.stamp and places.state(url) == state
    with places.open(url) as stream:
        assert sum(1 for _ in read_export(stream, Tally())) == 3
