"""Reads results of tau2-bench: simulations in which a user has tools too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import finish_reason, read_tools, read_usage
from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.messages import read_message
from transforms.readers.reading import Reading
from transforms.readers.rollouts import REWRITTEN, Turn, call_spans, digest, reward, root_span
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

CUT_SHORT = frozenset({"max_steps", "timeout"})
THOUGHT = ("reasoning_content", "thinking_blocks")
"""Where the raw answer keeps what the model thought, which the message leaves out."""

FAILED = frozenset({"too_many_errors", "agent_error", "user_error", "infrastructure_error", "unexpected_error"})


def is_results(fields: dict[str, Any]) -> bool:
    """Whether an object is a file of results: what was run, on which tasks, and simulations, here or in other files."""
    return isinstance(fields.get("info"), dict) and "tasks" in fields and (
        isinstance(fields.get("simulations"), list) or "environment_info" in fields["info"]
    )  # fmt: skip


def read_results(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """The rollouts of a file of results; their tasks are scoped by the domain."""
    info = fields["info"]
    environment = mapping(info.get("environment_info"))
    domain = first_text(environment, "domain_name") or reading.dataset
    agent = mapping(info.get("agent_info"))
    for simulation in listing(fields.get("simulations")):
        try:
            records = list(_read(simulation, position, domain))
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_tau2_bench")
            continue
        for record in records:
            if isinstance(record, Span):
                record.model = record.model or first_text(agent, "llm") if record.kind == "llm" else ""
                record.tools = read_tools(environment.get("tool_defs")) if record.kind == "llm" else []
            yield record


def is_simulation(fields: dict[str, Any]) -> bool:
    """Whether an object is one simulation."""
    return {"task_id", "trial", "termination_reason"} <= fields.keys()


def read_simulation(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback]:
    """The rollout of a simulation in a file of its own; the file does not say of which domain its task is."""
    yield from list(_read(fields, position, reading.dataset))


def _read(fields: dict[str, Any], position: int, dataset: str) -> Iterator[Span | Feedback]:
    """A root, a call for each message of the agent, and the reward.

    What the user does with tools of its own is not shown to the agent. The policy that the agent was given stands
    in no message, so calls are `truncated` unless one does hold it.
    """
    chat = listing(fields.get("messages"))
    named = first_text(fields, "id") or digest(fields["task_id"], fields.get("trial"), chat)
    root = root_span("tau2_bench", "simulation", position, identity=("tau2_bench", named))
    root.dataset, root.task, root.trial = dataset, text(fields["task_id"]), whole(fields.get("trial"))
    root.started_ns, root.ended_ns = time_ns(fields.get("start_time")), time_ns(fields.get("end_time"))
    ended = text(fields["termination_reason"])
    root.status = "error" if ended in FAILED else "ok"
    root.error_type = ended if ended in FAILED else ""
    root.attributes = {"termination_reason": ended}
    if not chat:
        root.content_state = "unparsed" if fields.get("ticks") else "absent"
    yield root
    shown = [item for item in map(mapping, chat) if _is_shown(item)]
    instructed = any(item.get("role") == "system" for item in shown)
    yield from call_spans(root, _turns(shown), odd=set() if instructed else {"system_unknown"})
    verdict = mapping(fields.get("reward_info"))
    yield from reward(root, "reward", number(verdict.get("reward")), created_ns=root.ended_ns)
    for part, score in mapping(verdict.get("reward_breakdown")).items():
        yield from reward(root, f"reward.{part.lower()}", number(score), created_ns=root.ended_ns)


def _is_shown(item: dict[str, Any]) -> bool:
    """Whether the agent sees a message: not the user's tools, and not what the user says to them."""
    if item.get("role") == "tool":
        return text(item.get("requestor")) != "user"
    return item.get("role") != "user" or not (item.get("tool_calls") and not item.get("content"))


def _turns(shown: list[dict[str, Any]]) -> Iterator[Turn]:
    """The messages that the agent saw. It greets the user before any model is asked: that is no call."""
    asked = False
    for item in shown:
        turn = _turn(item)
        asked = asked or item.get("role") == "user"
        turn.own = asked or bool(item.get("usage") or item.get("raw_data"))
        yield turn


def _turn(item: dict[str, Any]) -> Turn:
    odd: set[str] = set()
    raw = mapping(item.get("raw_data"))
    if item.get("role") == "tool":
        item = {**item, "tool_call_id": item.get("tool_call_id") or item.get("id")}
    elif item.get("role") == "user":
        item = {**item, "tool_calls": None}
    else:
        answer = mapping(raw.get("message")) or raw
        item = {**item, **{name: answer[name] for name in THOUGHT if answer.get(name)}}
    if item.get("is_audio"):
        item = {**item, "content": None}
        odd.add("unknown_part")
    if item.get("context_truncation"):
        odd.add(REWRITTEN)
    usage = read_usage(raw.get("usage"), item.get("usage"))
    known = {
        "model": first_text(raw, "model"),
        "response_id": first_text(raw, "id"),
        "finish_reason": finish_reason(raw.get("finish_reason") or raw.get("stop_reason")),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "reasoning_tokens": usage.reasoning,
        "ended_ns": time_ns(item.get("timestamp")),
    }
    return Turn(read_message(item, odd), odd, known=known)
