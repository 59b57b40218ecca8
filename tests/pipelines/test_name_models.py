"""A model of one's own finds names through a whole day, as `tracemill.yaml` names it, and only if it is that one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import name_models
import pytest
import yaml
from mills import QUIET, mill_at

from assets.mill import Mill
from pipelines.runs import run_day
from transforms.privacy.taggers import digest
from warehouse.problem import Problem
from warehouse.schemas import MESSAGES, PII_FINDINGS

DAY = date(2026, 11, 30)
SAID = "for years the garden of Quillfeather was a quiet place to sit and read"


def home_with(folder: Path, patch: pytest.MonkeyPatch, model: Path | None, sha256: str | None) -> Mill:
    """A home whose policy names a model, with one chat."""
    policy = {"model": model and str(model), "model_sha256": sha256}
    (folder / "tracemill.yaml").write_text(yaml.safe_dump({"privacy": policy}))
    chat = {"messages": [{"role": "user", "content": SAID}, {"role": "assistant", "content": "So it was."}]}
    (folder / "export.jsonl").write_text(json.dumps(chat) + "\n")
    mill = mill_at(folder / "home", patch, folder / "tracemill.yaml")
    mill.register([folder / "export.jsonl"], DAY)
    return mill


def contents(mill: Mill) -> str:
    return "\n".join(mill.lake.scan(MESSAGES, only=DAY).collect()["content"])


@pytest.mark.parametrize("kind", ["classifier", "gliner"])
def test_names_that_a_model_of_ones_own_finds_go(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "gliner":
        pytest.importorskip("gliner", reason="an extra: pip install tracemill[gliner]")
    make: Callable[[Path], Path] = getattr(name_models, kind)
    model = make(tmp_path / "model")
    mill = home_with(tmp_path, monkeypatch, model, digest(model))
    run_day(DAY, QUIET)
    assert "Quillfeather" not in contents(mill) and "for years the garden of " in contents(mill)
    found = mill.lake.scan(PII_FINDINGS, only=DAY).collect()
    assert found.select("entity", "recogniser").unique().rows() == [("PERSON", "name_model")]


def test_without_it_the_name_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mill = home_with(tmp_path, monkeypatch, None, None)
    run_day(DAY, QUIET)
    assert "Quillfeather" in contents(mill)


def test_a_model_with_other_files_than_its_hash_stops_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = name_models.classifier(tmp_path / "model")
    mill = home_with(tmp_path, monkeypatch, model, digest(model))
    digest.cache_clear()
    with (model / "config.json").open("a") as config:
        config.write("\n")
    with pytest.raises(Problem, match="are not those that its hash stands for"):
        run_day(DAY, QUIET)
    assert mill.lake.manifest("clean_spans", DAY) is None
