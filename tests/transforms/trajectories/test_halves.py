"""What arrives of a span on one day is completed by what arrives on another."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.conformance.tables import DAY, KEY, cleaned
from transforms.identity import Identity
from transforms.readers.exports import Tally, read_export
from transforms.trajectories.threads import Threads, build_threads

EXPORTS = Path(__file__).parents[2] / "corpus" / "exports"
ENDS = {"outputs", "end_time", "error", "status", "total_tokens", "prompt_tokens", "completion_tokens", "extra"}
ANSWERS = ("gen_ai.output", "gen_ai.response", "gen_ai.usage", "gen_ai.tool.call.result")
BEFORE = DAY - timedelta(days=1)

Documents = list[dict[str, Any]]


def documents(name: str) -> Documents:
    with gzip.open(EXPORTS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def of_langsmith() -> tuple[Documents, Documents, Documents]:
    """Runs as wholes; as they are created, some at a time; as they are updated."""
    runs = documents("langsmith-wrap-openai/runs.jsonl.gz")
    begun = [{key: value for key, value in run.items() if key not in ENDS} for run in runs]
    ended = [{key: value for key, value in run.items() if key != "inputs"} for run in runs]
    several = range(0, len(runs), 10)
    posts = [{"post": begun[n : n + 10], "patch": []} for n in several]
    return runs, posts, [{"post": [], "patch": ended[n : n + 10]} for n in several]


def of_otlp() -> tuple[Documents, Documents, Documents]:
    """Spans as wholes; as they are when they start, without end, status and answer; and as wholes again."""
    whole = documents("otlp-genai-openai/traces.jsonl.gz")
    begun = json.loads(json.dumps(whole))
    for span in spans_of(begun):
        del span["endTimeUnixNano"]
        span["status"], span["events"] = {}, []
        span["attributes"] = [one for one in span["attributes"] if not one["key"].startswith(ANSWERS)]
    return whole, begun, whole


def spans_of(requests: Documents) -> Iterator[dict[str, Any]]:
    for request in requests:
        for resource in request["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def on(day: date, documents: Documents) -> tuple[pl.DataFrame, pl.DataFrame]:
    packed = io.BytesIO("".join(json.dumps(one) + "\n" for one in documents).encode())
    return cleaned([list(read_export(packed, Tally()))], Identity(KEY), day)


def threads(*days: tuple[pl.DataFrame, pl.DataFrame]) -> Threads:
    spans, messages = (pl.concat(frames) for frames in zip(*days, strict=True))
    return build_threads(spans, messages, Identity(KEY), DAY)


@pytest.mark.parametrize("halves", [of_langsmith, of_otlp])
@pytest.mark.parametrize("first_comes_first", [True, False])
def test_halves_of_spans_that_arrive_on_two_days_are_the_spans(halves: Any, first_comes_first: bool) -> None:
    whole, begun, ended = halves()
    expected = threads(on(DAY, whole))
    days = (BEFORE, DAY) if first_comes_first else (DAY, BEFORE)
    made = threads(on(days[0], begun), on(days[1], ended))
    for name in ("trajectories", "steps", "tool_calls", "left_out"):
        assert getattr(made, name).to_dicts() == getattr(expected, name).to_dicts(), name


def test_beginnings_alone_are_no_steps() -> None:
    _, begun, _ = of_langsmith()
    made = threads(on(DAY, begun))
    assert made.steps.is_empty()
    assert made.left_out["reason"].unique().to_list() == ["pending"]
