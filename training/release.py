"""What a trainer reads from a release folder: preference pairs and rollouts of one split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.problem import Problem
from warehouse.schemas.datasets import PREFERENCE_PAIRS, ROLLOUTS
from warehouse.schemas.table import Table


class ReleaseError(Problem):
    """A folder is not a release that can be trained on. Names files and tables, never a value."""


def read_pairs(release: Path, split: str) -> pl.DataFrame:
    """PREFERENCE_PAIRS of `split` in the release folder. Raises ReleaseError, SchemaError."""
    return _read(release, PREFERENCE_PAIRS, split)


def read_rollouts(release: Path, split: str) -> pl.DataFrame:
    """ROLLOUTS of `split` in the release folder. Raises ReleaseError, SchemaError."""
    return _read(release, ROLLOUTS, split)


def messages(value: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Message structs as a chat template takes them: a null key was absent, and arguments are objects again.

    Servers parse the arguments of a tool call before they template it, and so do we; text that is no JSON object
    stays text. `content` is always there, since templates test it without asking whether it is.
    """
    return [_message(message) for message in value]


def tools(text: str | None) -> list[dict[str, Any]] | None:
    """The tools column as a chat template takes it; none is None, not an empty list. Raises ReleaseError."""
    try:
        offered = json.loads(text) if text else None
    except ValueError:
        raise ReleaseError("tools are not a JSON list") from None
    if offered is not None and not isinstance(offered, list):
        raise ReleaseError("tools are not a JSON list")
    return offered or None


def _message(message: dict[str, Any]) -> dict[str, Any]:
    present = {name: value for name, value in message.items() if value is not None}
    present.setdefault("content", "")
    if calls := present.pop("tool_calls", None):
        present["tool_calls"] = [_tool_call(call) for call in calls]
    return present


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    present = {name: value for name, value in call.items() if value is not None}
    function = present.get("function") or {}
    return present | {
        "function": {"name": function.get("name") or "", "arguments": _arguments(function.get("arguments") or "{}")}
    }


def _arguments(text: str) -> Any:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed if isinstance(parsed, dict) else text


def _read(release: Path, table: Table, split: str) -> pl.DataFrame:
    files = _files(release, table.name)
    if not files:
        return table.empty()
    frame = pl.scan_parquet(files, hive_partitioning=False).filter(pl.col("split") == split).collect()
    return table.enforce(frame)


def _files(release: Path, name: str) -> list[Path]:
    """Files of a table: those the manifest names, else those that lie in the table's folder."""
    if not release.is_dir():
        raise ReleaseError(f"{release}: no such release folder")
    listed = _manifest(release).get("tables", {}).get(name)
    if listed is None:
        return sorted((release / name).glob("*.parquet"))
    files = [release / file for file in listed["files"]]
    if missing := [file.name for file in files if not file.is_file()]:
        raise ReleaseError(f"{release}: {name} lacks {len(missing)} files of its manifest, first {missing[0]}")
    return files


def _manifest(release: Path) -> dict[str, Any]:
    path = release / "manifest.json"
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_bytes())
    except ValueError:
        raise ReleaseError(f"{path}: not JSON") from None
    return manifest if isinstance(manifest, dict) else {}
