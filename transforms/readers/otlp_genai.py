"""Fills spans of OTLP with what their attributes and events say, by any of the conventions for GenAI."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from transforms.readers import gemini
from transforms.readers.calls import content_state, read_parameters, read_tools
from transforms.readers.decoding import bounded
from transforms.readers.langsmith_calls import fill_call
from transforms.readers.otlp_calls import MODELS, PROVIDERS, RESPONSES, fill_surroundings, known_tools
from transforms.readers.otlp_chunks import answer_of_chunks
from transforms.readers.otlp_content import DETAILS, SYSTEM, Event, read_content
from transforms.readers.otlp_kinds import KNOWN_KEYS, LIFTED, METADATA, fill_identity, read_dialect, read_kind
from transforms.readers.otlp_payloads import read_run
from transforms.readers.otlp_tools import ARGUMENTS, IDS, NAMES, RESULTS, fill_tool_span
from transforms.readers.seen import Seen
from transforms.readers.tokens import KEYS as TOKENS
from transforms.readers.tokens import fill_from_attributes
from transforms.readers.values import mapping, text
from transforms.records import Span

ASKED = (
    "gen_ai.input.messages", "gen_ai.prompt", "gen_ai.task.input", "llm.input_messages", "llm.prompts", "ai.prompt",
    "input.value", "traceloop.entity.input", "events", "all_messages_events", "pydantic_ai.all_messages",
    "langfuse.observation.input", "langfuse.trace.input", "mlflow.spanInputs", "request_data",
    "gcp.vertex.agent.llm_request", "gcp.vertex.agent.tool_call_args", "agentlightning.operation.input",
)  # fmt: skip
ANSWERED = (
    "gen_ai.output.messages", "gen_ai.completion", "gen_ai.task.output", "llm.output_messages", "llm.choices",
    "ai.response.text", "ai.response.toolCalls", "ai.response.object", "ai.response.reasoning", "ai.result.",
    "output.value", "traceloop.entity.output", "events", "final_result", "langfuse.observation.output",
    "langfuse.trace.output", "mlflow.spanOutputs", "response_data", "gcp.vertex.agent.llm_response",
    "gcp.vertex.agent.tool_response", "agentlightning.operation.output",
)  # fmt: skip
"""Beginnings of attributes that hold what went in and what came out. They are read into messages or not at all."""

AROUND = (
    SYSTEM, "gen_ai.request.", "gen_ai.usage.", "gen_ai.aggregated_usage.", "gen_ai.tool.definitions",
    "gen_ai.response.finish_reasons", "gen_ai.operation.name", "error.type", "llm.tools", "llm.token_count.",
    "llm.request.functions", "llm.invocation_parameters", "llm.finish_reason", "llm.headers", "ai.usage.",
    "ai.settings.", "ai.request.headers", "ai.operationId", "model_request_parameters", "mlflow.chat.",
    "langfuse.observation.usage_details", "langfuse.observation.model.parameters", "logfire.json_schema",
    "logfire.metrics", "embedding.embeddings", "input.mime_type", "output.mime_type", "annotations.", "evaluations.",
    "trace.annotations.", "trace.evaluations.", "session.annotations.", "session.evaluations.",
    "agentlightning.reward.", "agentlightning.link.",
)  # fmt: skip
"""Beginnings of attributes that are read into other fields, or say how others are written."""

NOTHING: tuple[Any, ...] = (None, "", "[]", "{}", "null", [], {})
"""What an attribute holds where there was nothing to say."""

SCRUBBED = "logfire.scrubbed"
"""Where Logfire says which values it replaced."""

ONCE = frozenset((*LIFTED, *MODELS, *PROVIDERS, *RESPONSES, *ARGUMENTS, *RESULTS, *IDS, *NAMES, "metadata")) - {
    "agentlightning.operation.name", "traceloop.entity.name", "gen_ai.request.model"}  # fmt: skip


def fill_span(span: Span, said: dict[str, Any], metadata: dict[str, Any], events: list[Event], seen: Seen) -> None:
    """Kind, identity and content of a span from its attributes and events."""
    odd: set[str] = set()
    details: dict[str, Any] = {}
    for name, event, _ in reversed(events):
        if name == DETAILS:
            details |= event
    said = details | said if details else said
    span.kind, span.dialect = read_kind(said), read_dialect(said)
    fill_identity(span, said, metadata)
    span.attributes = _attributes(said, metadata)
    if span.kind == "llm":
        _fill_call(span, said, events, odd, seen)
    elif span.kind == "tool":
        fill_tool_span(span, said, odd)
    else:
        span.content_state = "full"
        span.tools = known_tools(said, seen) if span.kind == "agent" else []
    span.flags += sorted(odd - set(span.flags))


def _attributes(said: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    kept = {key: bounded(value) for key, value in said.items() if value is not None and _is_own(key)}
    own = {key: bounded(value) for key, value in metadata.items() if value is not None and key not in LIFTED}
    return kept | ({"metadata": own} if own else {})


@lru_cache(KNOWN_KEYS)
def _is_own(key: str) -> bool:
    """Whether an attribute is nothing that is read into other fields."""
    return key not in ONCE and key not in TOKENS and not key.startswith((*ASKED, *ANSWERED, *AROUND, *METADATA))


def _fill_call(span: Span, said: dict[str, Any], events: list[Event], odd: set[str], seen: Seen) -> None:
    read = read_content(said, events, seen)
    finish: Any = None
    if read is not None:
        odd |= read.odd
        finish = read.finish
    if read is not None and (read.prompt or read.output):
        span.dialect, span.prompt, span.output = read.dialect, read.prompt, read.output
        span.tools = read_tools(gemini.tools(read.request))
    else:
        dialect, run = read_run(said, odd)
        if run:
            streamed = answer_of_chunks(events, odd)
            run["outputs"] = {**mapping(run["outputs"]), **streamed} if streamed else run["outputs"]
            fill_call(span, run, seen)
            odd |= set(span.flags) - {"attrs_dropped"}
            span.dialect = dialect if span.prompt or span.output else span.dialect
    if span.status == "error" and not any(message.content or message.tool_calls for message in span.output):
        span.output = []  # LangChain writes an empty message where the provider refused
    fill_surroundings(span, said, finish, seen)
    if read is not None and read.request:
        span.parameters = read_parameters(span.parameters, mapping(read.request.get("config")))
    unread = ANSWERED if span.prompt else ASKED
    if SCRUBBED in said and any(key.startswith((*ASKED, *ANSWERED)) and key in text(said[SCRUBBED]) for key in said):
        odd.add("redacted")
    told = (key for key, value in said.items() if value not in NOTHING)
    span.content_state = content_state(span, odd, any(key.startswith(unread) for key in told))
    if not span.output_logprobs and not span.output_token_ids:
        fill_from_attributes(span, said)
