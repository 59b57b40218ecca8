"""Reads trajectories of SWE-agent: a history of messages, demonstrations among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.messages import read_message
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.rollouts import Turn, call_spans, digest, root_span
from transforms.readers.values import first_text, listing, mapping, text
from transforms.records import Message, Span

MARKS = frozenset({"agent", "message_type", "is_demo", "thought"})
"""What messages of a history have and other chats have not."""


def is_trajectory(fields: dict[str, Any]) -> bool:
    """Whether an object is a file of a run, or a demonstration, which is a history only."""
    history = listing(fields.get("history"))
    first = mapping(history[0]) if history else {}
    return "role" in first and ("trajectory" in fields or bool(MARKS & first.keys()))


def read_trajectory(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span]:
    """A root, and a call for each thing the agent said in this run.

    Demonstrations were shown to the model and are prompt. Where a step tells what the model was shown instead of the
    history, as when old observations are left out, that is its prompt. The file's name is the task; the reward comes
    from another file.
    """
    history = listing(fields["history"])
    steps = map(mapping, listing(fields.get("trajectory")))
    queries = [listing(step.get("query") or step.get("messages")) for step in steps]
    info = mapping(fields.get("info"))
    identity = ("swe_agent", reading.dataset, digest(history, fields.get("trajectory")))
    root = root_span("swe_agent", "run", position, identity=identity)
    root.task = _problem(fields) or reading.dataset
    root.attributes = {"exit_status": text(info["exit_status"])} if info.get("exit_status") else {}
    yield root
    yield from call_spans(root, _turns(history, {len(query): query for query in queries}))


def _turns(history: list[Any], queries: dict[int, list[Any]]) -> Iterator[Turn]:
    """The history; a query is known by its length, which is that of the history before its answer."""
    before: list[Message] = []
    contents = [mapping(item).get("content") for item in history]
    for place, item in enumerate(history):
        turn = _turn(item)
        query = queries.get(place, [])
        if query and [mapping(asked).get("content") for asked in query] != contents[:place]:
            read = [_turn(asked) for asked in query]
            shown = [message for asked in read for message in asked.said]
            if shown != before:
                turn.known = {"prompt": shown}
                turn.odd |= {mark for asked in read for mark in asked.odd}
        yield turn
        before += turn.said


def _turn(item: Any) -> Turn:
    odd: set[str] = set()
    fields = mapping(item)
    call = next(iter(listing(fields.get("tool_call_ids"))), None)
    if fields.get("role") == "tool" and isinstance(call, str):
        fields = {**fields, "tool_call_id": call}
    reasoning = "\n".join(text(mapping(block).get("thinking")) for block in listing(fields.get("thinking_blocks")))
    if reasoning:
        fields = {**fields, "reasoning_content": reasoning}
    return Turn(read_message(fields, odd), odd, own=not fields.get("is_demo"))


def _problem(fields: dict[str, Any]) -> str:
    config = mapping(opened_text(fields.get("replay_config"), set()))
    return first_text(mapping(config.get("problem_statement")), "id")
