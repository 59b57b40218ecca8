"""A release folder is read by its manifest, one split at a time."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from training.release import ReleaseError, read_pairs, read_rollouts, tools


def test_a_split_is_read_alone(release: Path) -> None:
    assert read_pairs(release, "train").height == 6
    assert read_pairs(release, "test")["pair_id"].to_list() == ["pair-006", "pair-007"]
    assert set(read_rollouts(release, "test")["split"]) == {"test"}


def test_files_outside_the_manifest_are_not_read(make_release: Callable[..., Path], tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    (release / "rollouts" / "stray.parquet").write_bytes(b"not parquet")
    assert read_rollouts(release, "train").height == 13


def test_without_a_manifest_the_tables_folder_is_read(make_release: Callable[..., Path], tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    (release / "manifest.json").unlink()
    assert read_pairs(release, "train").height == 6


def test_a_table_without_files_is_empty(make_release: Callable[..., Path], tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    (release / "manifest.json").write_text(json.dumps({"tables": {"preference_pairs": {"files": []}}}))
    assert read_pairs(release, "train").is_empty()


def test_a_missing_file_and_a_missing_folder_are_named(make_release: Callable[..., Path], tmp_path: Path) -> None:
    release = make_release(tmp_path / "r")
    (release / "rollouts" / "part-0.parquet").unlink()
    with pytest.raises(ReleaseError, match=r"lacks 1 files.*part-0\.parquet"):
        read_rollouts(release, "train")
    with pytest.raises(ReleaseError, match="no such release folder"):
        read_pairs(tmp_path / "elsewhere", "train")


def test_tools_that_are_no_list_are_refused_without_their_text() -> None:
    assert tools(None) is None and tools("[]") is None
    for text in ('{"secret": 1}', "secret"):
        with pytest.raises(ReleaseError) as raised:
            tools(text)
        assert "secret" not in str(raised.value)
