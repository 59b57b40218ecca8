"""The command line against the three services, killed on the way; then the night over what was landed."""

import gzip
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mills import QUIET, ROOT, mill_at
from service_stubs import LangSmithStub, Row, Stub, serving

from pipelines.runs import run_day
from warehouse.duck import reader

CORPUS = ROOT / "tests/corpus"
SMALL = "import pipelines.pull.pulling as p; p.PAGE_RECORDS, p.PART_RECORDS = 5, 10; "
DAY = ("--since", "2026-11-28", "--until", "2026-11-30")


def sibling(name: str):  # type: ignore[no-untyped-def]
    """The stubs of another file of tests, which is no package."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def capture(name: str) -> list[Row]:
    with gzip.open(CORPUS / f"exports/langsmith-wrap-openai/{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def start(folder: Path, address: str, *arguments: str, code: str = "") -> subprocess.Popen[str]:
    services = ("TRACEMILL_", "DAGSTER_", "LANGSMITH_", "LANGCHAIN_", "LANGFUSE_", "PHOENIX_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(services)}
    keys = {
        "LANGSMITH_ENDPOINT": address, "LANGSMITH_API_KEY": "key", "LANGFUSE_BASE_URL": address, "COLUMNS": "200",
        "LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk", "PHOENIX_ENDPOINT": address,
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", f"{code}from pipelines.cli import main; main()", "pull", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=kept | keys,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    return out


def landed(folder: Path) -> Counter[str]:
    paths = sorted(folder.glob("landing/*/langsmith-*.jsonl.gz"))
    return Counter(json.loads(line)["id"] for path in paths for line in gzip.decompress(path.read_bytes()).splitlines())


def killed_often(folder: Path, stub: Stub) -> str:
    """Pull, killed whenever a few more files have appeared, until it comes to its end."""
    stub.slow = 0.04
    for files in (1, 6):
        process = start(folder, stub.address, "langsmith", "--project", "agents", *DAY, code=SMALL)
        while process.poll() is None and len(list(folder.glob("landing/*/*.gz"))) < files:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    stub.slow = 0
    return finish(start(folder, stub.address, "langsmith", "--project", "agents", *DAY, code=SMALL))


def test_pulls_that_are_killed_land_everything_once_and_the_night_makes_of_it_what_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubs = (LangSmithStub(runs=capture("runs"), feedback=capture("feedback")),
             sibling("test_pull_langfuse").langfuse(), sibling("test_pull_phoenix").phoenix())  # fmt: skip
    with ExitStack() as stack:
        langsmith, langfuse, phoenix = (stack.enter_context(serving(stub)) for stub in stubs)
        assert "landed" in killed_often(tmp_path, langsmith)
        assert "landed 8 observations, 2 scores in 2 files" in finish(
            start(tmp_path, langfuse.address, "langfuse", *DAY)
        )
        project = ("phoenix", "--project", "agents")
        assert "landed 8 spans, 4 annotations" in finish(start(tmp_path, phoenix.address, *project, *DAY))
    assert len(landed(tmp_path)) == 161 and set(landed(tmp_path).values()) == {1}
    assert not list(tmp_path.rglob("*.part"))

    mill = mill_at(tmp_path / "home", monkeypatch)
    (day,) = mill.arrivals.register([tmp_path / "landing"], datetime.now(UTC).date())
    run_day(day, QUIET)
    truth = json.loads((CORPUS / "expected/langsmith-wrap-openai.json").read_text())
    with reader(mill.home) as connection:
        counted = dict(connection.sql("SELECT source, count(*) FROM trajectories GROUP BY 1").fetchall())
        steps = connection.sql("SELECT count(*) FROM steps").fetchall()
        rejects = connection.sql("SELECT count(*) FROM rejects").fetchall()
        rewards = connection.sql(
            "SELECT task, trial, reward FROM curated_trajectories WHERE source <> 'langsmith' ORDER BY ALL"
        ).fetchall()
    assert counted == {"langsmith": truth["n_runs"], "langfuse": 2, "phoenix": 2}
    assert steps == [(truth["n_llm_calls"] + 8,)] and rejects == [(0,)]
    assert rewards == [("book-a-room", 1, 1.0), ("book-a-room", 2, 0.0), ("park", 1, 1.0), ("park", 2, 0.0)]


def test_the_ledger_and_what_is_printed_hold_nothing_of_a_trace(tmp_path: Path) -> None:
    with serving(LangSmithStub(runs=capture("runs"), feedback=capture("feedback"))) as stub:
        stub.moods = {3: 400}
        process = start(tmp_path, stub.address, "langsmith", "--project", "agents", *DAY)
        out, error = process.communicate(timeout=60)
    said = out + error + next(tmp_path.glob("landing/.langsmith-*.json")).read_text()
    assert process.returncode == 1 and "Traceback" not in said
    for name in ("Marguerite", "Oyelaran", "RF-5512"):
        assert name not in said


def test_a_missing_client_and_an_unknown_service_are_told(tmp_path: Path) -> None:
    without = "import sys; sys.modules['langsmith'] = None; "
    _, error = start(tmp_path, "http://127.0.0.1:9", "langsmith", "--project", "x", code=without).communicate()
    assert "pip install 'tracemill[langsmith]'" in error and "Traceback" not in error
    process = start(tmp_path, "http://127.0.0.1:9", "langsmyth")
    assert "langsmith, langfuse or phoenix" in process.communicate()[1] and process.returncode == 2
