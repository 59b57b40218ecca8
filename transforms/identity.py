"""Ids that content gives: under one tenant key, the same message or task has the same id everywhere."""

from __future__ import annotations

import hashlib
import hmac
import json
from functools import lru_cache
from typing import Any

import msgspec

from transforms.records import Message, ToolCall

ID_BYTES = 16
CANONICAL = "1"  # version of what a message id hashes: another one makes other ids, which join no older day's
HMAC_BLOCK = 64
EMPTY_CONTEXT = bytes(ID_BYTES)
REMEMBERED, REMEMBERED_CHARS = 256, 4096
"""Arguments of calls whose canonical form is remembered, and how long they may be."""

_plain_json = msgspec.json.Encoder().encode
_sorted_json = json.JSONEncoder(sort_keys=True).encode
_from_start = json.JSONDecoder().raw_decode
_text = json.encoder.encode_basestring_ascii


class Identity:
    """Keyed ids. Without the tenant's key nobody can test whether a guessed text is in the data."""

    def __init__(self, tenant_key: bytes) -> None:
        key = hmac.digest(tenant_key, b"tracemill/identity", "sha256").ljust(HMAC_BLOCK, b"\0")
        self._tenant_key = tenant_key
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key))  # HMAC (RFC 2104), begun once for all ids
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in key))

    def __reduce__(self) -> tuple[type[Identity], tuple[bytes]]:
        return Identity, (self._tenant_key,)

    def digest(self, purpose: str, *parts: str) -> bytes:
        """128 bits over `purpose` and `parts`; lengths count, so that parts cannot run together."""
        return self.framed_digest(framed(purpose, *parts))

    def framed_digest(self, *pieces: bytes) -> bytes:
        """The digest of what `framed` gives, purpose first, for those who hash the same parts many times."""
        inner = self._inner.copy()
        inner.update(b"".join(pieces))
        outer = self._outer.copy()
        outer.update(inner.digest())
        return outer.digest()[:ID_BYTES]

    def text(self, purpose: str, *parts: str) -> str:
        """`digest` in lower-case hex."""
        return self.digest(purpose, *parts).hex()

    def message(self, message: Message) -> bytes:
        """Id of a message as it was before cleaning.

        Role, text, media, tool calls (name, parsed arguments, id) and the call answered count; reasoning,
        usage, names and provider fields do not: SDKs echo an output with other fields in the next prompt.
        """
        calls = [_list(call.id, call.name, canonical_arguments(call)) for call in message.tool_calls]
        media = [_list(item.modality, item.data) for item in message.media]
        role, content, answers = _text(message.role), _long_text(message.content), _text(message.tool_call_id)
        before = f"[{role}, ".encode()
        behind = f", [{', '.join(calls)}], {answers}, [{', '.join(media)}]]".encode()
        length = len(before) + len(content) + len(behind)
        return self.framed_digest(MESSAGE, length.to_bytes(8, "big"), before, content, behind)


def framed(*parts: str) -> bytes:
    """Texts with their lengths in front, one behind the other."""
    raws = [part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join([piece for raw in raws for piece in (len(raw).to_bytes(8, "big"), raw)])


MESSAGE = framed("message")


def extend(context: bytes, message_id: bytes) -> bytes:
    """Chained id of `context` and one more message: equal prefixes have equal ids, in O(1) a message."""
    return hashlib.blake2b(context + message_id, digest_size=ID_BYTES).digest()


def canonical_arguments(call: ToolCall) -> str:
    """The arguments of a call as they compare: keys sorted, or the text itself where it is no JSON, or too deep."""
    return (_recent if len(call.arguments) <= REMEMBERED_CHARS else _canonical)(call.arguments)


def _canonical(arguments: str) -> str:
    try:
        return _sorted_json(_decoded(arguments or "{}"))
    except (ValueError, RecursionError):
        return arguments


def _decoded(text: str) -> Any:
    """What `json.loads` gives, in half the time where there are no blanks around it."""
    try:
        value, end = _from_start(text)
    except json.JSONDecodeError:
        end = -1
    return value if end == len(text) else json.loads(text)


_recent = lru_cache(REMEMBERED)(_canonical)  # what a model wrote stands in its next prompt, too


def _list(*texts: str) -> str:
    """JSON of texts in ASCII, as `json.dumps` writes it."""
    return f"[{', '.join(map(_text, texts))}]"


def _long_text(text: str) -> bytes:
    """`_text` of one that may be long: another encoder is quicker then."""
    if text.isascii() and "\x7f" not in text:  # which `json.dumps` escapes
        return _plain_json(text)
    return _text(text).encode()
