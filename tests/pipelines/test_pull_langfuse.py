"""Langfuse through its real client: the second version of its API, and the first, which older servers have."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from service_stubs import SECRET, LangfuseStub, Row, serving

from pipelines.pull import patience
from pipelines.pull.command import open_source, pull_into
from pipelines.pull.landing import Landing
from pipelines.pull.pulling import Pull
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Span
from warehouse.problem import Problem

DAY = date(2026, 11, 28)
NIGHT = datetime(2026, 11, 28, 23, tzinfo=UTC)
TOOL = {"type": "function", "function": {"name": "find_room", "parameters": {"type": "object", "properties": {}}}}


def observation(trace: int, name: str, minute: int, **fields: object) -> Row:
    start = f"2026-11-28T0{trace}:{minute:02d}"
    return {
        "id": f"{trace:08d}{minute:08d}", "traceId": f"{trace:032x}", "projectId": "prj", "name": name, "type": "SPAN",
        "startTime": f"{start}:00.000Z", "endTime": f"{start}:30.000Z",
        "parentObservationId": f"{trace:08d}{0:08d}" if minute else None, "level": "DEFAULT", "environment": "default",
        "sessionId": f"chat-{trace}", "metadata": {"task_id": "book-a-room", "attempt": trace}, **fields,
    }  # fmt: skip


def observations(trace: int) -> list[Row]:
    """An agent's run: a call that asks for a tool, the tool, a call that answers."""
    asked = [{"role": "user", "content": "Book me a room."}]
    call = {"id": "call_1", "type": "function", "function": {"name": "find_room", "arguments": "{}"}}
    wanted = {"role": "assistant", "content": None, "tool_calls": [call]}
    found = {"role": "tool", "tool_call_id": "call_1", "content": "room 7"}
    said = {"role": "assistant", "content": f"Room 7 is yours, attempt {trace}."}
    return [
        observation(trace, "booker", 0, type="AGENT", input=json.dumps(asked), output=json.dumps(said)),
        observation(trace, "chat", 1, type="GENERATION", model="gpt-4o", output=json.dumps(wanted),
                    input=json.dumps({"messages": asked, "tools": [TOOL]})),
        observation(trace, "find_room", 2, type="TOOL", input="{}", output='"room 7"',
                    metadata={"tool_call_id": "call_1"}),
        observation(trace, "chat", 3, type="GENERATION", model="gpt-4o", output=json.dumps(said),
                    input=json.dumps({"messages": [*asked, wanted, found], "tools": [TOOL]})),
    ]  # fmt: skip


def score(number: int, subject: Row, value: object, kind: str = "NUMERIC", when: str = "10:00") -> Row:
    moment = f"2026-11-28T{when}:00.000Z"
    return {
        "id": f"score-{number}", "projectId": "prj", "name": "task_success", "value": value, "dataType": kind,
        "source": "ANNOTATION", "timestamp": moment, "createdAt": moment, "updatedAt": moment,
        "environment": "default", "comment": None, "configId": None, "metadata": {}, "subject": subject,
    }  # fmt: skip


def trace_row(number: int) -> Row:
    return {
        "id": f"{number:032x}", "name": "booker", "timestamp": f"2026-11-28T0{number}:00:00.000Z", "tags": [],
        "userId": None, "sessionId": f"chat-{number}", "metadata": {}, "input": None, "output": None, "public": False,
        "observations": [f"{number:08d}{minute:08d}" for minute in range(4)], "scores": [], "environment": "default",
    }  # fmt: skip


SCORES = [
    score(1, {"kind": "trace", "id": f"{1:032x}"}, 1.0),
    score(2, {"kind": "observation", "id": f"{2:08d}{3:08d}", "traceId": f"{2:032x}"}, False, "BOOLEAN"),
    score(3, {"kind": "session", "id": "chat-1"}, "good", "CATEGORICAL"),
]


def langfuse() -> LangfuseStub:
    """Two attempts of one task, two verdicts, and one on a session, which no trace has."""
    runs = [row for trace in (1, 2) for row in observations(trace)]
    return LangfuseStub(observations=runs, traces=[trace_row(1), trace_row(2)], scores=list(SCORES))


def point_at(stub: LangfuseStub, patch: pytest.MonkeyPatch) -> None:
    patch.delenv("LANGFUSE_HOST", raising=False)
    patch.setenv("LANGFUSE_BASE_URL", stub.address)
    patch.setenv("LANGFUSE_PUBLIC_KEY", "pk-lf-test")
    patch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-test")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangfuseStub]:
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    with serving(langfuse()) as service:
        assert isinstance(service, LangfuseStub)
        point_at(service, monkeypatch)
        yield service


def pull(folder: Path, now: datetime = NIGHT, since: date | None = DAY, limit: int | None = None) -> Pull:
    source = open_source("langfuse", "", folder)
    try:
        landing = Landing.of(folder, "langfuse", source.project, source.identity)
        return pull_into(source, landing, since, None, limit, now=now)
    finally:
        source.close()


def records(folder: Path) -> list[Record]:
    """What readers make of everything that was landed; none of it may be refused."""
    found: list[Record] = []
    for path in sorted(folder.glob("*/*.jsonl.gz")):
        with path.open("rb") as stream:
            tally = Tally()
            found += read_export(stream, tally)
        assert tally.rejects == 0
    return found


def test_observations_and_scores_are_read_once(stub: LangfuseStub, tmp_path: Path) -> None:
    assert pull(tmp_path).landed == {"observations": 8, "scores": 2}
    found = records(tmp_path)
    calls = [record for record in found if isinstance(record, Span) and record.kind == "llm"]
    assert len(calls) == 4 and all(call.content_state == "full" and call.tools for call in calls)
    assert {call.conversation_id for call in calls} == {"chat-1", "chat-2"}
    verdicts = [record for record in found if isinstance(record, Feedback)]
    assert sorted((one.trace_id, one.span_id, one.score) for one in verdicts) == [
        (f"{1:032x}", "", 1.0),
        (f"{2:032x}", f"{2:08d}{3:08d}", 0.0),
    ]
    assert not pull(tmp_path).files


def test_scores_that_are_given_later_or_changed_come_with_the_next_pull(stub: LangfuseStub, tmp_path: Path) -> None:
    pull(tmp_path, NIGHT.replace(hour=12))
    first, second = SCORES[:2]
    late = score(9, {"kind": "trace", "id": f"{2:032x}"}, 0.0, when="21:00")
    stub.scores = [{**first, "value": 0.5}, {**second, "updatedAt": "2026-11-28T13:00:00.000Z"}, late]
    assert pull(tmp_path, since=None).landed == {"scores": 2}


@pytest.mark.parametrize("mood", ["busy", "break", "hang up", 500])
def test_a_bad_moment_loses_and_doubles_nothing(stub: LangfuseStub, tmp_path: Path, mood: int | str) -> None:
    stub.moods = {0: mood, 2: mood, 4: mood, 5: mood, 7: mood}
    assert pull(tmp_path).landed == {"observations": 8, "scores": 2}


def test_a_limit_asks_for_small_pages_and_goes_on(stub: LangfuseStub, tmp_path: Path) -> None:
    assert pull(tmp_path, limit=3).landed["observations"] == 3
    assert pull(tmp_path, limit=3).landed["observations"] == 3
    assert pull(tmp_path).landed["observations"] == 2


def test_an_older_server_is_asked_by_number_over_pages_that_come_back_empty(stub: LangfuseStub, tmp_path: Path) -> None:
    stub.second, stub.hole = False, 2
    assert pull(tmp_path).landed == {"traces": 2, "observations": 8, "scores": 2}
    found = records(tmp_path)
    assert sum(isinstance(record, Span) for record in found) == 10
    assert sum(isinstance(record, Feedback) for record in found) == 2
    assert not pull(tmp_path).files


def test_a_record_that_the_client_does_not_know_is_told_without_its_text(stub: LangfuseStub, tmp_path: Path) -> None:
    stub.scores.append({**SCORES[0], "id": "new", "dataType": "HOLOGRAM", "comment": SECRET})
    with pytest.raises(Problem, match="pip install --upgrade langfuse") as told:
        pull(tmp_path)
    assert SECRET not in str(told.value)
    assert len(gzip.decompress(next(tmp_path.glob("*/*.gz")).read_bytes()).splitlines()) == 8


def test_without_keys_network_or_the_right_project_it_says_what_to_do(
    stub: LangfuseStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Problem, match="keys choose the project"):
        open_source("langfuse", "other", tmp_path)
    stub.moods = {len(stub.requests): 401}
    with pytest.raises(Problem, match="set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"):
        open_source("langfuse", "", tmp_path)
    monkeypatch.setenv("LANGFUSE_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(Problem, match="cannot be reached"):
        open_source("langfuse", "", tmp_path)
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    with pytest.raises(Problem, match="set LANGFUSE_SECRET_KEY"):
        open_source("langfuse", "", tmp_path)
