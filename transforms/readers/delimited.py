"""Reads CSV as JSON documents, one a row: what web pages of tracing services download, and data frames write."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator

from transforms.readers.containers import Source, Torn
from transforms.readers.documents import BLANK, LONGEST, Refused

LOOKED_AT = 64 << 10
"""Bytes in which the names of the columns stand."""

LONGEST_CELL = LONGEST // 4
"""Characters of one cell, which may take four bytes each."""

IDS = frozenset({"id", "trace_id", "traceId", "run_id", "request_id", "context.span_id", "span_id"})
"""Names of columns of which one at least stands in every export of traces."""

NUMBERS = frozenset({"value", "score"})
"""Columns that are read as numbers where they are; elsewhere digits are text, as a model's answer may be."""

_NAME = re.compile(r"[\w. :\-\[\]]{0,100}")


def is_table(head: bytes) -> bool:
    """Whether text begins with the names of the columns of an export."""
    head = head.lstrip()
    if head.startswith((b"{", b"[")):
        return False
    line = head.split(b"\n", 1)[0]
    names = _cells(line.decode("utf-8", "replace").strip("\ufeff\r\n\t "))
    return len(names) > 1 and not IDS.isdisjoint(names) and all(_NAME.fullmatch(name) for name in names)


def read_table(source: Source, growing: bool) -> Iterator[bytes | Refused]:
    """Each row as a JSON object of its columns; an empty cell is null.

    A row that is broken, or longer or shorter than the first, is refused alone; one that the end of the file cut off
    is left alone while the file grows.
    """
    csv.field_size_limit(LONGEST_CELL)
    lines = _Lines(source)
    rows = csv.reader(lines, strict=True)
    names: list[str] = []
    while True:
        try:
            cells = next(rows)
        except StopIteration:
            break
        except csv.Error:
            if lines.ended and growing:
                return
            yield Refused("incomplete_row" if lines.ended else "broken_row")
            continue
        except Torn as torn:
            if not (growing and torn.reason.startswith("torn_")):
                yield Refused(torn.reason)
            return
        if not names:
            names = cells
        elif not cells:
            yield BLANK
        elif len(cells) == len(names):
            yield _document(names, cells)
        elif not (lines.ended and growing):
            yield Refused("incomplete_row" if lines.ended else "broken_row")


def _document(names: list[str], cells: list[str]) -> bytes:
    fields = {name: _value(name, cell) if cell else None for name, cell in zip(names, cells, strict=True) if name}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")


def _value(name: str, cell: str) -> str | float:
    if name in NUMBERS or name.endswith(".score"):
        try:
            return float(cell)
        except ValueError:
            return cell
    return cell


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error:
        return []


class _Lines:
    """Lines of a source as text, with their ends. `ended` tells that the last was given."""

    def __init__(self, source: Source) -> None:
        self._lines = self._split(source)
        self.ended = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._lines)

    def _split(self, source: Source) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        held: list[str] = []
        size = 0
        for chunk in source:
            *lines, rest = decoder.decode(chunk).split("\n")
            for line in lines:
                yield "".join((*held, line, "\n"))
                held, size = [], 0
            size += len(rest)
            if size > LONGEST:
                raise Torn("too_large")
            held.append(rest)
        self.ended = True
        if last := "".join(held) + decoder.decode(b"", final=True):
            yield last
