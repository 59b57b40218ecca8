"""The conventions by which spans tell a model's messages: where each has them, in shapes that `messages` reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from transforms.readers import gemini
from transforms.readers.nested import opened
from transforms.readers.otlp_events import TEXT_UNKNOWN, Event, is_message_event, listed, read_events, span_event
from transforms.readers.otlp_flat import gather_openinference, gather_openllmetry
from transforms.readers.values import listing, mapping, text

INPUT, OUTPUT, SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
DETAILS = "gen_ai.client.inference.operation.details"
LOOKED_AT = 32
RESPONSE = '{"id":"resp_'
"""How an answer of OpenAI's Responses API begins, in which every item is a message of its own."""

JSON = ("[", "{", '"')
"""How JSON of messages begins, whole or cut."""

_PLAIN = re.compile(r"(?!\s*+null\s*+\Z)\s*+[^\s\[{\"]")
"""How text begins that is no JSON of messages."""

STRUCTURED = ("[{", "[[", "[]", '{"', "{}", '"')
"""How JSON begins that stands where text may stand."""

SENTRY_NAMES = ("gen_ai.request.messages", "gen_ai.response.text", "gen_ai.response.tool_calls")
SENTRY = frozenset(SENTRY_NAMES)

ADK_REQUEST, ADK_RESPONSE = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"

PROMPT_EVENT, COMPLETION_EVENT = "gen_ai.content.prompt", "gen_ai.content.completion"

_SPOKEN = re.compile(r"(system|developer|user|assistant|tool): ", re.IGNORECASE)
"""How a text begins that OpenLIT and others make of messages."""


@dataclass(slots=True)
class Content:
    """Messages of a call as one convention tells them, in shapes that `messages` reads."""

    dialect: str
    prompt: Any = None
    output: Any = None
    instructions: Any = None
    finish: Any = None
    odd: set[str] = field(default_factory=set)
    in_fragments: bool = False
    may_be_items: bool = False
    request: dict[str, Any] = field(default_factory=dict)


def _semconv(said: dict[str, Any], _: list[Event]) -> Content | None:
    """Conventions 1.37 and later, on the span."""
    if not (INPUT in said or OUTPUT in said):
        return None
    content = Content("otlp_genai", may_be_items=True)
    content.prompt, content.output = _listed(said.get(INPUT), content.odd), _listed(said.get(OUTPUT), content.odd)
    content.instructions = _texts(said.get(SYSTEM)) or _said_or_opened(said.get(SYSTEM), content.odd)
    content.finish = mapping(next(iter(listing(content.output)), None)).get("finish_reason")
    content.in_fragments = text(said.get("gen_ai.response.id")).startswith("resp_")
    return content


def _listed(value: Any, odd: set[str]) -> Any:
    """Messages out of JSON, also beside the version of their schema; any other text is what was said."""
    if isinstance(value, str) and not value.startswith(JSON) and _PLAIN.match(value):
        return [value]
    found = opened(value, odd)
    return found["messages"] if isinstance(found, dict) and "messages" in found else found


def _texts(value: Any) -> list[Any]:
    """A list of texts out of its JSON; nothing where it is something else."""
    return listing(opened(value, set())) if isinstance(value, str) and value.startswith('["') else []


def _details(said: dict[str, Any], events: list[Event]) -> Content | None:
    """The same, on events of the span, one or several."""
    told = [event for name, event, _ in events if name == DETAILS]
    return (
        _semconv({key: value for event in told for key, value in event.items()} | _without_content(said), [])
        if told
        else None
    )


def _without_content(said: dict[str, Any]) -> dict[str, Any]:
    return {SYSTEM: said[SYSTEM]} if SYSTEM in said else {}


def _message_events(_: dict[str, Any], events: list[Event]) -> Content | None:
    """Conventions up to 1.36 on events of the span: one a message, or the whole prompt in one."""
    content = Content("otlp_events")
    told = [(name, span_event(event, content.odd)) for name, event, _ in events if is_message_event(name)]
    if told:
        messages = read_events(told, content.odd)
        content.prompt, content.output, content.finish = messages.prompt, messages.output, messages.finish
        return content
    whole = {name: event for name, event, _ in events if name in (PROMPT_EVENT, COMPLETION_EVENT)}
    if not whole:
        return None
    asked = mapping(whole.get(PROMPT_EVENT)).get("gen_ai.prompt")
    content.odd |= roles_in_text(asked)
    content.prompt = _said_or_opened(asked, content.odd)
    content.output = [_said_or_opened(mapping(whole.get(COMPLETION_EVENT)).get("gen_ai.completion"), content.odd)]
    return content


def _google_adk(said: dict[str, Any], _: list[Event]) -> Content | None:
    """Google's Agent Development Kit: a request to Gemini and its answer, whatever model was asked."""
    if ADK_REQUEST not in said and ADK_RESPONSE not in said:
        return None
    content = Content("otlp_adk")
    asked, answered = (mapping(opened(said.get(name), content.odd)) for name in (ADK_REQUEST, ADK_RESPONSE))
    if isinstance(asked.get("contents"), list):
        content.prompt, content.request = gemini.prompt(asked), asked
    if gemini.is_answer(answered):
        content.output = [gemini.output(answered)]
        content.finish = text(answered.get("finish_reason"))
    return content


def _openinference(said: dict[str, Any], _: list[Event]) -> Content | None:
    content = Content("otlp_openinference")
    content.prompt = gather_openinference(said, "llm.input_messages", content.odd)
    content.output = gather_openinference(said, "llm.output_messages", content.odd)
    content.in_fragments = text(said.get("output.value"))[:LOOKED_AT].replace(" ", "").startswith(RESPONSE)
    return content if content.prompt or content.output else None


def _openllmetry(said: dict[str, Any], _: list[Event]) -> Content | None:
    content = Content("otlp_openllmetry")
    content.prompt = gather_openllmetry(said, "gen_ai.prompt", content.odd)
    content.output = gather_openllmetry(said, "gen_ai.completion", content.odd)
    content.finish = mapping(next(iter(content.output), None)).get("finish_reason")
    return content if content.prompt or content.output else None


def _sentry(said: dict[str, Any], _: list[Event]) -> Content | None:
    """Sentry's own names, before it took those of 1.37."""
    if not SENTRY.intersection(said):
        return None
    asked, shown, called = (said.get(name) for name in SENTRY_NAMES)
    content = Content("otlp_genai")
    content.prompt = _said_or_opened(asked, content.odd)
    texts, calls = _texts(shown) or shown, listing(opened(called, content.odd))
    if texts or calls:
        content.output = [{"role": "assistant", "content": texts, "tool_calls": calls}]
    return content


def _vercel(said: dict[str, Any], _: list[Event]) -> Content | None:
    if "ai.prompt.messages" not in said:
        return None
    content = Content("otlp_vercel")
    content.prompt = opened(said["ai.prompt.messages"], content.odd)
    answer = {key.split(".", 2)[2]: value for key, value in said.items()
              if key.startswith(("ai.response.", "ai.result."))}  # fmt: skip
    calls = opened(answer.get("toolCalls"), content.odd)
    reasoning = answer.get("reasoning")
    content.finish = answer.get("finishReason")
    shown = text(answer.get("text") or answer.get("object"))
    if shown or calls or reasoning:
        message = {"role": "assistant", "content": shown, "tool_calls": calls, "reasoning": text(reasoning)}
        content.output = [message]
    return content


def _pydantic_ai(said: dict[str, Any], _: list[Event]) -> Content | None:
    """pydantic-ai's list of events (format 1)."""
    if "events" not in said:
        return None
    content = Content("otlp_pydantic_ai")
    messages = read_events(listed(opened(said["events"], content.odd)), content.odd)
    content.odd.discard(TEXT_UNKNOWN)  # pydantic-ai tells text wherever there is some
    content.prompt, content.output, content.finish = messages.prompt, messages.output, messages.finish
    return content


def roles_in_text(value: Any) -> set[str]:
    """What is odd about a prompt that is one text of all messages: nobody can tell where one ends."""
    return {"unknown_role"} if isinstance(value, str) and _SPOKEN.match(value) else set()


def _said_or_opened(value: Any, odd: set[str]) -> Any:
    """Text that one said, or messages in JSON."""
    return opened(value, odd) if isinstance(value, str) and value.lstrip().startswith(STRUCTURED) else value


CONVENTIONS = (_semconv, _details, _message_events, _google_adk, _openinference, _openllmetry, _vercel, _pydantic_ai,
               _sentry)  # fmt: skip
"""The first that tells anything counts."""
