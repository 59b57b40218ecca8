"""Reads what Phoenix gives out: spans of its API and its data frames, and annotations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.reading import Reading
from transforms.readers.span_dumps import CODES, Spans, lifted, read_span
from transforms.readers.values import first_text, json_text, listing, mapping, number, text, time_ns
from transforms.records import Feedback, Reject

ANNOTATORS = {"LLM": "llm", "CODE": "code", "HUMAN": "human"}
ATTRIBUTES = "attributes."
KIND = "openinference.span.kind"
KINDS = frozenset({"LLM", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER", "GUARDRAIL", "EVALUATOR"})
VERDICTS = {"eval": "unknown", "trace_eval": "unknown", "annotation": "human"}
"""Columns of verdicts begin so; who gave them."""

PARTS = frozenset({"score", "label", "explanation", "text", "updated_at"})
WHOLE = frozenset({"metadata", "tool.parameters", "llm.prompt_template.variables", "llm.invocation_parameters"})
"""Attributes that are one JSON text in spans, and parsed in data frames."""


def is_span(fields: dict[str, Any]) -> bool:
    """Whether an object is a span of the API or the CLI, of Phoenix or of Arize, which names the kind otherwise."""
    known = "span_kind" in fields or text(fields.get("kind")) in KINDS
    return known and "span_id" in mapping(fields.get("context"))


def read_api_span(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of an API span, and the annotations that the CLI puts beside it."""
    context, said = mapping(fields["context"]), mapping(fields.get("attributes"))
    if "span_kind" not in fields:
        fields, nested, said = {**fields, "span_kind": fields["kind"]}, said, {}
        for name, value in nested.items():
            _flatten(name, value, said)
    yield from _read(fields, context, said, position, reading)
    for item in map(mapping, listing(fields.get("annotations"))):
        if is_annotation(about := {"span_id": context["span_id"], **item}):
            yield from read_annotation(about, position, reading)


def is_row(fields: dict[str, Any]) -> bool:
    """Whether an object is a row of a data frame of spans, by Phoenix or by Arize."""
    return "context.span_id" in fields and ("span_kind" in fields or f"{ATTRIBUTES}{KIND}" in fields)


def read_row(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of a row and the verdicts in its columns.

    Lists of messages become numbered attributes again, padding is left out.
    """
    context = {"trace_id": fields.get("context.trace_id"), "span_id": fields["context.span_id"]}
    said: dict[str, Any] = {}
    for name, value in fields.items():
        if name.startswith(ATTRIBUTES) and value is not None:
            _flatten(name.removeprefix(ATTRIBUTES), value, said)
    yield from _read(fields, context, said, position, reading)
    yield from _verdicts(fields, position)


def _verdicts(fields: dict[str, Any], position: int) -> Iterator[Feedback]:
    """What columns `eval.NAME.score` and the like tell: Arize's, and Phoenix's of a saved data set."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for column, value in fields.items():
        scope, _, rest = column.partition(".")
        name, _, part = rest.rpartition(".")
        if scope in VERDICTS and name and part in PARTS and value is not None:
            found.setdefault((scope, name), {})[part] = value
    for (scope, name), said in found.items():
        yield Feedback(
            position=position,
            trace_id=first_text(fields, "context.trace_id").lower() if scope == "trace_eval" else "",
            key=name,
            span_id="" if scope == "trace_eval" else first_text(fields, "context.span_id").lower(),
            score=number(said.get("score")),
            label=text(said.get("label")),
            comment=text(said.get("explanation")) or text(said.get("text")),
            annotator=VERDICTS[scope],
            created_ns=time_ns(said.get("updated_at")),
        )


def is_annotation(fields: dict[str, Any]) -> bool:
    """Whether an object is an annotation of a span or a trace, or its row in a data frame.

    One on a document that a span retrieved says nothing of the span.
    """
    about = ("span_id" in fields or "trace_id" in fields) and fields.get("document_position") is None
    return about and "annotator_kind" in fields and ("result" in fields or "result.score" in fields)


def read_annotation(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Feedback | Reject]:
    """A verdict; one on a span says nothing of its trace, which is then found by the span."""
    result = mapping(fields.get("result")) or {
        name.removeprefix("result."): value for name, value in fields.items() if name.startswith("result.")
    }
    span, trace = first_text(fields, "span_id").lower(), first_text(fields, "trace_id").lower()
    if not span and not trace:
        yield Reject(position, "no_ids")
        return
    yield Feedback(
        position=position,
        trace_id=trace,
        key=first_text(fields, "name", "annotation_name"),
        feedback_id=first_text(fields, "id"),
        span_id=span,
        score=number(result.get("score")),
        label=text(result.get("label")),
        comment=text(result.get("explanation")),
        annotator=ANNOTATORS.get(text(fields.get("annotator_kind")), "unknown"),
        created_ns=time_ns(fields.get("updated_at")) or time_ns(fields.get("created_at")),
    )


def _read(
    fields: dict[str, Any], context: dict[str, Any], said: dict[str, Any], position: int, reading: Reading
) -> Spans:
    said = {KIND: text(fields.get("span_kind")), **lifted(said)}
    span = {
        "traceId": context.get("trace_id"),
        "spanId": context.get("span_id"),
        "parentSpanId": fields.get("parent_id"),
        "name": fields.get("name"),
        "startTimeUnixNano": time_ns(fields.get("start_time")),
        "endTimeUnixNano": time_ns(fields.get("end_time")),
        "status": {"code": CODES.get(text(fields.get("status_code")), 0), "message": fields.get("status_message")},
        "attributes": said,
        "events": [
            {"name": event.get("name"), "timeUnixNano": time_ns(event.get("timestamp")),
             "attributes": mapping(event.get("attributes"))}
            for event in map(mapping, listing(fields.get("events")))
        ],
    }  # fmt: skip
    yield from read_span(span, {}, "", position, reading, "phoenix")


def _flatten(name: str, value: Any, said: dict[str, Any]) -> None:
    """Puts a parsed attribute back as the flat ones it was made of."""
    if name in WHOLE and not isinstance(value, str):
        said[name] = json_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _flatten(f"{name}.{key}", item, said)
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            _flatten(f"{name}.{index}", item, said)
    elif value is not None:
        said[name] = value
