"""Reads trajectories in Harbor's interchange format (ATIF 1.4 to 1.7), with their sub-agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from transforms.readers.calls import finish_reason, read_parameters, read_tools
from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.parts import Parts, read_content, result_text
from transforms.readers.reading import Reading
from transforms.readers.rollouts import COPIED, REWRITTEN, ROOT, Turn, call_spans, digest, root_span
from transforms.readers.values import first_text, listing, mapping, text, time_ns, whole
from transforms.records import Message, Reject, Span, ToolCall

ROLES = {"user": "user", "agent": "assistant", "system": "system"}


def is_trajectory(fields: dict[str, Any]) -> bool:
    """Whether an object is a trajectory."""
    return text(fields.get("schema_version")).startswith("ATIF-") and "steps" in fields


def read_trajectory(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """A root and its calls, then those of each sub-agent in it; the format holds no reward.

    A step that repeats earlier context is prompt, never a call, so that nothing is trained twice. After a step in
    which a system manages the context the steps no longer tell what the model was shown: later calls are truncated.
    """
    named = (first_text(fields, "session_id"), first_text(fields, "trajectory_id"))
    identity = ("atif", *named) if any(named) else ("atif", digest(fields["steps"]))
    yield from _read(fields, position, identity, ROOT, "")
    for number, inner in enumerate(listing(fields.get("subagent_trajectories")), start=1):
        try:
            yield from list(_read(inner, position, identity, f"{number:03d}.{ROOT}", ROOT))
        except WRONG_SHAPES:
            yield Reject(position, "unreadable_atif")


def _read(
    fields: dict[str, Any], position: int, identity: tuple[str, ...], sequence: str, parent: str
) -> Iterator[Span]:
    agent = mapping(fields.get("agent"))
    root = root_span("atif", first_text(agent, "name") or "agent", position, identity=identity, sequence=sequence)
    root.agent, root.parent_sequence = first_text(agent, "name"), parent
    root.conversation_id = first_text(fields, "session_id")
    steps = [mapping(step) for step in fields["steps"]]
    times = [time for step in steps if (time := time_ns(step.get("timestamp"))) is not None]
    root.started_ns, root.ended_ns = min(times, default=None), max(times, default=None)
    if any(step.get("is_copied_context") for step in steps):
        root.flags.append(COPIED)
    yield root
    tools = read_tools(agent.get("tool_definitions"))
    yield from call_spans(root, _turns(steps, first_text(agent, "model_name")), tools)


def _turns(steps: list[dict[str, Any]], model: str) -> Iterator[Turn]:
    odd: set[str] = set()
    acted = False
    for step in steps:
        source = text(step.get("source"))
        acted = acted or source == "agent"
        managed = source == "system" and acted and _is_rewritten(step)
        said = _said(step, odd)
        if source == "agent" and _is_several(step):
            odd.add(REWRITTEN)  # what each call was shown and said is not told
        own = source == "agent" and not step.get("is_copied_context") and step.get("llm_call_count") != 0
        yield Turn([said], set(odd), own, _known(step, model), _tokens(step))
        if managed:
            odd.add(REWRITTEN)
        if answers := _answers(step, said, odd):
            yield Turn(answers, set(odd), own=False)


def _is_rewritten(step: dict[str, Any]) -> bool:
    """Whether a system's step changed what the model had been shown, other than by adding to it."""
    how = mapping(mapping(step.get("extra")).get("context_management"))
    return bool(how or "observation" in step) and how.get("boundary") != "append"


def _said(step: dict[str, Any], odd: set[str]) -> Message:
    parts = Parts()
    read_content(step.get("message"), parts, odd)
    calls = tuple(
        ToolCall(first_text(call, "tool_call_id"), first_text(call, "function_name"), text(call.get("arguments")))
        for call in map(mapping, listing(step.get("tool_calls")))
    )
    role = ROLES.get(text(step.get("source")))
    if role is None:
        odd.add("unknown_role")
    reasoning = text(step.get("reasoning_content"))
    return Message(role or "user", "\n".join(parts.text), reasoning, calls, media=tuple(parts.media))


def _answers(step: dict[str, Any], said: Message, odd: set[str]) -> list[Message]:
    """What a step observed: results of its calls, by id or else in their order; without a call, the user's turn."""
    results = [mapping(result) for result in listing(mapping(step.get("observation")).get("results"))]
    shown = [result for result in results if result.get("content") is not None]
    messages = []
    for index, result in enumerate(shown):
        inferred = said.tool_calls[index].id if len(shown) <= len(said.tool_calls) else ""
        call = first_text(result, "source_call_id") or inferred
        parts = Parts()
        if isinstance(result["content"], list):
            read_content(result["content"], parts, odd)
        content = "\n".join(parts.text) if parts.text or parts.media else result_text(result["content"], odd)
        role = "tool" if said.tool_calls else "user"
        messages.append(Message(role, content, tool_call_id=call if role == "tool" else "", media=tuple(parts.media)))
    unanswered = {call.id for call in said.tool_calls} - {message.tool_call_id for message in messages}
    if len(results) > len(shown) and len(unanswered) == 1 and len(messages) == 0:
        messages = [replace(Message("tool"), tool_call_id=unanswered.pop())]
    return messages


def _tokens(step: dict[str, Any]) -> tuple[Any, Any, Any]:
    metrics = {} if _is_several(step) else mapping(step.get("metrics"))
    return metrics.get("prompt_token_ids"), metrics.get("completion_token_ids"), metrics.get("logprobs")


def _is_several(step: dict[str, Any]) -> bool:
    """Whether a step stands for several calls of a model, whose metrics are then of all of them."""
    return (whole(step.get("llm_call_count")) or 1) > 1


def _known(step: dict[str, Any], model: str) -> dict[str, Any]:
    known = {
        "model": first_text(step, "model_name") or model,
        "ended_ns": time_ns(step.get("timestamp")),
        "parameters": read_parameters({"reasoning_effort": step.get("reasoning_effort")}),
    }
    if _is_several(step):
        return known
    metrics = mapping(step.get("metrics"))
    extra = mapping(metrics.get("extra"))
    return known | {
        "input_tokens": whole(metrics.get("prompt_tokens")),
        "output_tokens": whole(metrics.get("completion_tokens")),
        "cache_read_tokens": whole(metrics.get("cached_tokens")),
        "reasoning_tokens": whole(extra.get("reasoning_tokens")),
        "finish_reason": finish_reason(extra.get("finish_reason")),
    }
