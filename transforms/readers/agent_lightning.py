"""Reads what Agent Lightning stores: spans, rollouts, and the events of its gateway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import content_state, finish_reason, read_parameters, read_tools, read_usage
from transforms.readers.langsmith_calls import read_output, read_prompt
from transforms.readers.nested import opened_text
from transforms.readers.parts import result_text
from transforms.readers.reading import Reading
from transforms.readers.rollouts import ROOT
from transforms.readers.span_dumps import CODES, Spans, read_span
from transforms.readers.tokens import fill_from_answer
from transforms.readers.values import first_text, listing, mapping, number, text, time_ns, whole
from transforms.records import Feedback, Reject, Span

SOURCE = "agent_lightning"
PRIMARY = "primary"
"""What a reward is called that was given no name."""

OUTPUTS = ("agentops.task.output", "agentops.entity.output")
"""Where AgentOps keeps what a traced function gave back."""

TASK_NAMES = ("task_id", "task.id", "example_id")
TRIAL_NAMES = ("attempt", "trial")
LONGEST_MS = 10**12
"""Milliseconds that nothing takes: thirty years."""

EVENTS = frozenset({"model_request", "tool_result", "reward"})
FAILED = frozenset({"failed", "error", "cancelled", "timeout", "unresponsive"})


def is_span(fields: dict[str, Any]) -> bool:
    """Whether an object is a span of the store."""
    return {"rollout_id", "attempt_id", "sequence_id", "span_id"} <= fields.keys()


def read_store_span(fields: dict[str, Any], position: int, reading: Reading) -> Spans:
    """The span of a store's span, and rewards on it. A rollout's attempt is its trace, since tracers may scatter it."""
    if not first_text(fields, "rollout_id"):
        yield Reject(position, "no_ids")
        return
    said = mapping(fields.get("attributes"))
    status = mapping(fields.get("status"))
    span = {
        "traceId": fields.get("trace_id"),
        "spanId": fields["span_id"],
        "parentSpanId": fields.get("parent_id"),
        "name": fields.get("name"),
        "startTimeUnixNano": time_ns(fields.get("start_time")),
        "endTimeUnixNano": time_ns(fields.get("end_time")),
        "status": {"code": CODES.get(text(status.get("status_code")), 0), "message": status.get("description")},
        "attributes": said,
        "events": [{"name": event.get("name"), "attributes": mapping(event.get("attributes"))}
                   for event in map(mapping, listing(fields.get("events")))],
    }  # fmt: skip
    resource = mapping(mapping(fields.get("resource")).get("attributes"))
    trace = _trace(fields)
    for record in read_span(span, resource, "", position, reading, SOURCE):
        if isinstance(record, Span):
            record.trace_id, record.dataset = trace, ""
            record.sequence = f"{whole(fields.get('sequence_id')) or 0:06d}"
        elif isinstance(record, Feedback):
            record.trace_id = trace
            record.key = "reward" if record.key == PRIMARY else record.key
        yield record
    if (score := _old_reward(text(fields.get("name")), said)) is not None:
        yield Feedback(
            position, trace, "reward", score=score, annotator="env", created_ns=time_ns(fields.get("end_time"))
        )


def _old_reward(name: str, said: dict[str, Any]) -> float | None:
    """The reward of a span of versions before 0.3: an attribute, or what a function gave back that AgentOps traced."""
    if name == "agentlightning.reward":
        return number(said.get("reward"))
    for output in OUTPUTS:
        given = mapping(opened_text(said.get(output), set()))
        if given.get("type") == "reward":
            return number(given.get("value"))
    return None


def is_rollout(fields: dict[str, Any]) -> bool:
    """Whether an object is a rollout: what was asked, and how its attempts went."""
    inner = mapping(fields.get("rollout")) or fields
    return "rollout_id" in inner and "input" in inner and ("status" in inner or "mode" in inner)


def read_rollout(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Reject]:
    """A root for each attempt, which carries the task."""
    rollout = mapping(fields.get("rollout")) or fields
    if not first_text(rollout, "rollout_id"):
        yield Reject(position, "no_ids")
        return
    asked, metadata = mapping(rollout.get("input")), mapping(rollout.get("metadata"))
    status = rollout.get("status")
    state = text(status.get("state") if isinstance(status, dict) else status)
    for attempt in _attempts(fields, rollout):
        span = Span(SOURCE, SOURCE, position, _trace({**rollout, "attempt_id": attempt}), "", "agent", "rollout")
        span.sequence = ROOT
        span.task = first_text(metadata, *TASK_NAMES) or first_text(asked, *TASK_NAMES)
        span.trial = next((count for name in TRIAL_NAMES if (count := whole(metadata.get(name))) is not None), None)
        span.started_ns, span.ended_ns = time_ns(rollout.get("start_time")), time_ns(rollout.get("end_time"))
        span.status = "ok" if state == "succeeded" else "error" if state in FAILED else "pending"
        span.content_state = "full"
        yield span


def is_event(fields: dict[str, Any]) -> bool:
    """Whether an object is an event of the gateway."""
    return text(fields.get("event_type")) in EVENTS and "rollout_id" in fields and isinstance(fields.get("data"), dict)


def read_event(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback | Reject]:
    """A model's call, a tool's result, or a reward. Requests that failed are calls without an output."""
    if not first_text(fields, "rollout_id"):
        yield Reject(position, "no_ids")
        return
    data, trace, time = fields["data"], _trace(fields), time_ns(fields.get("timestamp"))
    if fields["event_type"] == "reward":
        yield Feedback(position, trace, "reward", feedback_id=f"{trace}:{time}", score=number(data.get("value")),
                       comment=text(data.get("message")), annotator="env", created_ns=time)  # fmt: skip
        return
    kind = "llm" if fields["event_type"] == "model_request" else "tool"
    span = Span(SOURCE, SOURCE, position, trace, "", kind, first_text(data, "name", "model") or kind)
    span.span_id = f"{trace}:{_named(data) or time}"
    span.started_ns, span.ended_ns = _begin(time, data.get("latency_ms")), time
    odd: set[str] = set()
    if kind == "llm":
        _fill_call(span, data, odd, reading)
    else:
        span.tool_name, span.tool_call_id = first_text(data, "name"), first_text(data, "tool_call_id")
        span.tool_arguments = text(data.get("arguments"))
        span.tool_result, span.status = result_text(data.get("result"), odd), "error" if data.get("error") else "ok"
        span.content_state = "full" if span.tool_result else "absent"
    span.flags += sorted(odd)
    yield span


def _begin(end: int | None, latency_ms: Any) -> int | None:
    """When something began that took so long; unknown where that is no time."""
    took = number(latency_ms) or 0
    return None if end is None or not 0 <= took < LONGEST_MS else end - int(took * 1_000_000)


def _fill_call(span: Span, data: dict[str, Any], odd: set[str], reading: Reading) -> None:
    asked, said = mapping(data.get("request")), mapping(data.get("response"))
    failed = data.get("status") not in (None, "ok") or (whole(data.get("http_status")) or 200) >= 400
    span.status = "error" if failed else "ok"
    span.prompt = read_prompt(asked, odd, reading.seen)
    span.output = [] if failed else read_output(said, odd)
    span.tools = read_tools(asked.get("tools"))
    span.parameters = read_parameters(asked)
    span.model = first_text(said, "model") or first_text(asked, "model") or first_text(data, "model")
    span.response_id = first_text(said, "id")
    choice = mapping(next(iter(listing(said.get("choices"))), None))
    span.finish_reason = finish_reason(choice.get("finish_reason") or data.get("finish_reason"))
    usage = read_usage(said.get("usage"), data.get("usage"))
    span.input_tokens, span.output_tokens = usage.input, usage.output
    span.cache_read_tokens, span.reasoning_tokens = usage.cache_read, usage.reasoning
    span.content_state = content_state(span, odd, lambda: bool(said if span.prompt else asked))
    fill_from_answer(span, said or data, {})


def _trace(fields: dict[str, Any]) -> str:
    return f"{first_text(fields, 'rollout_id')}:{first_text(fields, 'attempt_id')}"


def _attempts(fields: dict[str, Any], rollout: dict[str, Any]) -> list[str]:
    listed = [text(attempt) if not isinstance(attempt, dict) else first_text(attempt, "attempt_id")
              for attempt in listing(fields.get("attempts"))]  # fmt: skip
    return listed or [first_text(mapping(rollout.get("attempt")), "attempt_id")]


def _named(data: dict[str, Any]) -> str:
    return first_text(data, "tool_call_id") or first_text(mapping(data.get("response")), "id")
