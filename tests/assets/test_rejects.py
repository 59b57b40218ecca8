"""Rejects are kept to a number, and counted to the last."""

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from landings import publish
from mills import ROOT, mill_at

from assets import sources
from assets.mill import Mill
from transforms.records import Reject
from warehouse.schemas import EXPORTS, REJECTS

DAY = date(2026, 11, 29)


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracemill.yaml").write_text("landing: landing\n")
    return mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")


def test_the_last_reject_of_a_reason_that_has_a_row_says_how_many_more_there_are(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_REJECTS", 3)
    export = tmp_path / "runs.jsonl"
    export.write_text('{"colour": 1}\n' + '{"id": broken\n' * 3 + "\n" + '{"colour": 1}\n' * 5)
    mill.register([export], DAY)
    publish(mill, DAY)
    rows = mill.lake.scan(REJECTS).select("position", "reason", "bytes", "more").sort("position").collect().rows()
    assert rows == [
        (0, "unknown_dialect", 13, None), (1, "broken_json", 13, None), (2, "broken_json", 13, None),
        (3, "broken_json", 13, None), (5, "unknown_dialect", 13, None), (6, "unknown_dialect", 13, 3),
    ]  # fmt: skip
    assert mill.lake.scan(EXPORTS).select("records", "rejects", "blanks").collect().row(0) == (0, 9, 1)


def test_a_record_has_one_row_a_reason() -> None:
    rejects = sources.Rejects()
    for position, reason in ((0, "broken_json"), (0, "broken_json"), (0, "no_ids"), (1, "broken_json")):
        rejects.add(Reject(position, reason))
    assert rejects.frame().rows() == [
        (0, "broken_json", None, None), (1, "broken_json", None, None), (0, "no_ids", None, None),
    ]  # fmt: skip


PROGRAM = """
import re, sys
from pathlib import Path
from assets.sources import Rejects
from transforms.records import Reject
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
rejects, before = Rejects(), peak()
for position in range(2_000_000):
    rejects.add(Reject(position, "broken_json", 13))
frame = rejects.frame()
print(peak() - before, frame.height, frame["more"].sum())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel for the peak of its memory")
def test_two_million_rejects_of_a_file_take_no_memory_to_speak_of() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, cwd=ROOT)
    kilobytes, rows, more = map(int, done.stdout.split())
    assert (rows, more) == (10_000, 1_990_000)
    assert kilobytes < 20_000
