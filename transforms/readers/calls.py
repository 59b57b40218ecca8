"""Reads what surrounds the messages of a model call: tools offered, finish reason, token counts, parameters."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from transforms.readers.decoding import bounded
from transforms.readers.values import first_text, listing, mapping, whole
from transforms.records import Message, Span

FINISH_REASONS = {
    "stop": "stop", "endturn": "stop", "stopsequence": "stop", "completed": "stop", "complete": "stop", "eos": "stop",
    "eostoken": "stop",
    "toolcalls": "tool_calls", "toolcall": "tool_calls", "tooluse": "tool_calls", "functioncall": "tool_calls",
    "length": "length", "maxtokens": "length", "maxoutputtokens": "length", "maxlength": "length",
    "modellength": "length", "modelcontextwindowexceeded": "length",
    "contentfilter": "content_filter", "contentfiltered": "content_filter", "safety": "content_filter",
    "refusal": "content_filter", "recitation": "content_filter", "blocklist": "content_filter",
    "prohibitedcontent": "content_filter", "spii": "content_filter", "guardrailintervened": "content_filter",
    "error": "error", "failed": "error", "malformedfunctioncall": "error",
}  # fmt: skip
"""Reasons by their letters alone: providers write them with `_`, `-` or capitals between the words."""

LONGEST_REASON = 256
"""Characters of what may tell reasons."""

_NOT_LETTERS = re.compile(r"[^a-z]")

LOST = frozenset(
    {"truncated_json", "history_elsewhere", "calls_elsewhere", "empty_message", "attrs_dropped", "events_dropped",
     "index_gap"}
)  # fmt: skip
"""Flags that say a call is not all there."""

NOT_UNDERSTOOD = frozenset({"unknown_part", "unknown_role", "batch"})
"""Flags that say a call holds more than was read."""

PARAMETERS = frozenset(
    {
        "temperature", "top_p", "top_k", "min_p", "max_tokens", "max_completion_tokens", "max_output_tokens", "seed",
        "stop", "stop_sequences", "frequency_penalty", "presence_penalty", "repetition_penalty", "n", "logit_bias",
        "response_format", "output_config", "text", "reasoning", "reasoning_effort", "thinking", "tool_choice",
        "parallel_tool_calls", "logprobs", "top_logprobs", "service_tier",
    }
)  # fmt: skip


CACHED = ("cache_read", "cached_tokens", "cache_read_input_tokens", "cached_content_token_count",
          "cachedContentTokenCount", "cacheReadInputTokens", "cachedInputTokens")  # fmt: skip
"""Where counts of cached input stand."""

SPOKEN = ("candidates_token_count", "candidatesTokenCount")
"""Gemini's counts of answers, which leave out what was thought."""

ASKED = ("input_tokens", "prompt_tokens", "prompt_token_count", "promptTokenCount", "inputTokens", "promptTokens",
         "prompt_eval_count")  # fmt: skip
SAID = ("output_tokens", "completion_tokens", *SPOKEN, "outputTokens", "completionTokens", "eval_count")
"""Where counts stand: OpenAI's and Anthropic's, Gemini's, JavaScript's and Bedrock's, Ollama's."""

TOTAL = ("total_tokens", "total_token_count", "totalTokens", "totalTokenCount")
THOUGHT = ("thoughts_token_count", "thoughtsTokenCount", "reasoningTokens")
EXCLUSIVE = (
    ("cache_read_input_tokens", "cache_creation_input_tokens"),
    ("cacheReadInputTokens", "cacheWriteInputTokens"),
)
"""Counts of cached input that Anthropic and Bedrock leave out of the input: what was read, and what was written."""

_SKIPS = msgspec.json.Decoder(msgspec.Raw)
"""Tells what is JSON without making values of it."""


@dataclass(slots=True)
class Usage:
    """Token counts of one call; `input` includes what came from a cache, `output` includes reasoning."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    reasoning: int | None = None


def finish_reason(value: Any) -> str:
    """The reason in OpenAI's words; empty where there is none, `error` never guessed."""
    if isinstance(value, list):
        reasons = [finish_reason(item) for item in value]
        return "tool_calls" if "tool_calls" in reasons else next(filter(None, reasons), "")
    return _reason(value) if isinstance(value, str) and len(value) <= LONGEST_REASON else ""


@lru_cache(256)
def _reason(said: str) -> str:
    """A reason by itself, as the member of an enum, or several that were printed as a list."""
    words = [_NOT_LETTERS.sub("", word.rpartition(".")[2].lower()) for word in said.split(",")]
    reasons = [FINISH_REASONS.get(word.removeprefix("finishreason"), "") for word in words]
    return "tool_calls" if "tool_calls" in reasons else next(filter(None, reasons), "")


def read_usage(*candidates: Any) -> Usage:
    """Counts of the first object that has some: OpenAI's, Anthropic's (which leave out cached input) or LangChain's."""
    for found in candidates:
        if not found or not isinstance(found, dict):
            continue
        usage = _usage(found)
        if usage.input is not None or usage.output is not None:
            return usage
    return Usage()


def _usage(found: dict[str, Any]) -> Usage:
    incoming = mapping(found.get("input_token_details") or found.get("prompt_tokens_details")
                       or found.get("input_tokens_details"))  # fmt: skip
    outgoing = mapping(found.get("output_token_details") or found.get("completion_tokens_details")
                       or found.get("output_tokens_details"))  # fmt: skip
    usage = Usage(
        input=_first(found, *ASKED) or None,  # streams report 0 where they do not know
        output=_first(found, *SAID),
        cache_read=_first({**found, **incoming} if incoming else found, *CACHED),
        reasoning=_first(outgoing, "reasoning", "reasoning_tokens") if outgoing else _first(found, *THOUGHT),
    )
    if usage.input is None:
        return usage
    for read, created in () if incoming else EXCLUSIVE:
        if read in found:
            usage.input = whole((usage.input or 0) + (usage.cache_read or 0) + (whole(found.get(created)) or 0))
    if usage.reasoning and usage.output is not None and _thought_beside(found, usage):
        usage.output += usage.reasoning
    return usage


def _thought_beside(found: dict[str, Any], usage: Usage) -> bool:
    """Whether what was thought comes on top of what was said: by Gemini's names, or by the total of a wrapper of it."""
    if _first(found, *SPOKEN) == usage.output:
        return True
    return _first(found, *TOTAL) == (usage.input or 0) + (usage.output or 0) + (usage.reasoning or 0)


def content_state(span: Span, odd: set[str], unread: Callable[[], bool]) -> str:
    """Whether a call's prompt and output are all there: full, truncated, absent, redacted or unparsed.

    `unread` says whether the export holds something where nothing was read. A call that failed has no output; an answer
    that is empty altogether was not captured.
    """
    silent: Message | None = None
    for message in span.prompt:
        if message.content:
            if silent and message.role == "tool":
                odd.add("calls_elsewhere")
            silent = None
        elif not (message.tool_calls or message.media):
            if message.role == "user":
                odd.add("empty_message")
            silent = message if message.role == "assistant" and not message.reasoning else None
    if span.finish_reason == "tool_calls" and span.output and not any(said.tool_calls for said in span.output):
        odd.add("calls_elsewhere")
    if not all(_is_json(call.arguments) for said in span.output for call in said.tool_calls):
        odd.add("invalid_arguments")
    if "redacted" in odd:
        return "redacted"
    if LOST & {*odd, *span.flags}:
        return "truncated"
    if not span.prompt or (span.status == "ok" and not any(map(says, span.output))):
        return "unparsed" if unread() else "absent"
    return "unparsed" if odd & NOT_UNDERSTOOD else "full"


def _is_json(arguments: str) -> bool:
    """Whether arguments of a call can be read; none at all can."""
    try:
        _SKIPS.decode(arguments or "{}")
    except (ValueError, UnicodeError, RecursionError):
        return False
    return True


def says(said: Message) -> bool:
    """Whether a message says anything at all."""
    return bool(said.content or said.tool_calls or said.reasoning or said.media)


def read_tools(value: Any) -> list[dict[str, Any]]:
    """Tools offered, functions in OpenAI's shape; a provider's own tools stay as they are."""
    return [_tool(item) for item in listing(value) if isinstance(item, dict)]


def _tool(item: dict[str, Any]) -> dict[str, Any]:
    inner = next((item[key] for key in ("function", "toolSpec") if isinstance(item.get(key), dict)), item)
    name = first_text(inner, "name")
    schema = next(
        (inner[key] for key in ("parameters", "input_schema", "inputSchema", "parameters_json_schema") if key in inner),
        None,
    )
    if not name or (schema is None and item.get("type", "function") != "function"):
        return mapping(bounded(item))
    if isinstance(schema, dict) and schema.keys() == {"json"}:
        schema = schema["json"]  # Bedrock's name for what it may hold, which Strands keeps
    function: dict[str, Any] = {"name": name}
    if description := first_text(inner, "description"):
        function["description"] = description
    if schema is not None:
        function["parameters"] = bounded(schema)
    return {"type": "function", "function": function}


def read_parameters(*sources: dict[str, Any]) -> dict[str, Any]:
    """Sampling parameters that are set, from the first source that sets each."""
    found: dict[str, Any] = {}
    for source in sources:
        for name, value in source.items():
            if value is not None and name in PARAMETERS:
                found.setdefault(name, bounded(value))
    return dict(sorted(found.items()))


def _first(fields: dict[str, Any], *names: str) -> int | None:
    for name in names:
        if (value := fields.get(name)) is not None and (count := whole(value)) is not None and count >= 0:
            return count
    return None
