"""Reads what attributes say beside the content of a span, once for all spans that say the same."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from transforms.readers.calls import read_parameters
from transforms.readers.decoding import bounded
from transforms.readers.nested import opened
from transforms.readers.otlp_conventions import INPUT, OUTPUT, SYSTEM
from transforms.readers.otlp_kinds import (
    DIALECT_NAMES,
    DIALECTS,
    KNOWN_KEYS,
    LIFTED,
    METADATA,
    opened_object,
    plain_again,
    read_identity,
    read_kind,
)
from transforms.readers.otlp_tools import ARGUMENTS, IDS, NAMES, RESULTS
from transforms.readers.shared_attributes import Around, Said
from transforms.readers.tokens import KEYS as TOKENS
from transforms.readers.values import first_text, mapping
from transforms.readers.writings import START

MODELS = ("gen_ai.response.model", "llm.response.model_name", "llm.model_name", "ai.response.model",
          "langfuse.observation.model.name", "mlflow.llm.model", "gen_ai.request.model", "llm.request.model_name",
          "ai.model.id")  # fmt: skip
PROVIDERS = ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider")
RESPONSES = ("gen_ai.response.id", "ai.response.id")
ENDS = ("gen_ai.response.finish_reason", "gen_ai.response.stop_reason", "llm.finish_reason",
        "llm.response.finish_reason", "llm.response.stop_reason", "ai.response.finishReason")  # fmt: skip
"""Where else it stands why a call ended."""

PARAMETERS = "gen_ai.request."
NO_PARAMETERS = ("model", "functions", "structured_output_schema", "messages", "tools", "available_tools")

ASKED = (
    "gen_ai.input.messages", "gen_ai.request.messages", "gen_ai.prompt", "gen_ai.task.input",
    "llm.input_messages", "llm.prompts", "ai.prompt",
    "input.value", "traceloop.entity.input", "events", "all_messages_events", "pydantic_ai.all_messages",
    "langfuse.observation.input", "langfuse.trace.input", "mlflow.spanInputs", "request_data",
    "gcp.vertex.agent.llm_request", "gcp.vertex.agent.tool_call_args", "agentlightning.operation.input",
)  # fmt: skip
ANSWERED = (
    "gen_ai.output.messages", "gen_ai.response.text", "gen_ai.response.tool_calls", "gen_ai.completion",
    "gen_ai.task.output", "llm.output_messages", "llm.choices",
    "ai.response.text", "ai.response.toolCalls", "ai.response.object", "ai.response.reasoning", "ai.result.",
    "output.value", "traceloop.entity.output", "events", "final_result", "langfuse.observation.output",
    "langfuse.trace.output", "mlflow.spanOutputs", "response_data", "gcp.vertex.agent.llm_response",
    "gcp.vertex.agent.tool_response", "agentlightning.operation.output",
)  # fmt: skip
"""Beginnings of attributes that hold what went in and what came out. They are read into messages or not at all."""

AROUND = (
    SYSTEM, "gen_ai.request.", "gen_ai.usage.", "gen_ai.aggregated_usage.", "gen_ai.tool.definitions",
    "gen_ai.response.finish_reason", "gen_ai.response.stop_reason", "gen_ai.response.prompt_tokens",
    "gen_ai.response.completion_tokens", "llm.response.finish_reason", "llm.response.stop_reason",
    "llm.usage.prompt_tokens", "llm.usage.completion_tokens", "gen_ai.operation.name", "error.type", "llm.tools",
    "llm.token_count.",
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

KNOWN_PARAMETERS = 64
"""Ways of asking that are remembered: some kilobytes each, since many tell the tools as well."""

CONTENT = frozenset({INPUT, OUTPUT, SYSTEM, "input.value", "output.value", "gen_ai.tool.definitions",
                     "gen_ai.response.id", "gen_ai.response.finish_reasons"})  # fmt: skip
CONTENT_STARTS = (START, "llm.output_messages.", "llm.tools.", "gen_ai.usage.", "llm.token_count.")
"""Attributes, and beginnings of such, that differ from call to call, or stand elsewhere: nothing here reads what they
hold."""


@lru_cache(KNOWN_KEYS)
def content_of(key: str) -> str:
    """Which content an attribute is, or is part of; empty for all others."""
    return key if key in CONTENT else next(filter(key.startswith, CONTENT_STARTS), "")


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
    attached: dict[str, Any] = {}
    asked: dict[str, Any] = {}
    own: dict[str, Any] = {}
    rank = len(DIALECTS)
    for key, value in said.items():
        what = _role(key)
        rank = min(rank, what.rank)
        if what.attached:
            attached.setdefault(what.attached, plain_again(value))
        if value is not None:
            if what.asked:
                asked[what.asked] = bounded(value)
            if what.is_own:
                own[key] = bounded(value)
    metadata = {**attached, **mapping(opened_object(said["metadata"]))} if "metadata" in said else attached
    users = {key: bounded(value) for key, value in metadata.items() if value is not None and key not in LIFTED}
    return Around(
        metadata=metadata,
        identity=read_identity(said, metadata),
        kind=read_kind(said),
        dialect=DIALECT_NAMES[rank],
        model=first_text(said, *MODELS).strip('"'),
        provider=first_text(said, *PROVIDERS),
        parameters=asked or _parameters(said),
        attributes=own | {"metadata": users} if users else own,
    )


class _Role(NamedTuple):
    """What an attribute is by its key: `rank` of the dialect that it tells of, the name under which a user attached it
    or under which it is a parameter of the request, and whether it is nothing that is read into other fields."""

    rank: int
    attached: str
    asked: str
    is_own: bool


@lru_cache(KNOWN_KEYS)
def _role(key: str) -> _Role:
    asked = key.removeprefix(PARAMETERS) if key.startswith(PARAMETERS) else ""
    return _Role(
        rank=next((rank for rank, (_, start) in enumerate(DIALECTS) if key.startswith(start)), len(DIALECTS)),
        attached=next((key.removeprefix(start) for start in METADATA if key.startswith(start)), ""),
        asked="" if asked.startswith(NO_PARAMETERS) else asked,
        is_own=key not in ONCE and key not in TOKENS and not key.startswith((*ASKED, *ANSWERED, *AROUND, *METADATA)),
    )


def _parameters(said: dict[str, Any]) -> dict[str, Any]:
    """Parameters that stand together in one attribute."""
    named = said.get("langfuse.observation.model.parameters"), said.get("llm.invocation_parameters")
    if named == (None, None):
        return {}
    if all([value is None or isinstance(value, str) for value in named]):
        return _opened_parameters(*named)
    return _read_parameters(*named)


def _read_parameters(of_langfuse: Any, invocation: Any) -> dict[str, Any]:
    others = mapping(opened(of_langfuse, set()))
    set_by_user = {key: value for key, value in others.items() if value != "Infinity"}
    return read_parameters(mapping(opened(invocation, set())), set_by_user)


_opened_parameters = lru_cache(KNOWN_PARAMETERS)(_read_parameters)  # an agent's calls are asked the same way
