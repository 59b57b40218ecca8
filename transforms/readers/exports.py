"""Reads an export, whatever it is packed in and whoever wrote it, as records of one shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from transforms.readers import chat, dialects, langsmith, langsmith_exports, otlp, otlp_logs, tau_bench
from transforms.readers.containers import Source, read_chunks
from transforms.readers.cuts import Cut
from transforms.readers.decoding import WRONG_SHAPES, TooDeep, TooLarge, decode
from transforms.readers.documents import BLANK, Blanks, Refused, split_again
from transforms.readers.envelopes import decode_shared
from transforms.readers.files import Piece, open_file, open_lines
from transforms.readers.frames import is_message
from transforms.readers.otlp_protobuf import decode_request
from transforms.readers.otlp_wire import is_crowded
from transforms.readers.reading import Reading
from transforms.records import Record, Reject, Span

NO_TRACES = frozenset({"resourceMetrics", "resource_metrics", "exportSource"})
"""What stands beside traces and holds none: a collector's metrics, the manifest of an export of Langfuse."""

PAGES = ("runs", "data", "items", "trace", "traces", "spans", "observations", "scores", "feedback", "events",
         "annotations", "trajectories", "rows", "result")  # fmt: skip
"""Where answers of APIs, and files in which somebody put several of them together, keep what they list."""

TRACE_IDS = ("trace_id", "traceId")

LOOKED_AT = 8
"""Items of such a list that may be broken before it is taken for something else."""


@dataclass
class Tally:
    """What a file held. Filled while it is read, complete when the reading ends.

    `records` are documents that gave at least one record, `rejects` the rejects that were given, `blanks` empty
    lines and documents that hold nothing by design; `bytes` is the size on disk; `documents` is the position
    behind the last.
    """

    container: str = ""
    dialects: set[str] = field(default_factory=set)
    records: int = 0
    rejects: int = 0
    blanks: int = 0
    bytes: int = 0
    documents: int = 0


def read_export(
    stream: BinaryIO, tally: Tally, dataset: str = "", growing: bool = False, first: int | None = None
) -> Iterator[Record]:
    """Spans, feedback and rejects of a file, in its order; data never raises, only the stream may.

    `dataset` scopes task ids where the dialect names no data set. In a file that is still `growing`, an incomplete
    end is left for the next reading, without a reject. `first` says that these are JSON lines, the tail of a file
    from that position on where it is not 0.
    """
    packed = Source(read_chunks(stream))
    reading = Reading(dataset)
    if first is None:
        tally.container, pieces = open_file(stream, packed, growing, reading.cutter.take)
    else:
        tally.container, pieces = "jsonl", open_lines(packed, first > 0, reading.cutter.take)
        tally.documents = first
    for record in _records(pieces, tally, reading):
        tally.bytes = packed.bytes
        if isinstance(record, Reject):
            tally.rejects += 1
        yield record
    tally.bytes = packed.bytes


@dataclass(slots=True)
class _Document:
    value: Any
    odd: set[str]
    bytes: int


def _records(pieces: Iterator[Piece], tally: Tally, reading: Reading) -> Iterator[Record]:
    dataset = reading.dataset
    for member, piece in pieces:
        if isinstance(piece, Blanks):
            tally.blanks += piece.count
            tally.documents += piece.count
            continue
        reading.dataset = member.rpartition("/")[2].split(".")[0] or dataset
        for document in _documents(piece, reading):
            position = tally.documents
            if document is None:
                tally.blanks += 1
            elif isinstance(document, Refused):
                yield Reject(position, document.reason, document.bytes)
            else:
                yield from _counted(document, position, tally, reading)
            tally.documents += 1


def _documents(piece: Cut | bytes | Refused, reading: Reading) -> list[_Document | Refused | None]:
    """The document of a piece, or several that share a line; None is a blank line."""
    if isinstance(piece, Cut):
        if (value := decode_shared(piece, reading)) is not None:
            return [_Document(value, set(), piece.bytes)]
        piece = piece.whole()
    if isinstance(piece, Refused):
        return [piece]
    if piece == BLANK:
        return [None]
    if is_message(piece):
        return [_from_protobuf(piece)]
    try:
        return [_decoded(piece, reading)]
    except (RecursionError, TooDeep):
        return [Refused("too_deep", len(piece))]
    except TooLarge:
        return [Refused("too_large", len(piece))]
    except ValueError:
        parts = [one for part in split_again(piece) for one in _documents(part, reading)]
    sound = any(isinstance(part, _Document) for part in parts)
    return parts if sound else [Refused("broken_json", len(piece))]


def _from_protobuf(piece: bytes) -> _Document | Refused:
    odd: set[str] = set()
    if is_crowded(piece):
        return Refused("too_large", len(piece))
    try:
        return _Document(decode_request(piece, odd), odd, len(piece))
    except (ValueError, RecursionError):
        return Refused("broken_protobuf", len(piece))


def _decoded(piece: bytes, reading: Reading) -> _Document:
    odd: set[str] = set()
    if (value := decode_shared(piece, reading)) is not None:
        return _Document(value, odd, len(piece))
    return _Document(decode(piece, odd), odd, len(piece))


def _counted(document: _Document, position: int, tally: Tally, reading: Reading) -> Iterator[Record]:
    given = rejected = 0
    reasons: set[str] = set()
    for item, dialect in _items(document.value):
        for record in _read(item, dialect, position, reading):
            if isinstance(record, Reject):
                rejected += 1
                if record.reason not in reasons:
                    reasons.add(record.reason)
                    yield Reject(position, record.reason, document.bytes)
                continue
            given += 1
            if isinstance(record, Span):
                record.flags += sorted(document.odd - set(record.flags))
                tally.dialects.add(record.dialect)
            elif dialect in dialects.VERDICTS or dialect == "otlp_logs":
                tally.dialects.add(dialect)
            yield record
    tally.records += bool(given)
    tally.blanks += not given and not rejected


def _items(fields: Any) -> Iterator[tuple[Any, str]]:
    """A document with its dialect; for an answer of an API, what it lists, each with its own."""
    if (dialect := detect(fields)) or not isinstance(fields, dict):
        yield fields, dialect
        return
    found = False
    for name in PAGES:
        listed = fields[name] if isinstance(fields.get(name), list) else [fields.get(name)]
        if name == "spans":
            listed = [_of_trace(item, fields) for item in listed]
        if first := next(filter(None, map(detect, listed[:LOOKED_AT])), ""):
            yield from ((item, detect(item) or first) for item in listed)
            found = True
    if not found:
        yield fields, ""


def _of_trace(span: Any, fields: dict[str, Any]) -> Any:
    """A span with the id of the trace that lists it, unless it says one itself."""
    ids = {name: fields[name] for name in TRACE_IDS if isinstance(fields.get(name), str)}
    return {**ids, **span} if ids and isinstance(span, dict) else span


def _read(fields: Any, dialect: str, position: int, reading: Reading) -> Iterator[Record]:
    try:
        if dialect == "langsmith":
            yield from list(langsmith.read_run(fields, position, reading.seen))  # all of a record or nothing
        elif dialect == "langsmith_feedback":
            yield langsmith.read_feedback(fields, position)
        elif dialect == "otlp":
            yield from otlp.read_request(fields, position, reading.seen)
        elif dialect == "otlp_logs":
            yield from otlp_logs.read_logs(fields, position, reading.seen)
        elif dialect == "tau_bench":
            yield from list(tau_bench.read_trial(fields, position, reading.dataset))
        elif dialect in dialects.IN_PARTS:
            yield from dialects.READERS[dialect](fields, position, reading)
        elif dialect in dialects.READERS:
            yield from list(dialects.READERS[dialect](fields, position, reading))
        elif dialect != "nothing":
            yield Reject(position, "unknown_dialect")
    except TooLarge:
        yield Reject(position, "too_large")
    except WRONG_SHAPES:
        yield Reject(position, f"unreadable_{dialect}")


def detect(fields: Any) -> str:
    """Who wrote a document, by its keys: the first rule that fits; empty where none does, or one met a wrong shape."""
    try:
        return _detected(fields) if isinstance(fields, dict) else ""
    except WRONG_SHAPES:
        return ""


def _detected(fields: dict[str, Any]) -> str:
    if otlp.is_request(fields):
        return "otlp"
    if otlp_logs.is_logs(fields):
        return "otlp_logs"
    if langsmith.is_run(fields):
        return "langsmith_bulk" if langsmith_exports.is_bulk(fields) else "langsmith"
    if dialect := dialects.detect(fields):
        return dialect
    if langsmith.is_feedback(fields):
        return "langsmith_feedback"
    if tau_bench.is_trial(fields):
        return "tau_bench"
    if chat.is_chat(fields):
        return "chat"
    return "nothing" if not fields or fields.keys() & NO_TRACES else ""
