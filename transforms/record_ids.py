"""Ids of records: the export's own where they say nothing, else keyed hashes of what tells one from another."""

from __future__ import annotations

import re

from transforms.identity import Identity
from transforms.privacy.shapes import luhn
from transforms.records import Feedback, Span

ACCOUNT = re.compile(r"[A-Z]{2}\d{14,32}", re.IGNORECASE)  # the number of a bank account may be hexadecimal too,
CARD = re.compile(r"[1-9]\d{12,18}")  # and so may that of a card
ORDER = re.compile(r"\d{1,12}|\d{8}T\d{6,12}Z[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
MACHINE_ID = re.compile(r"[0-9a-f]{16,64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def trace_id(record: Span | Feedback, identity: Identity) -> str:
    """Id of the trace that a record belongs to; empty where a verdict names only a span."""
    if isinstance(record, Feedback) and not (record.trace_id or record.trace_identity):
        return ""
    if record.trace_id:
        return machine_id(record.trace_id, identity, "trace")
    return identity.text("trace", *record.trace_identity)


def span_id(span: Span, trace: str, identity: Identity) -> str:
    """Id of a span of `trace`."""
    if span.span_id:
        return machine_id(span.span_id, identity, "span")
    return identity.text("span", trace, span.sequence)


def parent_span_id(span: Span, trace: str, identity: Identity) -> str | None:
    """Id of a span's parent; None for a root."""
    if span.parent_span_id:
        return machine_id(span.parent_span_id, identity, "span")
    return identity.text("span", trace, span.parent_sequence) if span.parent_sequence else None


def feedback_id(feedback: Feedback, trace: str, identity: Identity) -> str:
    """Id of a verdict; without one of its own, that of the last word of its annotator on its target and key."""
    if feedback.feedback_id:
        return machine_id(feedback.feedback_id, identity, "feedback")
    return identity.text("feedback", trace, feedback.span_id, feedback.key, feedback.annotator)


def judged_span_id(feedback: Feedback, identity: Identity) -> str | None:
    """Id of the span that a verdict is about; None where it is about the whole trace."""
    return machine_id(feedback.span_id, identity, "span") if feedback.span_id else None


def machine_id(text: str, identity: Identity, purpose: str) -> str:
    """`text` where it is hexadecimal or a UUID, lower case; a keyed hash of it where it may say something."""
    numbered = ACCOUNT.fullmatch(text) or (CARD.fullmatch(text) and luhn(text) == 0)
    return text.lower() if MACHINE_ID.fullmatch(text) and not numbered else identity.text(purpose, text)


def sequence(text: str, identity: Identity) -> str:
    """A dotted order of numbers, times and UUIDs as it is; any other part becomes a keyed hash."""
    parts = text.split(".") if text else []
    return ".".join(part if ORDER.fullmatch(part) else identity.text("sequence", part) for part in parts)
