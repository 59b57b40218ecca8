"""Decodes requests of OTLP/JSON without decoding again the messages and tools that the calls of a trace repeat."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from transforms.readers.flat_histories import START, TEXT, Attribute, FlatHistories, decoded_value
from transforms.readers.histories import ESCAPED, SHARED_BYTES, Histories, NotPlain
from transforms.readers.otlp import any_value
from transforms.readers.otlp_content import INPUT, SYSTEM

LOOKED_AT = 8 << 10
"""Bytes in which messages show that are spread over attributes."""

REPEATED = frozenset({"gen_ai.tool.definitions", SYSTEM})
"""Attributes beside messages that each call repeats."""

LIST = TEXT + ESCAPED


class _Fields(Struct, forbid_unknown_fields=True, kw_only=True):
    """What a span holds beside its attributes."""

    traceId: str
    spanId: Any = UNSET
    parentSpanId: Any = UNSET
    traceState: Any = UNSET
    flags: Any = UNSET
    name: Any = UNSET
    kind: Any = UNSET
    startTimeUnixNano: Any = UNSET
    endTimeUnixNano: Any = UNSET
    droppedAttributesCount: Any = UNSET
    events: Any = UNSET
    droppedEventsCount: Any = UNSET
    links: Any = UNSET
    droppedLinksCount: Any = UNSET
    status: Any = UNSET


class _Span(_Fields, forbid_unknown_fields=True, kw_only=True):
    attributes: list[Attribute] = []


class _FlatSpan(_Fields, forbid_unknown_fields=True, kw_only=True):
    attributes: Raw = Raw(b"[]")


class _Scope(Struct, forbid_unknown_fields=True):
    spans: list[_Span]
    scope: Any = UNSET
    schemaUrl: Any = UNSET


class _FlatScope(Struct, forbid_unknown_fields=True):
    spans: list[_FlatSpan]
    scope: Any = UNSET
    schemaUrl: Any = UNSET


class _Resource(Struct, forbid_unknown_fields=True):
    scopeSpans: list[_Scope]
    resource: Any = UNSET
    schemaUrl: Any = UNSET


class _FlatResource(Struct, forbid_unknown_fields=True):
    scopeSpans: list[_FlatScope]
    resource: Any = UNSET
    schemaUrl: Any = UNSET


class _Request(Struct, forbid_unknown_fields=True):
    resourceSpans: list[_Resource]


class _FlatRequest(Struct, forbid_unknown_fields=True):
    resourceSpans: list[_FlatResource]


_request = msgspec.json.Decoder(_Request).decode
_flat_request = msgspec.json.Decoder(_FlatRequest).decode
_NAMES = _Fields.__struct_fields__
_values = attrgetter(*_NAMES)


def decode_request(piece: bytes, histories: Histories, flat: FlatHistories, bulky: list[bytes]) -> dict[str, Any]:
    """The document of a request; `bulky` gets the parts, in order, that were looked at for oddities by themselves.

    Raises ValueError where the document has to be decoded as a whole.
    """
    is_flat = flat.met or START.encode() in piece[:LOOKED_AT]
    told: Any = _flat_request(piece) if is_flat else _request(piece)
    read = _FlatReader(flat, bulky) if is_flat else _Reader(histories, bulky)
    return {
        "resourceSpans": [
            {
                "resource": {} if item.resource is UNSET else item.resource,
                "scopeSpans": [
                    {
                        "scope": {} if scope.scope is UNSET else scope.scope,
                        "spans": [_span(span, read) for span in scope.spans],
                    }
                    for scope in item.scopeSpans
                ],
            }
            for item in told.resourceSpans
        ]
    }


def _span(span: Any, read: _Reader | _FlatReader) -> dict[str, Any]:
    fields = {name: value for name, value in zip(_NAMES, _values(span), strict=True) if value is not UNSET}
    fields["attributes"] = read.attributes(span.traceId, span.attributes)
    return fields


class _FlatReader:
    def __init__(self, flat: FlatHistories, bulky: list[bytes]) -> None:
        self._flat, self._bulky = flat, bulky

    def attributes(self, trace: str, raw: Raw) -> dict[str, Any]:
        text = bytes(raw)
        said = self._flat.read(trace, text)
        self._bulky.append(text)
        return said


class _Reader:
    def __init__(self, histories: Histories, bulky: list[bytes]) -> None:
        self._histories, self._bulky = histories, bulky

    def attributes(self, trace: str, pairs: Iterable[Attribute]) -> dict[str, Any]:
        return {pair.key: self._value(trace, pair.key, bytes(pair.value)) for pair in pairs}

    def _value(self, trace: str, key: str, raw: bytes) -> Any:
        if len(raw) < SHARED_BYTES:
            return decoded_value(raw)
        if key == INPUT and raw.startswith(LIST):
            try:
                history = self._histories.read(trace, raw[len(TEXT) : -1], ESCAPED)
            except NotPlain:
                return decoded_value(raw)
            self._bulky.append(raw)
            return history
        if key in REPEATED:
            value = any_value(self._histories.value(raw))
            self._bulky.append(raw)
            return value
        return decoded_value(raw)
