"""What becomes of spans that JavaScript's console exporter printed, which are no JSON."""

from __future__ import annotations

import io
import json

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.readers.inspected import as_json
from transforms.records import Message, Record, Reject, Span

PRINTED = r"""{
  resource: { attributes: { 'service.name': 'shop' } },
  instrumentationScope: { name: 'kit', version: undefined, schemaUrl: undefined },
  traceId: '6a5b4c3d2e1f00112233445566778899',
  parentSpanContext: {
    traceId: '6a5b4c3d2e1f00112233445566778899',
    spanId: '1122334455667788',
    traceFlags: 1
  },
  traceState: undefined,
  name: 'chat m',
  id: '99aabbccddeeff00',
  kind: 0,
  timestamp: 1796015043250000,
  duration: 750000.5,
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.input.messages': '[{"role":"user","content":"it\'s\\n\\"}\\n{ \\u00e9"}]',
    'gen_ai.output.messages': `[{"role":"assistant","content":"a 'b'"}]`,
    tags: [ 'a', "it's" ],
    count: 12n
  },
  status: { code: 1 },
  events: [],
  links: []
}
"""


def read(text: str, growing: bool = False) -> tuple[list[Record], Tally]:
    tally = Tally()
    return list(read_export(io.BytesIO(text.encode()), tally, growing=growing)), tally


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_printed_span_is_read(newline: str) -> None:
    ((span,), tally) = read(PRINTED.replace("\n", newline))
    assert isinstance(span, Span)
    assert (span.trace_id, span.span_id) == ("6a5b4c3d2e1f00112233445566778899", "99aabbccddeeff00")
    assert (span.parent_span_id, span.name, span.dataset) == ("1122334455667788", "chat m", "shop")
    assert (span.kind, span.content_state, span.status) == ("llm", "full", "ok")
    assert span.prompt == [Message("user", "it's\n\"}\n{ é")]
    assert span.output == [Message("assistant", "a 'b'")]
    assert (span.started_ns, span.ended_ns) == (1_796_015_043_250_000_000, 1_796_015_044_000_000_500)
    assert (span.attributes["tags"], span.attributes["count"]) == (["a", "it's"], 12)
    assert (tally.container, tally.records) == ("inspected", 1)


def test_what_else_a_console_shows_is_refused_line_by_line_and_takes_no_span_with_it() -> None:
    records, tally = read(f"> start\n\n{PRINTED}listening\n{PRINTED.rstrip()}")
    assert [type(record) for record in records] == [Reject, Span, Reject, Span]
    assert (tally.records, tally.rejects) == (2, 2)


@pytest.mark.parametrize(
    "broken", ["{\n", "{\n  a: 1,\n", "{\n  a: 'open\n", "{\n  a: { b: [\n", "{\n  a: [Object [\n}\n"]
)
def test_an_object_that_was_never_closed_takes_no_neighbour_with_it(broken: str) -> None:
    records, _ = read(PRINTED + broken + PRINTED)
    assert [type(record) for record in records] == [Span, Reject, Span]


@pytest.mark.parametrize(
    "left_out", ["'abc'... 200 more characters", "[ 1, 2,\n    ... 50 more items\n  ]", "[Object]"]
)
def test_a_span_of_which_the_console_left_something_out_is_never_full(left_out: str) -> None:
    ((span,), _) = read(PRINTED.replace("12n", left_out))
    assert isinstance(span, Span)
    assert (span.content_state, span.flags) == ("truncated", ["attrs_dropped"])


def test_the_end_of_a_file_that_was_cut_off_is_told_or_left() -> None:
    (records, _) = read(PRINTED + PRINTED[:-40])
    assert [type(record) for record in records] == [Span, Reject]
    assert [type(record) for record in read(PRINTED + PRINTED[:-40], growing=True)[0]] == [Span]


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("{ a: undefined, b: NaN, c: -Infinity, d: true }", {"a": None, "b": None, "c": None, "d": True}),
        (r"{ a: '\x41\u0042\u{43}\'\"\\\t' }", {"a": "ABC'\"\\\t"}),
        ("{ a: 'one ' +\n    'two', 'b.c': -1.5e-7 }", {"a": "one two", "b.c": -1.5e-7}),
        ("{ a: Map(0) {}, b: [Object: null prototype] { c: 1 }, d: Kind { e: [] } }",
         {"a": {}, "b": {"c": 1}, "d": {"e": []}}),
    ],
)  # fmt: skip
def test_values_are_those_that_were_printed(printed: str, value: object) -> None:
    assert json.loads(as_json(printed.encode())) == value


@pytest.mark.parametrize("printed", ["", "{ a: }; b", "text", "{ a: 'open", "{ <ref *1> }"])
def test_what_cannot_be_told_stays_as_it_was(printed: str) -> None:
    assert as_json(printed.encode()) == printed.encode()
