"""What exports hold and what of them can be trained on, told file by file and of all together."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from assets.settings import load_settings
from assets.sources import read_records
from pipelines.survey import Survey
from transforms.readers.exports import Tally
from warehouse.arrivals import exports_below
from warehouse.places import Places, is_url
from warehouse.problem import Problem

SOUND, UNREADABLE, REJECTS = 0, 1, 3  # exit codes, as of `tracemill run`

WHY = {
    "absent": "no messages: content was not captured, or stands in logs or another file",
    "truncated": "messages are missing or cut: limits of the SDK, or the export",
    "redacted": "the SDK or its user masked what was said",
    "unparsed": "holds something that is not understood",
    "failed": "ended in an error, without an answer",
    "no_output": "only its prompt is in the export",
    "pending": "had not ended when it was exported",
    "wrapper": "the same call as the span of a model below it",
    "duplicate": "the same answer once more, by its provider's id",
    "judge": "a judge's own call",
}
"""Why a call of a model cannot be trained on."""

TOLD = "no component of `rewards` in tracemill.yaml rests on it"


def examine(files: Sequence[str | Path], output: str, console: Console) -> int:
    """Print what each file holds, then all together; the exit code: 3 with rejects, 1 where one cannot be read."""
    keys = _components()
    given = [*map(str, files)]
    places = Places(load_settings().storage_options) if any(map(is_url, given)) else Places()
    uris = [uri for place in given for uri in exports_below(place, places)]
    together = Survey(keys)
    reports = []
    for uri in uris:
        report = examine_file(uri, places, keys, together)
        reports.append(report)
        if output != "json":
            _print(report, console)
    together.finish()
    total = _total(reports, together) if len(reports) > 1 else None
    if output == "json":
        sys.stdout.write(json.dumps([*reports, total] if total else reports, indent=1) + "\n")
    elif total:
        _print(total | {"file": f"all {len(reports)} files together"}, console)
    return _exit_code(reports)


def examine_file(uri: str, places: Places, keys: dict[str, str], together: Survey) -> dict[str, Any]:
    """Counts of one file: what it is, what was refused, and what can be trained on. `together` is told the same."""
    tally, survey = Tally(), Survey(keys)
    problem = ""
    try:
        for record in read_records(places, uri, tally):
            survey.add(record)
            together.add(record)
    except Problem as unreadable:
        problem = str(unreadable)
    survey.finish()
    report = {"file": uri, "bytes": tally.bytes, "container": tally.container, "dialects": sorted(tally.dialects)}
    told = report | {"records": tally.records, "blanks": tally.blanks} | _counted(survey)
    return told | {"problem": problem} if problem else told


def _components() -> dict[str, str]:
    """Keys of feedback, and the component of the reward that rests on each."""
    components = load_settings().rewards.components
    return {key: name for name, component in components.items() for key in component.feedback}


def _counted(survey: Survey) -> dict[str, Any]:
    return {
        "rejects": _sorted(survey.rejects), "reject_positions": dict(sorted(survey.positions.items())),
        "traces": survey.traces, "spans": _sorted(survey.spans), "repeated_spans": survey.repeated,
        "llm_calls": survey.llm_calls, "tool_calls": survey.tool_calls, "content": _sorted(survey.states),
        "flags": _sorted(survey.flags), "feedback": _sorted(survey.feedback), "trainable": survey.trainable,
        "trainable_with_feedback": survey.rewarded, "trainable_with_task": survey.grouped,
        "not_trainable": _sorted(survey.left_out),
    }  # fmt: skip


def _total(reports: list[dict[str, Any]], together: Survey) -> dict[str, Any]:
    """All files as one: spans and verdicts meet across them, and what stands in two of them counts once."""
    sums = {name: sum(report[name] for report in reports) for name in ("bytes", "records", "blanks")}
    told = {"file": None, "files": len(reports), "dialects": sorted({*_each(reports, "dialects")})}
    return told | sums | _counted(together) | {"reject_positions": {}}


def _each(reports: list[dict[str, Any]], name: str) -> list[str]:
    return [one for report in reports for one in report[name]]


def _exit_code(reports: list[dict[str, Any]]) -> int:
    if any("problem" in report for report in reports):
        return UNREADABLE
    return REJECTS if any(report["rejects"] for report in reports) else SOUND


def _print(report: dict[str, Any], console: Console) -> None:
    console.print(report["file"], style="bold", soft_wrap=True, highlight=False, markup=False)
    if "problem" in report:
        console.print(f"  {report['problem']}", style="red", highlight=False, markup=False)
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 2))
    table.add_column(justify="right")
    table.add_column()
    table.add_column(style="dim")
    for row in _rows(report):
        table.add_row(*row)
    console.print(table)


def _rows(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    what = ", ".join(filter(None, [report.get("container", ""), *report["dialects"]]))
    rows = [(f"{report['records']:,}", "records", f"{what}; {_size(report['bytes'])}")]
    rows += [(f"{report['blanks']:,}", "blank or without traces", "")] if report["blanks"] else []
    rows += [(f"{count:,}", "refused", _refused(reason, report)) for reason, count in report["rejects"].items()]
    if not report["traces"]:
        return rows
    spans = report["spans"]
    repeated = f"{report['repeated_spans']:,} told again" if report["repeated_spans"] else ""
    rows.append((f"{report['traces']:,}", "traces", ""))
    if spans:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in spans.items())
        rows.append((f"{sum(spans.values()):,}", "spans", "; ".join(filter(None, [kinds, repeated]))))
    rows += _verdict_rows(report["feedback"])
    return rows + (_call_rows(report) if report["llm_calls"] else [])


def _verdict_rows(feedback: dict[str, int]) -> list[tuple[str, str, str]]:
    return [(f"{count:,}", "verdicts", f"for {name}" if name else TOLD) for name, count in feedback.items()]


def _call_rows(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    calls, trainable = report["llm_calls"], report["trainable"]
    rows = [(f"{calls:,}", "calls of models", f"with {report['tool_calls']:,} calls of tools")]
    judged, grouped = report["trainable_with_feedback"], report["trainable_with_task"]
    told = f"{judged:,} of them in traces with verdicts, {grouped:,} in traces that name a task"
    rows.append((f"{trainable:,}", "can be trained on", told if trainable else ""))
    rows += [(f"{count:,}", f"cannot: {reason}", WHY[reason]) for reason, count in report["not_trainable"].items()]
    if flags := ", ".join(f"{count:,} {name}" for name, count in report["flags"].items()):
        rows.append(("", "marked", flags))
    return rows


def _refused(reason: str, report: dict[str, Any]) -> str:
    positions = report["reject_positions"].get(reason, [])
    more = ", …" if report["rejects"][reason] > len(positions) else ""
    return f"{reason}, at {', '.join(map(str, positions))}{more}" if positions else reason


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
