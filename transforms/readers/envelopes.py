"""Decodes documents of the commonest dialects without decoding again what the calls of a trace repeat."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from transforms.readers.histories import NUL, SHARED_BYTES, Histories, plain_value
from transforms.readers.otlp_envelopes import decode_request
from transforms.readers.reading import Reading

NEEDLE = 64
"""Bytes of a part by which its place is found."""

LOOKED_AT = 1024
"""Bytes in which a document shows what it is; all SDKs write ids and types first."""

LISTS = ("messages", "input")
"""Inputs of a run that are histories, the first that is there."""


class _Run(Struct, forbid_unknown_fields=True):
    """A run of LangSmith in either version of its API: all keys that exports have, the bulky values undecoded."""

    id: Any = UNSET
    name: Any = UNSET
    start_time: Any = UNSET
    run_type: Any = UNSET
    end_time: Any = UNSET
    extra: dict[str, Raw] | UnsetType | None = UNSET
    error: Any = UNSET
    serialized: Any = UNSET
    events: Any = UNSET
    inputs: dict[str, Raw] | UnsetType | None = UNSET
    outputs: Any = UNSET
    reference_example_id: Any = UNSET
    parent_run_id: Any = UNSET
    tags: Any = UNSET
    attachments: Any = UNSET
    session_id: Any = UNSET
    session_name: Any = UNSET
    child_run_ids: Any = UNSET
    child_runs: Any = UNSET
    feedback_stats: Any = UNSET
    app_path: Any = UNSET
    manifest_id: Any = UNSET
    status: Any = UNSET
    prompt_tokens: Any = UNSET
    completion_tokens: Any = UNSET
    total_tokens: Any = UNSET
    prompt_token_details: Any = UNSET
    completion_token_details: Any = UNSET
    first_token_time: Any = UNSET
    total_cost: Any = UNSET
    prompt_cost: Any = UNSET
    completion_cost: Any = UNSET
    prompt_cost_details: Any = UNSET
    completion_cost_details: Any = UNSET
    parent_run_ids: Any = UNSET
    trace_id: Any = UNSET
    dotted_order: Any = UNSET
    in_dataset: Any = UNSET
    inputs_preview: Any = UNSET
    outputs_preview: Any = UNSET
    is_root: Any = UNSET
    metadata: Any = UNSET
    project_id: Any = UNSET
    thread_id: Any = UNSET


_run = msgspec.json.Decoder(_Run).decode
_batches = msgspec.json.Decoder(list[Raw]).decode
_RUN_FIELDS = _Run.__struct_fields__
_values = attrgetter(*_RUN_FIELDS)


def decode_shared(piece: bytes, reading: Reading) -> Any:
    """The value of a document, parts of it shared with other documents; None where it has to be decoded as a whole."""
    head = piece[:LOOKED_AT]
    bulky: list[bytes] = []
    try:
        if b'"run_type"' in head:
            value = _decode_run(piece, reading.seen.histories, bulky)
        elif b'"resourceSpans"' in head:
            value = decode_request(piece, reading.seen.histories, reading.flat, bulky)
        else:
            return None
    except (ValueError, UnicodeError, RecursionError, OverflowError):
        return None
    return None if _has_nul(piece, bulky) else value


def _decode_run(piece: bytes, histories: Histories, bulky: list[bytes]) -> dict[str, Any]:
    run = _run(piece)
    fields = {name: value for name, value in zip(_RUN_FIELDS, _values(run), strict=True) if value is not UNSET}
    trace = fields.get("trace_id")
    inputs = {name: bytes(raw) for name, raw in (fields.get("inputs") or {}).items()}
    told = next((name for name in LISTS if name in inputs), "")
    if inputs:
        fields["inputs"] = {
            name: _read_list(trace, raw, histories) if name == told else histories.value(raw)
            for name, raw in inputs.items()
        }
        bulky += inputs.values()
    if fields.get("extra"):
        fields["extra"] = {name: histories.value(bytes(raw)) for name, raw in fields["extra"].items()}
    return fields


def _read_list(trace: Any, raw: bytes, histories: Histories) -> Any:
    """A history, also where it is the only one of LangChain's list of prompts; any other value as it is."""
    if not isinstance(trace, str) or not raw.startswith(b"[") or len(raw) < SHARED_BYTES:
        return plain_value(raw)
    if not raw.startswith(b"[["):
        return histories.read(trace, raw)
    return [_read_list(trace, bytes(one), histories) for one in _batches(raw)]


def _has_nul(piece: bytes, bulky: list[bytes]) -> bool:
    """Whether there is a NUL character outside of `bulky`, parts of the document that were looked at by themselves."""
    at = 0
    for part in bulky:
        start = piece.find(part[:NEEDLE], at)
        if not piece.startswith(part, start):
            return NUL in piece
        if piece.find(NUL, at, start) >= 0:
            return True
        at = start + len(part)
    return piece.find(NUL, at) >= 0
