"""Puts the answer of a stream together from the chunks that MLflow keeps as events of a span."""

from __future__ import annotations

from typing import Any

from transforms.readers.nested import opened
from transforms.readers.otlp_events import Event
from transforms.readers.values import listing, mapping, text, whole

CHUNK, VALUE = "mlflow.chunk.item.", "mlflow.chunk.value"


def answer_of_chunks(events: list[Event], odd: set[str]) -> dict[str, Any]:
    """The answer as a completion of OpenAI's chat, empty where chunks tell of no tool call.

    MLflow writes down text that was streamed, but not the calls: an answer without them would look whole.
    """
    deltas, finish = [], ""
    for name, event, _ in events:
        if name.startswith(CHUNK):
            chunk = mapping(opened(event.get(VALUE), odd))
            choice = mapping(next(iter(listing(chunk.get("choices"))), None))
            deltas.append(mapping(choice.get("delta")))
            finish = text(choice.get("finish_reason")) or finish
    calls = _calls(deltas)
    if not calls:
        return {}
    content = "".join(text(delta.get("content")) for delta in deltas)
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return {"choices": [{"message": message, "finish_reason": finish}]}


def _calls(deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls by their number; each piece adds to the text of one."""
    calls: dict[int, dict[str, str]] = {}
    for piece in (mapping(piece) for delta in deltas for piece in listing(delta.get("tool_calls"))):
        call = calls.setdefault(whole(piece.get("index")) or 0, {"id": "", "name": "", "arguments": ""})
        function = mapping(piece.get("function"))
        call["id"] = call["id"] or text(piece.get("id"))
        call["name"] += text(function.get("name"))
        call["arguments"] += text(function.get("arguments"))
    return [call for _, call in sorted(calls.items())]
