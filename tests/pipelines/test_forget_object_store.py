"""A person whose exports lie in an object store is forgotten, and days of such exports are dropped, as any are."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from canaries import leaks
from conftest import CORPUS
from mills import QUIET, mill_at
from object_store import BUCKET, Store

from assets.erasure import forget, reach_of
from assets.lake_search import held_rows, named_exports
from assets.mill import Mill, open_mill
from assets.retention import retain
from pipelines.privacy_page import as_markdown
from pipelines.privacy_report import privacy_page
from pipelines.runs import run_day
from transforms.privacy.erasure import Tombs, read_value
from transforms.privacy.surrogates import Surrogates
from warehouse.problem import Problem
from warehouse.schemas import SPANS

OLD, DAY = date(2026, 11, 29), date(2026, 11, 30)
PERSON = "marguerite.ow@example.org"


@pytest.fixture
def mill(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A home with two days of the shipped captures, of which one export is named after the person."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracemill.yaml").write_text(f"landing: s3://{BUCKET}/landing\nprivacy: {{model: null}}\n")
    for day, capture in ((OLD, "langsmith-wrap-openai"), (DAY, "otlp-genai-openai")):
        for path in (CORPUS / "exports" / capture).iterdir():
            name = f"{PERSON}-{path.name}" if day == DAY else path.name
            store.put(f"landing/{day}/{name}", path.read_bytes())
    mill = mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")
    for day in (OLD, DAY):
        run_day(day, QUIET)
    return mill


def test_a_person_is_forgotten_whose_exports_lie_in_a_store(mill: Mill) -> None:
    tombs = Tombs(mill.key, read_value(PERSON, Tombs(mill.key), Surrogates(mill.key)).tombstones)
    traces = reach_of(mill, tombs).traces
    assert traces and named_exports(mill, tombs) > 0
    before = mill.lake.scan(SPANS).collect()["trace_id"].n_unique()
    forget(mill, map(str, tombs.tombstones))
    left = mill.lake.version_of("clean_spans", DAY)
    assert held_rows(mill, tombs) == 0
    assert mill.lake.scan(SPANS).collect()["trace_id"].n_unique() == before - len(traces)
    mill = open_mill()  # a mill asks once what lies in an object store
    run_day(DAY, QUIET)
    assert mill.lake.version_of("clean_spans", DAY) == left and held_rows(mill, tombs) == 0
    assert re.search(rf"forget .*\b{len(traces)}\b", as_markdown(privacy_page(mill, DAY, None)))
    held = leaks(mill.home.lake / "tables", [PERSON])
    assert held == {}


def test_a_day_of_a_store_is_dropped_and_not_run_again(mill: Mill, store: Store) -> None:
    retain(mill, DAY)
    assert mill.lake.days("clean_spans") == [DAY]
    store.put(f"landing/{OLD}/late.jsonl", b"{}\n")
    with pytest.raises(Problem, match="not kept any more"):
        run_day(OLD, QUIET)
