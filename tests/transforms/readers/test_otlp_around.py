"""What attributes say beside content is the same whatever the content is, and whether it was read before or not."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.readers.exports import Tally, read_export
from transforms.readers.otlp import attributes
from transforms.readers.otlp_around import content_of, read_around
from transforms.readers.otlp_flat import gather_openinference
from transforms.records import Message, Span

CAPTURES = Path(__file__).parents[2] / "corpus"
PREFIX = "llm.output_messages"


def _said() -> list[dict[str, Any]]:
    """The attributes of all spans in the captures of OTLP in JSON lines, and more where there are more captures."""
    paths = [*CAPTURES.rglob("*.jsonl.gz"), *Path(os.environ.get("TRACEMILL_CORPUS", CAPTURES)).rglob("*.jsonl")]
    found = []
    for path in paths:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for document in map(json.loads, raw.splitlines()):
            for resource in document.get("resourceSpans", []) if isinstance(document, dict) else []:
                for scope in resource.get("scopeSpans", []):
                    found += [attributes(span.get("attributes")) for span in scope["spans"]]
    return found


def test_what_content_holds_is_not_read() -> None:
    said = _said()
    assert any(content_of(key) for one in said for key in one)
    for one in said:
        other = {key: "[]" if content_of(key) else value for key, value in one.items()}
        assert read_around(other) == read_around(one)


@pytest.mark.parametrize("value", [{"intValue": "1"}, {"boolValue": True}, {"stringValue": "1"}, {"doubleValue": 1.0}])
def test_values_that_compare_equal_are_told_apart(tmp_path: Path, value: dict[str, Any]) -> None:
    others = [{"intValue": "1"}, {"boolValue": True}, {"stringValue": "1"}, {"doubleValue": 1.0}, value]
    made = tmp_path / "spans.jsonl"
    made.write_text("".join(json.dumps(_request(number, one)) + "\n" for number, one in enumerate(others)))
    with made.open("rb") as stream:
        spans = [record for record in read_export(stream, Tally()) if isinstance(record, Span)]
    told = [span.attributes["level"] for span in spans]
    assert [(type(one), one) for one in told[:4]] == [(int, 1), (bool, True), (str, "1"), (float, 1.0)]
    assert type(told[4]) is type(told[others.index(value)])


OPERATION = {"gen_ai.operation.name": "chat"}
AGENT = {"openinference.span.kind": "AGENT", "llm.model_name": "m"}
ALIKE = [
    OPERATION | {"gen_ai.response.id_hash": "a"},
    OPERATION | {"gen_ai.response.id_hash": "b"},
    OPERATION | {"gen_ai.response.id": "r"},
    AGENT | {"llm.output_messages": "x"},
    AGENT | {"llm.output_messages.0.message.content": "x"},
    AGENT | {"llm.tools": "x"},
    OPERATION | {"gen_ai.usage": "x", "input.value.more": "y"},
]


@given(st.permutations(ALIKE))
def test_spans_that_are_nearly_alike_are_read_as_if_each_were_alone(listed: list[dict[str, str]]) -> None:
    def told(*spans: dict[str, str]) -> list[tuple[Any, ...]]:
        requests = (_request(number, {"intValue": "1"}, said) for number, said in enumerate(spans))
        raw = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
        records = list(read_export(io.BytesIO(raw), Tally()))
        return [(one.kind, one.dialect, one.attributes, one.model) for one in records if isinstance(one, Span)]

    assert told(*listed) == [told(said)[0] for said in listed]


def test_an_answer_of_an_unknown_role_is_the_models() -> None:
    answer = json.dumps([{"role": "bot", "parts": [{"type": "text", "content": "hi"}]}])
    raw = json.dumps(_request(0, {"intValue": "1"}, OPERATION | {"gen_ai.output.messages": answer})).encode()
    [span] = read_export(io.BytesIO(raw), Tally())
    assert isinstance(span, Span) and span.output == [Message("assistant", "hi")]
    assert "unknown_role" in span.flags


def _request(number: int, level: dict[str, Any], said: dict[str, str] = OPERATION) -> dict[str, Any]:
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
    span = {
        "traceId": "ab" * 16, "spanId": f"{number + 1:016x}", "name": "chat",
        "attributes": [*pairs, {"key": "level", "value": level}],
    }  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


TEXTS = st.text(max_size=5)
CALLS = st.lists(
    st.fixed_dictionaries({"function.name": TEXTS, "function.arguments": TEXTS}, optional={"id": TEXTS}), max_size=3
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"])}, optional={"content": TEXTS, "name": TEXTS, "tool_call_id": TEXTS}
)


@given(st.lists(st.tuples(MESSAGES, CALLS), max_size=4))
def test_messages_in_order_are_read_as_those_in_any_other(listed: list[tuple[dict[str, str], list[Any]]]) -> None:
    said: dict[str, Any] = {}
    for number, (message, calls) in enumerate(listed):
        start = f"{PREFIX}.{number}.message."
        said |= {start + name: value for name, value in message.items()}
        for place, call in enumerate(calls):
            said |= {f"{start}tool_calls.{place}.tool_call.{name}": value for name, value in call.items()}
    odd: set[str] = set()
    told = gather_openinference(said, PREFIX, odd)
    assert told == gather_openinference(dict(reversed(said.items())), PREFIX, odd)
    assert (len(told), odd) == (len(listed), set())
