"""Whatever a file holds: no exception, every document accounted for, neighbours kept, and no text in a reason."""

from __future__ import annotations

import gzip
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_places import changed, places

from transforms.readers.exports import Tally, read_export
from transforms.readers.scanning import Scanner
from transforms.records import Record, Reject, Span

EXPORTS = Path(__file__).parents[2] / "corpus" / "exports"
RUNS = gzip.decompress((EXPORTS / "langsmith-wrap-openai" / "runs.jsonl.gz").read_bytes()).splitlines()
REQUESTS = gzip.decompress((EXPORTS / "otlp-genai-openai" / "traces.jsonl.gz").read_bytes()).splitlines()
TRIAL = {"task_id": 1, "trial": 0, "reward": 1.0, "info": {}, "traj": [
    {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes", "tool_calls": []}]}  # fmt: skip
FEEDBACK = {"id": "f", "key": "k", "run_id": "r", "trace_id": "t", "score": 1, "value": None, "feedback_source": {}}
REASON = re.compile(r"[a-z0-9_]{3,30}")

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
)


WORDS = [
    "type", "role", "content", "parts", "text", "tool_calls", "function", "name", "arguments", "args", "id",
    "call_id", "tool_call_id", "input", "output", "response", "result", "tool_use_id", "thinking", "summary",
    "messages", "message", "generations", "choices", "lc", "kwargs", "data", "source", "image_url", "url",
    "additional_kwargs", "refusal", "system", "instructions", "finish_reason", "usage", "usage_metadata",
    "input_tokens", "modality"
]  # fmt: skip
SAID = [
    "text", "user", "ai", "tool", "system", "assistant", "tool_call", "tool_call_response", "tool_use",
    "tool_result", "function_call", "function_call_output", "reasoning", "message", "image", "image_url", "blob",
    "constructor", "item_reference", "{}", "[]", '{"a":1}', "hi"
]  # fmt: skip
plausible = st.recursive(
    leaves | st.sampled_from(SAID),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=14,
)


class Dribble(io.BytesIO):
    """A stream that gives at most `step` bytes at a time."""

    step = 3

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.step)


def read(data: bytes, growing: bool = False) -> tuple[list[Record], Tally]:
    tally = Tally()
    records = list(read_export(io.BytesIO(data), tally, "d", growing))
    for record in records:
        json.dumps(msgspec.to_builtins(record), ensure_ascii=False, allow_nan=False).encode()  # can be written out
        if isinstance(record, Reject):
            assert REASON.fullmatch(record.reason)
    assert tally.rejects == sum(isinstance(record, Reject) for record in records)
    assert tally.bytes == len(data)
    positions = [record.position for record in records]
    assert positions == sorted(positions)
    assert len({record.position for record in records if not isinstance(record, Reject)}) == tally.records
    return records, tally


def requested(line: bytes) -> dict[str, Any]:
    """A request cut down to two spans of each kind, so that changes hit what matters."""
    request: dict[str, Any] = json.loads(line)
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            scope["spans"] = scope["spans"][:2]
    return request


FLAT = {
    "openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user", "input.value": "{}",
    "llm.input_messages.0.message.contents.0.message_content.text": "hi", "llm.output_messages.0.message.content": "ok",
    "llm.tools.0.tool.json_schema": "{}", "llm.invocation_parameters": "{}", "metadata": '{"task_id": "t"}',
    "annotations.0.annotation.name": "polite", "llm.token_count.prompt": 1,
}  # fmt: skip
FLATTER = {"gen_ai.request.model": "m", "gen_ai.prompt.0.content": "hi", "gen_ai.completion.0.tool_calls.0.name": "f",
           "llm.request.functions.0.name": "f", "agentlightning.reward.0.value": 1}  # fmt: skip
OPAQUE = {"langfuse.observation.type": "generation", "langfuse.observation.input": '[{"role": "user"}]',
          "langfuse.observation.output": "{}", "langfuse.observation.usage_details": "{}"}  # fmt: skip
SPANS = [{"traceId": "a" * 32, "spanId": "b" * 16, "attributes": said, "links": [{"traceId": "c" * 32}],
          "events": [{"name": "gen_ai.user.message", "attributes": {"content": "hi"}},
                     {"name": "mlflow.chunk.item.0", "attributes": {"mlflow.chunk.value": "{}"}}]}
         for said in (FLAT, FLATTER, OPAQUE, {"ai.prompt.messages": "[]", "ai.operationId": "ai.x.doStream"},
                      {"agentlightning.operation.name": "f", "tool_call_id": "c", "tool_response": "x"})]  # fmt: skip
LOGS = {"resourceLogs": [{"scopeLogs": [{"logRecords": [
    {"traceId": "a" * 32, "spanId": "b" * 16, "eventName": "gen_ai.user.message", "body": {"kvlistValue": {"values": [
        {"key": "content", "value": {"stringValue": "hi"}}]}}},
    {"traceId": "a" * 32, "spanId": "c" * 16, "eventName": "gen_ai.client.inference.operation.details",
     "attributes": {"gen_ai.input.messages": [{"role": "user", "parts": []}]}}]}]}]}  # fmt: skip
SEEDS = (
    [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in SPANS]
    + [LOGS]
    + [*map(json.loads, RUNS[::12]), requested(REQUESTS[0]), TRIAL, FEEDBACK]
)


@given(st.binary(max_size=400), st.booleans())
@settings(max_examples=400, deadline=None)
def test_arbitrary_bytes_are_read_without_an_exception(data: bytes, growing: bool) -> None:
    read(data, growing)


@given(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b"\x1f\x8b\x08",
            b"\x28\xb5\x2f\xfd",
            b"\xff\xfe",
            b"[{",
            b"{\n",
            b'{"a":',
            b"\x0a\x20\x12\x08",
            b"\0\0\0\x09\x0a",
            b"\0\0\0\x08\x28\xb5\x2f\xfd",
            b"\0\0\0\x20{",
        ]
    ),  # fmt: skip
)
@settings(max_examples=300, deadline=None)
def test_bytes_behind_every_kind_of_beginning_are_read_without_an_exception(data: bytes, head: bytes) -> None:
    read(head + data)


@given(st.lists(values, min_size=1, max_size=6), st.sampled_from([None, 2]))
@settings(max_examples=200, deadline=None)
def test_arbitrary_json_is_accounted_for(documents: list[Any], indent: int | None) -> None:
    lines = b"\n".join(json.dumps(document).encode() for document in documents)
    _, tally = read(lines + b"\n" + RUNS[0])
    if tally.container == "jsonl":
        assert tally.records + tally.rejects + tally.blanks == len(documents) + 1
    objects = [{"x": document} for document in documents]
    _, tally = read(json.dumps(objects, indent=indent).encode())
    assert (tally.records, tally.rejects, tally.blanks) == (0, len(documents), 0)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_a_capture_with_a_value_changed_anywhere_keeps_its_neighbours(data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(SEEDS))
    document = changed(seed, data.draw(st.sampled_from(places(seed))), data.draw(values))
    records, tally = read(b"\n".join([RUNS[0], json.dumps(document).encode(), RUNS[1]]))
    assert {0, 2} <= {record.position for record in records if isinstance(record, Span)}
    documents = {record.position for record in records} | ({1} if tally.blanks else set())
    assert documents == {0, 1, 2}


PLACES: list[tuple[dict[str, Any], str, str]] = [
    ({"openinference.span.kind": "LLM"}, "input.value", "output.value"),
    ({"openinference.span.kind": "TOOL"}, "input.value", "output.value"),
    ({"langfuse.observation.type": "generation"}, "langfuse.observation.input", "langfuse.observation.output"),
    ({"mlflow.spanType": "LLM"}, "mlflow.spanInputs", "mlflow.spanOutputs"),
    ({"langsmith.span.kind": "tool"}, "gen_ai.prompt", "gen_ai.completion"),
    ({"gen_ai.operation.name": "chat"}, "events", "model_request_parameters"),
    ({"ai.operationId": "ai.generateText.doGenerate"}, "ai.prompt.messages", "ai.response.toolCalls"),
    ({"openinference.span.kind": "LLM"}, "llm.input_messages.0.message", "llm.output_messages.0.message.contents"),
]


@given(plausible, plausible)
@settings(max_examples=600, deadline=None)
def test_content_of_every_likely_shape_is_read(prompt: Any, answer: Any) -> None:
    run = {"id": "r", "trace_id": "t", "status": "success", "inputs": prompt, "outputs": answer}
    said = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": prompt, "gen_ai.output.messages": answer,
            "gen_ai.tool.definitions": prompt, "gen_ai.system_instructions": answer}  # fmt: skip
    span = {"traceId": "a" * 32, "spanId": "b" * 16, "attributes": said}
    chat = {"messages": prompt, "tools": answer}
    documents = [
        run | {"run_type": "llm"},
        run | {"run_type": "llm", "inputs": chat, "outputs": {"generations": [[answer]]}},
        run | {"run_type": "llm", "inputs": {"input": prompt}, "outputs": {"output": answer}},
        run | {"run_type": "tool"},
        {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]},
        *(
            {
                "resourceSpans": [
                    {"scopeSpans": [{"spans": [span | {"attributes": kind | {asked: prompt, answered: answer}}]}]}
                ]
            }
            for kind, asked, answered in PLACES
        ),
        TRIAL | {"traj": [prompt, {"role": "assistant", "content": answer}]},
    ]
    records, tally = read(b"\n".join(json.dumps(document).encode() for document in documents))
    assert tally.records == len(documents)
    assert tally.rejects == 0


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_capture_with_bytes_changed_anywhere_keeps_its_neighbours(data: st.DataObject) -> None:
    line = bytearray(data.draw(st.sampled_from([RUNS[3], RUNS[20], json.dumps(TRIAL).encode()])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(line) - 1))
        line[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3)).replace(b"\n", b"")
    records, tally = read(b"\n".join([RUNS[0], bytes(line), RUNS[1]]))
    first, *_, last = records
    assert isinstance(first, Span)
    assert isinstance(last, Span)
    assert tally.records + tally.rejects + tally.blanks >= 3


@pytest.mark.parametrize("pretty", [False, True])
def test_a_capture_cut_at_any_byte_keeps_what_came_before(pretty: bool) -> None:
    runs = [json.loads(line) for line in RUNS[:6]]
    whole = json.dumps(runs, indent=2).encode() if pretty else b"\n".join(RUNS[:6])
    ends = []
    for cut in random.Random(7).sample(range(1, len(whole)), 120):
        records, _ = read(whole[:cut])
        ends.append((cut, sum(isinstance(record, Span) for record in records)))
        assert sum(isinstance(record, Reject) for record in records) <= 1
    counts = [spans for _, spans in sorted(ends)]
    assert counts == sorted(counts)
    assert counts[-1] >= 5


@given(st.lists(values, min_size=1, max_size=5), st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
@settings(max_examples=200, deadline=None)
def test_where_chunks_end_does_not_matter(documents: list[Any], step: int, indent: int | None, array: bool) -> None:
    objects = [{"x": document} for document in documents]
    text = (
        json.dumps(objects, indent=indent, ensure_ascii=False)
        if array
        else "\n".join(json.dumps(one, indent=indent, ensure_ascii=False) for one in objects)
    ).encode()
    scanner = Scanner()
    pieces = [piece for at in range(0, len(text), step) for piece in scanner.feed(text[at : at + step])]
    pieces += scanner.finish()
    at_once = Scanner()
    assert pieces == [*at_once.feed(text), *at_once.finish()]
    assert [json.dumps(json.loads(piece)) for piece in pieces] == [json.dumps(one) for one in objects]


@given(st.data(), st.integers(1, 200))
@settings(max_examples=300, deadline=None)
def test_where_chunks_end_does_not_matter_to_broken_text_either(data: st.DataObject, step: int) -> None:
    runs = [{"a": {"b": [1, {"c": 'x{"}'}]}, "d": [[], {}]} for _ in range(3)]
    indent = data.draw(st.sampled_from([None, 0, 2]))
    text = bytearray(json.dumps(runs, indent=indent) if data.draw(st.booleans()) else
                     "\n".join(json.dumps(run, indent=indent) for run in runs), "utf-8")  # fmt: skip
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from([b"", b'"', b"{", b"}", b"\\", b"\n"]))
    at_once, scanner = Scanner(), Scanner()
    pieces = [piece for at in range(0, len(text), step) for piece in scanner.feed(bytes(text[at : at + step]))]
    assert [*pieces, *scanner.finish()] == [*at_once.feed(bytes(text)), *at_once.finish()]


def test_a_capture_read_a_few_bytes_at_a_time_is_the_same() -> None:
    data = b"\n".join(RUNS[:4])
    pretty = "\n".join(json.dumps(json.loads(line), indent=2) for line in RUNS[:4]).encode()
    for text in (data, pretty, gzip.compress(data), b"[" + b",\n".join(RUNS[:4]) + b"]"):
        assert list(read_export(Dribble(text), Tally())) == list(read_export(io.BytesIO(text), Tally()))


def test_reasons_never_hold_text_of_the_input() -> None:
    secret = "hunter2secret"
    shapes: list[Any] = [
        secret,
        [secret],
        {secret: secret},
        {"run_type": secret, "id": secret},
        TRIAL | {"traj": secret},
    ]
    shapes += [
        {"resourceSpans": [{"scopeSpans": [{"spans": [secret, {"traceId": secret}]}]}]},
        FEEDBACK | {"run_id": None, "trace_id": None},
    ]
    lines = [json.dumps(shape) for shape in shapes] + [f'{{"a": {secret}}}', f'{{"{secret}']
    records, tally = read(RUNS[0] + b"\n" + "\n".join(lines).encode())
    rejects = [record for record in records if isinstance(record, Reject)]
    assert tally.rejects == len(rejects) >= 8
    assert not any(secret in record.reason for record in rejects)
