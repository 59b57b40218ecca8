"""What the readers make of captures of real SDKs, against what went over the wire."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from transforms.identity import Identity
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Message, Record, Reject, Span

SHIPPED = Path(__file__).parents[2] / "corpus"
CORPUS = os.environ.get("TRACEMILL_CORPUS", "")
LANGSMITH = "runs.list_runs.dict.jsonl.gz"
CAPTURES = {
    "langsmith-0.15.1-wrap-openai": LANGSMITH,
    "langsmith-0.15.1-wrap-openai-batch": LANGSMITH,
    "langsmith-0.15.1-langchain-openai": LANGSMITH,
    "langsmith-0.15.1-langchain-anthropic": LANGSMITH,
    "langsmith-0.15.1-traceable-openai": LANGSMITH,
    "opentelemetry-instrumentation-openai-v2-2.4b0-latest-span": "traces.jsonl.gz",
    "opentelemetry-instrumentation-genai-openai-1.3b0-span": "traces.jsonl.gz",
    "opentelemetry-instrumentation-genai-langchain-1.3b0": "traces.jsonl.gz",
    "langsmith-js-0.3.87-wrapAISDK": LANGSMITH,
    "traceloop-sdk-0.62.4": "traces.jsonl.gz",
    "vercel-ai-7.0.173-genai": "traces.otlp.jsonl.gz",
    "strands-agents-1.62.0": "traces.jsonl.gz",
}
LOST = {
    "langsmith-0.15.1-langchain-anthropic": {"input tokens of streams"},
    "langsmith-0.15.1-traceable-openai": {"cached tokens", "reasoning tokens"},
    "opentelemetry-instrumentation-openai-v2-2.4b0-latest-span": {"cached tokens", "reasoning tokens", "pictures"},
    "opentelemetry-instrumentation-genai-langchain-1.3b0": {"tasks"},
    "traceloop-sdk-0.62.4": {"tasks"},
    "vercel-ai-7.0.173-genai": {"tasks", "reasoning tokens", "how errors of tools were worded"},
    "strands-agents-1.62.0": {"tasks", "reasoning tokens"},
}
"""What a library does not export, found by comparing its capture with the wire; everything else must agree."""


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


def calls_by_trace(records: list[Record]) -> dict[str, list[Span]]:
    calls = defaultdict(list)
    for record in records:
        if isinstance(record, Span) and record.kind == "llm" and record.output:
            calls[record.trace_id].append(record)
    for trace in calls.values():
        trace.sort(key=lambda span: (span.started_ns or 0, span.sequence))
    return calls


def parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


def as_read(message: Message, lost: set[str]) -> tuple[Any, ...]:
    shown = message.content + "[image]" * len(message.media)
    calls = [(call.id, call.name, parsed(call.arguments)) for call in message.tool_calls]
    return (message.role, "" if "pictures" in lost and not shown else shown, calls, message.tool_call_id)


def as_sent(message: dict[str, Any], lost: set[str]) -> tuple[Any, ...]:
    shown = message["content"] or ""
    calls = [(call["id"], call["name"], parsed(call["arguments"])) for call in message.get("tool_calls") or []]
    if "how errors of tools were worded" in lost and message["role"] == "tool" and shown.startswith('{"error":'):
        shown = json.loads(shown)["error"]
    blind = "pictures" in lost and shown.endswith("[image]")
    return (message["role"], "" if blind else shown, calls, message.get("tool_call_id") or "")


def usage(span: Span, lost: set[str]) -> tuple[int | None, ...]:
    cached = 0 if "cached tokens" in lost else span.cache_read_tokens or 0
    reasoning = 0 if "reasoning tokens" in lost else span.reasoning_tokens or 0
    return (span.input_tokens, span.output_tokens, cached, reasoning)


def sent_usage(counts: dict[str, int], lost: set[str], streamed: bool) -> tuple[int | None, ...]:
    incoming = None if streamed and "input tokens of streams" in lost else counts["input"]
    cached = 0 if "cached tokens" in lost else counts["cached"]
    return (incoming, counts["output"], cached, 0 if "reasoning tokens" in lost else counts["reasoning"])


def agree(records: list[Record], expected: dict[str, Any], lost: set[str]) -> None:
    assert [record for record in records if isinstance(record, Reject)] == []
    calls = calls_by_trace(records)
    assert len(calls) == expected["n_traces"]
    assert sum(map(len, calls.values())) == expected["n_llm_calls"]
    for run in expected["runs"]:
        made = [span for trace in run["trace_ids"] for span in calls[trace]]
        assert len(made) == run["llm_calls"]
        written = [call for span in made for call in span.output[0].tool_calls]
        assert [call.id for call in written] == run["tool_call_ids"]
        assert [(call.name, parsed(call.arguments)) for call in written] == [
            (call["name"], parsed(call["arguments"])) for call in run["tool_calls_detail"]
        ]
        for span, sent in ((made[0], "first_call_messages"), (made[-1], "last_call_messages")):
            assert [as_read(message, lost) for message in span.prompt] == [as_sent(m, lost) for m in run[sent]]
        assert as_read(made[-1].output[0], lost) == as_sent(run["last_call_output"], lost)
        assert [usage(span, lost) for span in made] == [
            sent_usage(counts, lost, run["streamed"]) for counts in run["usage_per_call"]
        ]
        if "tasks" not in lost:
            spans = [r for r in records if isinstance(r, Span) and r.trace_id in run["trace_ids"]]
            assert (run["task_id"], run["attempt"]) in {(span.task, span.trial) for span in spans}


def unchained(records: list[Record]) -> int:
    """Calls of a trace whose prompt does not continue the call before: 0 says that outputs read like their echoes."""
    identity = Identity(b"k" * 32)
    broken = 0
    for trace in calls_by_trace(records).values():
        for before, after in zip(trace, trace[1:], strict=False):
            known = [*map(identity.message, before.prompt), identity.message(before.output[0])]
            broken += [identity.message(message) for message in after.prompt[: len(known)]] != known
    return broken


@pytest.mark.parametrize("capture", ["langsmith-wrap-openai", "otlp-genai-openai"])
def test_shipped_captures_read_as_what_went_over_the_wire(capture: str) -> None:
    records, expected = shipped(capture)
    agree(records, expected, set())


@pytest.mark.parametrize("capture", ["langsmith-wrap-openai", "otlp-genai-openai"])
def test_an_output_reads_like_its_echo_in_the_next_prompt(capture: str) -> None:
    records, _ = shipped(capture)
    assert unchained(records) == 0


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


@pytest.mark.parametrize("capture", CAPTURES)
def test_every_capture_reads_as_what_went_over_the_wire(capture: str) -> None:
    path = in_corpus(capture, CAPTURES[capture])
    expected = json.loads((path.parents[1] / "expected.json").read_text())
    records, _ = read(path)
    agree(records, expected, LOST.get(capture, set()))
    assert unchained(records) == 0


@pytest.mark.parametrize("capture", ["langsmith-0.15.1-wrap-openai", "langsmith-0.15.1-langchain-openai"])
def test_both_ways_to_write_a_run_read_the_same(capture: str) -> None:
    records, _ = read(in_corpus(capture, LANGSMITH))
    others, _ = read(in_corpus(capture, "runs.list_runs.model_dump_json.jsonl.gz"))
    spans = {record.span_id: replace(record, position=0) for record in records if isinstance(record, Span)}
    assert others
    for other in others:
        assert isinstance(other, Span)
        assert replace(other, position=0) == spans[other.span_id]
