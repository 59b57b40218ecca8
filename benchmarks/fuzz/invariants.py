"""What holds whatever an export contains. A check raises `Broken`, which names the promise and never the input."""

from __future__ import annotations

import io
import math
import re
import time
from datetime import date
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from transforms.cleaning import DayCleaning
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Media, Message, Record, Reject, Span, ToolCall

INT64 = 2**63
SECONDS, SECONDS_A_BYTE = 2.0, 50e-6
"""CPU time that any input may take, and what each of its bytes may add."""

REASON = re.compile(r"[a-z][a-z0-9_]{2,30}")
REASONS = frozenset(
    [
        "broken_json", "incomplete_json", "broken_protobuf", "incomplete_message", "torn_zip", "torn_parquet",
        "torn_gzip", "torn_zstd", "unreadable_row", "encrypted", "unsupported_packing", "nested_too_deeply",
        "compression_bomb", "too_large", "too_deep", "unknown_container", "unknown_dialect", "no_ids",
        "broken_row", "incomplete_row",
    ]
)  # fmt: skip
CHOICES: dict[str, frozenset[str]] = {
    "kind": frozenset(["llm", "tool", "agent", "chain", "retriever", "embedding", "evaluator", "guardrail", "other"]),
    "status": frozenset(["ok", "error", "pending", "unknown"]),
    "content_state": frozenset(["full", "truncated", "absent", "redacted", "unparsed"]),
    "finish_reason": frozenset(["", "stop", "tool_calls", "length", "content_filter", "error"]),
    "role": frozenset(["system", "user", "assistant", "tool"]),
    "annotator": frozenset(["human", "llm", "code", "user", "env", "unknown"]),
}
KEY = b"a key for fuzzing, 32 bytes long"
POLICY = PrivacyPolicy(model=None)


class Broken(AssertionError):
    """A promise that an input broke."""


def require(holds: bool, promise: str) -> None:
    """Raises Broken where a promise does not hold."""
    if not holds:
        raise Broken(promise)


def read(data: bytes, growing: bool = False) -> tuple[list[Record], Tally]:
    """The records of an export, each checked, in bounded time and accounted for."""
    tally = Tally()
    began = time.process_time()
    records = list(read_export(io.BytesIO(data), tally, "d", growing))
    require(time.process_time() - began < SECONDS + SECONDS_A_BYTE * len(data), "reading takes bounded time")
    for record in records:
        check_record(record)
    check_account(records, tally, len(data))
    return records, tally


def check_account(records: list[Record], tally: Tally, size: int) -> None:
    """Documents are records, rejected documents and blanks, and all of them are told of in their order."""
    positions = [record.position for record in records]
    given = {record.position for record in records if not isinstance(record, Reject)}
    require(positions == sorted(positions), "records come in order")
    require(tally.records == len(given), "each document that gave something counts once")
    require(tally.rejects == sum(isinstance(record, Reject) for record in records), "each reject counts")
    require(max(positions, default=-1) < len(set(positions)) + tally.blanks, "no document is lost")
    require(tally.bytes == size, "all bytes are read")


def check_record(record: Record) -> None:
    """A record has the types that it declares, within what columns hold."""
    if isinstance(record, Reject):
        known = record.reason in REASONS or record.reason.startswith("unreadable_")
        require(bool(REASON.fullmatch(record.reason)) and known, "a reason is one of ours")
        require(record.bytes is None or record.bytes >= 0, "a size is a size")
        return
    _check_fields(record)
    require(record.trace_id != "" or record.trace_identity != () or isinstance(record, Feedback), "a span has a trace")
    if isinstance(record, Span):
        require(bool(record.span_id or record.sequence), "a span has an id")
    elif not record.trace_id and not record.trace_identity:
        require(bool(record.span_id), "a verdict is about something")


def _check_fields(record: Span | Feedback | Message | Media | ToolCall) -> None:
    for name in (item.name for item in fields(record)):
        value = getattr(record, name)
        if name in CHOICES:
            require(value in CHOICES[name], f"{name} is one of its words")
        elif name in ("attributes", "parameters"):
            require(isinstance(value, dict), f"{name} is an object")
            _check_plain(value, name)
        elif name == "tools":
            require(isinstance(value, list) and all(isinstance(tool, dict) for tool in value), "tools are objects")
            _check_plain(value, name)
        elif name == "score":
            require(value is None or (isinstance(value, float | int) and math.isfinite(value)), "a score is finite")
        elif name.endswith(("_ns", "_tokens")) or name in ("trial", "position"):
            require(value is None or (type(value) is int and abs(value) < INT64), f"{name} is an integer of 64 bits")
        else:
            _check_text_or_list(value, name)


def _check_text_or_list(value: Any, name: str) -> None:
    if isinstance(value, list | tuple):
        for item in value:
            _check_text_or_list(item, name)
    elif isinstance(value, Struct):
        _check_fields(value)
    else:
        require(type(value) is str, f"{name} is text")
        _check_plain(value, name)


def _check_plain(value: Any, name: str) -> None:
    """Plain JSON: no lone surrogates, no NUL, finite numbers, nested so that it can be written out again."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        item, depth = waiting.pop()
        require(depth < 300, f"{name} can be written out")
        if isinstance(item, str):
            require("\0" not in item and item.encode("utf-8", "replace").decode() == item, f"{name} is valid text")
        elif isinstance(item, dict):
            waiting += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list | tuple):
            waiting += [(part, depth + 1) for part in item]
        else:
            require(item is None or isinstance(item, bool | int | float), f"{name} is plain JSON")
            require(not isinstance(item, float) or math.isfinite(item), f"{name} is finite")


def clean(records: list[Record]) -> None:
    """Every record passes on into the tables of a day, or its trace is held back."""
    cleaning = DayCleaning(date(2026, 11, 30), lambda: Deidentifier(POLICY, KEY))
    kept = KeptRecords(Identity(KEY))
    file = kept.start_file("file")
    for record in records:
        if not isinstance(record, Reject):
            kept.add(record, file)
    tables = cleaning.tables(kept, max_quarantined=1)
    spans = any(isinstance(record, Span) for record in records)
    require(not spans or tables["spans"].height + tables["rejects"].height > 0, "no span is lost")


def check_neighbours(before: bytes, document: bytes, after: bytes) -> list[Record]:
    """A document between two lines takes neither with it, and changes nothing of them. Returns all records."""
    records, _ = read(b"\n".join((before, document, after)))
    last = max((record.position for record in records), default=0)
    require(_at(records, 0) == _at(read(before)[0], 0), "what stands before is read as alone")
    require(_at(records, last) == _at(read(after)[0], 0), "what stands behind is read as alone")
    return records


def _at(records: list[Record], position: int) -> list[Record]:
    return [replace(record, position=0) for record in records if record.position == position]
