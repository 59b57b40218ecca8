"""Whether exports of real SDKs are read as what went over the wire, and become the trajectories that there were.

    python -m benchmarks.conformance [CORPUS]

CORPUS is a folder of captures, one folder each: `export/` and `expected.json`. Where none is named it is
`TRACEMILL_CORPUS`, else the captures that the project ships.
A row is one way out of a library, a cell how many facts agree: `= 53` all of them; `lost 9` all but nine, and these the
export does not hold, as named below the row; `DIFFERS 2` is a fault of the readers; `-` nothing to compare. `found`
are texts that a plain search finds in the file. From `threads` on it is the tables that are compared: trajectories and
their ends, steps, what each was shown, tool calls with what came back, agents, groups. Ends with 1 where anything
differs, 2 where there is no corpus.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.conformance.agreement import ASPECTS, Cell, compare, needless
from benchmarks.conformance.captures import EXPORTS, NOT_COMPARED, Export
from benchmarks.conformance.corpus import place, read_files, read_truth
from benchmarks.conformance.tables import threaded
from benchmarks.conformance.threads import THREADS, compare_threads, needless_threads

SHIPPED = Path(__file__).parents[2] / "tests" / "corpus"
WIDEST_NAME = 46

Row = tuple[Export, dict[str, Cell], set[str]]
"""An export, its cells, and the losses that are claimed and none."""


def main(arguments: list[str]) -> int:
    """Print the table; the exit code."""
    folder = Path(arguments[0] if arguments else os.environ.get("TRACEMILL_CORPUS") or SHIPPED)
    rows = [_row(folder, export) for export in EXPORTS if _is_here(folder, export)]
    if not rows:
        print(f"{folder} holds no capture that is known: name a folder of captures", file=sys.stderr)
        return 2
    widths = {
        name: max(len(name), *(len(_shown(cells[name])) for _, cells, _ in rows)) for name in (*ASPECTS, *THREADS)
    }
    print(" " * WIDEST_NAME + "  ".join(f"{name:{wide}}" for name, wide in widths.items()))
    captures = dict.fromkeys(export.capture for export, _, _ in rows)
    differing = sum(_print_capture([row for row in rows if row[0].capture == name], widths) for name in captures)
    print(f"\n{len(rows)} exports of {len(captures)} captures, {differing or 'none'} differing")
    _print_rest(folder, set(captures))
    return 1 if differing else 0


def _is_here(folder: Path, export: Export) -> bool:
    return all(place(folder, export, name).exists() for name in export.files)


def _row(folder: Path, export: Export) -> Row:
    records, expected = read_files(folder, export), read_truth(folder, export)
    unused = needless(records, expected, export.lost)
    made = threaded(folder, export)
    cells = compare(records, expected, export.lost) | compare_threads(made, export.all_lost)
    return export, cells, {*unused, *needless_threads(made, export)}


def _print_capture(rows: list[Row], widths: dict[str, int]) -> int:
    """Print the rows of one capture; how many of them differ. A loss of one row is none of another."""
    print(rows[0][0].capture)
    for export, cells, _ in rows:
        name = " + ".join(export.files)
        name = name if len(name) <= WIDEST_NAME - 4 else f"{name[: WIDEST_NAME - 5]}…"
        line = "  ".join(f"{_shown(cell):{widths[aspect]}}" for aspect, cell in cells.items())
        print(f"  {name:{WIDEST_NAME - 2}}{line}".rstrip())
    unused = set.intersection(*(unused for _, _, unused in rows))
    if lost := sorted(rows[0][0].all_lost - unused):
        print(f"    lost: {', '.join(lost)}")
    if unused:
        print(f"    DIFFERS: said to be lost and is not: {', '.join(sorted(unused))}")
    return sum(any(cell.state == "DIFFERS" for cell in cells.values()) for _, cells, _ in rows) + bool(unused)


def _shown(cell: Cell) -> str:
    return f"{cell.state} {cell.count}" if cell.count else "-"


def _print_rest(folder: Path, captures: set[str]) -> None:
    known = {export.capture for export in EXPORTS}
    compared = {name for export in EXPORTS for name in export.files}
    print(f"known and not here: {len(known - captures)} captures")
    if unknown := {path.parent.name for path in folder.glob("*/expected.json")} - known:
        print(f"not compared, in no row of benchmarks/conformance/captures.py: {', '.join(sorted(unknown))}")
    others = {path.name.removesuffix(".gz") for path in folder.glob("*/export/*") if path.name not in compared}
    for name in sorted(others):
        print(f"not compared: {name} ({NOT_COMPARED.get(name, 'unknown to benchmarks/conformance/captures.py')})")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
