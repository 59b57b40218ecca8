"""Decodes documents of the commonest dialects without decoding again what the calls of a trace repeat."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from transforms.readers.cuts import LOOKED_AT, Cut, Cutter
from transforms.readers.decoding import WRONG_SHAPES
from transforms.readers.histories import Histories
from transforms.readers.otlp_envelopes import decode_request
from transforms.readers.reading import Reading
from transforms.readers.shared_values import SHARED_BYTES, plain_value

LISTS = ("messages", "input")
"""Inputs of a run that are histories, the first that is there."""


OFFERS = frozenset({"tools", "functions", "invocation_params"})
"""What calls repeat beside their histories."""


class _Inputs(Struct):
    """Of a run, what holds histories and long values, undecoded."""

    inputs: dict[str, Raw] | None = None
    extra: dict[str, Raw] | None = None


_inputs = msgspec.json.Decoder(_Inputs).decode
_batches = msgspec.json.Decoder(list[Raw]).decode
NO_CUT = Cut(b"", 0, 0, [])


def decode_shared(piece: bytes | Cut, reading: Reading) -> Any:
    """The value of a document, parts of it shared with other documents; None where it has to be decoded as a whole."""
    cut, text = (piece, piece.text) if isinstance(piece, Cut) else (NO_CUT, piece)
    head = text[:LOOKED_AT]
    try:
        if b'"run_type"' in head:
            value = _RunReader(reading.seen.histories, reading.cutter, cut).read(text)
        elif b'"resourceSpans"' in head:
            value = decode_request(text, cut, reading)
        else:
            return None
    except WRONG_SHAPES:
        value = None
    if cut is not NO_CUT:
        value = value if cut.is_restored() else None
        reading.cutter.note(value is not None)
    return value


class _RunReader:
    def __init__(self, histories: Histories, cutter: Cutter, cut: Cut) -> None:
        self._histories, self._cutter, self._cut = histories, cutter, cut

    def read(self, text: bytes) -> dict[str, Any]:
        """The fields of a run."""
        fields: dict[str, Any] = plain_value(text)
        raws = _inputs(text)
        if raws.inputs:
            self._restore(fields["inputs"], raws.inputs)
            told = next((name for name in LISTS if name in raws.inputs), "")
            if told:
                said = fields["inputs"][told]
                fields["inputs"][told] = self._list(fields.get("trace_id"), said, bytes(raws.inputs[told]))
        if raws.extra:
            self._restore(fields["extra"], raws.extra)
        if not self._cut.is_restored():
            fields["outputs"] = self._restored(fields.get("outputs"))
        return fields

    def _restore(self, values: dict[str, Any], raws: dict[str, Raw]) -> None:
        """Put back what was taken out of an object, and remember what calls repeat."""
        for name, value in values.items():
            kind = type(value)
            if kind is str:
                if (number := self._cutter.number(value)) >= 0:
                    values[name] = self._cut.value(number)
            elif (kind is dict or kind is list) and name not in LISTS:
                values[name] = self._value(value, bytes(raws[name])) if name in OFFERS else self._restored(value)

    def _value(self, value: Any, raw: bytes) -> Any:
        if len(raw) < SHARED_BYTES or self._cutter.is_marked(raw):
            return self._restored(value)
        return self._histories.values.shared(raw, value)

    def _list(self, trace: Any, value: Any, raw: bytes) -> Any:
        """A history, also where it is the only one of LangChain's list of prompts; any other value as it is."""
        if raw.startswith(b"[["):
            return [self._list(trace, one, bytes(its)) for one, its in zip(value, _batches(raw), strict=True)]
        number, at = self._cutter.number_in(raw, 2)
        if number >= 0:
            return self._histories.decoded(str(trace), raw, at + 1, self._cut.history(number), value[1:])
        if not isinstance(trace, str) or len(raw) < SHARED_BYTES or not raw.startswith(b"["):
            return value
        return self._histories.read(trace, raw)

    def _restored(self, value: Any) -> Any:
        """The same value with what was taken out of it, or of the fields of an object."""
        if self._cut.is_restored():
            return value
        if isinstance(value, dict):
            return {name: self._with_part(item) for name, item in value.items()}
        return self._with_part(value)

    def _with_part(self, value: Any) -> Any:
        said = value[0] if isinstance(value, list) and value else value
        number = self._cutter.number(said) if isinstance(said, str) else -1
        if number < 0:
            return value
        return self._cut.value(number) if said is value else [*self._cut.history(number), *value[1:]]
