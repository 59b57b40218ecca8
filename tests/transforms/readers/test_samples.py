"""What public samples of each format give: nothing is refused but what is no export."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from transforms.readers.exports import Tally, read_export
from transforms.records import Feedback, Record, Reject, Span

SAMPLES = os.environ.get("TRACEMILL_SAMPLES", "")
FOLDERS = {
    "langsmith": (14, 77, 31, 0),
    "langfuse": (13, 91, 23, 12),
    "mlflow": (1, 3, 1, 0),
    "phoenix": (1, 38, 18, 0),
    "atif": (14, 55, 37, 0),
    "nemo_gym": (38, 262, 219, 53),
    "tau2_bench": (3, 3, 0, 0),
    "swe_agent": (13, 144, 126, 0),
    "jaeger": (2, 61, 5, 0),
    "vercel_ai": (10, 20, 8, 0),
}
"""Traces, spans, calls of models with an answer, and verdicts that a folder of samples gives."""

NO_EXPORTS = (
    "anthropic_managed",  # events of a session, as pairs of a name and an object
    "expected_metrics.json",  # figures about simulations
    "capture-results.json",  # a report of a test
    "spans-by-operation.json",  # spans sorted by a test, under names of operations
    "subagent_trajectories.json",  # two trajectories under names of a test
)


def samples(folder: str) -> list[Path]:
    if not SAMPLES:
        pytest.skip("TRACEMILL_SAMPLES does not name a folder of samples")
    return sorted(path for path in (Path(SAMPLES) / folder).rglob("*") if path.is_file())


def read(path: Path) -> tuple[list[Record], Tally]:
    tally = Tally()
    with path.open("rb") as stream:
        return list(read_export(stream, tally, path.name.split(".")[0])), tally


@pytest.mark.parametrize("folder", FOLDERS)
def test_samples_are_read_and_only_what_is_no_export_is_refused(folder: str) -> None:
    spans: list[Span] = []
    verdicts: list[Feedback] = []
    for path in samples(folder):
        records, tally = read(path)
        assert bool(tally.rejects) == any(name in path.name for name in NO_EXPORTS), path.name
        spans += [record for record in records if isinstance(record, Span)]
        verdicts += [record for record in records if isinstance(record, Feedback)]
    traces = {(span.source, span.trace_id or span.trace_identity) for span in spans}
    calls = [span for span in spans if span.kind == "llm" and span.output]
    assert (len(traces), len(spans), len(calls), len(verdicts)) == FOLDERS[folder]


def test_what_is_not_understood_is_never_full() -> None:
    states = Counter()
    for folder in FOLDERS:
        for path in samples(folder):
            for record in read(path)[0]:
                if isinstance(record, Span) and record.kind == "llm":
                    states[record.content_state] += 1
                    lost = {"unknown_part", "unknown_role", "context_rewritten", "prompt_unknown", "partial"}
                    assert record.content_state != "full" or not lost & {*record.flags}
                    assert record.content_state != "full" or (record.prompt and record.output)
    assert states["full"] > 300


def test_rejects_of_samples_say_why_and_nothing_else() -> None:
    reasons = {
        record.reason
        for folder in FOLDERS
        for path in samples(folder)
        for record in read(path)[0]
        if isinstance(record, Reject)
    }
    assert reasons == {"unknown_dialect"}
