"""Reads plain chats, one an object: OpenAI's fine-tuning format, ShareGPT, rows of data sets of agents' runs, and logs
of single requests with their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import read_parameters, read_tools
from transforms.readers.chat_entries import LEFT_OUT, begins, known_of, read_entries, speaker
from transforms.readers.langsmith_calls import read_output
from transforms.readers.nested import opened_text
from transforms.readers.parts import Parts, read_content
from transforms.readers.reading import Reading
from transforms.readers.rollouts import Turn, call_spans, digest, reward, root_span
from transforms.readers.values import first_text, listing, mapping, number
from transforms.records import Feedback, Message, Span

CHATS = ("messages", "conversations", "trajectory")
VERDICTS = ("resolved", "target", "reward", "score")
TARGET = "target"
"""Whether a run reached its goal, in rows that say so by yes or no; a number under that name is an answer."""

ANSWERS = ("response", "choices", "completion", "output")
"""What stands beside the messages of a request that was logged with its answer."""

SETTINGS = ("kwargs", "model_parameters")
"""Where proxies and harnesses keep the other fields of such a request."""

PROXIED = "call_type"
"""What LiteLLM calls the endpoint of a request, whether it was answered or not."""

_PACKED = re.compile(r"""\s*\[\s*\{\s*"(role|from|content|type)"\s*:""")


def is_chat(fields: dict[str, Any]) -> bool:
    """Whether an object is a chat: messages with a speaker each, as a list or its JSON."""
    return any(_begins_chat(fields.get(name)) for name in CHATS)


def read_chat(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback]:
    """A root, a call for each thing the assistant said, and what a row says of its outcome.

    In a request that was logged with its answer, the answer is what the assistant said; what it had said before is
    prompt.
    """
    entries = _entries(fields)
    answer = _answer(fields, entries)
    told = [fields.get(name) for name in ("tools", *ANSWERS)] if answer else [fields.get("tools")]
    root = root_span("chat", "chat", position, identity=("chat", reading.dataset, digest(entries, *told)))
    root.dataset, root.task = reading.dataset, first_text(fields, "instance_id", "task_id")
    root.conversation_id = first_text(fields, "conversation_id", "thread_id")
    yield root
    asked = [fields, *(mapping(fields.get(name)) for name in SETTINGS)] if answer else [fields]
    for span in call_spans(root, _turns(fields, entries, answer), _tools([*asked, mapping(entries[0])])):
        if answer and span.kind == "llm":
            span.parameters = read_parameters(*asked)
        yield span
    for name in VERDICTS:
        if name != TARGET or isinstance(fields.get(name), bool):
            yield from reward(root, name, number(fields.get(name)))


def _entries(fields: dict[str, Any]) -> list[Any]:
    """The messages of a chat; raises KeyError where there are none, as in one that is listed among chats."""
    name = next((name for name in CHATS if _begins_chat(fields.get(name))), "")
    return listing(opened_text(fields[name], set()))


def _begins_chat(entries: Any) -> bool:
    if isinstance(entries, str):
        return bool(_PACKED.match(entries))
    first = mapping(entries[0]) if isinstance(entries, list) and entries else {}
    return bool(first) and begins(first)


def _tools(holders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools of the first that has some: the row, its settings, or the first message."""
    offered = (opened_text(held.get(name), set()) for held in holders for name in ("tools", "functions"))
    return next(filter(None, map(read_tools, offered)), [])


def _turns(fields: dict[str, Any], entries: list[Any], answer: Turn | None) -> Iterator[Turn]:
    odd = {"payload_elsewhere"} if any(fields.get(name) for name in LEFT_OUT) else set[str]()
    parts = Parts()
    read_content(fields.get("system"), parts, odd)
    if parts.text and speaker(mapping(entries[0])) != "system":
        yield Turn([Message("system", "\n".join(parts.text))])
    for turn in read_entries(entries):
        turn.odd |= odd
        turn.own = turn.own and answer is None
        yield turn
    if answer is not None:
        yield answer


def _answer(fields: dict[str, Any], entries: list[Any]) -> Turn | None:
    """What a model answered to the messages, without a message where it failed; None where they are a whole chat.

    A text beside messages among which are answers may be anything, such as what a run came to.
    """
    speakers = [speaker(mapping(entry)) for entry in entries]
    if speakers[-1] == "assistant":
        return None
    odd: set[str] = set()
    held = next((fields[name] for name in ANSWERS if fields.get(name)), None)
    answer = opened_text(held, odd)
    if not answer or (isinstance(answer, str) and "assistant" in speakers):
        return Turn([]) if PROXIED in fields else None
    result = fields if held is fields.get("choices") else mapping(answer)
    said = read_output(result or answer, odd)[:1]
    if not said or said[0].role != "assistant":
        return None
    return Turn(said, odd, known=known_of({**result, "model": result.get("model") or fields.get("model")}))
