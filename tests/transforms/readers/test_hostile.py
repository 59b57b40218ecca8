"""What fuzzing found: inputs that once raised, lost a neighbour, gave what no table holds, or took time squared."""

from __future__ import annotations

import gzip
import io
import json
import time
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transforms.readers import atif, documents, otlp_wire, rollouts, swe_agent, tables, tau2_bench
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Reject, Span

RUN = {"id": "r", "trace_id": "t", "run_type": "tool", "name": "x"}
LINE = json.dumps(RUN).encode()
CHAT = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}
MODEL_RUN = {"id": "r", "trace_id": "t", "run_type": "llm", "name": "x"}
DEEP: Any = json.loads("[" * 400 + "]" * 400)
SPAN = {"traceId": "a" * 32, "spanId": "b" * 16, "name": "s"}


def read(data: bytes) -> tuple[list[Record], Tally]:
    tally = Tally()
    return list(read_export(io.BytesIO(data), tally, "d")), tally


def reasons(data: bytes) -> list[str]:
    return [record.reason if isinstance(record, Reject) else "read" for record in read(data)[0]]


def only(document: Any) -> Span:
    ((record,), _) = read(json.dumps(document).encode())
    assert isinstance(record, Span)
    return record


def test_what_is_listed_among_chats_and_is_none_is_refused_alone() -> None:
    listed = {"data": [CHAT, {"other": 1}, CHAT]}
    assert reasons(json.dumps(listed).encode()) == ["read"] * 2 + ["unreadable_chat"] + ["read"] * 2


@pytest.mark.parametrize("took", [1e20, 1e308, -1e20, 10**30])
def test_a_latency_beyond_all_time_leaves_the_start_unknown(took: float) -> None:
    event = {"event_type": "tool_result", "rollout_id": "r", "attempt_id": "0", "timestamp": 1796014908.5}
    span = only({**event, "data": {"latency_ms": took}})
    assert span.started_ns is None
    assert span.ended_ns == 1796014908500000000


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("{'a': '\\ud800'}", '{"a": "\ufffd"}'),
        ("{'a': '\\x00b'}", '{"a": "b"}'),
        ("{'a': 1e999}", '{"a": null}'),
        ("{'a': '\\d'}", '{"a": "\\\\d"}'),
        ("{'a': b'x'}", "{'a': b'x'}"),
        ('{"a":' * 2000, '{"a":' * 2000),
        ('{"a":' * 2000 + "1" + "}" * 2000, '{"a":' * 2000 + "1" + "}" * 2000),
    ],
)
def test_arguments_that_python_wrote_hold_nothing_that_json_does_not(written: str, read_as: str) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        assert only({**RUN, "inputs": {"input": written}}).tool_arguments == read_as
    assert not warned


def test_counts_beyond_64_bits_are_unknown() -> None:
    most = 2**63 - 1
    row = {"id": "o", "traceId": "t", "type": "GENERATION", "parentObservationId": None}
    details = {"input_a": most, "input_b": 1, "output_a": most, "output_b": 1}
    span = only({**row, "usageDetails": details})
    assert (span.input_tokens, span.output_tokens) == (None, None)
    usage = {"input_tokens": most, "cache_read_input_tokens": most, "output_tokens": 1}
    span = only({**MODEL_RUN, "outputs": {"usage": usage}})
    assert (span.input_tokens, span.output_tokens) == (None, 1)


def test_a_trace_that_was_fetched_without_its_id_is_refused() -> None:
    document = {"trace_id": ["t"], "metadata": {}, **CHAT}
    assert reasons(json.dumps(document).encode()) == ["no_ids"]


@pytest.mark.parametrize(
    "document",
    [
        {"info": {"assessments": [{"name": "ok", "feedback": {"value": True}}]}, "data": {"spans": []}},
        {"event_type": "reward", "rollout_id": None, "attempt_id": "0", "data": {"value": 1}},
        {"rollout_id": [], "input": {}, "status": "succeeded"},
        {"object": "trace.span", "id": "span_", "trace_id": "trace_1"},
        {"rollout_id": "", "attempt_id": "", "sequence_id": 1, "span_id": "b" * 16, "trace_id": "a" * 32},
    ],
)
def test_what_has_no_ids_is_refused_and_joins_no_other(document: dict[str, Any]) -> None:
    assert reasons(json.dumps(document).encode()) == ["no_ids"]


def test_an_evaluator_that_links_to_nothing_judges_its_own_trace() -> None:
    said = {"openinference.span.kind": "EVALUATOR", "evaluations.0.evaluation.name": "polite",
            "evaluations.0.evaluation.score": 1}  # fmt: skip
    span = {**SPAN, "attributes": said, "links": [{"traceId": "0" * 32}]}
    _, verdict = read(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode())[0]
    assert isinstance(verdict, Feedback)
    assert verdict.trace_id == "a" * 32


def test_an_environment_that_is_no_text_is_left_out() -> None:
    for value in (DEEP, {"kvlistValue": {"values": []}}, None):
        resource = {"attributes": [{"key": "deployment.environment", "value": value}]}
        assert only({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [SPAN]}]}]}).attributes == {}


def test_a_text_or_number_that_never_ends_is_refused_and_takes_no_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST_SCALAR", 10)
    for scalar in (b"1" * 64, b'"' + b"x" * 64 + b'"', b'"' + b'\\"' * 32 + b'"', b'"' + b"\\\\" * 32 + b'"'):
        data = b"[" + LINE + b", " + scalar + b", " + LINE + b"]"
        for step in (1, 7, 50):
            tally = Tally()
            records = list(read_export(Steps(data, step), tally))
            told = [r.reason if isinstance(r, Reject) else r.position for r in records]
            assert told == [0, "too_large", 2]


class Steps(io.BytesIO):
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._step)


def test_a_chat_whose_prompts_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "MOST_SHOWN", 100)
    long = {"messages": CHAT["messages"] * 50}
    data = b"\n".join(json.dumps(document).encode() for document in (CHAT, long, CHAT))
    assert reasons(data) == ["read", "read", "too_large", "read", "read"]


@pytest.mark.parametrize("key", [[], {}, None])
def test_attributes_whose_names_are_no_text_take_no_other_span_with_them(key: Any) -> None:
    named = {"key": key, "value": {"stringValue": "x"}} if key is not None else {"value": {"stringValue": "x"}}
    inner = {"key": "k", "value": {"arrayValue": {"values": [{"kvlistValue": {"values": [named]}}]}}}
    odd = {"attributes": [named, inner]}
    requests = [
        {"resourceSpans": [{"scopeSpans": [{"spans": [{**SPAN, **odd}, SPAN]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{**SPAN, "attributes": [inner]}, SPAN]}]}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{**SPAN, "events": [odd]}, SPAN]}]}]},
        {"resourceSpans": [{"resource": odd, "scopeSpans": []}, {"scopeSpans": [{"spans": [SPAN]}]}]},
        {"resourceSpans": [{"resource": {"attributes": [inner]}}, {"scopeSpans": [{"spans": [SPAN]}]}]},
    ]
    for request in requests:
        assert reasons(json.dumps(request).encode()) == ["unreadable_otlp", "read"]
    said = {"key": "content", "value": {"stringValue": "hi"}}
    log = {"traceId": SPAN["traceId"], "spanId": SPAN["spanId"], "attributes": []}
    log |= {"eventName": "gen_ai.user.message", "body": {"kvlistValue": {"values": [said]}}}
    logs = [{"resource": odd, "scopeLogs": []}, {"scopeLogs": [{"logRecords": [log]}]}]
    assert reasons(json.dumps({"resourceLogs": logs}).encode()) == ["unreadable_otlp_logs", "read"]


@pytest.mark.parametrize(
    "attributes", [[{"key": [], "value": 1}], [{"key": {}, "value": 1}], "[" * 300 + "]" * 300, "{" * 20000]
)
def test_what_nobody_can_tell_the_writer_of_is_refused_alone(attributes: Any) -> None:
    named = {"trace_id": "a" * 32, "span_id": "b" * 16, "name": "s", "attributes": attributes}
    for document in (named, {**named, "body": "x", "severity_text": "INFO"}, {"spans": [named]}):
        assert reasons(LINE + b"\n" + json.dumps(document).encode() + b"\n" + LINE) == [
            "read",
            "unknown_dialect",
            "read",
        ]


STEPS = [{"source": source, "message": "m"} for source in ("user", "agent")]
TRAJECTORY: dict[str, Any] = {"schema_version": "ATIF-1.7", "agent": {"name": "a"}, "steps": STEPS}
HISTORY = [{"role": "user", "content": "hi", "agent": "main"}, {"role": "assistant", "content": "ho"}]
INFO = {"environment_info": {"domain_name": "shop"}}
SIMULATION = {"id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop", "messages": CHAT["messages"]}


@pytest.mark.parametrize(
    ("document", "module"),
    [
        ({**TRAJECTORY, "subagent_trajectories": [TRAJECTORY] * 50}, atif),
        ({**TRAJECTORY, "subagent_trajectories": [{**TRAJECTORY, "subagent_trajectories": [TRAJECTORY] * 50}]}, atif),
        ({"attempts": [{"history": [*HISTORY, n], "trajectory": []} for n in range(50)]}, swe_agent),
        ({"info": INFO, "tasks": [], "simulations": [SIMULATION] * 50}, tau2_bench),
    ],
)
def test_the_chats_of_one_document_are_given_one_by_one(
    document: dict[str, Any], module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Span] = []

    def root_span(*args: Any, **more: Any) -> Span:
        made.append(rollouts.root_span(*args, **more))
        return made[-1]

    monkeypatch.setattr(module, "root_span", root_span)
    made_by_then = [
        len(made)
        for record in read_export(io.BytesIO(json.dumps(document).encode()), Tally())
        if isinstance(record, Span) and record.kind == "agent"
    ]
    assert len(made) >= 50
    assert made_by_then == [*range(1, len(made) + 1)]


def test_a_message_of_countless_fields_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otlp_wire, "LEAST_COUNTED", 0)
    monkeypatch.setattr(otlp_wire, "MOST_FIELDS", 100)
    spans = b"\x12\x7e" + b"\x12\x00" * 63
    assert reasons(b"\x0a\x80\x01" + spans) == ["too_large"]
    assert not otlp_wire.is_crowded(b"\x0a\x16\x12\x14" + b"\x12\x00" * 10)
    assert not otlp_wire.is_crowded(b"\xff" * 30)


def test_more_documents_on_a_line_than_any_exporter_writes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reasons(LINE * 4) == ["read"] * 4
    monkeypatch.setattr(documents, "MOST_TOGETHER", 3)
    assert reasons(LINE * 4 + b"\n" + LINE) == ["broken_json", "read"]


@pytest.mark.parametrize("rows", [1, 40])
def test_a_page_that_is_a_bomb_is_refused_undecoded(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LONGEST", 1 << 20)
    held = io.BytesIO()
    table = pa.table({"id": ["x" * ((2 << 20) // rows)] * rows})
    pq.write_table(table, held, compression="zstd", use_dictionary=False, data_page_size=1 << 30)
    assert reasons(held.getvalue()) == ["compression_bomb"]


def test_a_row_that_is_too_large_is_refused_undecoded_and_takes_no_row_group_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "LONGEST", 1 << 16)
    held = io.BytesIO()
    with pq.ParquetWriter(held, pa.schema([(name, pa.string()) for name in RUN]), compression="none") as writer:
        for name in ("a", "b" * (2 << 16), "c"):
            writer.write_table(pa.table({key: [value] for key, value in {**RUN, "name": name}.items()}))
    assert reasons(held.getvalue()) == ["read", "too_large", "read"]


def _calls(count: int) -> bytes:
    items = [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}] * count
    return json.dumps({**MODEL_RUN, "inputs": {"input": items}}).encode()


def _details(count: int) -> bytes:
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": []}
    said = [{"key": f"k{n}", "value": {"intValue": 1}} for n in range(count)]
    span = {**SPAN, "attributes": said, "events": [event] * count}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


SQUARED: dict[str, Callable[[int], bytes]] = {
    "gzip of tiny members": lambda count: gzip.compress(b"1") * count,
    "blanks in an error": lambda count: json.dumps({**RUN, "error": " " * count * 10}).encode(),
    "calls in one answer": _calls,
    "events of details": _details,
    "an array that ends in a newline": lambda count: b"[" + b",\n".join([b"{}"] * count * 4) + b"]\n",
    "hidden values that a console never closed": lambda count: b"{\n  a: " + b"[Object " * count * 4 + b"\n}\n",
    "words of a console without an end": lambda count: b"{\n  a: " + b"NaN" * count * 4 + b"\n}\n",
}


@pytest.mark.parametrize("kind", SQUARED)
def test_twice_the_input_takes_no_more_than_about_twice_the_time(kind: str) -> None:
    def seconds(count: int) -> float:
        data = SQUARED[kind](count)
        began = time.process_time()
        read(data)
        return time.process_time() - began

    assert seconds(8000) < 0.5 + 4 * seconds(2000) * 2
