"""Tells what a span of OTLP stands for, and which agent, task and conversation it belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

from transforms.readers.decoding import decode
from transforms.readers.values import first_text, text, whole
from transforms.records import Span

OPERATIONS = {
    "chat": "llm",
    "chat.completions": "llm",
    "text_completion": "llm",
    "text.completions": "llm",
    "generate_content": "llm",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "invoke_workflow": "chain",
    "execute_task": "chain",
    "agent_step": "chain",
    "embeddings": "embedding",
    "retrieval": "retriever",
}
NAMES_OF_KIND = ("openinference.span.kind", "traceloop.span.kind", "langsmith.span.kind",
                 "langfuse.observation.type", "mlflow.spanType", "agentops.span.kind")  # fmt: skip
KINDS = {"llm": "llm", "chat_model": "llm", "generation": "llm", "tool": "tool", "agent": "agent", "chain": "chain",
         "workflow": "chain", "task": "chain", "retriever": "retriever", "embedding": "embedding",
         "evaluator": "evaluator"}  # fmt: skip
DIALECTS = (
    ("otlp_langfuse", "langfuse.observation."),
    ("otlp_mlflow", "mlflow."),
    ("otlp_langsmith", "langsmith."),
    ("otlp_vercel", "ai."),
    ("otlp_agentlightning", "agentlightning."),
    ("otlp_adk", "gcp.vertex.agent."),
    ("otlp_openinference", "openinference."),
    ("otlp_genai", "gen_ai."),
    ("otlp_traceloop", "traceloop."),
)
"""Whose span it is, by how its attributes begin, where no content says so."""

DIALECT_NAMES = (*(name for name, _ in DIALECTS), "otlp")
KNOWN_KEYS = 4096
"""Keys of attributes of which it is remembered what they are."""

METADATA = ("traceloop.association.properties.", "langfuse.trace.metadata.", "langfuse.observation.metadata.",
            "ai.telemetry.metadata.", "langsmith.metadata.")  # fmt: skip
TASK_NAMES = ("task.id", "task_id", "taskId", "example_id", "reference_example_id", "langsmith.reference_example_id",
              "langfuse.experiment.item.id")  # fmt: skip
TRIAL_NAMES = ("attempt", "trial", "task.attempt", "task.trial")
CONVERSATION_NAMES = ("gen_ai.conversation.id", "session.id", "conversation.id", "thread_id", "langfuse.session.id",
                      "mlflow.trace.session", "session_id", "sessionId", "conversation_id",
                      "gcp.vertex.agent.session_id")  # fmt: skip
AGENT_NAMES = ("gen_ai.agent.name", "agent.name", "agent_name", "lc_agent_name", "ai.telemetry.functionId",
               "traceloop.workflow.name")  # fmt: skip
LIFTED = frozenset((*TASK_NAMES, *TRIAL_NAMES, *CONVERSATION_NAMES, *AGENT_NAMES, *NAMES_OF_KIND, "reward"))


def read_kind(said: dict[str, Any]) -> str:
    """The kind of a span from its attributes."""
    operation = text(said.get("gen_ai.operation.name")).lower()
    if operation in OPERATIONS:
        return OPERATIONS[operation]
    if "ai.operationId" in said:
        return _vercel(text(said["ai.operationId"]))
    named = KINDS.get(first_text(said, *NAMES_OF_KIND).strip('"').lower())
    if named in ("agent", "chain") and _is_call(said):
        return "llm"
    if named:
        return named
    if "agentlightning.operation.name" in said:
        return "tool" if "tool_call_id" in said else "chain"
    if "tool_arguments" in said or (not operation and "gen_ai.tool.name" in said):
        return "tool"
    if "all_messages_events" in said or "pydantic_ai.all_messages" in said:
        return "agent"
    asked = "gen_ai.request.model" in said or "llm.request.type" in said
    return (
        "llm"
        if asked and ("gen_ai.input.messages" in said or "gen_ai.output.messages" in said or not operation)
        else "other"
    )


class Identity(NamedTuple):
    """Whose span it is, and of what."""

    agent: str
    conversation_id: str
    task: str
    trial: int | None


def read_identity(said: dict[str, Any], metadata: dict[str, Any]) -> Identity:
    """Agent, conversation, task and trial, from the attributes or else from what the user attached."""
    return Identity(
        agent=_first(said, metadata, AGENT_NAMES),
        conversation_id=plain_again(_first(said, metadata, CONVERSATION_NAMES)),
        task=_first(said, metadata, TASK_NAMES),
        trial=next(
            (count for name in TRIAL_NAMES if (count := whole(_either(said, metadata, name))) is not None), None
        ),
    )


def _first(said: dict[str, Any], metadata: dict[str, Any], names: tuple[str, ...]) -> str:
    if not metadata:
        return first_text(said, *names)
    return first_text(
        {name: _either(said, metadata, name) for name in names if name in said or name in metadata}, *names
    )


def _either(said: dict[str, Any], metadata: dict[str, Any], name: str) -> Any:
    value = said.get(name)
    return metadata.get(name) if value is None else value


def fill_identity(span: Span, identity: Identity) -> None:
    """Put these into a span."""
    span.agent, span.conversation_id, span.task, span.trial = identity


def _vercel(operation: str) -> str:
    """The AI SDK spans the whole loop and, inside, each call; only the inner one is a call."""
    if operation == "ai.toolCall":
        return "tool"
    if ".embed" in operation:
        return "embedding"
    return "llm" if operation.endswith((".doGenerate", ".doStream")) else "agent"


def _is_call(said: dict[str, Any]) -> bool:
    """OpenInference calls a model's span an agent where somebody named its run so."""
    return "llm.model_name" in said and any(key.startswith("llm.output_messages.") for key in said)


def plain_again(value: Any) -> Any:
    """A text that was encoded as JSON once more, as it was before."""
    if isinstance(value, str) and len(value) > 1 and value.startswith('"') and value.endswith('"'):
        try:
            return decode(value, set())
        except ValueError:
            return value
    return value


def opened_object(value: Any) -> Any:
    """An object that was encoded as JSON; any other value as it is."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return decode(value, set())
        except (ValueError, RecursionError):
            return {}
    return value
