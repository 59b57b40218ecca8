"""Reads what attributes say beside the content of a span, once for all spans that say the same."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from transforms.readers.calls import read_parameters
from transforms.readers.decoding import bounded
from transforms.readers.otlp_content import INPUT, OUTPUT, SYSTEM, opened
from transforms.readers.otlp_kinds import (
    KNOWN_KEYS,
    LIFTED,
    METADATA,
    read_dialect,
    read_identity,
    read_kind,
    read_metadata,
)
from transforms.readers.otlp_tools import ARGUMENTS, IDS, NAMES, RESULTS
from transforms.readers.shared_attributes import Around, Said
from transforms.readers.tokens import KEYS as TOKENS
from transforms.readers.values import first_text, mapping
from transforms.readers.writings import MESSAGES

MODELS = ("gen_ai.response.model", "llm.response.model_name", "llm.model_name", "ai.response.model",
          "langfuse.observation.model.name", "mlflow.llm.model", "gen_ai.request.model", "llm.request.model_name",
          "ai.model.id")  # fmt: skip
PROVIDERS = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider")
RESPONSES = ("gen_ai.response.id", "ai.response.id")
PARAMETERS = "gen_ai.request."
NO_PARAMETERS = ("model", "functions", "structured_output_schema")

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

ONCE = frozenset((*LIFTED, *MODELS, *PROVIDERS, *RESPONSES, *ARGUMENTS, *RESULTS, *IDS, *NAMES, "metadata")) - {
    "agentlightning.operation.name", "traceloop.entity.name", "gen_ai.request.model"}  # fmt: skip

CONTENT = (
    INPUT, OUTPUT, SYSTEM, MESSAGES, "llm.output_messages", "input.value", "output.value", "llm.tools.",
    "gen_ai.tool.definitions", "gen_ai.usage.", "llm.token_count.", "gen_ai.response.id",
    "gen_ai.response.finish_reasons",
)  # fmt: skip
"""Beginnings of attributes that differ from call to call, or stand elsewhere: nothing here reads what they hold."""


@lru_cache(KNOWN_KEYS)
def content_of(key: str) -> str:
    """Which content an attribute is, or is part of; empty for all others."""
    return next((start for start in CONTENT if key.startswith(start)), "")


def around(said: dict[str, Any]) -> Around:
    """What attributes say beside content."""
    if not isinstance(said, Said):
        return read_around(said)
    found = said.shared.around.get(said.content)
    if found is None:
        found = said.shared.around[said.content] = read_around(said)
    return found


def read_around(said: dict[str, Any]) -> Around:
    """The same, read afresh."""
    metadata = read_metadata(said)
    return Around(
        metadata=metadata,
        identity=read_identity(said, metadata),
        kind=read_kind(said),
        dialect=read_dialect(said),
        model=first_text(said, *MODELS).strip('"'),
        provider=first_text(said, *PROVIDERS),
        parameters=_parameters(said),
        attributes=_attributes(said, metadata),
    )


def _attributes(said: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    kept = {key: bounded(value) for key, value in said.items() if value is not None and _is_own(key)}
    own = {key: bounded(value) for key, value in metadata.items() if value is not None and key not in LIFTED}
    return kept | ({"metadata": own} if own else {})


@lru_cache(KNOWN_KEYS)
def _is_own(key: str) -> bool:
    """Whether an attribute is nothing that is read into other fields."""
    return key not in ONCE and key not in TOKENS and not key.startswith((*ASKED, *ANSWERED, *AROUND, *METADATA))


def _parameters(said: dict[str, Any]) -> dict[str, Any]:
    own = {
        name: bounded(value)
        for key, value in said.items()
        if key.startswith(PARAMETERS) and value is not None
        if not (name := key.removeprefix(PARAMETERS)).startswith(NO_PARAMETERS)
    }
    if own:
        return own
    others = mapping(opened(said.get("langfuse.observation.model.parameters"), set()))
    set_by_user = {key: value for key, value in others.items() if value != "Infinity"}
    return read_parameters(mapping(opened(said.get("llm.invocation_parameters"), set())), set_by_user)
