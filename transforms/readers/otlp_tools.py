"""Reads spans of tools: what was called, with what, and what came back."""

from __future__ import annotations

from typing import Any

from transforms.readers.langsmith_calls import LONGEST_REPR, as_json, fill_tool
from transforms.readers.otlp_events import CHOICE, TOOL_MESSAGE, Event
from transforms.readers.otlp_flat import gather
from transforms.readers.otlp_payloads import arguments_of, read_tool_run, result_of
from transforms.readers.parts import result_text
from transforms.readers.values import first_text, mapping, text
from transforms.records import Span

NAMES = ("gen_ai.tool.name", "ai.toolCall.name", "tool.name", "traceloop.entity.name", "agentlightning.operation.name")
IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool.call.id", "tool.id", "tool_call_id",
       "langfuse.observation.metadata.tool_call_id")  # fmt: skip
ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "ai.toolCall.input",
             "gcp.vertex.agent.tool_call_args")  # fmt: skip
RESULTS = ("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "ai.toolCall.output",
           "gcp.vertex.agent.tool_response")  # fmt: skip


NOTHING = {"inputs": None, "outputs": None}


def fill_tool_span(span: Span, said: dict[str, Any], events: list[Event], odd: set[str]) -> None:
    """Name, id, arguments and result of a call, under the names that each convention gives them."""
    run = {"inputs": _first(said, ARGUMENTS), "outputs": _first(said, RESULTS)}
    if run == NOTHING:
        run = _told(events)
    if "agentlightning.operation.name" in said:
        run = _agentlightning(said)
    elif run == NOTHING:
        _, run = read_tool_run(said, odd)
        run = run or {"inputs": said.get("tool.parameters"), "outputs": None}
    named = first_text(said, *NAMES)
    _fill(span, run["inputs"], run["outputs"], odd)
    span.tool_name = named or span.tool_name or span.name
    span.tool_call_id = first_text(said, *IDS).strip('"') or span.tool_call_id
    span.content_state = "redacted" if "redacted" in odd else "absent"
    if span.content_state == "absent" and (span.tool_arguments or span.tool_result):
        span.content_state = "truncated" if "attrs_dropped" in span.flags else "full"


def _fill(span: Span, inputs: Any, outputs: Any, odd: set[str]) -> None:
    result = result_of(outputs)
    if isinstance(result, dict):
        status, state = span.status, span.content_state
        fill_tool(span, {"inputs": None, "outputs": result})
        span.status, span.content_state = (span.status if status == "ok" else status), state
    else:
        span.tool_result = result_text(result, odd)
    written = text(arguments_of(inputs))
    is_python = written.startswith("{'") and len(written) <= LONGEST_REPR
    span.tool_arguments = as_json(written) if is_python else written


def _told(events: list[Event]) -> dict[str, Any]:
    """What a tool was asked and what it gave back, where events of its span tell it (Strands)."""
    told = {name: event for name, event, _ in events if name in (TOOL_MESSAGE, CHOICE)}
    return {"inputs": mapping(told.get(TOOL_MESSAGE)).get("content"),
            "outputs": mapping(told.get(CHOICE)).get("message")}  # fmt: skip


def _agentlightning(said: dict[str, Any]) -> dict[str, Any]:
    """Arguments and results that Agent Lightning spreads over attributes where they are objects."""
    tree = mapping(next(iter(gather({f"o.0.{key}": value for key, value in said.items()}, "o", set())), None))
    operation = mapping(mapping(tree.get("agentlightning")).get("operation"))
    return {"inputs": operation.get("input", {}), "outputs": operation.get("output")}


def _first(said: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((said[name] for name in names if said.get(name) is not None), None)
