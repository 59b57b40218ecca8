"""Phoenix through its real client: spans by page, annotations of the spans that were landed."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from service_stubs import PhoenixStub, Row, serving

from pipelines.pull import patience
from pipelines.pull.command import open_source, pull_into
from pipelines.pull.landing import Landing
from pipelines.pull.pulling import Pull
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Span
from warehouse.problem import Problem

DAY = date(2026, 11, 28)
NIGHT = datetime(2026, 11, 28, 23, tzinfo=UTC)


def span(trace: int, name: str, kind: str, minute: int, **attributes: object) -> Row:
    return {
        "id": f"U3Bhbjo{trace}{minute}", "name": name, "span_kind": kind, "status_code": "OK", "status_message": "",
        "context": {"trace_id": trace_id(trace), "span_id": span_id(trace, minute)}, "events": [],
        "parent_id": span_id(trace, 0) if minute else None,
        "start_time": f"2026-11-28T1{trace}:{minute:02d}:00+00:00",
        "end_time": f"2026-11-28T1{trace}:{minute:02d}:30+00:00", "attributes": attributes,
    }  # fmt: skip


def trace_id(trace: int) -> str:
    return f"{0xF0E0 + trace:032x}"


def span_id(trace: int, minute: int) -> str:
    return f"{trace:08x}{minute + 1:08x}"


def spans(trace: int) -> list[Row]:
    """An agent's run: a call that asks for a tool, the tool, a call that answers."""
    given = "llm.input_messages"
    call = {"tool_call.id": "call_1", "tool_call.function.name": "park", "tool_call.function.arguments": "{}"}
    asked = {f"{given}.0.message.role": "user", f"{given}.0.message.content": "Where may I park?"}
    wanted = {f"message.tool_calls.0.{name}": value for name, value in call.items()} | {"message.role": "assistant"}
    found = {"message.role": "tool", "message.tool_call_id": "call_1", "message.content": "level 2"}
    said = {"message.role": "assistant", "message.content": f"On level 2, attempt {trace}."}
    history = {f"{given}.1.{name}": value for name, value in wanted.items()}
    history |= {f"{given}.2.{name}": value for name, value in found.items()}
    first, second = ({f"llm.output_messages.0.{n}": v for n, v in one.items()} for one in (wanted, said))
    task = {"metadata": json.dumps({"task_id": "park", "attempt": trace})}
    return [
        span(trace, "porter", "AGENT", 0, **{"input.value": "Where may I park?", "output.value": "level 2"}, **task),
        span(trace, "chat", "LLM", 1, **asked, **first, **{"llm.model_name": "gpt-4o"}),
        span(trace, "park", "TOOL", 2, **{"tool.name": "park", "input.value": "{}", "output.value": "level 2"}),
        span(trace, "chat", "LLM", 3, **asked, **history, **second, **{"llm.model_name": "gpt-4o"}),
    ]


def annotation(number: int, about: dict[str, str], score: float) -> Row:
    return {
        "id": f"annotation-{number}", "name": "task_success", "annotator_kind": "HUMAN", "metadata": {},
        "result": {"score": score, "label": None, "explanation": None}, "identifier": "", "source": "APP",
        "created_at": "2026-11-28T20:00:00+00:00", "updated_at": "2026-11-28T20:00:00+00:00", "user_id": None, **about,
    }  # fmt: skip


def phoenix() -> PhoenixStub:
    """Two attempts of one task: three annotations of spans, so that they take two pages, and one of a trace."""
    about = [span_id(1, 0), span_id(1, 1), span_id(1, 3)]
    given = [annotation(number, {"span_id": one}, 1.0) for number, one in enumerate(about)]
    whole = [annotation(9, {"trace_id": trace_id(2)}, 0.0)]
    return PhoenixStub(spans=[*spans(1), *spans(2)], annotations=given, trace_annotations=whole)


def point_at(stub: PhoenixStub, patch: pytest.MonkeyPatch) -> None:
    for name in ("PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_CLIENT_HEADERS", "PHOENIX_API_KEY", "PHOENIX_PROJECT_NAME"):
        patch.delenv(name, raising=False)
    patch.setenv("PHOENIX_ENDPOINT", stub.address)
    patch.setenv("PHOENIX_DISCOVER_CONFIG", "false")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[PhoenixStub]:
    monkeypatch.setattr(patience, "FIRST_WAIT_S", 0.01)
    with serving(phoenix()) as service:
        assert isinstance(service, PhoenixStub)
        point_at(service, monkeypatch)
        yield service


def pull(folder: Path, now: datetime = NIGHT, since: date | None = DAY, limit: int | None = None) -> Pull:
    source = open_source("phoenix", "agents", folder)
    try:
        landing = Landing.of(folder, "phoenix", source.project, source.identity)
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


def test_spans_and_annotations_are_read_once_and_each_verdict_knows_its_trace(
    stub: PhoenixStub, tmp_path: Path
) -> None:
    assert pull(tmp_path).landed == {"spans": 8, "annotations": 4}
    found = records(tmp_path)
    calls = [record for record in found if isinstance(record, Span) and record.kind == "llm"]
    assert len(calls) == 4 and all(call.content_state == "full" for call in calls)
    verdicts = [record for record in found if isinstance(record, Feedback)]
    assert sorted((one.trace_id, one.span_id, one.score) for one in verdicts) == [
        *((trace_id(1), span_id(1, minute), 1.0) for minute in (0, 1, 3)),
        (trace_id(2), "", 0.0),
    ]
    assert not pull(tmp_path).files


def test_annotations_that_come_weeks_later_are_found(stub: PhoenixStub, tmp_path: Path) -> None:
    pull(tmp_path)
    stub.annotations.append(annotation(5, {"span_id": span_id(2, 3)}, 0.0))
    assert pull(tmp_path, datetime(2026, 12, 20, tzinfo=UTC), since=None).landed == {"annotations": 1}
    assert not pull(tmp_path, datetime(2026, 12, 21, tzinfo=UTC), since=None).files


def test_a_limit_leaves_spans_and_their_annotations_for_the_next_pull(stub: PhoenixStub, tmp_path: Path) -> None:
    assert pull(tmp_path, limit=3).landed == {"spans": 3}
    assert pull(tmp_path).landed == {"spans": 5, "annotations": 4}


@pytest.mark.parametrize("mood", ["busy", "break", "hang up", 503])
def test_a_bad_moment_loses_and_doubles_nothing(stub: PhoenixStub, tmp_path: Path, mood: int | str) -> None:
    stub.moods = {0: mood, 2: mood, 4: mood, 6: mood, 8: mood}
    assert pull(tmp_path).landed == {"spans": 8, "annotations": 4}


def test_without_project_rights_or_network_it_says_what_to_do(
    stub: PhoenixStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Problem, match="no project of that name"):
        open_source("phoenix", "other", tmp_path)
    stub.moods = {len(stub.requests): 401}
    with pytest.raises(Problem, match="set PHOENIX_API_KEY"):
        open_source("phoenix", "agents", tmp_path)
    monkeypatch.setenv("PHOENIX_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(Problem, match="cannot be reached"):
        open_source("phoenix", "agents", tmp_path)
