"""What a file holds and what of it can be trained on; and whether the installation is whole."""

from __future__ import annotations

import json
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.table import Table

from assets.settings import Settings, load_settings
from assets.sources import read_records
from transforms.readers.exports import Tally
from transforms.records import Reject, Span
from warehouse.arrivals import exports_below
from warehouse.home import Home
from warehouse.key import fingerprint, tenant_key
from warehouse.lake import Lake
from warehouse.places import Places, is_url
from warehouse.problem import Problem

PACKAGES = ("polars", "duckdb", "dagster", "presidio-analyzer", "spacy", "torch", "transformers")


def examine(files: list[str], output: str, console: Console) -> bool:
    """Print what each file holds; whether every file held something and nothing was rejected."""
    places = Places(load_settings().storage_options) if any(map(is_url, files)) else Places()
    reports = [examine_file(uri, places) for file in files for uri in exports_below(file, places)]
    if output == "json":
        sys.stdout.write(json.dumps(reports, indent=1) + "\n")
    else:
        for report in reports:
            console.print(report["file"], style="bold", soft_wrap=True, highlight=False, markup=False)
            console.print(_as_table(report))
    return all(report["records"] and not report["rejects"] for report in reports)


def examine_file(uri: str, places: Places) -> dict[str, Any]:
    """Counts of one file: container, dialects, records, rejects, traces, calls, and what is trainable."""
    tally, rejects, states = Tally(), Counter[str](), Counter[str]()
    traces: set[object] = set()
    tool_calls = 0
    for record in read_records(places, uri, tally):
        if isinstance(record, Reject):
            rejects[record.reason] += 1
            continue
        traces.add(record.trace_id or record.trace_identity)
        if isinstance(record, Span) and record.kind == "llm":
            states[_state(record)] += 1
            tool_calls += sum(len(message.tool_calls) for message in record.output)
    return {
        "file": uri, "container": tally.container, "dialects": sorted(tally.dialects), "records": tally.records,
        "blanks": tally.blanks, "rejects": dict(sorted(rejects.items())), "traces": len(traces),
        "llm_calls": sum(states.values()), "tool_calls": tool_calls, "trainable": states.pop("trainable", 0),
        "not_trainable": dict(sorted(states.items())),
    }  # fmt: skip


def installation(output: str, console: Console) -> bool:
    """Print what is installed and where the home is; whether a day could be run now."""
    facts = _facts()
    if output == "json":
        sys.stdout.write(json.dumps(facts, indent=1) + "\n")
    else:
        table = Table(show_header=False, box=None, padding=(0, 2))
        for name, fact in facts.items():
            mark = "[green]✓[/green]" if fact["ok"] else "[red]✗[/red]"
            table.add_row(mark, name, str(fact["is"]))
        console.print(table)
    return all(fact["ok"] for fact in facts.values())


def _facts() -> dict[str, dict[str, Any]]:
    facts = {name: _package(name) for name in PACKAGES}
    try:
        settings = load_settings()
        facts["tracemill.yaml"] = {"ok": True, "is": "right"}
    except Problem as problem:
        settings = Settings()
        facts["tracemill.yaml"] = {"ok": False, "is": str(problem)}
    model = settings.privacy.model
    facts["model for names"] = {"ok": model is None or find_spec(model) is not None, "is": model or "none: no names"}
    home = settings.home
    facts["home"] = {"ok": True, "is": f"{home.root} ({len(Lake(home.lake).days('rewards'))} days)"}
    facts["key"] = _key(home)
    return facts


def _package(name: str) -> dict[str, Any]:
    try:
        return {"ok": True, "is": version(name)}
    except PackageNotFoundError:
        return {"ok": False, "is": "not installed: pip install -c constraints.txt -e ."}


def _key(home: Home) -> dict[str, Any]:
    if Lake(home.lake).is_empty() and not home.key_file.exists():
        return {"ok": True, "is": "made when the first day is run"}
    try:
        return {"ok": True, "is": f"fingerprint {fingerprint(tenant_key(home))}"}
    except Problem as problem:
        return {"ok": False, "is": str(problem)}


def _state(span: Span) -> str:
    if span.status == "error" and not span.output:
        return "failed"
    if not span.output:
        return "no_output"
    return "trainable" if span.content_state == "full" else span.content_state


def _as_table(report: dict[str, Any]) -> Table:
    table = Table(show_header=False, box=None, padding=(0, 2))
    for name, value in report.items():
        if name != "file":
            table.add_row(name, _text(value))
    return table


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count:,} {name}" for name, count in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
