"""`tracemill forget`: a person's values become hashes here, in memory, and a job erases whom the hashes name."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from warehouse.problem import Problem

if TYPE_CHECKING:
    from assets.erasure import Reach
    from assets.mill import Mill
    from transforms.privacy.erasure import Value

out, err = Console(), Console(stderr=True)
STRONG = "an e-mail address, a telephone, card or account number, an id, or a full name"


def forget(
    file: Annotated[
        Path | None,
        typer.Option(help="A file with the person's values, one a line; none: standard input.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Take no values: erase once more all who were to be forgotten so far.")
    ] = False,
) -> None:
    """Forget a person: remove the traces that hold them, withdraw releases, and keep them from coming back.

    Values (e-mail addresses, numbers, ids, full names) are read from standard input or FILE, never from arguments.
    At least one must be enough to know a person by; otherwise the command says where the values occur, and refuses.
    """
    from assets.mill import open_mill

    mill = open_mill()
    for tombstones in _again(mill) if again else [_subject(mill, _lines(file))]:
        if dry_run:
            _print_reach(mill, tombstones)
        else:
            _erase(mill, tombstones)


def _again(mill: Mill) -> list[list[str]]:
    return [sorted(mill.erasures.of(name)) for name in mill.erasures.requested()]


def _lines(file: Path | None) -> list[str]:
    """The values. Raises Problem that says nothing of them."""
    if file is None and sys.stdin.isatty():
        err.print("the person's values, one a line; end with Ctrl-D")
    try:
        raw = file.read_bytes() if file else sys.stdin.buffer.read()
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise Problem(f"the file of values cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise Problem("the values are not UTF-8 text") from None
    values = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if not values:
        raise Problem(f"no values: give {STRONG}, one a line, on standard input or in --file")
    return values


def _subject(mill: Mill, lines: list[str]) -> list[str]:
    """Tombstones of the values that are enough to know a person by. Raises Problem where none is."""
    from transforms.privacy.erasure import Tombs, read_value
    from transforms.privacy.surrogates import Surrogates

    surrogates, tombs = Surrogates(mill.key), Tombs(mill.key)
    values = [read_value(line, tombs, surrogates) for line in lines]
    strong = [value for value in values if value.strong]
    if not strong:
        _print_candidates(mill, values)
        raise Problem(f"none of the values is enough to know one person by: add {STRONG}")
    if len(strong) < len(values):
        err.print(f"{len(values) - len(strong)} values may be other people's too, and are not used", soft_wrap=True)
    return sorted({str(one) for value in strong for one in value.tombstones})


def _print_candidates(mill: Mill, values: list[Value]) -> None:
    """Where values that are not enough occur: counts, by the number of the line."""
    from assets.erasure import reach_of
    from transforms.privacy.erasure import Tombs

    table = Table(title="what the values occur in", title_justify="left", box=None, padding=(0, 2))
    for column in ("line", "seems to be", "traces", "days"):
        table.add_column(column, justify="left" if column == "seems to be" else "right")
    for number, value in enumerate(values, 1):
        reach = reach_of(mill, Tombs(mill.key, value.tombstones))
        table.add_row(str(number), value.kind, f"{len(reach.traces):,}", f"{len(reach.days):,}")
    out.print(table)


def _print_reach(mill: Mill, tombstones: list[str]) -> None:
    from assets.erasure import erasure_name, reach_of
    from transforms.privacy.erasure import Tombs, Tombstone

    given = {*tombstones, *mill.erasures.seen()}
    reach: Reach = reach_of(mill, Tombs(mill.key, map(Tombstone.of, given)))
    rows = {
        "traces": f"{len(reach.traces):,}", "days rewritten": shown_list(reach.days),
        "days threaded again": shown_list(reach.threaded), "releases withdrawn": shown_list(reach.releases),
        "models trained on them": shown_list(reach.models),
    }  # fmt: skip
    print_facts(f"erasure {erasure_name(tombstones)} would remove", rows)


def _erase(mill: Mill, tombstones: list[str]) -> None:
    from assets.erasure import erasure_name
    from assets.lake_search import named_exports
    from pipelines.erasure_jobs import run_forget
    from transforms.privacy.erasure import Tombs, Tombstone

    run_forget(tombstones, err)
    name = erasure_name(tombstones)
    deed: dict[str, Any] = [one for one in mill.erasures.deeds() if one["erasure"] == name][-1]
    rows = {
        "done": deed["at"], "traces": f"{deed['traces']:,}", "days rewritten": shown_list(deed["days"]),
        "releases withdrawn": shown_list(deed["releases"]), "models trained on them": shown_list(deed["models"]),
        "rows that still hold the person": f"{deed['left']:,}",
    }  # fmt: skip
    print_facts(f"erasure {name}", rows)
    if named := named_exports(mill, Tombs(mill.key, map(Tombstone.of, tombstones))):
        out.print(
            f"{named} exports have the person in their name, which manifests remember: rename them", soft_wrap=True
        )
    if deed["models"]:
        out.print("these models have seen the person's conversations: withdraw them and train anew", soft_wrap=True)
    if deed["releases"]:
        out.print("cut a new release when you need one: tracemill release create", soft_wrap=True)
    out.print("exports are yours to clean; a run that meets the person in one leaves their traces out", soft_wrap=True)


def print_facts(title: str, rows: dict[str, str]) -> None:
    """Print what was or would be done, a fact a line."""
    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, value)
    out.print(table)


def shown_list(items: Any) -> str:
    """Names or days in one line; `none` where there are none."""
    return re.sub(r"^$", "none", ", ".join(map(str, items)))
