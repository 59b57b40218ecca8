"""Reads the content of OTLP spans that follow OpenTelemetry's GenAI conventions (1.37 and later)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import content_state, finish_reason, read_tools, read_usage
from transforms.readers.decoding import bounded, decode
from transforms.readers.messages import read_message, result_text, with_system
from transforms.readers.seen import Seen
from transforms.readers.values import first_text, listing, mapping, number, text, whole
from transforms.records import Feedback, Span

KINDS = {
    "chat": "llm",
    "text_completion": "llm",
    "generate_content": "llm",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "chain",
    "embeddings": "embedding",
    "retrieval": "retriever",
}
OTHER_KINDS = {"llm": "llm", "tool": "tool", "agent": "agent", "chain": "chain", "retriever": "retriever",
               "embedding": "embedding", "evaluator": "evaluator", "workflow": "chain", "task": "chain"}  # fmt: skip
INPUT, OUTPUT, SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
DETAILS = "gen_ai.client.inference.operation.details"
VERDICT = "gen_ai.evaluation.result"
TASK_NAMES = ("task.id", "task_id", "example_id", "reference_example_id", "langsmith.reference_example_id")
TRIAL_NAMES = ("attempt", "trial", "task.attempt", "task.trial")
CONVERSATION_NAMES = ("gen_ai.conversation.id", "session.id", "conversation.id", "thread_id")
PARAMETERS = "gen_ai.request."
UNREAD_CONTENT = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages", "ai.prompt",
                  "input.value", "traceloop.entity.input", "events", "all_messages_events", "pydantic_ai.all_messages",
                  "langfuse.observation", "mlflow.spanInputs", "request_data")  # fmt: skip
LIFTED = frozenset(
    (
        INPUT, OUTPUT, SYSTEM, *TASK_NAMES, *TRIAL_NAMES, *CONVERSATION_NAMES, "reward", "gen_ai.operation.name",
        "gen_ai.provider.name", "gen_ai.system", "gen_ai.agent.name", "gen_ai.tool.definitions", "gen_ai.tool.name",
        "gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.response.id",
        "gen_ai.response.model", "gen_ai.response.finish_reasons", "error.type",
    )
)  # fmt: skip

Event = tuple[str, dict[str, Any], int | None]


def fill_span(span: Span, said: dict[str, Any], events: list[Event], seen: Seen) -> None:
    """Kind, identity and content of a span from its attributes and events."""
    odd: set[str] = set()
    for name, event, _ in events:
        if name == DETAILS:
            said = {**event, **said}
    span.kind = _kind(said)
    if any(key.startswith("gen_ai.") for key in said):
        span.dialect = "otlp_genai"
    span.agent = first_text(said, "gen_ai.agent.name")
    span.conversation_id = first_text(said, *CONVERSATION_NAMES)
    span.task = first_text(said, *TASK_NAMES)
    span.trial = next((count for name in TRIAL_NAMES if (count := whole(said.get(name))) is not None), None)
    span.provider = first_text(said, "gen_ai.provider.name", "gen_ai.system")
    span.attributes = {
        key: bounded(value)
        for key, value in said.items()
        if value is not None
        and key not in LIFTED
        and not key.startswith((PARAMETERS, "gen_ai.usage.", *UNREAD_CONTENT))
    }
    if span.kind == "llm":
        _fill_call(span, said, odd, seen)
    elif span.kind == "tool":
        _fill_tool(span, said, odd)
    else:
        span.content_state = "full"
    span.flags += sorted(odd - set(span.flags))


def read_verdicts(span: Span, said: dict[str, Any], events: list[Event]) -> Iterator[Feedback]:
    """Evaluations that stand on a span as events, and the number in its attribute `reward`."""
    about = span.span_id if span.parent_span_id else ""
    for name, event, time in events:
        if name == VERDICT:
            yield Feedback(
                span.position,
                span.trace_id,
                text(event.get("gen_ai.evaluation.name")),
                span_id=about,
                score=number(event.get("gen_ai.evaluation.score.value")),
                label=text(event.get("gen_ai.evaluation.score.label")),
                comment=text(event.get("gen_ai.evaluation.explanation")),
                annotator="code",
                created_ns=time,
            )
    reward = number(said.get("reward"))
    if reward is not None and span.kind == "agent":
        yield Feedback(
            span.position,
            span.trace_id,
            "reward",
            span_id=about,
            score=reward,
            annotator="env",
            created_ns=span.ended_ns,
        )


def _kind(said: dict[str, Any]) -> str:
    operation = text(said.get("gen_ai.operation.name")).lower()
    if operation in KINDS:
        return KINDS[operation]
    named = first_text(said, "openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind").lower()
    if named in OTHER_KINDS:
        return OTHER_KINDS[named]
    asked = "gen_ai.request.model" in said or "llm.request.type" in said
    return "llm" if asked and (INPUT in said or OUTPUT in said or not operation) else "other"


def _fill_call(span: Span, said: dict[str, Any], odd: set[str], seen: Seen) -> None:
    prompt, output = opened(said.get(INPUT), odd), opened(said.get(OUTPUT), odd)
    span.prompt = with_system(seen.read(prompt or [], odd), opened(said.get(SYSTEM), odd), odd)
    span.output = [message for item in listing(output) for message in read_message(item, odd, "assistant")]
    span.tools = read_tools(opened(said.get("gen_ai.tool.definitions"), odd))
    span.model = first_text(said, "gen_ai.response.model", "gen_ai.request.model")
    span.response_id = first_text(said, "gen_ai.response.id")
    span.parameters = {
        key.removeprefix(PARAMETERS): bounded(value)
        for key, value in said.items()
        if key.startswith(PARAMETERS) and key != "gen_ai.request.model" and value is not None
    }
    reasons = opened(said.get("gen_ai.response.finish_reasons"), set())
    first = mapping(next(iter(listing(output)), None))
    span.finish_reason = finish_reason(reasons) or finish_reason(first.get("finish_reason"))
    counts = {
        key.removeprefix("gen_ai.usage."): value for key, value in said.items() if key.startswith("gen_ai.usage.")
    }
    usage = read_usage(counts)
    span.input_tokens, span.output_tokens = usage.input, usage.output
    span.cache_read_tokens = _first(counts, "cache_read.input_tokens", "cache_read_input_tokens")
    span.reasoning_tokens = _first(counts, "reasoning.output_tokens", "reasoning_tokens")
    span.content_state = content_state(span, odd, any(key.startswith(UNREAD_CONTENT) for key in said))


def _fill_tool(span: Span, said: dict[str, Any], odd: set[str]) -> None:
    span.tool_name = first_text(said, "gen_ai.tool.name")
    span.tool_call_id = first_text(said, "gen_ai.tool.call.id")
    span.tool_arguments = text(said.get("gen_ai.tool.call.arguments"))
    span.tool_result = result_text(said.get("gen_ai.tool.call.result"), odd)
    span.content_state = "redacted" if "redacted" in odd else "absent"
    if span.content_state == "absent" and (span.tool_arguments or span.tool_result):
        span.content_state = "truncated" if "attrs_dropped" in span.flags else "full"


def opened(value: Any, odd: set[str]) -> Any:
    """A structured attribute: as it is, or decoded from JSON text, twice where it was encoded twice."""
    for _ in range(2):
        if not isinstance(value, str) or not value.strip():
            break
        try:
            value = decode(value, odd)
        except ValueError:
            odd.add("truncated_json")
            return None
    return value


def _first(counts: dict[str, Any], *names: str) -> int | None:
    return next((count for name in names if (count := whole(counts.get(name))) is not None), None)
