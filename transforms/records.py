"""What readers yield: spans, feedback and rejects, still as the export said them.

Records live in memory only. Their text is raw: it may be logged, raised or stored nowhere.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct


class _Secret(Struct, array_like=True):
    """A record whose text no log, error or debugger's line may show."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class ToolCall(_Secret):
    """A call that a model wrote; `arguments` is its JSON text, untouched."""

    id: str
    name: str
    arguments: str


class Media(_Secret):
    """A picture, sound or file in a message: what it is, and its bytes or address as the export has it."""

    modality: str
    mime: str
    data: str


class Message(_Secret):
    """One message of a chat. `role` is system, user, assistant or tool.

    Calls repeat their history, and readers give equal messages as one object: nobody may change one.
    """

    role: str
    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""
    media: tuple[Media, ...] = ()


class Span(_Secret):
    """A span of any dialect. Times are UTC nanoseconds; JSON-like values are plain Python objects.

    An empty `trace_id` means that the export has no ids: `trace_identity` is then what tells this trace from
    every other (its last part may be a digest of its content), and the ids become keyed hashes of it and of
    `sequence` and `parent_sequence`. Token ids and log-probabilities are packed, as `readers/tokens.py` says.
    """

    source: str
    dialect: str
    position: int
    trace_id: str
    span_id: str
    kind: str
    name: str
    parent_span_id: str = ""
    sequence: str = ""
    parent_sequence: str = ""
    trace_identity: tuple[str, ...] = ()
    started_ns: int | None = None
    ended_ns: int | None = None
    status: str = "unknown"
    error_type: str = ""
    error: str = ""
    agent: str = ""
    conversation_id: str = ""
    dataset: str = ""
    task: str = ""
    trial: int | None = None
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)
    provider: str = ""
    model: str = ""
    response_id: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=dict)
    tools: list[dict[str, Any]] = msgspec.field(default_factory=list)
    finish_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    reasoning_tokens: int | None = None
    prompt: list[Message] = msgspec.field(default_factory=list)
    output: list[Message] = msgspec.field(default_factory=list)
    tool_call_id: str = ""
    tool_name: str = ""
    tool_arguments: str = ""
    tool_result: str = ""
    content_state: str = "absent"
    flags: list[str] = msgspec.field(default_factory=list)
    prompt_token_ids: str = ""
    output_token_ids: str = ""
    output_logprobs: str = ""


class Feedback(_Secret):
    """A verdict in an export. `trace_identity` stands in for a missing `trace_id`, as in `Span`; a missing
    `feedback_id` becomes a keyed hash of the trace, the key and the annotator."""

    position: int
    trace_id: str
    key: str
    feedback_id: str = ""
    trace_identity: tuple[str, ...] = ()
    span_id: str = ""
    score: float | None = None
    label: str = ""
    comment: str = ""
    annotator: str = "unknown"
    created_ns: int | None = None


class Reject(Struct):
    """A record that could not be used: where it stood and why, never what it said."""

    position: int
    reason: str
    bytes: int | None = None


Record = Span | Feedback | Reject
