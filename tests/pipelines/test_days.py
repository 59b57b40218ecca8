"""Days accumulate: whatever arrives when, and in whatever order days are run, the views say the same."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from mills import QUIET, mill_at

from assets.mill import Mill
from assets.staleness import stale_days
from pipelines.runs import run_day, run_stale
from warehouse.duck import reader

FIRST = date(2026, 11, 2)
DAYS = [FIRST + timedelta(days=n) for n in range(4)]


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A home whose landing folder is beside it; no model, since no name stands in these texts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracemill.yaml").write_text("privacy: {model: null}\n")
    return mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")


def land(day: date, name: str, *records: dict[str, Any]) -> None:
    path = Path("landing") / day.isoformat() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def uuid(*numbers: int) -> str:
    return f"00000000-0000-4000-8000-{''.join(f'{number:04d}' for number in numbers):0>12}"


def call(trace: int, turn: int, **fields: Any) -> dict[str, Any]:
    """The model call of a trace's turn, as LangSmith exports it: its prompt holds the turns before."""
    talk = [{"role": "user", "content": f"question {trace}"}]
    for earlier in range(turn):
        talk += [
            {"role": "assistant", "content": f"answer {trace} {earlier}"},
            {"role": "user", "content": f"and then {earlier}?"},
        ]
    at = f"2026-11-02T10:{trace:02d}:{turn:02d}"
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": f"answer {trace} {turn}"},
    }
    return {
        "id": uuid(trace, turn + 1), "trace_id": uuid(trace, 0), "parent_run_id": uuid(trace, 0), "name": "ChatOpenAI",
        "run_type": "llm", "start_time": at, "end_time": at, "status": "success", "inputs": {"messages": talk},
        "outputs": {"choices": [choice]}, "extra": {"metadata": {"task_id": f"task-{trace}"}},
        "dotted_order": f"20261102T10{trace:02d}{turn:02d}000000Z{uuid(trace, turn + 1)}", **fields,
    }  # fmt: skip


def verdict(trace: int, score: float) -> dict[str, Any]:
    return {
        "id": uuid(trace, 90), "trace_id": uuid(trace, 0), "run_id": uuid(trace, 0), "key": "reward", "score": score,
        "created_at": "2026-11-02T11:00:00", "feedback_source": {"type": "api"},
    }  # fmt: skip


def seen(mill: Mill) -> list[tuple[Any, ...]]:
    with reader(mill.home) as connection:
        return connection.sql(
            "SELECT task, steps, reward, revision FROM curated_trajectories ORDER BY task, revision"
        ).fetchall()


def scenario() -> Iterator[tuple[date, str, list[dict[str, Any]]]]:
    """Two traces: a verdict that comes two days late, a call that comes a day late, an export that overlaps."""
    yield DAYS[0], "runs.jsonl", [call(1, 0), call(1, 1), call(2, 0)]
    yield DAYS[1], "runs.jsonl", [call(2, 1), call(2, 0)]
    yield DAYS[2], "feedback.jsonl", [verdict(1, 1.0)]
    yield DAYS[3], "runs.jsonl", [call(3, 0)]


FINAL = [("task-1", 2, 1.0, DAYS[2]), ("task-2", 2, None, DAYS[1]), ("task-3", 1, None, DAYS[3])]


def test_late_spans_and_verdicts_re_emit_the_trajectories_they_touch(mill: Mill) -> None:
    for day, name, records in scenario():
        land(day, name, *records)
        run_day(day, QUIET)
    assert seen(mill) == FINAL
    assert stale_days(mill) == []


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (1, 3, 0, 2)])
def test_days_run_in_any_order_say_the_same_once_nothing_is_stale(mill: Mill, order: tuple[int, ...]) -> None:
    for day, name, records in scenario():
        land(day, name, *records)
    for number in order:
        run_day(DAYS[number], QUIET)
    run_stale(mill, QUIET)
    assert seen(mill) == FINAL
    assert stale_days(mill) == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_run_that_begins_on_one_day_and_ends_on_the_next_is_one_step(mill: Mill, order: tuple[int, ...]) -> None:
    whole = call(1, 0)
    begun = {name: value for name, value in whole.items() if name not in ("outputs", "end_time", "status", "extra")}
    ended = {name: value for name, value in whole.items() if name not in ("inputs", "status")}
    land(DAYS[0], "batch.jsonl", {"post": [begun], "patch": []})
    land(DAYS[1], "batch.jsonl", {"post": [], "patch": [ended]})
    for number in order:
        run_day(DAYS[number], QUIET)
    run_stale(mill, QUIET)
    assert seen(mill) == [("task-1", 1, None, DAYS[1])]
    with reader(mill.home) as connection:
        assert connection.sql("SELECT len(observed), prompt_length FROM steps").fetchall() == [(1, 1)]
        assert connection.sql("SELECT count(*) FROM unstepped_spans").fetchall() == [(0,)]


def test_a_file_that_lands_late_makes_its_day_and_the_days_it_touches_stale_and_no_other(mill: Mill) -> None:
    for day, name, records in scenario():
        if day != DAYS[0]:
            land(day, name, *records)
            run_day(day, QUIET)
    assert stale_days(mill) == []
    for day, name, records in scenario():
        if day == DAYS[0]:
            land(day, name, *records)
    assert stale_days(mill) == [DAYS[0]]
    run_day(DAYS[0], QUIET)
    assert stale_days(mill) == [DAYS[1], DAYS[2]]
    assert run_stale(mill, QUIET) == [DAYS[1], DAYS[2]]
    assert seen(mill) == FINAL


def test_a_file_that_arrives_twice_counts_on_its_first_day_whichever_is_run_first(mill: Mill) -> None:
    for day in (DAYS[0], DAYS[1]):
        land(day, "runs.jsonl", call(1, 0))
    run_day(DAYS[1], QUIET)
    run_day(DAYS[0], QUIET)
    assert stale_days(mill) == [DAYS[1]]
    run_stale(mill, QUIET)
    with reader(mill.home) as connection:
        assert connection.sql("SELECT day, count(*) FROM spans GROUP BY 1").fetchall() == [(DAYS[0], 1)]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_a_log_that_grows_says_what_it_says_as_a_whole(mill: Mill, tmp_path: Path, order: tuple[int, ...]) -> None:
    records = [call(1, 0), call(2, 0), call(1, 1), verdict(1, 1.0), call(2, 1), call(3, 0)]
    whole = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    log = tmp_path / "runs.jsonl"
    for number, end in enumerate((len(whole) // 3, 2 * len(whole) // 3, len(whole))):
        log.write_bytes(whole[:end])
        mill.register([log], DAYS[number])
    for number in order:
        run_day(DAYS[number], QUIET)
    run_stale(mill, QUIET)
    with reader(mill.home) as connection:
        spans = "SELECT position, span_id FROM spans ORDER BY ALL"
        ids = [(place, record["id"]) for place, record in enumerate(records) if record["id"] != verdict(1, 1.0)["id"]]
        assert connection.sql(spans).fetchall() == ids
        assert connection.sql("SELECT sum(bytes), sum(rejects) FROM exports").fetchall() == [(len(whole), 0)]
        newest = "SELECT task, steps, reward FROM curated_trajectories ORDER BY task"
        assert connection.sql(newest).fetchall() == [("task-1", 2, 1.0), ("task-2", 2, None), ("task-3", 1, None)]


def test_a_changed_setting_makes_stale_what_reads_it_and_nothing_before(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    land(DAYS[0], "runs.jsonl", call(1, 0))
    run_day(DAYS[0], QUIET)
    (tmp_path / "tracemill.yaml").write_text("privacy: {model: null}\ngates: {rules: {never: {tool: x}}}\n")
    changed = mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")
    before = {asset: changed.lake.version_of(asset, DAYS[0]) for asset in ("clean_spans", "trajectories", "gates")}
    assert run_stale(changed, QUIET) == [DAYS[0]]
    after = {asset: changed.lake.version_of(asset, DAYS[0]) for asset in before}
    assert [asset for asset in before if before[asset] != after[asset]] == ["gates"]
