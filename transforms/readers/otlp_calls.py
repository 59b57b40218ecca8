"""Reads what surrounds the messages of a model's span, under the names that each convention gives it."""

from __future__ import annotations

from itertools import chain
from typing import Any

from transforms.readers.calls import Usage, finish_reason, read_tools, read_usage
from transforms.readers.nested import opened
from transforms.readers.otlp_around import ENDS, RESPONSES
from transforms.readers.otlp_conventions import ADK_RESPONSE
from transforms.readers.otlp_flat import gather
from transforms.readers.seen import Seen
from transforms.readers.shared_attributes import Around
from transforms.readers.values import first_text, listing, mapping, whole
from transforms.records import Span

USAGE = "gen_ai.usage."
FLAT_USAGE = {
    "llm.token_count.prompt": "input_tokens",
    "llm.token_count.completion": "output_tokens",
    "llm.token_count.prompt_details.cache_input": "cached_tokens",
    "llm.token_count.prompt_details.cache_read": "cached_tokens",
    "ai.usage.promptTokens": "input_tokens",
    "ai.usage.completionTokens": "output_tokens",
    "ai.usage.inputTokens": "input_tokens",
    "ai.usage.outputTokens": "output_tokens",
    "ai.usage.cachedInputTokens": "cached_tokens",
    "ai.usage.inputTokenDetails.cacheReadTokens": "cached_tokens",
}
OLD_USAGE = {
    "gen_ai.response.prompt_tokens": "input_tokens",
    "gen_ai.response.completion_tokens": "output_tokens",
    "llm.usage.prompt_tokens": "input_tokens",
    "llm.usage.completion_tokens": "output_tokens",
}
"""Names that are sought where no other tells a count."""

TOOLS = ("gen_ai.tool.definitions", "mlflow.chat.tools", "llm.tools.", "llm.request.functions.",
         "gen_ai.request.functions.", "ai.prompt.tools", "model_request_parameters",
         "gen_ai.request.available_tools", "gen_ai.request.tools")  # fmt: skip
"""Beginnings of the attributes that tell what a model was offered."""

REASONING = ("ai.usage.reasoningTokens", "ai.usage.outputTokenDetails.reasoningTokens",
             "llm.token_count.completion_details.reasoning")  # fmt: skip
"""Counts of which a part was thought, the last that is there."""

CACHED = ("cache_read.input_tokens", "cached_tokens", "details.cache_read_tokens", "details.cached_tokens",
          "cache_read_tokens", "input_tokens.cached")  # fmt: skip
REASONED = ("reasoning.output_tokens", "reasoning_tokens", "details.reasoning_tokens", "output_tokens.reasoning")
DETAILS = ("input_token_details", "output_token_details")
"""Counts that LangSmith's exporter writes as JSON."""


def fill_surroundings(span: Span, said: dict[str, Any], beside: Around, finish: Any, seen: Seen) -> None:
    """Model, provider, tools, parameters, finish reason and counts; what the span has already goes unless named."""
    span.model = beside.model or span.model
    span.provider = beside.provider or span.provider
    span.response_id = first_text(said, *RESPONSES) or _id_of_answer(said) or span.response_id
    span.tools = known_tools(said, seen) or span.tools
    span.parameters = beside.parameters or span.parameters
    told = said.get("gen_ai.response.finish_reasons")
    reasons = filter(None, chain((opened(told, set()) or told, finish), map(said.get, ENDS)))
    span.finish_reason = next(filter(None, map(finish_reason, reasons)), "") or span.finish_reason
    if span.finish_reason == "stop" and span.output and span.output[0].tool_calls:
        span.finish_reason = "tool_calls"
    _fill_usage(span, said)


def known_tools(said: dict[str, Any], seen: Seen) -> list[dict[str, Any]]:
    """Tools that a span offers, read once where spans say the same. Nobody may change them."""
    told = {key: value for key, value in said.items() if key.startswith(TOOLS)}
    if not told:
        return []
    if not all([isinstance(value, str) for value in told.values()]):
        return _tools(told)
    key = tuple(told.items())
    return seen.offered(key) or seen.keep_offered(key, _tools(told))


def _tools(said: dict[str, Any]) -> list[dict[str, Any]]:
    names = ("gen_ai.tool.definitions", "mlflow.chat.tools", "gen_ai.request.available_tools", "gen_ai.request.tools")
    named = next(filter(None, (opened(said.get(name), set()) for name in names)), None)
    if named:
        return read_tools(named)
    flat = [opened(mapping(mapping(item).get("tool")).get("json_schema"), set())
            for item in gather(said, "llm.tools", set())]  # fmt: skip
    functions = gather(said, "llm.request.functions", set()) or gather(said, "gen_ai.request.functions", set())
    flat += [{**item, "parameters": opened(item.get("parameters"), set())} for item in map(mapping, functions)]
    flat += [opened(item, set()) for item in listing(opened(said.get("ai.prompt.tools"), set()))]
    asked = mapping(opened(said.get("model_request_parameters"), set()))
    return read_tools([*flat, *listing(asked.get("function_tools")), *listing(asked.get("output_tools"))])


def _fill_usage(span: Span, said: dict[str, Any]) -> None:
    counts = _counts({key.removeprefix(USAGE): value for key, value in said.items() if key.startswith(USAGE)})
    for name in DETAILS if counts else ():
        if name in counts:
            counts[name] = opened(counts[name], set())
    flat = {name: said[key] for key, name in FLAT_USAGE.items() if key in said}
    for key in REASONING:
        if key in said:
            flat["output_tokens_details"] = {"reasoning_tokens": said[key]}
    usage = read_usage(counts, flat) if counts or flat else Usage()
    if usage.input is None and usage.output is None:
        provider = mapping(opened(said.get("langfuse.observation.usage_details"), set()))
        of_mlflow = _counts(mapping(opened(said.get("mlflow.chat.tokenUsage"), set())))
        answer = mapping(opened(said[ADK_RESPONSE], set())) if ADK_RESPONSE in said else {}
        of_gemini = answer.get("usage_metadata") or answer.get("usageMetadata")
        old = {name: said[key] for key, name in OLD_USAGE.items() if key in said}
        usage = read_usage(_langfuse(provider), of_mlflow, of_gemini, old)
    if usage.input is None and usage.output is None:
        return
    span.input_tokens = usage.input if usage.input is not None else span.input_tokens
    span.output_tokens = usage.output if usage.output is not None else span.output_tokens
    span.cache_read_tokens = _first(usage.cache_read, counts, CACHED, span.cache_read_tokens)
    span.reasoning_tokens = _first(usage.reasoning, counts, REASONED, span.reasoning_tokens)


def _counts(said: dict[str, Any]) -> dict[str, Any]:
    """The same counts without Anthropic's name for cached input, which would say that it comes on top."""
    if not any("cache_read_input_tokens" in key for key in said):
        return said
    return {key.replace("cache_read_input_tokens", "cached_tokens"): value for key, value in said.items()}


def _langfuse(details: dict[str, Any]) -> dict[str, Any]:
    """The provider's own counts, or Langfuse's two."""
    return {
        **details,
        "input_tokens": details.get("input_tokens", details.get("prompt_tokens", details.get("input"))),
        "output_tokens": details.get("output_tokens", details.get("completion_tokens", details.get("output"))),
    }


def _id_of_answer(said: dict[str, Any]) -> str:
    """The provider's id in the JSON of an answer, by which the same call is known in two traces."""
    answer = said.get("output.value")
    if not isinstance(answer, str) or not answer.startswith('{"id"'):
        return ""
    return first_text(mapping(opened(answer, set())), "id")


def _first(told: int | None, counts: dict[str, Any], names: tuple[str, ...], before: int | None) -> int | None:
    """A count that was told, else the first of the named ones, else what it was before."""
    if told is not None:
        return told
    named = (whole(counts[name]) for name in names if name in counts)
    return next((count for count in named if count is not None and count >= 0), before)
