"""A release as researchers load it: with `datasets`, in TRL's columns, without a word of ours."""

import json
import os
from pathlib import Path

import pytest
from mills import Night

from warehouse.schemas import PREFERENCE_PAIRS, ROLLOUTS, Table


def load(night: Night, table: Table, cache: Path):  # type: ignore[no-untyped-def]
    os.environ["HF_HUB_OFFLINE"] = "1"
    from datasets import load_dataset

    files = [str(path) for path in night.mill.releases.files_of(night.release, table)]
    return load_dataset("parquet", data_files=files, cache_dir=str(cache), split="train")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pairs_load_as_conversations_with_arguments_as_text(night: Night, tmp_path: Path) -> None:
    rows = load(night, PREFERENCE_PAIRS, tmp_path)
    assert {"prompt", "chosen", "rejected", "tools"} <= set(rows.column_names)
    assert len(rows) == night.mill.releases.manifest(night.release)["counts"]["pairs"]
    calls = [call for row in rows for message in row["chosen"] for call in message["tool_calls"] or []]
    assert calls and all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rollouts_filter_by_split_and_keep_an_advantage_for_each_action(night: Night, tmp_path: Path) -> None:
    rows = load(night, ROLLOUTS, tmp_path).filter(lambda row: row["split"] == "train")
    assert len(rows) > 0
    assert all(len(row["advantages"]) == len(row["actions"]) for row in rows)
