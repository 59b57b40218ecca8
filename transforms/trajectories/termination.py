"""How a thread ended, as its last call and the spans around it tell."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from transforms.trajectories.assignment import Thread
from transforms.trajectories.calls import Node, Trace

# Exceptions by which harnesses stop an agent that goes on for too long; a rate limit is none of them.
LIMIT = re.compile(r"recursion|max_?(turns|steps|iterations)|(usage|request|turn|step)_?limit", re.IGNORECASE)
# What they say where the export names no exception; of a longer text only the beginning counts.
LIMIT_WORDS = re.compile(r".{0,60}\b(max(imum)? (turns|steps|iterations)|recursion limit)\b", re.IGNORECASE | re.DOTALL)


# Tools by which an agent says that it is done, or hands over to a person; what it does by others goes on.
_ENDING = re.compile(
    r"submit|finish|done|exit|terminate|(submit_)?final_(answer|result|output|response)|attempt_completion|(task_)?complete(_task)?|"
    r"end_(conversation|chat|call|session|task)|"
    r"(transfer|hand_?(off|over)|escalate)(_call)?(_to)?(_(a|the|live))*_?(human|person|operator|representative|supervisor)s?"
    r"(_(agent|support|operator|representative|being)s?)*",
    re.IGNORECASE,
)


@lru_cache(maxsize=1024)
def is_ending(tool: str) -> bool:
    """Whether calling a tool ends an agent's work, as its name tells."""
    return _ENDING.fullmatch(tool.replace("-", "_").rpartition(".")[2]) is not None


def tells_limit(error_type: str | None, error: str | None) -> bool:
    """Whether an error says that the harness stopped an agent that went on for too long."""
    if error_type:
        return LIMIT.search(error_type) is not None
    return LIMIT_WORDS.match(error or "") is not None


def termination(thread: Thread, trace: Trace, failed: Iterable[Node], calls_tools: bool) -> str:
    """finished, error, truncated, limit or abandoned.

    `failed` are the failed calls of its last trace; `calls_tools` says whether the last action calls tools,
    whose results no later call was shown, and not by those alone that end its work (`is_ending`).
    """
    last = thread.steps[-1].call
    around = _around(trace, last.span, thread)
    errors = [span for span in around if span.status == "error"]
    if any(tells_limit(span.error_type, span.error) for span in errors):
        return "limit"
    trailing = any(span.order > last.span.order and trace.scope(span).key == last.scope.key for span in failed)
    if trailing or errors or last.span.status == "error" or last.span.finish_reason in ("error", "content_filter"):
        return "error"
    if last.span.finish_reason == "length":
        return "truncated"
    if not calls_tools:
        return "finished"
    return "limit" if any(map(_ended, around)) else "abandoned"


def _ended(span: Node) -> bool:
    """Whether a span is over: it has an end, or says how it went."""
    return span.status == "ok" or (span.ended_at is not None and span.status != "pending")


def _around(trace: Trace, span: Node, thread: Thread) -> list[Node]:
    """The spans that enclose the last call, up to the one that is the thread's whole scope."""
    found = []
    for above in trace.ancestors(span):
        found.append(above)
        if thread.scope.key == f"span:{above.span_id}":
            break
    return found
