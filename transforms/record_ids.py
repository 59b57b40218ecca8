"""Ids of records: the export's own where they say nothing, else keyed hashes of what tells one from another."""

from __future__ import annotations

import re

from transforms.identity import Identity
from transforms.privacy.shapes import luhn
from transforms.records import Feedback, Span
from transforms.surroundings import OwnFields

NUMBER = re.compile(r"[A-Z]{2}\d{14,32}|[1-9]\d{12,18}", re.IGNORECASE)  # of a bank account or a card: hexadecimal, too
ORDER = re.compile(r"\d{1,12}|\d{8}T\d{6,12}Z[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
ORDERS = re.compile(rf"({ORDER.pattern})(\.({ORDER.pattern}))*", re.IGNORECASE)
MACHINE_ID = re.compile(r"[0-9a-f]{16,64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def trace_id(record: Span | Feedback, identity: Identity) -> str:
    """Id of the trace that a record belongs to; empty where a verdict names only a span."""
    if isinstance(record, Feedback) and not (record.trace_id or record.trace_identity):
        return ""
    if record.trace_id:
        return machine_id(record.trace_id, identity, "trace")
    return identity.text("trace", *record.trace_identity)


def span_id(span: OwnFields, trace: str, identity: Identity) -> str:
    """Id of a span of `trace`."""
    if span.span_id:
        return machine_id(span.span_id, identity, "span")
    return identity.text("span", trace, span.sequence)


def parent_span_id(span: OwnFields, trace: str, identity: Identity) -> str | None:
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
    if MACHINE_ID.fullmatch(text) and not (NUMBER.fullmatch(text) and (text[0].isalpha() or luhn(text) == 0)):
        return text.lower()
    return identity.text(purpose, text)


def sequence(text: str, identity: Identity) -> str:
    """A dotted order of numbers, times and UUIDs as it is; any other part becomes a keyed hash."""
    if not text or ORDERS.fullmatch(text):
        return text
    parts = text.split(".")
    return ".".join(part if ORDER.fullmatch(part) else identity.text("sequence", part) for part in parts)
