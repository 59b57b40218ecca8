"""Tables in text: rows of CSV, of Markdown and of SQL's INSERT, each cell with the name of its column."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transforms.privacy.hints import knows

Cell = tuple[int, int]

MAX_COLUMNS, MAX_ROWS = 200, 20_000
_INSERT = re.compile(
    r"\binsert\s+(?:or\s+\w+\s+)?into\s+[^\s(]{1,80}\s*\((?P<columns>[^()]{1,2000})\)\s*values\s*", re.IGNORECASE
)
_VALUES = re.compile(r"\s*,?\s*\((?P<row>(?:'(?:[^'\\]|''|\\.)*'|\"[^\"]*\"|[^()'\"])*)\)")
_SQL_CELL = re.compile(r"\s*(?:'(?P<a>(?:[^'\\]|''|\\.)*)'|\"(?P<b>[^\"]*)\"|(?P<c>[^,]*?))\s*(?:,|$)")
_OTHERS = {delimiter: re.escape(delimiter) for delimiter in ",;\t|"}
_DELIMITED = {
    delimiter: re.compile(rf"[ ]?(?:\"(?P<a>(?:[^\"]|\"\")*)\"|(?P<b>[^{other}\"\n]*?))[ ]*(?:{other}|$)")
    for delimiter, other in _OTHERS.items()
}
_RULE = re.compile(r"[|+:\s-]*-[|+:\s-]*")


def cells(text: str) -> Iterator[tuple[str, int, int]]:
    """The cells under columns whose names say something, as (column, start, end)."""
    if "\n" in text:
        yield from _lines(text)
    if "nsert" in text.lower():
        yield from _inserted(text)


def _lines(text: str) -> Iterator[tuple[str, int, int]]:
    """Rows that follow a header with as many cells."""
    at, delimiter, header, rows = 0, "", [""], 0
    for line in text.split("\n"):
        bare = line.rstrip("\r")
        if header != [""] and (row := _cells(bare, delimiter, at)) and len(row) == len(header) and rows < MAX_ROWS:
            rows += 1
            if not _RULE.fullmatch(bare):
                yield from ((key, start, end) for key, (start, end) in zip(header, row, strict=True) if start < end)
        elif not (header != [""] and _RULE.fullmatch(bare)):
            delimiter, header, rows = *_header(bare), 0
        at += len(line) + 1


def _header(line: str) -> tuple[str, list[str]]:
    """The delimiter and the columns of a line that may head a table; no columns where it does not."""
    if len(line) > 4000:
        return "", [""]
    delimiter = max(_DELIMITED, key=line.count)
    if not line.count(delimiter):
        return "", [""]
    row = [line[start:end] for start, end in _cells(line, delimiter, 0)]
    named = [cell.strip(" *_`") for cell in row]
    if len(row) < 2 or any(len(cell) > 40 for cell in named) or not any(knows(cell) for cell in named):
        return "", [""]
    return delimiter, named


def _cells(line: str, delimiter: str, offset: int) -> list[Cell]:
    """Where the cells of a line stand; the bars around a Markdown row are no cells."""
    start, end = 0, len(line)
    if delimiter == "|":
        start = len(line) - len(line.lstrip(" |")) if line.lstrip().startswith("|") else 0
        end = len(line.rstrip(" |")) if line.rstrip().endswith("|") else end
    found: list[Cell] = []
    for match in _DELIMITED[delimiter].finditer(line, start, end):
        span = match.span("a") if match["a"] is not None else match.span("b")
        found.append((span[0] + offset, span[1] + offset))
        if match.end() >= end or len(found) >= MAX_COLUMNS:
            break
    return found


def _inserted(text: str) -> Iterator[tuple[str, int, int]]:
    for statement in _INSERT.finditer(text):
        columns = [column.strip(" \t\n\"'`[]") for column in statement["columns"].split(",")]
        if not any(map(knows, columns)):
            continue
        at = statement.end()
        while row := _VALUES.match(text, at):
            at = row.end()
            values = _SQL_CELL.finditer(text, *row.span("row"))
            for column, match in zip(columns, values, strict=False):
                start, end = next((match.span(name) for name in "abc" if match[name] is not None), (0, 0))
                if start < end:
                    yield column, start, end
