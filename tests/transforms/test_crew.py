"""A day is cleaned alike whoever works on it, and a worker that is lost is told."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
from datetime import date
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from transforms.cleaning import DayCleaning
from transforms.crew import MOST, WorkerLost, Workers, crew, worth
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.kept_shelves import PARTS
from transforms.part_cleaning import PartCleaner
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.records import Feedback, Message, Span
from transforms.sealed_frames import Frames, frames_of

DAY = date(2026, 11, 30)
KEY = b"a tenant's key, 32 bytes at least"
NAMES = ["Wendeline Okonkwo-Bray", "Thaddeus Quillfeather", "Philomena Ravenscroft"]
cleaner = partial(Deidentifier, PrivacyPolicy(model=None, max_leaf_chars=2_000), KEY)


@pytest.fixture
def kept() -> KeptRecords:
    """Traces that repeat their histories and share messages; some give names away, and one cannot be searched."""
    chance = random.Random(4)
    kept = KeptRecords(Identity(KEY))
    file = kept.start_file("file")
    for number in range(40):
        name = chance.choice(NAMES)
        talk = [Message("system", "You help people."), Message("user", f"{number}: {name} wants help")]
        for call in range(4):
            said = (
                "x" * 2_001
                if (number, call) == (7, 2)
                else f"answer {call} to {chance.choice(NAMES)}, +1 415 555 {number:04d}"
            )
            span = Span(
                "otlp", "otlp_genai", number * 4 + call, f"{number:032x}", f"{number * 4 + call:016x}", "llm", "chat",
                started_ns=call, content_state="full", prompt=list(talk),
                output=[Message("assistant", said, reasoning=f"r{number}")],
                attributes={"customer_name": name} if call == 3 else {}, tools=[{"name": "find", "of": name}],
            )  # fmt: skip
            kept.add(span, file)
            talk += [*span.output, Message("user", f"more {call}")]
        kept.add(Feedback(1000 + number, f"{number:032x}" if number % 2 else "", "score", score=1.0,
                          span_id=f"{number * 4:016x}", comment=f"says {name}"), file)  # fmt: skip
    return kept


def cleaned(kept: KeptRecords, workers: int) -> dict[str, Frames]:
    return DayCleaning(DAY, cleaner, workers=workers).tables(kept, max_quarantined=0.2)


def whole(table: Frames) -> pl.DataFrame:
    return pl.concat(list(frames_of(table)))


def test_the_tables_are_the_same_for_one_worker_and_for_several(kept: KeptRecords) -> None:
    alone, together = cleaned(kept, 1), cleaned(kept, 3)
    assert alone.keys() == together.keys()
    for name, table in alone.items():
        assert whole(table).equals(whole(together[name])), name
    assert whole(alone["spans"]).height == 39 * 4 and whole(alone["rejects"]).height == 4 + 1
    assert not any(name.split()[1] in text for name in NAMES for text in whole(together["messages"])["content"])


def test_a_worker_that_is_killed_is_told_in_a_sentence(kept: KeptRecords) -> None:
    with crew([partial(PartCleaner, DAY, kept, cleaner)] * 2) as team:
        assert isinstance(team, Workers)
        worker = multiprocessing.active_children()[0]
        os.kill(worker.pid or 0, signal.SIGKILL)
        with pytest.raises(WorkerLost, match="ended too early"):
            list(team.each("survey", range(PARTS)))


def broken() -> Deidentifier:
    raise ValueError("a value that nobody may see")


def test_what_fails_in_a_worker_tells_its_type_and_no_value(kept: KeptRecords) -> None:
    with crew([partial(PartCleaner, DAY, kept, broken)] * 2) as team, pytest.raises(WorkerLost) as told:
        team.all("knowledge")
    assert "ValueError" in str(told.value) and "value that" not in str(told.value)


def test_small_days_are_worth_no_worker_and_large_ones_not_more_than_the_machine_has() -> None:
    assert worth(0, 16 << 20) == worth(10 << 20, 16 << 20) == 1
    assert 1 <= worth(1 << 40, 16 << 20) <= MOST


def test_a_program_without_a_guard_may_start_workers(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from pathlib import Path\n"
        "from transforms.crew import crew\n"
        "with Path(__file__).with_name('runs').open('a') as runs:\n"
        "    runs.write('.')\n"
        "with crew([dict, dict]) as team:\n"
        "    print(team.all('__len__'))\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "[0, 0]\n"), done.stderr
    assert (tmp_path / "runs").read_text() == "."
