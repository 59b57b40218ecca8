"""LangSmith through its real client, from captures that are served as LangSmith serves them."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from mills import ROOT
from service_stubs import SECRET, LangSmithStub, Row, serving

from pipelines.pull import patience
from pipelines.pull.command import open_source, pull_into
from pipelines.pull.landing import Landing
from pipelines.pull.pulling import Pull
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Span
from warehouse.problem import Problem

CORPUS = ROOT / "tests/corpus/exports/langsmith-wrap-openai"
DAY = date(2026, 11, 30)
NIGHT = datetime(2026, 11, 30, 23, tzinfo=UTC)


def capture(name: str) -> list[Row]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangSmithStub]:
    for name in ("LANGSMITH_PROJECT", "LANGCHAIN_PROJECT", "LANGCHAIN_API_KEY", "LANGSMITH_WORKSPACE_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    with serving(LangSmithStub(runs=capture("runs"), feedback=capture("feedback"))) as service:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", service.address)
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_test")
        assert isinstance(service, LangSmithStub)
        yield service


def pull(folder: Path, now: datetime = NIGHT, limit: int | None = None, since: date | None = DAY) -> Pull:
    source = open_source("langsmith", "agents", folder)
    landing = Landing.of(folder, "langsmith", source.project, source.identity)
    try:
        return pull_into(source, landing, since, None, limit, now=now)
    finally:
        source.close()


def rows(folder: Path) -> list[Row]:
    """Every record that lies in the landing folder, in its order."""
    files = sorted(folder.glob("*/*.jsonl.gz"), key=lambda path: path.name)
    return [json.loads(line) for path in files for line in gzip.decompress(path.read_bytes()).splitlines()]


def ids(folder: Path) -> Counter[str]:
    return Counter(row["id"] for row in rows(folder))


def test_what_is_landed_is_read_whole_once_and_belongs_to_its_owner(stub: LangSmithStub, tmp_path: Path) -> None:
    done = pull(tmp_path)
    assert done.landed == {"runs": 116, "feedback": 45}
    spans, verdicts = 0, 0
    for path in tmp_path.glob("*/*.jsonl.gz"):
        assert path.stat().st_mode & 0o777 == 0o600 and path.parent.name == datetime.now(UTC).date().isoformat()
        with path.open("rb") as stream:
            tally = Tally()
            records = list(read_export(stream, tally))
        assert tally.rejects == 0 and tally.dialects <= {"langsmith", "langsmith_feedback"}
        spans += sum(isinstance(record, Span) for record in records)
        verdicts += sum(isinstance(record, Feedback) for record in records)
    assert (spans, verdicts) == (116, 45)


def test_a_pull_right_after_another_finds_nothing_new_and_writes_no_file(stub: LangSmithStub, tmp_path: Path) -> None:
    pull(tmp_path)
    again = pull(tmp_path)
    assert not again.files and not again.landed
    later = pull(tmp_path, NIGHT.replace(minute=5), since=None)
    assert not later.files and len(ids(tmp_path)) == 161


def test_late_runs_runs_that_ended_and_late_feedback_come_with_the_next_pull(
    stub: LangSmithStub, tmp_path: Path
) -> None:
    everything, verdicts = stub.runs, stub.feedback
    late, slow = everything[3], everything[7]
    unfinished = {**slow, "end_time": None, "outputs": None, "status": "pending"}
    stub.runs = [run for run in everything if run is not late and run is not slow] + [unfinished]
    stub.feedback = verdicts[1:]
    assert pull(tmp_path, NIGHT.replace(hour=5)).landed == {"runs": 115, "feedback": 44}
    stub.runs = everything
    stub.feedback = [*verdicts[1:], {**verdicts[0], "created_at": "2026-11-30 22:00:00+00:00"}]
    assert pull(tmp_path, since=None).landed == {"runs": 2, "feedback": 1}
    assert ids(tmp_path) == Counter([row["id"] for row in (*everything, *verdicts)] + [slow["id"]])


def test_statistics_of_feedback_do_not_land_a_run_again(stub: LangSmithStub, tmp_path: Path) -> None:
    pull(tmp_path, NIGHT.replace(hour=5))
    stub.runs = [{**run, "feedback_stats": {"outcome": {"n": 1}}} for run in stub.runs]
    assert not pull(tmp_path, NIGHT.replace(hour=6)).files


@pytest.mark.parametrize("mood", ["busy", "break", "hang up", 503])
def test_a_bad_moment_of_the_service_loses_and_doubles_nothing(
    stub: LangSmithStub, tmp_path: Path, mood: int | str
) -> None:
    stub.moods = {0: mood, 3: mood, 5: mood}
    pull(tmp_path)
    assert len(ids(tmp_path)) == 161 and set(ids(tmp_path).values()) == {1}


def test_a_service_that_stays_bad_is_told_in_a_sentence_and_the_next_pull_goes_on(
    stub: LangSmithStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.pull.pulling.PART_RECORDS", 100)
    stub.moods = dict.fromkeys(range(3, 60), 429)
    with pytest.raises(Problem, match="limits how much may be asked") as told:
        pull(tmp_path)
    assert SECRET not in str(told.value) and told.value.__cause__ is None
    assert len(ids(tmp_path)) == 100
    stub.moods, before = {}, stub.asked("/runs/query")
    assert pull(tmp_path).landed == {"runs": 16, "feedback": 45}
    assert stub.asked("/runs/query") == before + 1
    assert set(ids(tmp_path).values()) == {1}


def test_a_cursor_that_has_lapsed_begins_its_day_again_without_doubles(
    stub: LangSmithStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.pull.pulling.PART_RECORDS", 100)
    stub.moods = {3: 403}
    with pytest.raises(Problem, match="LANGSMITH_API_KEY"):
        pull(tmp_path)
    stub.moods = {len(stub.requests) + 2: 400}
    pull(tmp_path)
    assert len(ids(tmp_path)) == 161 and set(ids(tmp_path).values()) == {1}


def test_a_limit_stops_and_the_next_pull_goes_on_where_it_stopped(stub: LangSmithStub, tmp_path: Path) -> None:
    first = pull(tmp_path, limit=30)
    assert first.landed["runs"] == 30 and first.stopped
    assert pull(tmp_path, limit=30).landed["runs"] == 30
    assert pull(tmp_path).landed["runs"] == 56
    assert set(ids(tmp_path).values()) == {1} and len(ids(tmp_path)) == 161


def test_a_part_that_was_landed_and_not_noted_is_landed_again_in_its_place(stub: LangSmithStub, tmp_path: Path) -> None:
    pull(tmp_path, limit=40)
    (ledger,) = tmp_path.glob(".langsmith-*.json")
    assert ledger.stat().st_mode & 0o777 == 0o600
    before = ledger.read_bytes()
    pull(tmp_path, limit=40)
    ledger.write_bytes(before)  # as a kill between the two leaves it
    pull(tmp_path)
    assert len(ids(tmp_path)) == 161 and set(ids(tmp_path).values()) == {1}


def test_a_lost_ledger_overwrites_nothing(stub: LangSmithStub, tmp_path: Path) -> None:
    pull(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.glob("*/*.gz")}
    next(tmp_path.glob(".langsmith-*.json")).unlink()
    pull(tmp_path)
    assert all(path.read_bytes() == content for path, content in before.items())


def test_an_instance_that_gives_less_than_a_page_of_feedback_is_asked_to_the_end(
    stub: LangSmithStub, tmp_path: Path
) -> None:
    stub.page = 7
    assert pull(tmp_path).landed["feedback"] == 45


def test_an_instance_without_the_first_query_is_asked_in_the_second(stub: LangSmithStub, tmp_path: Path) -> None:
    stub.second = True
    assert pull(tmp_path).landed == {"runs": 116, "feedback": 45}
    with next(tmp_path.glob("*/*000000.jsonl.gz")).open("rb") as stream:
        tally = Tally()
        spans = [record for record in read_export(stream, tally) if isinstance(record, Span)]
    assert tally.rejects == 0 and len(spans) == 116
    assert sum(bool(span.task) for span in spans if not span.parent_span_id) == 20


def test_earlier_days_are_pulled_when_they_are_asked_for(stub: LangSmithStub, tmp_path: Path) -> None:
    stub.runs[0]["start_time"] = "2026-11-12 10:00:00"
    assert pull(tmp_path).landed["runs"] == 115
    assert pull(tmp_path, since=date(2026, 11, 10)).landed == {"runs": 1}
    assert not pull(tmp_path, since=date(2026, 11, 10)).files


def test_without_key_project_or_network_it_says_what_to_do(
    stub: LangSmithStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Problem, match="no project of that name"):
        open_source("langsmith", "other", tmp_path)
    with pytest.raises(Problem, match="LANGSMITH_PROJECT"):
        open_source("langsmith", "", tmp_path)
    stub.moods = {len(stub.requests): 401}
    with pytest.raises(Problem, match="refuses the credentials"):
        open_source("langsmith", "agents", tmp_path)
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(Problem, match="cannot be reached"):
        open_source("langsmith", "agents", tmp_path)
    monkeypatch.delenv("LANGSMITH_API_KEY")
    with pytest.raises(Problem, match="set LANGSMITH_API_KEY"):
        open_source("langsmith", "agents", tmp_path)
