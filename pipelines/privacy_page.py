"""A report as Markdown, and as one HTML page that needs nothing beside itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1b1f24;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin:0 0 .2rem}
h2{font-size:1.15rem;margin:2rem 0 .4rem}
.sub{color:#57606a;margin:0 0 1rem}
.box{border-left:.4rem solid #1a7f37;background:#f0f9f2;padding:.7rem 1rem;margin:1rem 0}
.box.look{border-color:#bf8700;background:#fff8e5}
.box.bad{border-color:#cf222e;background:#ffeff0}
.box ul{margin:.3rem 0 0;padding-left:1.2rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d8dee4;vertical-align:top}
th{color:#57606a;font-weight:600}
td.n,th.n{text-align:right;white-space:nowrap}
p.note{color:#57606a;margin:.3rem 0 .6rem}
.bar{display:block;height:.45rem;background:#d8dee4;border-radius:.2rem;min-width:6rem}
.bar i{display:block;height:100%;background:#0969da;border-radius:.2rem}
@media print{body{margin:0;max-width:none} h2{break-after:avoid} tr{break-inside:avoid}}
"""
"""The look of the page: readable in a browser and on paper."""


@dataclass(frozen=True)
class Share:
    """A share of a whole, which the page draws as a bar as well."""

    part: float

    def __str__(self) -> str:
        return f"{self.part:.1%}"


Cell = str | int | Share


@dataclass(frozen=True)
class Section:
    """A table with a heading and a sentence that says what it means."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    nothing: str = "nothing"


@dataclass(frozen=True)
class Page:
    """What a report says: what it is about, how it stands, and the tables."""

    title: str
    about: str
    verdict: str
    state: str = "good"  # good, look (somebody should) or bad
    findings: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)


def as_markdown(page: Page) -> str:
    """The page as Markdown with tables."""
    lines = [f"# {page.title}", "", page.about, "", f"**{page.verdict}**", ""]
    lines += [f"- {one}" for one in page.findings] + [""] * bool(page.findings)
    for section in page.sections:
        lines += [f"## {section.title}", "", section.note, ""]
        if section.rows:
            lines += [_line(section.columns), _line(["---:" if _is_number(c) else "---" for c in section.rows[0]])]
            lines += [_line([_shown(cell) for cell in row]) for row in section.rows] + [""]
        else:
            lines += [section.nothing, ""]
    return "\n".join(lines)


def as_html(page: Page) -> str:
    """The page as HTML: no script, no file, no address beside it."""
    listed = "".join(f"<li>{escape(one)}</li>" for one in page.findings)
    points = f"<ul>{listed}</ul>" if listed else ""
    box = f'<div class="box {page.state}"><strong>{escape(page.verdict)}</strong>{points}</div>'
    head = f"<h1>{escape(page.title)}</h1><p class=sub>{escape(page.about)}</p>{box}"
    body = "\n".join(map(_section, page.sections))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(page.title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body>{head}\n{body}</body></html>\n"
    )


def _section(section: Section) -> str:
    start = f"<h2>{escape(section.title)}</h2><p class=note>{escape(section.note)}</p>"
    if not section.rows:
        return f"{start}<p>{escape(section.nothing)}</p>"
    numbers = [_is_number(cell) for cell in section.rows[0]]
    heads = "".join(
        f"<th{' class=n' * number}>{escape(name)}</th>" for name, number in zip(section.columns, numbers, strict=True)
    )
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in section.rows)
    return f"{start}<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: Cell) -> str:
    bar = f'<span class=bar><i style="width:{min(cell.part, 1):.1%}"></i></span>' if isinstance(cell, Share) else ""
    return f"<td{' class=n' * _is_number(cell)}>{escape(_shown(cell))}{bar}</td>"


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | Share)


def _shown(cell: Cell) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
