"""Prompts as suffixes of earlier ones: what a span stores instead of the whole history that its call repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from transforms.identity import EMPTY_CONTEXT, extend
from transforms.tokens import unpack_rows

FOLLOWERS = 16
"""Spans behind a call among which the one is sought that tells which of its answers was chosen."""

OTHER_CHOICE = "other_choice"
"""Flag of a call of whose answers not the first was chosen: counts and reasons are those of all, or of the first."""


@dataclass(slots=True)  # not frozen, as links are not: that takes longer than all else of making one
class Call:
    """A model call's message ids."""

    span_id: str
    prompt: tuple[bytes, ...]
    output: tuple[bytes, ...]


@dataclass(slots=True)
class Link:
    """A prompt told by an earlier span: its first `base_length` messages (prompt, then output), and `suffix`.

    `context_id` is the chained id of the whole prompt, `result_id` that of the prompt and the first output.
    """

    base_span_id: str | None
    base_length: int
    suffix: tuple[bytes, ...]
    context_id: bytes
    result_id: bytes | None


def link(calls: Iterable[Call]) -> dict[str, Link]:
    """The links of one trace's calls, by span id. `calls` come in order; each rests on earlier ones only."""
    holders: dict[bytes, str] = {}  # every context seen so far, by the first span whose messages begin with it
    links = {}
    messages: tuple[bytes, ...] = ()
    contexts = [EMPTY_CONTEXT]
    for call in calls:
        before, messages = messages, call.prompt + call.output[:1]
        contexts = _chain(contexts[: _shared(before, messages) + 1], messages)
        length = len(call.prompt)
        shared = next((n for n in range(length, 0, -1) if contexts[n] in holders), 0)
        links[call.span_id] = Link(
            base_span_id=holders[contexts[shared]] if shared else None,
            base_length=shared,
            suffix=call.prompt[shared:],
            context_id=contexts[length],
            result_id=contexts[length + 1] if call.output else None,
        )
        for context in contexts[shared + 1 :]:
            holders.setdefault(context, call.span_id)
    return links


def link_rows(spans: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows of SPANS out of rows that hold whole prompts (`prompt`, a list of message ids), trace by trace.

    The rows that are given are changed."""
    by_trace: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in spans:
        by_trace[row["trace_id"]].append(row)
    for rows in by_trace.values():
        rows.sort(key=lambda row: (row["started_at"] or 0, row["sequence"], row["span_id"]))
        _put_chosen_first(rows)
        calls = [Call(row["span_id"], tuple(row["prompt"]), tuple(row["output"])) for row in rows]
        links = link(call for call in calls if call.prompt or call.output)
        for row in rows:
            length = len(row.pop("prompt"))
            row.update(_columns(links.get(row["span_id"]), length))
        unpack_rows(rows)
        yield from rows


def _put_chosen_first(rows: list[dict[str, Any]]) -> None:
    """Of several answers to one prompt, the one that the conversation went on with is the one that counts."""
    for place, row in enumerate(rows):
        if len(row["output"]) < 2:
            continue
        prompt, length = row["prompt"], len(row["prompt"])
        later = (one["prompt"] for one in rows[place + 1 : place + 1 + FOLLOWERS] if len(one["prompt"]) > length)
        followed = next((one[length] for one in later if one[:length] == prompt), None)
        if followed in row["output"][1:] and followed != row["output"][0]:
            row["output"] = [followed, *(one for one in row["output"] if one != followed)]
            row["flags"] = sorted({*row["flags"], OTHER_CHOICE})


def _columns(linked: Link | None, length: int) -> dict[str, Any]:
    return {
        "base_span_id": linked and linked.base_span_id,
        "base_length": linked.base_length if linked else 0,
        "prompt_suffix": list(linked.suffix) if linked else [],
        "prompt_length": length,
        "context_id": linked and linked.context_id,
        "result_id": linked and linked.result_id,
    }


def _shared(before: tuple[bytes, ...], messages: tuple[bytes, ...]) -> int:
    """How many messages two calls have in common from the first on."""
    length = min(len(before), len(messages))
    if before[:length] == messages[:length]:
        return length
    return next(place for place in range(length) if before[place] != messages[place])


def _chain(contexts: list[bytes], messages: tuple[bytes, ...]) -> list[bytes]:
    """Chained ids of the first 0, 1, 2, ... messages, of which the first are known."""
    for message in messages[len(contexts) - 1 :]:
        contexts.append(extend(contexts[-1], message))
    return contexts
