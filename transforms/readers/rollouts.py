"""Makes spans of chats that were recorded whole: a root, and a call for each thing the model said."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from transforms.readers.calls import says
from transforms.readers.decoding import TooLarge
from transforms.readers.messages import read_message
from transforms.readers.tokens import fill_tokens
from transforms.records import Feedback, Message, Span

ROOT = "000000"
COPIED, REWRITTEN = "copied_context", "context_rewritten"
LOST = frozenset({REWRITTEN, "system_unknown", "masked", "prompt_unknown", "history_elsewhere", "empty_message"})
"""Flags that say the recorded chat is not what a call was shown, or is not to be learnt from."""

MOST_SHOWN = 1 << 24
"""Messages in all prompts of one chat, whose length counts squared: that is four thousand calls."""


@dataclass(slots=True)
class Turn:
    """One entry of a chat: its messages, whether the model said them in this rollout, and what is known of the call.

    `tokens` are ids of the prompt and of the answer, and the log-probabilities of the latter, as they were logged.
    """

    said: list[Message]
    odd: set[str] = field(default_factory=set)
    own: bool = True
    known: dict[str, Any] = field(default_factory=dict)
    tokens: tuple[Any, Any, Any] = (None, None, None)


def root_span(
    source: str, name: str, position: int, trace_id: str = "", identity: tuple[str, ...] = (), sequence: str = ROOT
) -> Span:
    """The agent's span of a rollout, which its calls and sub-agents hang on."""
    span = Span(source, source, position, trace_id, "", "agent", name)
    span.trace_identity, span.sequence = identity, sequence
    span.status, span.content_state = "ok", "full"
    return span


def turns(items: Iterable[Any]) -> Iterator[Turn]:
    """Entries of a chat in a shape that `messages` reads."""
    for item in items:
        odd: set[str] = set()
        yield Turn(read_message(item, odd), odd)


def call_spans(
    root: Span,
    entries: Iterable[Turn],
    tools: list[dict[str, Any]] | None = None,
    odd: Iterable[str] = (),
) -> Iterator[Span]:
    """A call for each entry that ends with the assistant; its prompt is all that was said before. What tools answered
    to the last one, which no later call was shown, are spans of tools.

    What one entry holds that was not understood marks its call and all that follow, whose prompts hold it too; `odd`
    marks all of them. Raises TooLarge where the prompts come to more than `MOST_SHOWN` messages.
    """
    seen: list[Message] = []
    shown = 0
    odd = set(odd)
    prefix = root.sequence.removesuffix(ROOT)
    last, after = None, list[Message]()
    for number, turn in enumerate(entries, start=1):
        odd |= turn.odd
        if turn.own and turn.said and turn.said[-1].role == "assistant":
            span = Span(root.source, root.dialect, root.position, root.trace_id, "", "llm", "assistant")
            span.trace_identity, span.dataset, span.task, span.trial = (
                root.trace_identity, root.dataset, root.task, root.trial
            )  # fmt: skip
            span.agent, span.conversation_id, span.tools = root.agent, root.conversation_id, tools or []
            span.sequence, span.parent_sequence = f"{prefix}{number:06d}", root.sequence
            span.prompt, span.output, span.status = [*seen, *turn.said[:-1]], turn.said[-1:], "ok"
            shown += len(span.prompt)
            if shown > MOST_SHOWN:
                raise TooLarge
            span.content_state = _state(span, odd)
            span.flags = sorted(odd)
            for name, value in turn.known.items():
                setattr(span, name, value)
            fill_tokens(span, *turn.tokens)
            yield span
            last, after = span, []
        else:
            after += turn.said
        seen += turn.said
    if last is not None:
        yield from _ran(last, after)


def _ran(call: Span, said: list[Message]) -> Iterator[Span]:
    """A tool's span for each message that answers a call of the last answer by its id."""
    asked = {one.id: one for one in call.output[-1].tool_calls}
    for number, answer in enumerate(message for message in said if message.role == "tool"):
        one = asked.get(answer.tool_call_id)
        if one is None or not answer.tool_call_id:
            continue
        span = Span(call.source, call.dialect, call.position, call.trace_id, "", "tool", one.name)
        span.trace_identity, span.dataset, span.task, span.trial = (
            call.trace_identity, call.dataset, call.task, call.trial
        )  # fmt: skip
        span.agent, span.conversation_id = call.agent, call.conversation_id
        span.sequence, span.parent_sequence = f"{call.sequence}.{number}", call.parent_sequence
        span.tool_call_id, span.tool_name, span.tool_arguments = one.id, one.name, one.arguments
        span.tool_result, span.status, span.content_state = answer.content, "ok", "full"
        yield span


def _state(span: Span, odd: set[str]) -> str:
    if "redacted" in odd:
        return "redacted"
    if odd & LOST:
        return "truncated"
    if not span.prompt:
        return "absent"
    if odd - {"reasoning_hidden"}:
        return "unparsed"
    return "full" if any(map(says, span.output)) else "absent"


def reward(root: Span, key: str, score: float | None, **more: Any) -> Iterator[Feedback]:
    """The verdict of an environment on a rollout, where there is one."""
    if score is not None:
        yield Feedback(
            root.position, root.trace_id, key, trace_identity=root.trace_identity, score=score, annotator="env", **more
        )


def digest(*contents: Any) -> str:
    """What tells a rollout without ids from every other: its content. It enters keyed hashes only."""
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
