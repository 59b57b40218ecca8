"""How OTLP in protobuf is told from text, cut into messages and decoded, and what becomes of damage."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, LogsData, ResourceLogs, ScopeLogs
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric, MetricsData, ResourceMetrics, ScopeMetrics
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status, TracesData

from transforms.readers import documents, frames
from transforms.readers.exports import Tally, read_export
from transforms.records import Record, Reject
from transforms.records import Span as Read

TRACE, SPAN = bytes(range(1, 17)), bytes(range(1, 9))
STARTED = 1_796_013_930_879_523_691


class Dribble(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(7, size) if size is not None and size >= 0 else size)


def value(said: Any) -> AnyValue:
    if isinstance(said, bool):
        return AnyValue(bool_value=said)
    if isinstance(said, int):
        return AnyValue(int_value=said)
    if isinstance(said, float):
        return AnyValue(double_value=said)
    if isinstance(said, bytes):
        return AnyValue(bytes_value=said)
    if isinstance(said, list):
        return AnyValue(array_value=ArrayValue(values=[value(item) for item in said]))
    if isinstance(said, dict):
        return AnyValue(kvlist_value=KeyValueList(values=pairs(said)))
    return AnyValue() if said is None else AnyValue(string_value=said)


def pairs(said: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=value(item)) for key, item in said.items()]


def body(name: str = "s", **said: Any) -> bytes:
    span = Span(trace_id=TRACE, span_id=SPAN, name=name, start_time_unix_nano=STARTED, end_time_unix_nano=STARTED + 5,
                attributes=pairs(said))  # fmt: skip
    resource = Resource(attributes=pairs({"service.name": "shop"}))
    return TracesData(
        resource_spans=[ResourceSpans(resource=resource, scope_spans=[ScopeSpans(spans=[span])])]
    ).SerializeToString()


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


def read(data: bytes, growing: bool = False, stream: type[io.BytesIO] = io.BytesIO) -> tuple[list[Record], Tally]:
    tally = Tally()
    records = list(read_export(stream(data), tally, growing=growing))
    assert tally.bytes == len(data)
    return records, tally


def brief(records: list[Record]) -> list[str]:
    return [f"{r.position}:{r.name if isinstance(r, Read) else getattr(r, 'reason', '')}" for r in records]


BODIES = [body(f"span {number}") for number in range(3)]
THREE = ["0:span 0", "1:span 1", "2:span 2"]
AS_JSON = [
    json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [
        {"traceId": TRACE.hex(), "spanId": SPAN.hex(), "name": f"span {number}"}]}]}]}).encode()
    for number in range(3)
]  # fmt: skip


@pytest.mark.parametrize("stream", [io.BytesIO, Dribble])
@pytest.mark.parametrize(
    ("data", "container"),
    [
        (b"".join(map(frame, BODIES)), "frames"),
        (b"".join(frame(zstandard.compress(message)) for message in BODIES), "frames"),
        (b"".join(map(frame, AS_JSON)), "frames"),
        (b"".join(frame(zstandard.compress(message)) for message in AS_JSON), "frames"),
        (b"".join(map(frame, [BODIES[0], AS_JSON[1], zstandard.compress(BODIES[2])])), "frames"),
        (b"".join(BODIES), "protobuf"),
        (gzip.compress(b"".join(BODIES), mtime=0), "gzip+protobuf"),
        (zstandard.compress(b"".join(map(frame, BODIES))), "zstd+frames"),
        (gzip.compress(b"".join(map(frame, BODIES)), mtime=0), "gzip+frames"),
    ],
)
def test_the_same_spans_are_read_from_every_binary_container(
    data: bytes, container: str, stream: type[io.BytesIO]
) -> None:
    records, tally = read(data, stream=stream)
    assert brief(records) == THREE
    assert (tally.records, tally.rejects, tally.blanks, tally.container) == (3, 0, 0, container)


@pytest.mark.parametrize("head", [b"\n", b"\n\n\n\n", b"\r\n", b" \n\t\n"])
def test_text_that_begins_with_blanks_is_no_protobuf(head: bytes) -> None:
    for text in (AS_JSON[0], json.dumps(json.loads(AS_JSON[0]), indent=2).encode(), b"\n".join(AS_JSON)):
        records, tally = read(head + text)
        assert brief(records)[0].endswith(":span 0")
        assert tally.container in ("json", "jsonl")


@pytest.mark.parametrize("size", [0x2000, 0x7B00, 0x7B22, 0x5B7B, 0x7B0A, 0xFEFF])
def test_frames_are_told_whatever_their_length_looks_like(size: int) -> None:
    candidates = (body("span 0", fill="x" * fill) for fill in range(size - 200, size))
    records, tally = read(frame(next(message for message in candidates if len(message) == size)))
    assert (brief(records), tally.container) == (["0:span 0"], "frames")


def test_protobuf_says_what_json_says() -> None:
    said = {"text": "안녕", "whole": 2**53 + 1, "number": 1.0, "flag": True, "list": [1, "a", {"b": None}],
            "bytes": b"\x00\xff", "map": {"k": [0.5]}, "none": None}  # fmt: skip
    span = Span(trace_id=TRACE, span_id=SPAN, parent_span_id=SPAN[::-1], name="s", start_time_unix_nano=STARTED,
                end_time_unix_nano=STARTED + 5, attributes=pairs(said), dropped_attributes_count=2,
                status=Status(code=Status.STATUS_CODE_ERROR, message="broke"),
                events=[Span.Event(name="exception", attributes=pairs({"exception.type": "E"}))])  # fmt: skip
    [record], _ = read(TracesData(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])
                       .SerializeToString())  # fmt: skip
    assert isinstance(record, Read)
    assert (record.trace_id, record.span_id, record.parent_span_id) == (TRACE.hex(), SPAN.hex(), SPAN[::-1].hex())
    assert (record.started_ns, record.ended_ns, record.flags) == (STARTED, STARTED + 5, ["attrs_dropped"])
    assert (record.status, record.error_type, record.error) == ("error", "E", "broke")
    assert record.attributes == {"text": "안녕", "whole": 2**53 + 1, "number": 1.0, "flag": True, "bytes": "AP8=",
                                 "list": [1, "a", {"b": None}], "map": {"k": [0.5]}}  # fmt: skip


def test_text_that_was_cut_within_a_character_loses_that_character_only() -> None:
    cut = body("s", note="caf" + "X" * 2, other="fine").replace(b"XX", b"\xc3\x00").replace(b"fine", b"nan!")
    [record], _ = read(cut)
    assert isinstance(record, Read)
    assert (record.attributes["note"], record.attributes["other"]) == ("caf\ufffd", "nan!")
    assert record.flags == ["non_utf8", "nul_characters"]
    [record], _ = read(body("s", number=float("nan")))
    assert isinstance(record, Read)
    assert ("number" in record.attributes, record.flags) == (False, ["nonfinite"])


def test_metrics_hold_nothing_and_logs_are_told_from_traces() -> None:
    metric = Metric(name="tokens", description="d" * 16, unit="1", gauge=Gauge())
    metrics = MetricsData(resource_metrics=[ResourceMetrics(scope_metrics=[ScopeMetrics(metrics=[metric])])])
    told = LogRecord(observed_time_unix_nano=STARTED, trace_id=TRACE, span_id=SPAN, event_name="gen_ai.user.message",
                     body=value({"content": "hi"}))  # fmt: skip
    logs = LogsData(resource_logs=[ResourceLogs(scope_logs=[ScopeLogs(log_records=[told])])])
    data = b"".join(frame(part.SerializeToString()) for part in (metrics, logs)) + frame(b"") + frame(BODIES[2])
    records, tally = read(data)
    assert brief(records) == ["1:", "3:span 2"]
    assert (tally.records, tally.rejects, tally.blanks) == (2, 0, 2)
    assert (records[0].trace_id, records[0].flags) == (TRACE.hex(), ["from_logs"])  # type: ignore[union-attr]


@pytest.mark.parametrize("broken", [b"\x0a\x7f\xff\xff", BODIES[1][:-9], b"\x0a\x05hello", b"{nonsense", b"\xff" * 9])
def test_a_broken_frame_takes_no_neighbour_with_it(broken: bytes) -> None:
    records, tally = read(frame(BODIES[0]) + frame(broken) + frame(BODIES[2]))
    assert [brief(records)[0], brief(records)[2]] == ["0:span 0", "2:span 2"]
    assert isinstance(records[1], Reject)
    assert records[1].reason in ("broken_protobuf", "broken_json")
    assert (tally.records, tally.rejects) == (2, 1)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_frame_with_bytes_changed_anywhere_keeps_its_neighbours(data: st.DataObject) -> None:
    message = bytearray(body("s", text="hi", list=[1, {"a": None}], number=0.5))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(message) - 1))
        message[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    records, tally = read(frame(BODIES[0]) + frame(bytes(message)) + frame(BODIES[2]))
    assert [brief(records)[0], brief(records)[-1]] == ["0:span 0", "2:span 2"]
    assert tally.records + tally.rejects + tally.blanks >= 3
    for found in records:
        json.dumps(msgspec.to_builtins(found), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("packed", [b"".join(BODIES), b"".join(map(frame, BODIES))])
def test_an_incomplete_end_is_a_reject_unless_the_file_is_growing(packed: bytes) -> None:
    for cut in (1, 9, len(BODIES[2]) - 1):
        records, tally = read(packed[:-cut])
        assert brief(records) == [*THREE[:2], "2:incomplete_message"]
        records, tally = read(packed[:-cut], growing=True)
        assert (brief(records), tally.rejects) == (THREE[:2], 0)
    records, _ = read(gzip.compress(packed)[:-20], growing=True)
    assert all(isinstance(record, Read) for record in records)


def test_messages_beyond_the_limit_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    large = body("large", text="x" * 5_000)
    for module in (documents, frames):
        monkeypatch.setattr(module, "LONGEST", 1 << 12)
    for data in (BODIES[0] + large + BODIES[2], b"".join(map(frame, (BODIES[0], large, BODIES[2])))):
        records, _ = read(data)
        assert brief(records) == ["0:span 0", "1:too_large", "2:span 2"]
    bomb = frame(zstandard.compress(b'{"a": "' + b"0" * (1 << 20)))
    records, _ = read(frame(BODIES[0]) + bomb + frame(BODIES[2]))
    assert brief(records) == ["0:span 0", "1:too_large", "2:span 2"]


def test_a_body_that_stops_being_one_is_refused_from_there_on() -> None:
    records, _ = read(BODIES[0] + b"\x07" * 40)
    assert brief(records) == ["0:span 0", "1:broken_protobuf"]
    assert records[1] == Reject(1, "broken_protobuf", 40)
