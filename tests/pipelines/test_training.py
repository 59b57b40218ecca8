"""Policies through the real jobs: trained in a process of their own, recorded, judged, and versioned."""

import shutil
from pathlib import Path

import dagster as dg
import pytest
from mills import QUIET, ROOT, Night, mill_at

from assets.mill import Mill
from pipelines.runs import run_training


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, night: Night) -> Mill:
    """A copy of the night's home, with settings under which a policy is trained in seconds."""
    shutil.copytree(night.mill.home.root, tmp_path / "home")
    settings = (ROOT / "tracemill.yaml").read_text()
    (tmp_path / "tracemill.yaml").write_text(settings + "training: {dpo: {epochs: 0.1, max_length: 8192}}\n")
    return mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")


def test_a_policy_is_recorded_and_judged_and_dagster_knows_its_version(mill: Mill, night: Night) -> None:
    run_training("dpo", night.release, "", QUIET)
    model = mill.records.models().row(0, named=True)
    assert (model["release"], model["objective"], model["state"]) == (night.release, "dpo", "candidate")
    assert (mill.home.root / model["path"] / "model.safetensors").is_file()
    judged = mill.records.evaluations()
    assert set(judged["model"]) == {model["model"]} and set(judged["verdict"]) == {"too few to judge"}
    with dg.DagsterInstance.get() as instance:
        event = instance.get_latest_materialization_event(dg.AssetKey("dpo_policy"))
    assert event and event.asset_materialization and event.asset_materialization.tags
    report = (mill.home.root / model["path"] / "training.json").read_text()
    assert event.asset_materialization.tags["dagster/data_version"] in report
    assert {"anchor", "first_loss", "items"} <= set(event.asset_materialization.metadata)
