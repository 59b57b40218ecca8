"""Reads traces that the OpenAI Agents SDK writes for OpenAI's own dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import content_state, read_parameters, read_tools, read_usage
from transforms.readers.decoding import bounded
from transforms.readers.messages import read_message, with_system
from transforms.readers.parts import result_text
from transforms.readers.reading import Reading
from transforms.readers.responses import is_items, read_items
from transforms.readers.values import first_text, listing, mapping, text, time_ns, whole
from transforms.records import Reject, Span

KINDS = {"agent": "agent", "function": "tool", "generation": "llm", "response": "llm", "handoff": "chain",
         "guardrail": "guardrail", "custom": "chain", "mcp_tools": "other"}  # fmt: skip
TASK_NAMES = ("task_id", "task.id", "example_id")
TRIAL_NAMES = ("attempt", "trial")


def is_item(fields: dict[str, Any]) -> bool:
    """Whether an object is a trace or a span of it."""
    return fields.get("object") in ("trace", "trace.span") and "id" in fields


def read_item(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """The root of a trace, or one span."""
    trace = first_text(fields, "trace_id" if fields["object"] == "trace.span" else "id").removeprefix("trace_").lower()
    if not trace or not first_text(fields, "id").removeprefix("span_"):
        yield Reject(position, "no_ids")
    elif fields["object"] == "trace":
        yield _root(fields, trace, position)
    else:
        yield _span(fields, trace, position, reading)


def _root(fields: dict[str, Any], trace: str, position: int) -> Span:
    metadata = mapping(fields.get("metadata"))
    span = Span("openai_agents", "openai_agents", position, trace, trace, "chain", text(fields.get("workflow_name")))
    span.conversation_id = first_text(fields, "group_id")
    span.task = first_text(metadata, *TASK_NAMES)
    span.trial = next((count for name in TRIAL_NAMES if (count := whole(metadata.get(name))) is not None), None)
    span.attributes = {key: bounded(value) for key, value in metadata.items() if key not in (*TASK_NAMES, *TRIAL_NAMES)}
    span.content_state = "full"
    return span


def _span(fields: dict[str, Any], trace: str, position: int, reading: Reading) -> Span:
    data = mapping(fields.get("span_data"))
    kind = KINDS.get(text(data.get("type")), "other")
    name = first_text(data, "name") or text(data.get("type"))
    span_id = first_text(fields, "id").removeprefix("span_").lower()
    span = Span("openai_agents", "openai_agents", position, trace, span_id, kind, name)
    span.parent_span_id = first_text(fields, "parent_id").removeprefix("span_").lower() or trace
    span.started_ns, span.ended_ns = time_ns(fields.get("started_at")), time_ns(fields.get("ended_at"))
    error = mapping(fields.get("error"))
    span.error = first_text(error, "message")
    span.status = "error" if error else "pending" if span.ended_ns is None else "ok"
    odd: set[str] = set()
    if kind == "llm":
        _fill_call(span, data, odd, reading)
    elif kind == "tool":
        span.tool_name = name
        span.tool_arguments, span.tool_result = text(data.get("input")), result_text(data.get("output"), odd)
        span.content_state = "full" if span.tool_arguments or span.tool_result else "absent"
    else:
        span.agent = name if kind == "agent" else ""
        span.content_state = "full"
    span.flags += sorted(odd)
    return span


def _fill_call(span: Span, data: dict[str, Any], odd: set[str], reading: Reading) -> None:
    """A `response` span holds the id of an answer that lies at OpenAI; only processors of users keep what was said."""
    response = mapping(data.get("response") or data.get("_response"))
    asked = data.get("input") or data.get("_input")
    said = data.get("output") or response.get("output")
    span.prompt = read_items(asked, odd) if isinstance(asked, list) and is_items(asked) else _said(asked, odd, reading)
    span.prompt = with_system(span.prompt, response.get("instructions"), odd)
    answer = listing(said)
    span.output = read_items(answer, odd) if is_items(answer) else [
        message for item in answer for message in read_message(item, odd, "assistant")
    ]  # fmt: skip
    settings = mapping(data.get("model_config"))
    usage = read_usage(data.get("usage"), response.get("usage"))
    span.provider, span.model = "openai", first_text(data, "model") or first_text(response, "model")
    span.response_id = first_text(data, "response_id") or first_text(response, "id")
    span.parameters = read_parameters(settings, response)
    span.tools = read_tools(response.get("tools"))
    span.input_tokens, span.output_tokens = usage.input, usage.output
    span.cache_read_tokens, span.reasoning_tokens = usage.cache_read, usage.reasoning
    if response.get("previous_response_id"):
        odd.add("history_elsewhere")
    if span.response_id and not span.output:
        odd.add("payload_elsewhere")
    span.content_state = content_state(span, odd, lambda: bool(said if span.prompt else asked))


def _said(asked: Any, odd: set[str], reading: Reading) -> Any:
    return reading.seen.read(asked, odd) if asked else []
