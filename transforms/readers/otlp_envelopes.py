"""Decodes requests of OTLP/JSON without decoding again the messages and tools that the calls of a trace repeat."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from transforms.readers.cuts import Cut
from transforms.readers.flat_histories import TOOLS, Attribute, FlatReader, decoded
from transforms.readers.otlp import any_value
from transforms.readers.otlp_around import content_of
from transforms.readers.otlp_conventions import INPUT, SYSTEM
from transforms.readers.reading import Reading
from transforms.readers.shared_attributes import Said, Shared
from transforms.readers.shared_values import NUL, SHARED_BYTES, NotPlain, plain_value
from transforms.readers.writings import ESCAPED, START

REPEATED = frozenset({INPUT, SYSTEM, "gen_ai.tool.definitions"})
"""Attributes that each call repeats."""

SPREAD = frozenset({START, TOOLS})
"""What is spread over attributes."""

_LIST = re.compile(rb'\{\s?"stringValue":\s?"\[')


class _Span(Struct, forbid_unknown_fields=True):
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
    attributes: list[Attribute] = []


class _Scope(Struct, forbid_unknown_fields=True):
    spans: list[_Span]
    scope: Any = UNSET
    schemaUrl: Any = UNSET


class _Resource(Struct, forbid_unknown_fields=True):
    scopeSpans: list[_Scope]
    resource: Any = UNSET
    schemaUrl: Any = UNSET


class _Request(Struct, forbid_unknown_fields=True):
    resourceSpans: list[_Resource]


_request = msgspec.json.Decoder(_Request).decode
_NAMES = _Span.__struct_fields__[:-1]
_values = attrgetter(*_NAMES)


def decode_request(text: bytes, cut: Cut, reading: Reading) -> dict[str, Any]:
    """The document of a request. Raises ValueError where it has to be decoded as a whole."""
    if NUL in text:
        raise NotPlain
    read = _Reader(text, cut, reading)
    return {
        "resourceSpans": [
            {
                "resource": {} if item.resource is UNSET else item.resource,
                "scopeSpans": [
                    {
                        "scope": {} if scope.scope is UNSET else scope.scope,
                        "spans": [read.span(span) for span in scope.spans],
                    }
                    for scope in item.scopeSpans
                ],
            }
            for item in _request(text).resourceSpans
        ]
    }


class _Reader:
    def __init__(self, text: bytes, cut: Cut, reading: Reading) -> None:
        self._cutter, self._histories, self._cut = reading.cutter, reading.seen.histories, cut
        self._around = reading.seen.around
        self._flat = FlatReader(text, cut, reading.cutter, reading.seen.histories)

    def span(self, span: _Span) -> dict[str, Any]:
        """The fields of a span, its attributes as plain values."""
        fields = {name: value for name, value in zip(_NAMES, _values(span), strict=True) if value is not UNSET}
        fields["attributes"] = self._attributes(span.traceId, span.attributes)
        return fields

    def _attributes(self, trace: str, pairs: list[Attribute]) -> dict[str, Any]:
        alike: list[tuple[str, bytes]] = []
        others: list[tuple[str, bytes]] = []
        content: dict[str, None] = {}
        held: dict[str, Any] = {}
        flat: list[Attribute] = []
        secret, longest = self._cutter.secret, 0
        for pair in pairs:
            key = pair.key
            if what := content_of(key):
                content[what] = None
                if what in SPREAD:
                    flat.append(pair)
                elif what in REPEATED:
                    held[key] = self._value(trace, key, bytes(pair.value))
                else:
                    others.append((key, bytes(pair.value)))
            elif key.startswith(secret):
                flat.append(pair)
            else:
                raw = bytes(pair.value)
                alike.append((key, raw))
                longest = max(longest, len(raw))
        if longest >= SHARED_BYTES:  # something of this span alone
            said = decoded([*alike, *others])
        else:
            said = Said(self._shared(tuple(alike)), tuple(content))
            said |= decoded(others)
        said.update(held)
        if flat:
            said.update(self._flat.read(trace, flat))
        return said

    def _shared(self, written: tuple[tuple[str, bytes], ...]) -> Shared:
        """What spans share of these names and the JSON of their values."""
        known = self._around.known(written)
        if known is not None:
            return known
        return self._around.keep(written, decoded(written))

    def _value(self, trace: str, key: str, raw: bytes) -> Any:
        if raw.startswith(b'"') and (marked := self._cutter.number_in(raw, 1)[0]) >= 0:
            return any_value(self._cut.value(marked))
        if len(raw) < SHARED_BYTES:
            return any_value(plain_value(raw))
        if key == INPUT and (opened := _LIST.match(raw)) is not None:
            number, at = self._cutter.number_in(raw, opened.end() + 2)
            if number >= 0:
                return self._histories.read_on(trace, raw[:-1], at + 2, self._cut.history(number), ESCAPED)
            try:
                return self._histories.read(trace, raw[opened.end() - 2 : -1], ESCAPED)
            except NotPlain:
                return any_value(plain_value(raw))
        return any_value(plain_value(raw) if key == INPUT else self._histories.values.read(raw))
