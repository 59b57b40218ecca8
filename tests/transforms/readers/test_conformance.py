"""What the readers make of captures of real SDKs, against what went over the wire."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from transforms.identity import Identity
from transforms.readers.exports import Tally, read_export
from transforms.readers.otlp_logs import with_logs
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
    "agentlightning-0.3.0-otel": "traces.jsonl.gz",
    "langfuse-5.0.4-openai": "traces.jsonl.gz",
    "logfire-5.4.0": "traces.jsonl.gz",
    "mlflow-3.17.2-openai": "traces.jsonl.gz",
    "openinference-instrumentation-anthropic-3.1.0": "traces.jsonl.gz",
    "openinference-instrumentation-langchain-0.1.80": "traces.jsonl.gz",
    "openinference-instrumentation-openai-0.1.66": "traces.jsonl.gz",
    "openinference-instrumentation-openai-0.1.66-long": "traces.jsonl.gz",
    "openinference-instrumentation-openai-agents-2.6.0": "traces.jsonl.gz",
    "opentelemetry-instrumentation-langchain-0.62.4": "traces.jsonl.gz",
    "opentelemetry-instrumentation-openai-0.45.6": "traces.jsonl.gz",
    "opentelemetry-instrumentation-openai-0.62.4": "traces.jsonl.gz",
    "opentelemetry-instrumentation-openai-agents-0.62.4": "traces.jsonl.gz",
    "opentelemetry-instrumentation-openai-v2-2.4b0-legacy-events": "traces.jsonl.gz",
    "pydantic-ai-slim-0.7.4": "traces.jsonl.gz",
    "pydantic-ai-slim-1.106.0": "traces.jsonl.gz",
    "pydantic-ai-slim-2.68.0": "traces.jsonl.gz",
    "vercel-ai-5.0.277-chat": "traces.otlp.jsonl.gz",
}
LOST = {
    "langsmith-0.15.1-langchain-anthropic": {"input tokens of streams"},
    "langsmith-0.15.1-traceable-openai": {"cached tokens", "reasoning tokens"},
    "opentelemetry-instrumentation-openai-v2-2.4b0-latest-span": {"cached tokens", "reasoning tokens", "pictures",
                                                                  "tools"},
    "opentelemetry-instrumentation-genai-langchain-1.3b0": {"tasks"},
    "traceloop-sdk-0.62.4": {"tasks"},
    "vercel-ai-7.0.173-genai": {"tasks", "reasoning tokens", "how errors of tools were worded"},
    "strands-agents-1.62.0": {"tasks", "reasoning tokens", "tools"},
    "agentlightning-0.3.0-otel": {"tasks"},
    "logfire-5.4.0": {"tasks", "how errors of tools were worded", "how lists of tools were written"},
    "mlflow-3.17.2-openai": {"tasks", "reasoning tokens"},
    "openinference-instrumentation-langchain-0.1.80": {"names of single arguments in spans of tools"},
    "openinference-instrumentation-openai-0.1.66-long": {"first messages of calls beyond 128 attributes"},
    "openinference-instrumentation-openai-agents-2.6.0": {"tasks"},
    "opentelemetry-instrumentation-langchain-0.62.4": {"reasoning tokens"},
    "opentelemetry-instrumentation-openai-0.45.6": {"reasoning tokens", "pictures"},
    "opentelemetry-instrumentation-openai-0.62.4": {"prompts with pictures"},
    "opentelemetry-instrumentation-openai-agents-0.62.4": {"tasks"},
    "opentelemetry-instrumentation-openai-v2-2.4b0-legacy-events": {"cached tokens", "reasoning tokens", "tools",
                                                                    "text beside calls in prompts"},
    "pydantic-ai-slim-0.7.4": {"tasks", "cached tokens", "reasoning tokens", "blanks after system prompts"},
    "pydantic-ai-slim-1.106.0": {"tasks", "reasoning tokens", "how lists of tools were written"},
    "pydantic-ai-slim-2.68.0": {"tasks", "how errors of tools were worded", "how lists of tools were written"},
    "vercel-ai-5.0.277-chat": {"cached tokens", "reasoning tokens", "how errors of tools were worded"},
}  # fmt: skip
"""What a library does not export, found by comparing its capture with the wire; everything else must agree."""

OTLP = [capture for capture, name in CAPTURES.items() if name == "traces.jsonl.gz"]


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
    if "how lists of tools were written" in lost and message.role == "tool" and isinstance(parsed(shown), list):
        shown = "".join(map(str, parsed(shown)))
    if "blanks after system prompts" in lost and message.role == "system":
        shown = shown.rstrip()
    calls = [(call.id, call.name, parsed(call.arguments)) for call in message.tool_calls]
    return (message.role, "" if "pictures" in lost and not shown else shown, calls, message.tool_call_id)


def as_sent(message: dict[str, Any], lost: set[str]) -> tuple[Any, ...]:
    shown = message["content"] or ""
    if shown.startswith("[image]"):  # a message keeps pictures beside its text
        shown = shown.removeprefix("[image]") + "[image]"
    if "text beside calls in prompts" in lost and message.get("tool_calls") and message["role"] == "assistant":
        shown = ""
    if "blanks after system prompts" in lost and message["role"] == "system":
        shown = shown.rstrip()
    if "how lists of tools were written" in lost and message["role"] == "tool" and isinstance(parsed(shown), list):
        shown = "".join(map(str, parsed(shown)))
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
    assert len({record.trace_id for record in records if isinstance(record, Span)}) == expected["n_traces"]
    assert sum(map(len, calls.values())) == expected["n_llm_calls"]
    for run in expected["runs"]:
        traces = [trace.removeprefix("tr-") for trace in run["trace_ids"]]
        made = [span for trace in traces for span in calls[trace]]
        assert len(made) == run["llm_calls"]
        written = [call for span in made for call in span.output[0].tool_calls]
        assert [call.id for call in written] == run["tool_call_ids"]
        assert [(call.name, parsed(call.arguments)) for call in written] == [
            (call["name"], parsed(call["arguments"])) for call in run["tool_calls_detail"]
        ]
        for span, sent in ((made[0], "first_call_messages"), (made[-1], "last_call_messages")):
            if "[image]" in str(run[sent]) and "prompts with pictures" in lost:
                assert (span.prompt, span.content_state) == ([], "absent")
            elif span.content_state == "full" or "first messages of calls beyond 128 attributes" not in lost:
                assert [as_read(message, lost) for message in span.prompt] == [as_sent(m, lost) for m in run[sent]]
        assert as_read(made[-1].output[0], set()) == as_sent(run["last_call_output"], set())
        whole = [span for span in made if span.content_state != "truncated"]
        assert "tools" in lost or all(names(span.tools) == set(run["tool_names_offered"]) for span in whole)
        assert [usage(span, lost) for span in made] == [
            sent_usage(counts, lost, run["streamed"]) for counts in run["usage_per_call"]
        ]
        if "tasks" not in lost:
            spans = [r for r in records if isinstance(r, Span) and r.trace_id in traces]
            assert (run["task_id"], run["attempt"]) in {(span.task, span.trial) for span in spans}


def names(tools: list[dict[str, Any]]) -> set[str]:
    return {tool["function"]["name"] if "function" in tool else tool["name"] for tool in tools}


def tools_agree(records: list[Record], expected: dict[str, Any], lost: set[str]) -> None:
    """Spans of tools that say which call they answer name what it named."""
    if "names of single arguments in spans of tools" in lost:
        return
    spans = {r.tool_call_id: r for r in records if isinstance(r, Span) and r.kind == "tool" and r.tool_call_id}
    for call in (call for run in expected["runs"] for call in run["tool_calls_detail"] if call["id"] in spans):
        span = spans[call["id"]]
        assert (span.tool_name, parsed(span.tool_arguments)) == (call["name"], parsed(call["arguments"]))


def with_their_logs(records: list[Record], capture: str, name: str) -> list[Record]:
    path = Path(CORPUS) / capture / "export" / name.replace("traces", "logs")
    if not path.exists():
        return records
    told = defaultdict(list)
    for record in read(path)[0]:
        assert isinstance(record, Span)
        told[record.trace_id, record.span_id].append(record)
    return [with_logs(r, told[r.trace_id, r.span_id]) if isinstance(r, Span) else r for r in records]


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
    records = with_their_logs(read(path)[0], capture, CAPTURES[capture])
    lost = LOST.get(capture, set())
    agree(records, expected, lost)
    tools_agree(records, expected, lost)
    broken = lost & {"text beside calls in prompts", "first messages of calls beyond 128 attributes"}
    assert (unchained(records) > 0) == bool(broken)


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


OTHER_EXPORTS = [
    ("langsmith-0.15.1-wrap-openai", ["runs.query_v2.jsonl.gz"], {}),
    ("langsmith-0.15.1-langchain-openai", ["runs.query_v2.jsonl.gz"], {}),
    ("mlflow-3.17.2-openai", ["traces.to_json.jsonl.gz"], {}),
    ("arize-phoenix-20.26.1", ["spans.get_spans.jsonl.gz"], {}),
    ("arize-phoenix-20.26.1", ["spans.get_spans_dataframe.jsonl.gz"], {}),
    ("arize-phoenix-20.26.1", ["spans.get_spans_dataframe.parquet"], {}),
    ("arize-phoenix-20.26.1", ["spans.rest.json.gz"], {}),
    ("arize-phoenix-20.26.1", ["spans.rest_otlpv1.json.gz"], {}),
    ("agentlightning-0.3.0-otel", ["store.spans.jsonl.gz", "store.rollouts.jsonl"], {}),
    ("agentlightning-1.0.2-gateway", ["events.jsonl.gz", "rollouts.json"], {"arguments in spans of tools"}),
]  # fmt: skip
"""What else a library or its server gives out, and what is lost in it."""


def read_all(capture: str, names: list[str]) -> tuple[list[Record], dict[str, Any]]:
    """Records of several files of a capture and what really happened; Agent Lightning's traces are its attempts."""
    records = [record for name in names for record in read(in_corpus(capture, name))[0]]
    expected = json.loads((Path(CORPUS) / capture / "expected.json").read_text())
    if capture.startswith("agentlightning"):
        expected["n_traces"] = expected["n_runs"]
        for run in expected["runs"]:
            run["trace_ids"] = [f"{run['rollout_id']}:{run.get('attempt_id', '0')}"]
    return records, expected


@pytest.mark.parametrize(("capture", "exports", "lost"), OTHER_EXPORTS)
def test_every_other_export_reads_as_what_went_over_the_wire(capture: str, exports: list[str], lost: set[str]) -> None:
    records, expected = read_all(capture, exports)
    agree(records, expected, set(lost))
    if "arguments in spans of tools" not in lost:
        tools_agree(records, expected, set(lost))
    assert unchained(records) == 0


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
        told = [sent_usage(counts, set(), run["streamed"]) for counts in run["usage_per_call"]]
        assert [usage(span, set()) for span in made] == told
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
