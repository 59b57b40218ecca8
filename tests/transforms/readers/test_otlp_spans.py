"""What spans of OTLP stand for in every convention: kinds, tools, identities and verdicts."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Span

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def read_all(said: dict[str, Any], **more: Any) -> list[Record]:
    span = {"traceId": TRACE, "spanId": SPAN, "name": "s", "attributes": said,
            "startTimeUnixNano": 1796013930879523691, "endTimeUnixNano": 1796013930905659274} | more  # fmt: skip
    request = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    return list(read_export(io.BytesIO(json.dumps(request).encode()), Tally()))


def read(said: dict[str, Any], **more: Any) -> Span:
    record = read_all(said, **more)[0]
    assert isinstance(record, Span)
    return record


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"ai.operationId": "ai.generateText"}, "agent"),
        ({"ai.operationId": "ai.embed.doEmbed"}, "embedding"),
        ({"ai.operationId": "ai.streamText.doStream"}, "llm"),
        ({"openinference.span.kind": "RETRIEVER"}, "retriever"),
        ({"openinference.span.kind": "EVALUATOR"}, "evaluator"),
        ({"openinference.span.kind": "GUARDRAIL"}, "other"),
        (
            {"openinference.span.kind": "AGENT", "llm.model_name": "m", "llm.output_messages.0.message.role": "ai"},
            "llm",
        ),
        ({"openinference.span.kind": "AGENT", "llm.token_count.prompt": 9}, "agent"),
        ({"agent_name": "a", "all_messages_events": "[]", "gen_ai.usage.input_tokens": 9}, "agent"),
        ({"traceloop.span.kind": "workflow"}, "chain"),
        ({"langfuse.observation.type": "span"}, "other"),
        ({"mlflow.spanType": '"RETRIEVER"'}, "retriever"),
        ({"agentlightning.operation.name": "f", "tool_call_id": "c1"}, "tool"),
        ({"langsmith.span.kind": "prompt"}, "other"),
    ],
)
def test_kinds_are_told_and_agents_are_no_calls(said: dict[str, Any], kind: str) -> None:
    assert read(said).kind == kind


def test_copies_that_logfire_sends_when_a_span_begins_are_dropped() -> None:
    assert read_all({"logfire.span_type": "pending_span"}) == []


RESULT = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ToolMessage"],
          "kwargs": {"content": "done", "type": "tool", "name": "f", "tool_call_id": "c1"}}  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        {"tool_arguments": '{"a": 1}', "tool_response": "done", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c1"},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "f", "ai.toolCall.id": "c1",
         "ai.toolCall.args": '{"a": 1}', "ai.toolCall.result": "done"},
        {"openinference.span.kind": "TOOL", "tool.name": "f", "tool.id": "c1", "input.value": '{"a": 1}',
         "output.value": "done"},
        {"openinference.span.kind": "TOOL", "tool.name": "f", "input.value": '{"a": 1}',
         "output.value": json.dumps({"type": "tool", "data": RESULT["kwargs"]})},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f",
         "gen_ai.tool.call.arguments": json.dumps({"input_str": "{'a': 1}", "inputs": {"a": 1}, "kwargs": {}}),
         "gen_ai.tool.call.result": json.dumps({"output": RESULT, "kwargs": {"color": "green"}})},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.id": "c1",
         "gen_ai.tool.call.arguments": '{"a": 1}', "gen_ai.tool.call.result": '[{"text": "done"}]'},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "f", "tool.call.id": "c1",
         "traceloop.entity.input": '{"args": [], "kwargs": {"a": 1}}', "traceloop.entity.output": '"done"'},
        {"langfuse.observation.type": "tool", "gen_ai.tool.name": "f", "langfuse.observation.input": '{"a": 1}',
         "langfuse.observation.output": "done", "langfuse.observation.metadata.tool_call_id": '"c1"'},
        {"mlflow.spanType": '"TOOL"', "tool.name": "f", "mlflow.spanInputs": '{"a": 1}',
         "mlflow.spanOutputs": '"done"', "tool_call_id": '"c1"'},
        {"langsmith.span.kind": "tool", "gen_ai.tool.name": "f", "gen_ai.prompt": '{"a": 1}',
         "gen_ai.completion": json.dumps({"output": RESULT})},
        {"agentlightning.operation.name": "f", "tool_call_id": "c1", "agentlightning.operation.input.a": 1,
         "agentlightning.operation.output": "done"},
    ],
)  # fmt: skip
def test_tool_spans_of_every_convention_say_the_same(said: dict[str, Any]) -> None:
    span = read(said)
    assert (span.kind, span.tool_name, span.tool_call_id) == ("tool", "f", "c1")
    assert (json.loads(span.tool_arguments), span.tool_result, span.content_state) == ({"a": 1}, "done", "full")


@pytest.mark.parametrize(
    "said",
    [
        {"metadata": '{"task_id": "t", "attempt": 2}', "session.id": "s", "agent.name": "a"},
        {"traceloop.association.properties.task_id": "t", "traceloop.association.properties.attempt": 2,
         "traceloop.association.properties.session_id": "s", "traceloop.workflow.name": "a"},
        {"langfuse.trace.metadata.task_id": '"t"', "langfuse.trace.metadata.attempt": '"2"', "session.id": "s",
         "gen_ai.agent.name": "a"},
        {"ai.telemetry.metadata.taskId": "t", "ai.telemetry.metadata.attempt": 2,
         "ai.telemetry.metadata.sessionId": "s", "ai.telemetry.functionId": "a"},
        {"langsmith.metadata.task_id": "t", "langsmith.metadata.attempt": 2, "langsmith.metadata.thread_id": "s",
         "langsmith.metadata.lc_agent_name": "a"},
    ],
)  # fmt: skip
def test_tasks_trials_conversations_and_agents_are_found_where_users_put_them(said: dict[str, Any]) -> None:
    span = read(said)
    assert (span.task, span.trial, span.conversation_id, span.agent) == ("t", 2, "s", "a")
    assert span.attributes == {}


def test_annotations_are_feedback_on_their_span_or_on_what_an_evaluator_links_to() -> None:
    given = {"annotations.0.annotation.name": "polite", "annotations.0.annotation.score": 1,
             "annotations.0.annotation.label": "yes", "annotations.0.annotation.explanation": "why",
             "annotations.0.annotation.annotator_kind": "HUMAN", "trace.evaluations.0.evaluation.name": "solved",
             "trace.evaluations.0.evaluation.score": 0.5}  # fmt: skip
    _, polite, solved = read_all(given, parentSpanId="a" * 16)
    assert polite == Feedback(0, TRACE, "polite", span_id=SPAN, score=1.0, label="yes", comment="why",
                              annotator="human", created_ns=1796013930905659274)  # fmt: skip
    assert isinstance(solved, Feedback)
    assert (solved.key, solved.span_id, solved.score) == ("solved", "", 0.5)
    link = {"traceId": "b" * 32, "spanId": "c" * 16}
    _, polite, _ = read_all(given | {"openinference.span.kind": "EVALUATOR"}, links=[link])
    assert isinstance(polite, Feedback)
    assert (polite.trace_id, polite.span_id) == ("b" * 32, "c" * 16)


def test_rewards_of_agent_lightning_are_feedback() -> None:
    said = {"agentlightning.reward.0.name": "primary", "agentlightning.reward.0.value": 0.5,
            "agentlightning.reward.1.name": "style", "agentlightning.reward.1.value": 1,
            "agentlightning.link.0.key_match": "span_id", "agentlightning.link.0.value_match": "a" * 16}  # fmt: skip
    _, primary, style = read_all(said)
    assert [(f.key, f.score, f.span_id, f.annotator) for f in (primary, style) if isinstance(f, Feedback)] == [
        ("reward", 0.5, "a" * 16, "env"), ("style", 1.0, "a" * 16, "env")]  # fmt: skip
