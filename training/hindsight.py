"""What a scoring model is told before it reads an action again: how the episode ended, how it was judged, or nothing.

None of these texts is published with the methods that use them: they are ours, and a score's version hashes them.
They join a message that is there already, since many chat templates refuse a second system message or two of one role.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transforms.credit.spec import ContrastiveCredit, HcapoCredit, IgpoCredit, ScoredMethod

Message = dict[str, Any]

FINAL = "[How this episode ended: {final}]"
SUCCESS = "[This episode ended in success: the task was solved.]"
FAILURE = "[This episode ended in failure: the task was missed.]"
"""As long as the other, word for word, so that neither moves what follows."""

FINAL_CHARS = 1200
"""Characters of the last observation, and of the last answer, that stand for the final state."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a trajectory: messages as a template takes them, the actions in them, how the trajectory ended."""

    trajectory_id: str
    messages: list[Message]
    actions: list[int]
    steps: list[int]
    finishes: list[str | None]
    tools: list[dict[str, Any]] | None
    final: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """Actions to score in one conversation, which may bear a banner; `steps` are theirs, `context` names the banner."""

    context: str
    messages: list[Message]
    actions: list[int]
    steps: list[int]
    finishes: list[str | None]


def told(segment: Segment, spec: ScoredMethod) -> Iterator[Told]:
    """What is to be scored of a segment for a method."""
    match spec:
        case HcapoCredit(injection="prefix"):
            yield _whole(segment, "hindsight", FINAL.format(final=segment.final))
        case HcapoCredit():
            yield from _each(segment, FINAL.format(final=segment.final))
        case ContrastiveCredit():
            yield _whole(segment, "success", SUCCESS)
            yield _whole(segment, "failure", FAILURE)
        case IgpoCredit():
            yield from _answers(segment)


def texts_hash() -> str:
    """Hash of all that is told, so that another wording is another version."""
    return hashlib.sha256("\n".join((FINAL, SUCCESS, FAILURE, str(FINAL_CHARS))).encode()).hexdigest()


def final_state(messages: list[Message]) -> str:
    """The last thing that the environment said and the last that the model did, each cut to FINAL_CHARS."""
    seen = [message["content"] for message in messages if message["role"] not in ("assistant", "system")]
    done = [_said(message) for message in messages if message["role"] == "assistant"]
    return " ".join(text[-FINAL_CHARS:] for text in (*seen[-1:], *done[-1:]) if text)


def _whole(segment: Segment, context: str, banner: str) -> Told:
    """Every action once, under a banner before the task."""
    messages = [_with(segment.messages[0], banner), *segment.messages[1:]]
    return Told(context, messages, segment.actions, segment.steps, segment.finishes)


def _each(segment: Segment, banner: str) -> Iterator[Told]:
    """Each action by itself, under a banner at the end of its own prompt."""
    for action, step, finish in zip(segment.actions, segment.steps, segment.finishes, strict=True):
        place = next((at for at in reversed(range(action)) if segment.messages[at]["role"] != "assistant"), None)
        if place is not None:
            messages = segment.messages[: action + 1]
            messages[place] = _with(messages[place], banner)
            yield Told("hindsight", messages, [action], [step], [finish])


def _answers(segment: Segment) -> Iterator[Told]:
    """The right answer in place of each action; its end of turn does not count."""
    if segment.answer:
        for action, step in zip(segment.actions, segment.steps, strict=True):
            messages = [*segment.messages[:action], {"role": "assistant", "content": segment.answer}]
            yield Told("answer", messages, [action], [step], ["length"])


def _with(message: Message, banner: str) -> Message:
    return message | {"content": f"{message['content']}\n\n{banner}" if message["content"] else banner}


def _said(message: Message) -> str:
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls", [])]
    return " ".join([message["content"], *calls]).strip()
