"""Decodes OTLP in protobuf into the documents that OTLP/JSON would give, so that one reader serves both."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

ID_BYTES = 16
"""Bytes of a trace id: what tells traces from logs and metrics, whose bodies are built alike."""


def decode_request(raw: bytes, odd: set[str]) -> dict[str, Any]:
    """The document of a body of traces, logs or metrics; raises ValueError where it is none of them.

    Attributes become plain objects, ids hex, times integers. What JSON would flag is flagged in `odd` too:
    `non_utf8`, `nul_characters`, `nonfinite`.
    """
    of_traces, of_logs, of_metrics = _schemas()
    traces = _parsed(of_traces, raw)
    if traces is not None and any(len(span.trace_id) == ID_BYTES for span in _spans(traces)):
        return {"resourceSpans": [_resource_spans(item, odd) for item in traces.resource_spans]}
    logs = _parsed(of_logs, raw)
    if logs is not None and any(_is_record(record) for record in _records(logs)):
        return {"resourceLogs": [_resource_logs(item, odd) for item in logs.resource_logs]}
    metrics = _parsed(of_metrics, raw)
    if metrics is not None and any(_is_metric(metric) for metric in _metrics(metrics)):
        return {"resourceMetrics": []}
    if traces is None:
        raise ValueError
    return {"resourceSpans": [_resource_spans(item, odd) for item in traces.resource_spans]}


@cache
def _schemas() -> tuple[Any, Any, Any]:
    """Classes of the three bodies, with every string as bytes: protobuf refuses a whole body for one bad character,
    and the Collector, which checks none, passes on text that was cut within a character."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    from opentelemetry.proto.common.v1 import common_pb2
    from opentelemetry.proto.logs.v1 import logs_pb2
    from opentelemetry.proto.metrics.v1 import metrics_pb2
    from opentelemetry.proto.resource.v1 import resource_pb2
    from opentelemetry.proto.trace.v1 import trace_pb2

    pool = descriptor_pool.DescriptorPool()
    for module in (common_pb2, resource_pb2, trace_pb2, logs_pb2, metrics_pb2):
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        messages = list(file.message_type)
        for message in messages:
            messages += message.nested_type
            for field in message.field:
                if field.type == descriptor_pb2.FieldDescriptorProto.TYPE_STRING:
                    field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    names = ("trace.v1.TracesData", "logs.v1.LogsData", "metrics.v1.MetricsData")
    traces, logs, metrics = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"opentelemetry.proto.{name}")) for name in names
    )
    return traces, logs, metrics


def _parsed(schema: Any, raw: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return schema.FromString(raw)
    except DecodeError:
        return None


def _spans(traces: Any) -> Iterator[Any]:
    return (span for item in traces.resource_spans for scope in item.scope_spans for span in scope.spans)


def _records(logs: Any) -> Iterator[Any]:
    return (record for item in logs.resource_logs for scope in item.scope_logs for record in scope.log_records)


def _metrics(metrics: Any) -> Iterator[Any]:
    return (metric for item in metrics.resource_metrics for scope in item.scope_metrics for metric in scope.metrics)


def _is_record(record: Any) -> bool:
    return bool(record.time_unix_nano or record.observed_time_unix_nano)


def _is_metric(metric: Any) -> bool:
    return bool(metric.name) and metric.WhichOneof("data") is not None


def _resource_spans(item: Any, odd: set[str]) -> dict[str, Any]:
    scopes = [
        {"scope": {"name": _text(scope.scope.name, odd)}, "spans": [_span(span, odd) for span in scope.spans]}
        for scope in item.scope_spans
    ]
    return {"resource": {"attributes": _attributes(item.resource.attributes, odd)}, "scopeSpans": scopes}


def _span(span: Any, odd: set[str]) -> dict[str, Any]:
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": _text(span.name, odd),
        "startTimeUnixNano": span.start_time_unix_nano,
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": _attributes(span.attributes, odd),
        "droppedAttributesCount": span.dropped_attributes_count,
        "events": [
            {
                "name": _text(event.name, odd),
                "timeUnixNano": event.time_unix_nano,
                "attributes": _attributes(event.attributes, odd),
                "droppedAttributesCount": event.dropped_attributes_count,
            }
            for event in span.events
        ],
        "droppedEventsCount": span.dropped_events_count,
        "links": [{"traceId": link.trace_id.hex(), "spanId": link.span_id.hex()} for link in span.links],
        "status": {"code": span.status.code, "message": _text(span.status.message, odd)},
    }


def _resource_logs(item: Any, odd: set[str]) -> dict[str, Any]:
    scopes = [
        {
            "scope": {"name": _text(scope.scope.name, odd)},
            "logRecords": [_record(record, odd) for record in scope.log_records],
        }
        for scope in item.scope_logs
    ]
    return {"resource": {"attributes": _attributes(item.resource.attributes, odd)}, "scopeLogs": scopes}


def _record(record: Any, odd: set[str]) -> dict[str, Any]:
    return {
        "traceId": record.trace_id.hex(),
        "spanId": record.span_id.hex(),
        "timeUnixNano": record.time_unix_nano,
        "observedTimeUnixNano": record.observed_time_unix_nano,
        "eventName": _text(record.event_name, odd),
        "body": {"value": _value(record.body, odd)},
        "attributes": _attributes(record.attributes, odd),
        "droppedAttributesCount": record.dropped_attributes_count,
    }


def _attributes(pairs: Any, odd: set[str]) -> dict[str, Any]:
    return {_text(pair.key, odd): _value(pair.value, odd) for pair in pairs}


def _value(value: Any, odd: set[str]) -> Any:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return _text(value.string_value, odd)
    if kind in ("int_value", "bool_value"):
        return getattr(value, kind)
    if kind == "double_value":
        if not math.isfinite(value.double_value):
            odd.add("nonfinite")
            return None
        return value.double_value
    if kind == "array_value":
        return [_value(item, odd) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _attributes(value.kvlist_value.values, odd)
    return base64.b64encode(value.bytes_value).decode() if kind == "bytes_value" else None


def _text(raw: bytes, odd: set[str]) -> str:
    try:
        said = raw.decode()
    except UnicodeDecodeError:
        odd.add("non_utf8")
        said = raw.decode(errors="replace")
    if "\0" in said:
        odd.add("nul_characters")
        said = said.replace("\0", "")
    return said
