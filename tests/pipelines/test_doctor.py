"""What the doctor tells of exports: true, whole, and never a value of a trace."""

from __future__ import annotations

import gzip
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pipelines import survey
from pipelines.doctor import WHY, examine

CORPUS = Path(__file__).parents[1] / "corpus"
LANGSMITH = CORPUS / "exports" / "langsmith-wrap-openai"
OTLP = CORPUS / "exports" / "otlp-genai-openai"


@pytest.fixture
def diagnose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Reports on exports as JSON, and the exit code."""
    monkeypatch.chdir(tmp_path)

    def run(*places: Path) -> tuple[list[dict[str, Any]], int]:
        code = examine([*map(str, places)], "json", Console(file=io.StringIO()))
        return json.loads(capsys.readouterr().out), code

    return run


def table(*places: Path) -> str:
    said = io.StringIO()
    examine([*map(str, places)], "table", Console(file=said, width=200))
    return said.getvalue()


def span(trace: str, name: str, parent: str = "", **attributes: Any) -> dict[str, Any]:
    def value(one: Any) -> dict[str, Any]:
        return {"stringValue": one if isinstance(one, str) else json.dumps(one)}

    return {
        "traceId": trace * 32, "spanId": name * 16, "parentSpanId": parent * 16, "name": "chat",
        "startTimeUnixNano": str(10**18 + int(name, 16)), "endTimeUnixNano": str(10**18 + 99), "status": {"code": 1},
        "attributes": [{"key": key.replace("__", "."), "value": value(one)} for key, one in attributes.items()],
    }  # fmt: skip


def call(trace: str, name: str, parent: str = "", answer: str = "yes", **attributes: Any) -> dict[str, Any]:
    told = {
        "gen_ai__operation__name": "chat", "gen_ai__request__model": "m",
        "gen_ai__input__messages": [{"role": "user", "parts": [{"type": "text", "content": "Is it?"}]}],
        "gen_ai__output__messages": [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}],
    }  # fmt: skip
    return span(trace, name, parent, **(told | attributes))


def request(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}) + "\n"


def test_a_capture_is_told_as_it_is(diagnose) -> None:  # type: ignore[no-untyped-def]
    reports, code = diagnose(LANGSMITH / "runs.jsonl.gz")
    report = reports[0]
    expected = json.loads((CORPUS / "expected" / "langsmith-wrap-openai.json").read_text())
    assert (code, len(reports), report["container"], report["dialects"]) == (0, 1, "gzip+jsonl", ["langsmith"])
    assert (report["traces"], report["tool_calls"]) == (expected["n_traces"], expected["n_tool_calls"])
    assert report["trainable"] == expected["n_llm_calls"]
    assert report["not_trainable"] == {"failed": 1}
    assert report["llm_calls"] == report["trainable"] + sum(report["not_trainable"].values())
    assert sum(report["content"].values()) == report["llm_calls"]
    assert (report["trainable_with_feedback"], report["trainable_with_task"]) == (0, report["trainable"])
    assert report["bytes"] == (LANGSMITH / "runs.jsonl.gz").stat().st_size


def test_files_are_also_told_together_so_that_verdicts_meet_their_traces(diagnose) -> None:  # type: ignore[no-untyped-def]
    *reports, together = diagnose(LANGSMITH)[0]
    assert [report["llm_calls"] for report in reports] == [0, 54]
    assert (together["file"], together["files"], together["llm_calls"], together["traces"]) == (None, 2, 54, 20)
    assert together["trainable_with_feedback"] == 53
    assert sum(together["feedback"].values()) == 45
    assert {*together["feedback"]} == {"outcome", ""}


def test_the_same_export_twice_counts_once(diagnose, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    shutil.copytree(OTLP, tmp_path / "twice" / "a")
    shutil.copytree(OTLP, tmp_path / "twice" / "b")
    once, _, both = diagnose(tmp_path / "twice")[0]
    for name in ("traces", "spans", "llm_calls", "tool_calls", "trainable", "not_trainable", "feedback"):
        assert both[name] == once[name], name
    assert both["repeated_spans"] == sum(once["spans"].values())


def test_every_reason_is_told(diagnose, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    failed = call("8", "1", gen_ai__output__messages="") | {"status": {"code": 2}}
    masked = [{"role": "user", "parts": [{"type": "text", "content": "__REDACTED__"}]}]
    odd = [{"role": "user", "parts": [{"type": "text", "content": "See"}, {"type": "hologram"}]}]
    lines = [
        request(call("1", "1")),
        request(call("2", "2", "1"), call("2", "1")),
        request(call("3", "1", gen_ai__response__id="r"), call("3", "2", gen_ai__response__id="r")),
        request(span("4", "1", openinference__span__kind="EVALUATOR"), call("4", "2", "1")),
        request(call("5", "1", gen_ai__input__messages=masked)),
        request(call("6", "1", gen_ai__input__messages='[{"role": "user", "par')),
        request(call("7", "1", gen_ai__input__messages=odd)),
        request(failed),
        request(call("9", "1", gen_ai__input__messages="", gen_ai__output__messages="[]")),
        request(call("a", "1", gen_ai__output__messages="") | {"status": {"code": 0}, "endTimeUnixNano": "5"}),
        request(call("b", "1") | {"endTimeUnixNano": "0", "status": {}}),
    ]  # fmt: skip
    (tmp_path / "all.jsonl").write_text("".join(lines))
    report = diagnose(tmp_path / "all.jsonl")[0][0]
    assert report["not_trainable"].keys() <= WHY.keys()
    assert report["not_trainable"] == {
        "absent": 2, "duplicate": 1, "failed": 1, "judge": 1, "pending": 1, "redacted": 1, "truncated": 1,
        "unparsed": 1, "wrapper": 1,
    }  # fmt: skip
    assert report["trainable"] == 3


def test_rejects_are_told_with_their_reasons_and_first_places(diagnose, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    bad = '{"half": \n' * 7
    (tmp_path / "mixed.jsonl").write_text(
        request(call("1", "1")) + '{"some": "thing"}\n\n' + bad + request(call("2", "1"))
    )
    (report,), code = diagnose(tmp_path / "mixed.jsonl")
    assert (code, report["records"], report["blanks"], report["trainable"]) == (3, 2, 1, 2)
    assert report["rejects"] == {"broken_json": 7, "unknown_dialect": 1}
    assert report["reject_positions"] == {"broken_json": [3, 4, 5, 6, 7], "unknown_dialect": [1]}
    assert "broken_json, at 3, 4, 5, 6, 7, …" in table(tmp_path / "mixed.jsonl")


def test_a_file_that_cannot_be_read_hides_no_other(diagnose) -> None:  # type: ignore[no-untyped-def]
    unreadable, sound, _ = (reports := diagnose(Path("/proc/self/mem"), OTLP)[0])
    assert "cannot be read" in unreadable["problem"]
    assert sound["trainable"] == 53
    assert len(reports) == 3
    assert diagnose(Path("/proc/self/mem"))[1] == 1


def test_no_value_of_a_trace_is_told(diagnose) -> None:  # type: ignore[no-untyped-def]
    said = json.dumps(diagnose(LANGSMITH, OTLP)[0]) + table(LANGSMITH, OTLP)
    for path in (CORPUS / "expected").glob("*.json"):
        for run in json.loads(path.read_text())["runs"]:
            values = [*run["pii"], *run["trace_ids"], *run["tool_names_offered"], run["task_id"], run["session_id"]]
            assert not [value for value in values if value and str(value) in said]


def test_memory_does_not_grow_with_the_traces_and_the_counts_stay(
    diagnose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    lines = [request(call("1", "1")).replace("1" * 32, f"{n:032x}") for n in range(1, 200)]
    (tmp_path / "many.jsonl").write_text("".join(lines))
    whole = diagnose(tmp_path / "many.jsonl")[0]
    monkeypatch.setattr(survey, "MOST_SPANS", 3)
    held = []
    add = survey.Survey.add

    def watched(self: survey.Survey, record: Any) -> None:
        add(self, record)
        held.append((self._held_spans, len(self._open), len(self._known_traces)))

    monkeypatch.setattr(survey.Survey, "add", watched)
    assert diagnose(tmp_path / "many.jsonl")[0] == whole
    assert max(held)[:2] == (3, 3)
    assert whole[0]["traces"] == 199


def test_packed_files_and_folders_are_told_as_they_lie(diagnose, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    plain = gzip.decompress((OTLP / "traces.jsonl.gz").read_bytes())
    (tmp_path / "day" / "2026-11-30").mkdir(parents=True)
    (tmp_path / "day" / "2026-11-30" / "traces.whatever").write_bytes(plain)
    shutil.make_archive(str(tmp_path / "day" / "packed"), "zip", OTLP)
    (loose, packed, both), code = diagnose(tmp_path / "day")
    assert (code, loose["container"], packed["container"]) == (0, "jsonl", "zip")
    assert loose["trainable"] == packed["trainable"] == both["trainable"] == 53


def test_the_table_says_what_can_be_done_about_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = table(LANGSMITH)
    for words in ("all 2 files together", "can be trained on", "for outcome", "no component of `rewards`"):
        assert words in said
