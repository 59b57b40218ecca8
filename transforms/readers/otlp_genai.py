"""Fills spans of OTLP with what their attributes and events say, by any of the conventions for GenAI."""

from __future__ import annotations

from typing import Any

from transforms.readers import gemini
from transforms.readers.calls import content_state, read_parameters, read_tools
from transforms.readers.langsmith_calls import fill_call, read_output, read_prompt
from transforms.readers.otlp_around import ANSWERED, ASKED, around
from transforms.readers.otlp_calls import fill_surroundings, known_tools
from transforms.readers.otlp_chunks import answer_of_chunks
from transforms.readers.otlp_content import read_content
from transforms.readers.otlp_conventions import DETAILS
from transforms.readers.otlp_events import Event
from transforms.readers.otlp_kinds import fill_identity
from transforms.readers.otlp_payloads import read_run
from transforms.readers.otlp_tools import fill_tool_span
from transforms.readers.seen import Seen
from transforms.readers.shared_attributes import Around
from transforms.readers.tokens import fill_from_attributes
from transforms.readers.values import mapping, text
from transforms.records import Span

OPENINFERENCE = "otlp_openinference"

NOTHING: tuple[Any, ...] = (None, "", "[]", "{}", "null", [], {})
"""What an attribute holds where there was nothing to say."""

SCRUBBED = "logfire.scrubbed"
"""Where Logfire says which values it replaced."""


def fill_span(span: Span, said: dict[str, Any], events: list[Event], seen: Seen) -> Around:
    """Kind, identity and content of a span from its attributes and events; what they say beside content is given."""
    odd: set[str] = set()
    details: dict[str, Any] = {}
    for name, event, _ in reversed(events):
        if name == DETAILS:
            details |= event
    said = details | said if details else said
    beside = around(said)
    span.kind, span.dialect, span.attributes = beside.kind, beside.dialect, beside.attributes
    fill_identity(span, beside.identity)
    if span.kind == "llm":
        _fill_call(span, said, beside, events, odd, seen)
    elif span.kind == "tool":
        fill_tool_span(span, said, events, odd)
    else:
        span.content_state = "full"
        span.tools = known_tools(said, seen) if span.kind == "agent" else []
    if odd:
        span.flags += sorted(odd - set(span.flags))
    return beside


def _fill_call(
    span: Span, said: dict[str, Any], beside: Around, events: list[Event], odd: set[str], seen: Seen
) -> None:
    read = read_content(said, events, seen)
    finish: Any = None
    if read is not None:
        odd |= read.odd
        finish = read.finish
    if read is not None and (read.prompt or read.output):
        span.dialect, span.prompt, span.output = read.dialect, read.prompt, read.output
        span.tools = read_tools(gemini.tools(read.request))
        if read.dialect == OPENINFERENCE and not (read.prompt and read.output):
            _fill_other_side(span, said, odd, seen)
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
    fill_surroundings(span, said, beside, finish, seen)
    if read is not None and read.request:
        span.parameters = read_parameters(span.parameters, mapping(read.request.get("config")))
    if SCRUBBED in said and any(key.startswith((*ASKED, *ANSWERED)) and key in text(said[SCRUBBED]) for key in said):
        odd.add("redacted")
    span.content_state = content_state(span, odd, lambda: _holds(said, ANSWERED if span.prompt else ASKED))
    if not span.output_logprobs and not span.output_token_ids:
        fill_from_attributes(span, said)


def _fill_other_side(span: Span, said: dict[str, Any], odd: set[str], seen: Seen) -> None:
    """What went in or came out from the value of the whole, where flat messages tell the other side alone."""
    dialect, run = read_run(said, odd)
    if dialect == OPENINFERENCE:
        span.prompt = span.prompt or read_prompt(run["inputs"], odd, seen)
        span.output = span.output or read_output(run["outputs"], odd)


def _holds(said: dict[str, Any], starts: tuple[str, ...]) -> bool:
    """Whether any attribute that begins like this holds something."""
    return any(key.startswith(starts) for key, value in said.items() if value not in NOTHING)
