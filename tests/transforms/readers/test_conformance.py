"""What the readers make of captures of real SDKs, against what went over the wire."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmarks.conformance.__main__ import main
from benchmarks.conformance.agreement import compare, needless
from benchmarks.conformance.captures import EXPORTS, FILES, NOT_COMPARED, Export
from benchmarks.conformance.corpus import read_files, read_truth, with_logs
from benchmarks.conformance.wire import as_billed, as_counted, parsed
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Span

SHIPPED = Path(__file__).parents[2] / "corpus"
CORPUS = os.environ.get("TRACEMILL_CORPUS", "")
LANGSMITH = "runs.list_runs.dict.jsonl.gz"
OTLP = [capture for capture, files in FILES.items() if "traces.pb.gz" in files or "traces.pb.gz + logs.pb.gz" in files]
OTLP.remove("opentelemetry-instrumentation-openai-v2-2.4b0-nocontent")


def read(path: Path) -> tuple[list[Record], Tally]:
    tally = Tally()
    with path.open("rb") as stream:
        return list(read_export(stream, tally)), tally


def shipped(capture: str) -> tuple[list[Record], dict[str, Any]]:
    name = "runs.jsonl.gz" if capture.startswith("langsmith") else "traces.jsonl.gz"
    records, _ = read(SHIPPED / "exports" / capture / name)
    return records, json.loads((SHIPPED / "expected" / f"{capture}.json").read_text())


def in_corpus(capture: str, name: str) -> Path:
    if not CORPUS:
        pytest.skip("TRACEMILL_CORPUS does not name a folder of captures")
    return Path(CORPUS) / capture / "export" / name


def with_their_logs(records: list[Record], capture: str, name: str) -> list[Record]:
    path = Path(CORPUS) / capture / "export" / name.replace("traces", "logs")
    if not path.exists():
        return records
    told = defaultdict(list)
    for record in read(path)[0]:
        assert isinstance(record, Span)
        told[record.trace_id, record.span_id].append(record)
    return [with_logs(r, told[r.trace_id, r.span_id]) if isinstance(r, Span) else r for r in records]


@pytest.mark.parametrize("capture", ["langsmith-wrap-openai", "otlp-genai-openai"])
def test_tool_spans_answer_the_calls_that_models_made(capture: str) -> None:
    records, expected = shipped(capture)
    tools = {r.tool_call_id: r for r in records if isinstance(r, Span) and r.kind == "tool"}
    details = [call for run in expected["runs"] for call in run["tool_calls_detail"]]
    assert tools.keys() == {call["id"] for call in details}
    for call in details:
        span = tools[call["id"]]
        assert (span.tool_name, parsed(span.tool_arguments)) == (call["name"], parsed(call["arguments"]))
        assert (span.status == "error") == (call["error"] is not None)
        if call["error"] is None and call["sent_to_model"] is not None:
            assert span.tool_result == call["sent_to_model"]


def test_a_langsmith_capture_gives_its_feedback() -> None:
    records, tally = read(SHIPPED / "exports" / "langsmith-wrap-openai" / "feedback.jsonl.gz")
    _, expected = shipped("langsmith-wrap-openai")
    assert (tally.records, tally.rejects, tally.dialects) == (45, 0, {"langsmith_feedback"})
    given = [record for record in records if isinstance(record, Feedback)]
    scores = {verdict.trace_id: verdict.score for verdict in given if verdict.key == "task_success"}
    labels = {verdict.trace_id: verdict.label for verdict in given if verdict.key == "outcome"}
    for run in expected["runs"]:
        for trace in run["trace_ids"]:
            assert labels[trace] == run["outcome"]
            assert run["reward"] is None or scores[trace] == pytest.approx(run["reward"])


def test_an_otlp_capture_gives_rewards_and_verdicts() -> None:
    records, expected = shipped("otlp-genai-openai")
    given = [record for record in records if isinstance(record, Feedback)]
    rewards = {verdict.trace_id: verdict.score for verdict in given if verdict.key == "reward"}
    verdicts = {verdict.trace_id: verdict for verdict in given if verdict.key == "task_success"}
    for run in expected["runs"]:
        for trace in run["trace_ids"]:
            if run["exception"]:
                assert trace not in rewards | verdicts
            else:
                assert (rewards[trace], verdicts[trace].score) == (run["reward"], run["reward"])
                assert verdicts[trace].label == run["outcome"]


def test_reading_accounts_for_every_document_of_a_capture() -> None:
    for name, records in (("langsmith-wrap-openai/runs", 116), ("otlp-genai-openai/traces", 2)):
        path = SHIPPED / "exports" / f"{name}.jsonl.gz"
        _, tally = read(path)
        assert (tally.records, tally.rejects, tally.blanks) == (records, 0, 0)
        assert (tally.container, tally.bytes) == ("gzip+jsonl", path.stat().st_size)


def folder_of(capture: str) -> Path:
    return SHIPPED if (SHIPPED / "exports" / capture).exists() else in_corpus(capture, "").parents[1]


def named(export: Export) -> str:
    return f"{export.capture}/{export.files[0]}"


@pytest.mark.parametrize("export", EXPORTS, ids=named)
def test_every_export_reads_as_what_went_over_the_wire(export: Export) -> None:
    folder = folder_of(export.capture)
    cells = compare(read_files(folder, export), read_truth(folder, export), export.lost)
    assert {aspect: cell for aspect, cell in cells.items() if cell.state == "DIFFERS"} == {}


@pytest.mark.parametrize("capture", FILES)
def test_what_is_said_to_be_lost_is_lost_in_some_export_of_the_library(capture: str) -> None:
    folder = folder_of(capture)
    exports = [export for export in EXPORTS if export.capture == capture]
    found = [needless(read_files(folder, one), read_truth(folder, one), one.lost) for one in exports]
    assert set.intersection(*map(set, found)) == set()


def test_every_file_of_a_capture_is_compared_or_named_with_the_reason() -> None:
    in_corpus("", "")
    compared = {name for export in EXPORTS for name in export.files}
    others = {path.name.removesuffix(".gz") for path in Path(CORPUS).glob("*/export/*") if path.name not in compared}
    assert others <= NOT_COMPARED.keys()


def test_a_conformance_run_ends_well_where_all_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SHIPPED)]) == 0
    said = capsys.readouterr().out
    assert "2 exports of 2 captures, none differing" in said
    assert "DIFFERS" not in said


@pytest.mark.parametrize(
    ("was", "is_now", "aspect"),
    [("call_", "coll_", "call ids"), ('"input_tokens": ', '"input_tokens": 9', "usage"), ("HP-", "HQ-", "last prompt")],
)
def test_a_conformance_run_fails_where_an_export_says_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], was: str, is_now: str, aspect: str
) -> None:
    shutil.copytree(SHIPPED, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "exports" / "langsmith-wrap-openai" / "runs.jsonl.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    assert was in text
    path.write_bytes(gzip.compress(text.replace(was, is_now).encode()))
    assert main([str(tmp_path)]) == 1
    heading, _, row, *_ = capsys.readouterr().out.splitlines()
    assert row[heading.index(aspect) :].startswith("DIFFERS ")


def test_a_conformance_run_without_a_corpus_is_bad_usage(tmp_path: Path) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2


@pytest.mark.parametrize("capture", OTLP)
def test_protobuf_and_json_of_a_capture_read_the_same(capture: str) -> None:
    written = with_their_logs(read(in_corpus(capture, "traces.jsonl.gz"))[0], capture, "traces.jsonl.gz")
    packed, tally = read(in_corpus(capture, "traces.pb.gz"))
    assert (tally.container, tally.rejects) == ("gzip+frames", 0)
    assert [replace(record, position=0) for record in with_their_logs(packed, capture, "traces.pb.gz")] == [
        replace(record, position=0) for record in written
    ]


def test_calls_that_lost_attributes_are_never_full() -> None:
    records, _ = read(in_corpus("openinference-instrumentation-openai-0.1.66-long", "traces.jsonl.gz"))
    calls = [record for record in records if isinstance(record, Span) and record.kind == "llm"]
    assert [span.content_state for span in sorted(calls, key=lambda span: span.started_ns or 0)] == (
        ["full"] * 14 + ["truncated"] * 6
    )


def test_without_captured_content_there_are_calls_and_no_messages() -> None:
    capture = "opentelemetry-instrumentation-openai-v2-2.4b0-nocontent"
    records, _ = read(in_corpus(capture, "traces.jsonl"))
    calls = [record for record in records if isinstance(record, Span) and record.kind == "llm"]
    assert {(span.content_state, len(span.prompt), len(span.output)) for span in calls} == {("absent", 0, 0)}
    for name in ("logs.jsonl", "logs.pb.gz"):
        told, tally = read(in_corpus(capture, name))
        assert (told, tally.rejects, tally.blanks) == ([], 0, 2)


@pytest.mark.parametrize("capture", ["langsmith-0.15.1-wrap-openai", "langsmith-0.15.1-langchain-openai"])
def test_both_ways_to_write_a_run_read_the_same(capture: str) -> None:
    records, _ = read(in_corpus(capture, LANGSMITH))
    others, _ = read(in_corpus(capture, "runs.list_runs.model_dump_json.jsonl.gz"))
    spans = {record.span_id: replace(record, position=0) for record in records if isinstance(record, Span)}
    assert others
    for other in others:
        assert isinstance(other, Span)
        assert replace(other, position=0) == spans[other.span_id]


def read_all(capture: str, names: list[str]) -> tuple[list[Record], dict[str, Any]]:
    """Records of several files of a capture and what really happened; Agent Lightning's traces are its attempts."""
    records = [record for name in names for record in read(in_corpus(capture, name))[0]]
    expected = json.loads((Path(CORPUS) / capture / "expected.json").read_text())
    if capture.startswith("agentlightning"):
        expected["n_traces"] = expected["n_runs"]
        for run in expected["runs"]:
            run["trace_ids"] = [f"{run['rollout_id']}:{run.get('attempt_id', '0')}"]
    return records, expected


@pytest.mark.parametrize(
    ("capture", "exports", "key"),
    [
        ("mlflow-3.17.2-openai", ["traces.to_json.jsonl.gz"], "task_success"),
        ("langfuse-5.0.4-openai", ["scores.jsonl"], "task_success"),
        ("agentlightning-1.0.2-gateway", ["events.jsonl.gz"], "reward"),
    ],
)
def test_verdicts_of_an_export_are_the_rewards_of_its_runs(capture: str, exports: list[str], key: str) -> None:
    records, expected = read_all(capture, exports)
    scores = {record.trace_id: record.score for record in records if isinstance(record, Feedback) and record.key == key}
    for run in expected["runs"]:
        given = {scores.get(trace.removeprefix("tr-")) for trace in run["trace_ids"]}
        assert given == {run["reward"]}


def test_annotations_of_phoenix_name_the_roots_they_are_about() -> None:
    records, expected = read_all("arize-phoenix-20.26.1", ["spans.get_spans.jsonl.gz", "span_annotations.jsonl"])
    traces = {record.span_id: record.trace_id for record in records if isinstance(record, Span)}
    scores = {traces[record.span_id]: record.score for record in records if isinstance(record, Feedback)}
    assert [scores[trace] for run in expected["runs"] for trace in run["trace_ids"]] == [
        run["reward"] for run in expected["runs"] for _ in run["trace_ids"]
    ]


def test_native_traces_of_openai_agents_tell_counts_and_tools_but_no_messages() -> None:
    records, expected = read_all("openai-agents-0.24.0-native-trace-ingest", ["items.jsonl.gz"])
    spans = [record for record in records if isinstance(record, Span)]
    calls = [span for span in spans if span.kind == "llm" and span.response_id]
    assert len(calls) == expected["n_llm_calls"]
    assert {(span.content_state, len(span.prompt), len(span.output)) for span in calls} == {("absent", 0, 0)}
    for run in expected["runs"]:
        traces = {trace.removeprefix("trace_") for trace in run["trace_ids"]}
        of_run = [span for span in spans if span.trace_id in traces]
        made = sorted((span for span in calls if span.trace_id in traces), key=lambda span: span.started_ns or 0)
        told = [as_billed(counts, run["streamed"]) for counts in run["usage_per_call"]]
        assert [as_counted(span) for span in made] == told
        used = [(span.tool_name, parsed(span.tool_arguments)) for span in of_run if span.kind == "tool"]
        said = [(call["name"], parsed(call["arguments"])) for call in run["tool_calls_detail"]]
        assert sorted(used, key=str) == sorted(said, key=str)
        assert (run["task_id"], run["attempt"]) in {(span.task, span.trial) for span in of_run}


@pytest.mark.parametrize("capture", ["langsmith-0.15.1-wrap-openai", "langsmith-0.15.1-langchain-openai"])
def test_runs_of_both_versions_and_nested_ones_read_the_same(capture: str) -> None:
    runs = {r.span_id: replace(r, position=0) for r in read(in_corpus(capture, LANGSMITH))[0] if isinstance(r, Span)}
    for name in ("runs.query_v2.jsonl.gz", "traces.read_run_load_child_runs.jsonl.gz"):
        others = [record for record in read(in_corpus(capture, name))[0] if isinstance(record, Span)]
        assert others
        for other in others:
            assert replace(other, position=0, flags=[]) == replace(runs[other.span_id], flags=[])
