"""Records as bare values for the cleaner, and cleaned values as rows.

The cleaner walks values and reads the keys above them as hints; so what is ours (field names) is left out,
and what is the trace's (attributes, arguments, schemas) keeps its keys.
"""

from __future__ import annotations

import json
import re
from operator import attrgetter
from typing import Any

import msgspec

from transforms.identity import Identity
from transforms.privacy.speakers import may_be_somebody
from transforms.records import Feedback, Media, Message
from transforms.surroundings import OwnFields, Surroundings
from transforms.tokens import without_tokens

MESSAGE_PLACES = ("content", "reasoning", "name", "tool_calls", "tool_call_id")
AROUND_PLACES = (
    "name", "error_type", "error", "agent", "conversation_id", "dataset", "task", "attributes", "provider", "model",
    "parameters",
)  # fmt: skip
ATTRIBUTES_AT = AROUND_PLACES.index("attributes")
OWN_PLACES = ("response_id", "tool_call_id", "tool_name", "tool_arguments", "tool_result")
_around_values, _own_values = attrgetter(*AROUND_PLACES), attrgetter(*OWN_PLACES)
FEEDBACK_PLACES = ("key", "label", "comment")
MIME = re.compile(r"((?:application|audio|font|image|model|text|video)/[a-z0-9][a-z0-9.+-]{0,60})(?:\s*;|$)")
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
_plain_json = msgspec.json.Encoder().encode
PLAIN = frozenset({str, int, bool, type(None)})
NO_TEXTS = dict.fromkeys(OWN_PLACES)
SOMEBODY = "user_name"  # the key that tells the cleaner whose name stands beside a message
MOST_COUNTED = 10**9  # no call counts more tokens, no task has more trials: a longer number is some person's


def message_values(message: Message) -> list[Any]:
    """The texts of a message, in the order of `MESSAGE_PLACES`.

    The name beside what a user says is that of somebody; beside other roles it is a function's or an agent's.
    """
    calls = [[call.id, call.name, call.arguments] for call in message.tool_calls]
    name = {SOMEBODY: message.name} if message.role == "user" and may_be_somebody(message.name) else message.name
    return [message.content, message.reasoning, name, calls, message.tool_call_id]


def message_row(message: Message, values: list[Any], identity: Identity) -> dict[str, Any]:
    """The cleaned `values` of a message as columns of `messages`; media become keyed hashes."""
    content, reasoning, name, calls, tool_call_id = values
    name = name[SOMEBODY] if isinstance(name, dict) else name
    shaped = [{"id": call_id, "name": tool, "arguments": arguments} for call_id, tool, arguments in calls]
    return {
        "role": message.role,
        "content": valid_text(content),
        "reasoning": valid_text(reasoning) or None,
        "tool_calls": to_json(shaped) if shaped else None,
        "tool_call_id": valid_text(tool_call_id) or None,
        "name": valid_text(name) or None,
        "media": to_json([_hashed(one, identity) for one in message.media]) if message.media else None,
    }


def _hashed(media: Media, identity: Identity) -> dict[str, str]:
    return {"modality": media.modality, "mime": mime_type(media.mime), "id": identity.text("media", media.data)}


def around_values(around: Surroundings) -> list[Any]:
    """The texts of a span's surroundings, in the order of `AROUND_PLACES`."""
    values = list(_around_values(around))
    values[ATTRIBUTES_AT] = without_tokens(around.attributes)
    return values


def around_row(values: list[Any]) -> dict[str, Any]:
    """The cleaned `values` of surroundings as columns of `spans`."""
    row: dict[str, Any] = dict(zip(AROUND_PLACES, values, strict=True))
    for place, value in row.items():
        if not value:
            row[place] = None
        else:
            row[place] = valid_text(value) if isinstance(value, str) else to_json(value)
    row["name"] = row["name"] or ""
    row["attributes"], row["parameters"] = row["attributes"] or "{}", row["parameters"] or "{}"
    return row


def own_values(span: OwnFields) -> list[str]:
    """The texts of a span that are its own, in the order of `OWN_PLACES`; empty where there are none.

    Its messages and tools are values of their own.
    """
    values = _own_values(span)
    return list(values) if any(values) else []


def own_row(values: list[str]) -> dict[str, str]:
    """The cleaned `values` of a span as columns of `spans`, those that say something."""
    return {place: valid_text(value) for place, value in zip(OWN_PLACES, values, strict=False) if value}


def feedback_values(feedback: Feedback) -> list[Any]:
    """The texts of a verdict, in the order of `FEEDBACK_PLACES`."""
    return [feedback.key, feedback.label, feedback.comment]


def mime_type(text: str) -> str:
    """Type and subtype, without parameters, which may name a file; empty where `text` is something else."""
    found = MIME.match(text.strip().lower())
    return found[1] if found else ""


def plausible(count: int | None) -> int | None:
    """A count of tokens or trials; null where it is too large to be one."""
    return count if count is not None and abs(count) < MOST_COUNTED else None


def to_json(value: Any) -> str:
    """Compact JSON, UTF-8 text as it is."""
    if _is_plain(value):
        try:
            return _plain_json(value).decode()
        except (UnicodeError, OverflowError):  # a lone surrogate, an integer beyond 64 bits
            pass
    return valid_text(_written(value))


def _is_plain(value: Any) -> bool:
    """Whether a quick encoder writes a value as the standard library does: floats differ, and what is no JSON."""
    kind = type(value)
    if kind is dict:
        for key, inner in value.items():  # noqa: SIM110 - a generator takes three times as long, here and below
            if type(key) is not str or not (type(inner) in PLAIN or _is_plain(inner)):
                return False
        return True
    if kind is list:
        for inner in value:  # noqa: SIM110
            if not (type(inner) in PLAIN or _is_plain(inner)):
                return False
        return True
    return kind in PLAIN


def valid_text(text: str) -> str:
    """`text` that UTF-8 can hold: a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
