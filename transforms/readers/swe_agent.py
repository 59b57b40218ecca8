"""Reads trajectories of SWE-agent: a history of messages, demonstrations among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.messages import read_message
from transforms.readers.nested import opened_text
from transforms.readers.reading import Reading
from transforms.readers.rollouts import Turn, call_spans, digest, root_span
from transforms.readers.values import first_text, listing, mapping, number, text
from transforms.records import Feedback, Message, Reject, Span

MARKS = frozenset({"agent", "message_type", "is_demo", "thought"})
"""What messages of a history have and other chats have not."""


def is_trajectory(fields: dict[str, Any]) -> bool:
    """Whether an object is a file of a run, or a demonstration, which is a history only."""
    if attempts := listing(fields.get("attempts")):
        return {"history", "trajectory"} <= mapping(attempts[0]).keys()
    history = listing(fields.get("history"))
    first = mapping(history[0]) if history else {}
    return "role" in first and ("trajectory" in fields or bool(MARKS & first.keys()))


def read_trajectory(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """The run, or each attempt of an agent that tries again, the one it chose first: that stands in the file twice.

    Each has a root, and a call for each thing the agent said in it. Demonstrations were shown to the model and are
    prompt. Where a step tells what the model was shown instead of the history, as when old observations are left out,
    that is its prompt. The file's name is the task; the reward comes from another file.
    """
    told = set[str]()
    for attempt in ([fields] if "history" in fields else []) + listing(fields.get("attempts")):
        try:
            content = digest(listing(attempt["history"]), attempt.get("trajectory"))
            if content not in told:
                yield from list(_read({**fields, **attempt}, content, position, reading))
            told.add(content)
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_swe_agent")


def _read(fields: dict[str, Any], content: str, position: int, reading: Reading) -> Iterator[Span | Feedback]:
    steps = map(mapping, listing(fields.get("trajectory")))
    queries = [listing(step.get("query") or step.get("messages")) for step in steps]
    info = mapping(fields.get("info"))
    root = root_span("swe_agent", "run", position, identity=("swe_agent", reading.dataset, content))
    root.task = _problem(fields) or reading.dataset
    root.attributes = {"exit_status": text(info["exit_status"])} if info.get("exit_status") else {}
    yield root
    yield from call_spans(root, _turns(listing(fields["history"]), {len(query): query for query in queries}))
    accepted = number(mapping(info.get("review")).get("accept"))
    if accepted is not None:
        yield Feedback(position, "", "review", trace_identity=root.trace_identity, score=accepted, annotator="llm")


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
