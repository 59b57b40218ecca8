"""Ids that content gives: under one tenant key, the same message or task has the same id everywhere."""

from __future__ import annotations

import hashlib
import hmac
import json

from transforms.records import Message, ToolCall

ID_BYTES = 16
CANONICAL = "1"  # version of what a message id hashes: another one makes other ids, which join no older day's
EMPTY_CONTEXT = bytes(ID_BYTES)


class Identity:
    """Keyed ids. Without the tenant's key nobody can test whether a guessed text is in the data."""

    def __init__(self, tenant_key: bytes) -> None:
        self._key = hmac.digest(tenant_key, b"tracemill/identity", "sha256")

    def digest(self, purpose: str, *parts: str) -> bytes:
        """128 bits over `purpose` and `parts`; lengths count, so that parts cannot run together."""
        framed = b"".join(len(raw).to_bytes(8, "big") + raw for raw in map(_utf8, (purpose, *parts)))
        return hmac.digest(self._key, framed, "sha256")[:ID_BYTES]

    def text(self, purpose: str, *parts: str) -> str:
        """`digest` in lower-case hex."""
        return self.digest(purpose, *parts).hex()

    def message(self, message: Message) -> bytes:
        """Id of a message as it was before cleaning.

        Role, text, media, tool calls (name, parsed arguments, id) and the call answered count; reasoning,
        usage, names and provider fields do not: SDKs echo an output with other fields in the next prompt.
        """
        if message.known_id is not None and message.known_id[0] is self:
            return message.known_id[1]
        calls = [[call.id, call.name, canonical_arguments(call)] for call in message.tool_calls]
        media = [[item.modality, item.data] for item in message.media]
        canonical = json.dumps([message.role, message.content, calls, message.tool_call_id, media], ensure_ascii=True)
        message_id = self.digest("message", canonical)
        message.known_id = (self, message_id)
        return message_id


def extend(context: bytes, message_id: bytes) -> bytes:
    """Chained id of `context` and one more message: equal prefixes have equal ids, in O(1) a message."""
    return hashlib.blake2b(context + message_id, digest_size=ID_BYTES).digest()


def canonical_arguments(call: ToolCall) -> str:
    """The arguments of a call as they compare: keys sorted, or the text itself where it is no JSON, or too deep."""
    try:
        return json.dumps(json.loads(call.arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return call.arguments


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
