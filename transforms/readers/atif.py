"""Reads trajectories in Harbor's interchange format (ATIF 1.4 to 1.7), with their sub-agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
    identity = _identity(fields, reading)
    yield from list(_read(fields, position, identity, ROOT, ""))
    yield from _read_inner(fields, position, identity, ROOT)


def _identity(fields: dict[str, Any], reading: Reading) -> tuple[str, ...]:
    """What tells a trajectory from others: ids of its session and its own, else its content.

    Since 1.7 several agents may share a session. Where they have no ids of their own, those that begin otherwise than
    the session's first trajectory in the file are told apart by that; one that is written again as it grows is not.
    """
    session, own = first_text(fields, "session_id"), first_text(fields, "trajectory_id")
    if not session and not own:
        return "atif", digest(fields["steps"])
    if own or not fields["steps"]:
        return "atif", session, own
    began = digest(first_text(mapping(fields.get("agent")), "name"), fields["steps"][0])
    return ("atif", session, own) if reading.openings.is_first(session, began) else ("atif", session, own, began)


def _read_inner(
    fields: dict[str, Any], position: int, identity: tuple[str, ...], sequence: str
) -> Iterator[Span | Reject]:
    """The trajectories of sub-agents in a trajectory, and of theirs."""
    prefix = sequence.removesuffix(ROOT)
    for number, inner in enumerate(listing(fields.get("subagent_trajectories")), start=1):
        own = f"{prefix}{number:03d}.{ROOT}"
        try:
            yield from list(_read(inner, position, identity, own, sequence))
            yield from _read_inner(inner, position, identity, own)
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
    """What a step observed: results of its calls, by id or else in their order; without a call, the user's turn.

    A call whose only result has no content was answered with nothing: a sub-agent's trajectory may say more.
    """
    results = [mapping(result) for result in listing(mapping(step.get("observation")).get("results"))]
    calls = _answered(results, said.tool_calls)
    told = {call for result, call in zip(results, calls, strict=True) if result.get("content") is not None}
    messages = []
    for result, call in zip(results, calls, strict=True):
        if result.get("content") is not None:
            messages.append(_answer(result["content"], call, bool(said.tool_calls), odd))
        elif call and call not in told:
            messages.append(Message("tool", tool_call_id=call))
            told.add(call)
    return messages


def _answered(results: list[dict[str, Any]], calls: tuple[ToolCall, ...]) -> list[str]:
    """Ids of the calls that results answer, empty where nothing tells."""
    if not calls:
        return [""] * len(results)
    given = [result.get("content") is not None for result in results]
    counted = given if len(results) > len(calls) and any(given) else [True] * len(results)
    in_order = iter([call.id for call in calls] if sum(counted) <= len(calls) or not any(given) else [])
    inferred = [next(in_order, "") if counts else "" for counts in counted]
    return [first_text(result, "source_call_id") or call for result, call in zip(results, inferred, strict=True)]


def _answer(content: Any, call: str, is_result: bool, odd: set[str]) -> Message:
    parts = Parts()
    if isinstance(content, list):
        read_content(content, parts, odd)
    answer = "\n".join(parts.text) if parts.text or parts.media else result_text(content, odd)
    return Message("tool" if is_result else "user", answer, tool_call_id=call, media=tuple(parts.media))


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
