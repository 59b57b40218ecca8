"""What is installed, and whether home, key and settings are right."""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.table import Table

from assets.settings import Settings, load_settings
from warehouse.home import Home
from warehouse.key import fingerprint, tenant_key
from warehouse.lake import Lake
from warehouse.problem import Problem

PACKAGES = ("polars", "duckdb", "dagster", "presidio-analyzer", "spacy", "torch", "transformers")


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
