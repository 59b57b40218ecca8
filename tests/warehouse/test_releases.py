"""A release is sealed once; what is sealed is what is read."""

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from warehouse.catalog import RELEASED
from warehouse.problem import Problem
from warehouse.releases import Releases
from warehouse.schemas import CUT, ROLLOUTS

FACTS: dict[str, Any] = {
    "through": "2026-03-04",
    "rests_on": "input",
    "counts": {"trajectories": 1, "tasks": 1, "pairs": 0, "rollouts": 0},
}


def tables(reward: float = 1.0) -> dict[str, pl.DataFrame]:
    cut = CUT.frame(
        [
            {
                "release": "r", "trajectory_id": "t", "revision": date(2026, 3, 4), "rollout_id": "o", "task_id": "k",
                "task_family": "f", "component": "c", "split": "train", "reward": reward, "gated": False,
            }
        ]
    )  # fmt: skip
    return {table.name: table.empty() for table in RELEASED} | {"cut": cut}


def test_what_is_sealed_is_read_back_listed_and_verified(tmp_path: Path) -> None:
    releases = Releases(tmp_path)
    releases.publish("r", tables(), FACTS)
    assert releases.names() == ["r"]
    assert releases.read("r", CUT)["reward"].to_list() == [1.0]
    assert releases.read("r", ROLLOUTS).schema == ROLLOUTS.schema
    assert releases.verify("r") == []
    assert releases.table()["trajectories"].to_list() == [1]


def test_sealing_the_same_again_changes_nothing_and_other_content_is_refused(tmp_path: Path) -> None:
    releases = Releases(tmp_path)
    first = releases.publish("r", tables(), FACTS)
    assert releases.publish("r", tables(), FACTS) == first
    with pytest.raises(Problem, match="sealed with other content"):
        releases.publish("r", tables(reward=0.0), FACTS)
    assert releases.read("r", CUT)["reward"].to_list() == [1.0]


def test_rows_that_are_not_those_sealed_are_found(tmp_path: Path) -> None:
    releases = Releases(tmp_path)
    releases.publish("r", tables(), FACTS)
    path = releases.files_of("r", CUT)[0]
    pl.read_parquet(path).with_columns(reward=pl.lit(0.5)).write_parquet(path)
    assert releases.verify("r") == ["cut"]
    path.write_bytes(b"torn")
    assert releases.verify("r") == ["cut"]
    path.unlink()
    assert releases.verify("r") == ["cut"]


def test_a_changed_input_gets_the_next_name_and_an_unchanged_one_its_own(tmp_path: Path) -> None:
    releases = Releases(tmp_path)
    assert releases.name_for("n", "input") == "n"
    releases.publish("n", tables(), FACTS)
    assert releases.name_for("n", "input") == "n"
    assert releases.name_for("n", "changed") == "n.2"
    releases.publish("n.2", tables(0.0), {**FACTS, "rests_on": "changed"})
    assert releases.name_for("n", "changed") == "n.2"
    assert releases.name_for("n", "changed again") == "n.3"


def test_an_unknown_release_is_told_with_the_known_ones(tmp_path: Path) -> None:
    releases = Releases(tmp_path)
    with pytest.raises(Problem, match="none is cut yet"):
        releases.manifest("x")
    releases.publish("r", tables(), FACTS)
    with pytest.raises(Problem, match="known: r"):
        releases.delete("x")
    releases.delete("r")
    assert releases.names() == []
