"""A run that two systems exported counts once, whatever traces they put it in."""

from __future__ import annotations

import os
import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

from benchmarks.conformance.captures import EXPORTS, Export
from benchmarks.conformance.corpus import place
from benchmarks.conformance.tables import DAY, KEY, cleaned, records_of
from transforms.datasets.exported_twice import same_runs
from transforms.identity import Identity
from transforms.records import Feedback, Span
from transforms.trajectories.threads import build_threads

START = datetime(2026, 11, 30, tzinfo=UTC)
SHIPPED = Path(__file__).parents[2] / "corpus"
CORPUS = os.environ.get("TRACEMILL_CORPUS", "")


def attempt(day: Any, trace: str, at: float, **columns: Any) -> None:
    """Two calls of one run, as a system told them; the world of these tests starts at 0 s."""
    asked = day.say("assistant", "", [("c1", "check", '{"order": 7}')])
    thread = [day.say("system", "Be kind."), day.say("user", "I want my money back please")]
    thread = day.call(trace, f"{trace}-0", thread, asked, at=at, **columns | {"response_id": columns.get("one")})
    thread = [*thread, day.say("tool", "done", answers="c1")]
    day.call(trace, f"{trace}-1", thread, day.say("assistant", "Done."), at=at + 1,
             **columns | {"response_id": columns.get("two")})  # fmt: skip


def told(day: Any) -> list[set[str]]:
    """Traces that are records of one run."""
    for span in day.spans:
        span.pop("one", None), span.pop("two", None)
    threads = day.threads()
    names = dict(threads.trajectories.select("rollout_id", pl.col("trace_ids").list.first()).rows())
    runs: dict[str, set[str]] = {}
    for rollout, run in same_runs(threads.trajectories, threads.steps, day.frames()[0]).iter_rows():
        runs.setdefault(run, set()).add(names[rollout])
    return sorted(runs.values(), key=sorted)


OTHER = {"source": "langsmith", "dialect": "langsmith"}


@pytest.mark.parametrize(
    ("same", "copy"),
    [
        (True, {"one": "r1", "two": "r2"}),  # one response, perhaps told in other words
        (True, {"one": "r1", "two": "r2"} | OTHER),
        (True, OTHER),  # no ids: equal content, another dialect, at one time
        (False, {}),  # the same system: another attempt, or a parallel one
        (False, {"one": "r3", "two": "r4"} | OTHER),  # other responses
    ],
)
def test_two_records_are_one_run_by_responses_or_by_content_and_time(traffic: Any, same: bool, copy: Any) -> None:
    day = traffic()
    attempt(day, "a", 0, one="r1", two="r2")
    attempt(day, "b", 0.2, **copy)
    assert told(day) == ([{"a", "b"}] if same else [])


def test_two_attempts_at_once_that_two_systems_told_without_ids_stay_two(traffic: Any) -> None:
    day = traffic()
    for trace, at, columns in (("a", 0, {}), ("b", 0.5, {}), ("b2", 0.51, OTHER), ("a2", 0.02, OTHER)):
        attempt(day, trace, at, **columns)
    assert told(day) == [{"a", "a2"}, {"b", "b2"}]


@pytest.mark.parametrize("third", [{}, {"source": "langfuse", "dialect": "langfuse"}])
def test_a_record_without_ids_makes_no_run_of_two_with_other_responses(traffic: Any, third: Any) -> None:
    day = traffic()
    attempt(day, "a", 0, one="r1", two="r2")
    attempt(day, "b", 0.5, one="r3", two="r4", **third)
    attempt(day, "copy", 0.01, **OTHER)
    assert told(day) == [{"a", "copy"}]


def test_what_more_is_shared_with_is_the_run_and_not_what_began_nearer(traffic: Any) -> None:
    day = traffic()
    for trace, at, answer, columns in (
        ("a", 0, "Done.", {}), ("b", 0.1, "No.", {}), ("a2", 0.09, "Done.", OTHER), ("b2", 0.11, "No.", OTHER)
    ):  # fmt: skip
        thread = day.call(
            trace, f"{trace}-0", [day.say("user", "Hello")], day.say("assistant", "Hm?"), at=at, **columns
        )
        thread = [*thread, day.say("user", "Well?")]
        day.call(trace, f"{trace}-1", thread, day.say("assistant", answer), at=at + 1, **columns)
    assert told(day) == [{"a", "a2"}, {"b", "b2"}]


def test_three_systems_told_one_run(traffic: Any) -> None:
    day = traffic()
    attempt(day, "a", 0, one="r1", two="r2")
    attempt(day, "b", 0.1, one="r1", two="r2")
    attempt(day, "c", 0.2, **OTHER)
    attempt(day, "d", 0.3, source="langfuse", dialect="langfuse")
    assert told(day) == [{"a", "b", "c", "d"}]


def test_what_began_at_another_time_is_another_run(traffic: Any) -> None:
    day = traffic()
    attempt(day, "a", 0, one="r1", two="r2")
    attempt(day, "cached", 7200, one="r1", two="r2")
    attempt(day, "again", 60, **OTHER)
    assert told(day) == []


def test_one_shared_call_of_many_makes_no_copy(traffic: Any) -> None:
    day = traffic()
    for trace, first in (("a", 0), ("b", 0.1)):
        for number in range(4):
            said = day.say("assistant", f"{trace} {number}" if number else "Hello")
            response = f"{trace}{number}" if number else "shared"
            day.call(trace, f"{trace}-{number}", [day.say("user", f"{number}")], said, at=first, response_id=response)
    assert told(day) == []


def test_the_fullest_record_stays_with_the_word_that_any_of_them_got(traffic: Any, release: Any) -> None:
    day = traffic()
    for task in ("x", "y"):
        for number, reward in enumerate((1.0, 0.0)):
            day.run(f"{task}{number}", task=task)
            day.judge(f"{task}{number}", reward)
    copied = [span for span in day.spans if span["trace_id"] == "x0"]
    for span in copied:
        day.spans.append(span | OTHER | {"trace_id": "copy", "span_id": span["span_id"] + "copy"})
        parent = span.get("parent_span_id")
        day.spans[-1]["parent_span_id"] = parent and parent + "copy"
    day.spans = [span for span in day.spans if span["span_id"] != "x0-0"]  # the first record lost a call
    made = release(day)
    names = dict(made.threads.trajectories.select("trajectory_id", pl.col("trace_ids").list.first()).rows())
    rows = {names[row["trajectory_id"]]: row for row in made.cut.iter_rows(named=True)}
    assert (rows["x0"]["dropped"], rows["copy"]["dropped"]) == ("exported_twice", None)
    assert rows["x0"]["copy_of"] == rows["copy"]["rollout_id"] and rows["copy"]["copy_of"] is None
    assert rows["copy"]["reward"] == 1.0
    kept = made.credit.join(made.threads.trajectories.select("trajectory_id", "trace_ids"), on="trajectory_id")
    assert {trace for traces in kept["trace_ids"] for trace in traces} == {"x1", "y0", "y1", "copy"}


def gated(traffic: Any, release: Any, words: dict[str, str], lost: str = "") -> set[tuple[bool, float | None]]:
    """Whether the records `x0` and `copy` of one run are gated, and their reward; `words` were said about them."""
    day = traffic()
    for task in ("x", "y"):
        for number, reward in enumerate((1.0, 0.0)):
            tools = ("wire", "wire") if (task, number) == ("x", 0) else ("check",)
            day.run(f"{task}{number}", task=task, tools=tools)
            day.judge(f"{task}{number}", reward)
    for span in [span for span in day.spans if span["trace_id"] == "x0" and span["span_id"] != lost]:
        parent = span.get("parent_span_id")
        day.spans.append(span | OTHER | {
            "trace_id": "copy", "span_id": span["span_id"] + "copy", "parent_span_id": parent and parent + "copy",
        })  # fmt: skip
    day.judge("copy", 1.0)
    for trace, word in words.items():
        day.judge(trace, None, key="approval", label=word)
    made = release(day, gates={"wire": {"tool": "wire", "needs_approval": {}}})
    names = dict(made.threads.trajectories.select("trajectory_id", pl.col("trace_ids").list.first()).rows())
    kept = [row for row in made.cut.iter_rows(named=True) if names[row["trajectory_id"]] in ("x0", "copy")]
    assert sorted(row["dropped"] or "" for row in kept) == ["", "exported_twice"]
    return {(row["gated"], row["reward"]) for row in kept}


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"x0": "denied", "copy": "approved"},
        {"x0": "denied"},
        {"copy": "edited"},
        {"x0": "approved", "copy": "edited"},
    ],
)
def test_a_record_is_gated_where_another_one_of_its_run_is(traffic: Any, release: Any, words: Any) -> None:
    assert gated(traffic, release, words) == {(True, None)}


@pytest.mark.parametrize("words", [{"x0": "approved"}, {"copy": "approved"}, {"x0": "approved", "copy": "approved"}])
def test_a_persons_word_in_one_record_lets_the_run_pass(traffic: Any, release: Any, words: Any) -> None:
    assert gated(traffic, release, words) == {(False, 1.0)}


def test_a_word_does_not_let_pass_what_its_record_lost(traffic: Any, release: Any) -> None:
    assert gated(traffic, release, {"copy": "approved"}, lost="x0-1") == {(True, None)}
    assert gated(traffic, release, {"x0": "approved"}, lost="x0-1") == {(False, 1.0)}


def with_other_ids(record: Any, chance: random.Random) -> Any:
    """The record as another collector would have it that makes ids of its own and reads its own clock."""
    if not isinstance(record, Span):
        return None
    renamed = {name: _other(getattr(record, name)) for name in ("trace_id", "span_id", "parent_span_id")}
    late = chance.randrange(200_000_000)
    times = {name: (getattr(record, name) or 0) + late for name in ("started_ns", "ended_ns")}
    return replace(record, **renamed, **times, task="", trial=None)


def _other(hexadecimal: str) -> str:
    return hexadecimal.translate(str.maketrans("0123456789abcdef", "fedcba9876543210"))


def test_a_capture_that_a_second_collector_exported_with_ids_of_its_own_counts_once() -> None:
    identity, chance = Identity(KEY), random.Random(1)
    records = list(records_of(SHIPPED / "exports" / "otlp-genai-openai" / "traces.jsonl.gz"))
    again = [made for record in records if (made := with_other_ids(record, chance))]
    spans, messages = cleaned([[r for r in records if not isinstance(r, Feedback)], again], identity)
    threads = build_threads(spans, messages, identity, DAY)
    runs = same_runs(threads.trajectories, threads.steps, spans)
    assert threads.trajectories["rollout_id"].n_unique() == 36
    assert runs.height == 36 and runs.group_by("run").len()["len"].to_list() == [2] * 18


def test_runs_of_two_captures_are_no_copies_of_each_other() -> None:
    identity = Identity(KEY)
    files = [list(records_of(SHIPPED / "exports" / name)) for name in (
        "otlp-genai-openai/traces.jsonl.gz", "langsmith-wrap-openai/runs.jsonl.gz")]  # fmt: skip
    spans, messages = cleaned(files, identity)
    threads = build_threads(spans, messages, identity, DAY)
    assert threads.trajectories["rollout_id"].n_unique() == 36
    assert same_runs(threads.trajectories, threads.steps, spans).is_empty()


def test_the_same_runs_in_a_store_and_as_bare_spans_of_traces_of_their_own_count_once() -> None:
    if not CORPUS:
        pytest.skip("TRACEMILL_CORPUS does not name a folder of captures")
    exports = [one for one in EXPORTS if one.capture == "agentlightning-0.3.0-otel" and "pb" not in one.files[0]]
    identity = Identity(KEY)
    spans, messages = cleaned([record for one in exports for record in files_of(one)], identity)
    threads = build_threads(spans, messages, identity, DAY)
    runs = same_runs(threads.trajectories, threads.steps, spans)
    assert threads.trajectories["rollout_id"].n_unique() == 18 + 53
    assert runs["run"].n_unique() == 18 and runs.height == 18 + 53


def files_of(export: Export) -> list[list[Any]]:
    return [list(records_of(place(Path(CORPUS), export, name))) for name in export.files]


def test_a_second_between_clocks_is_no_other_run_and_more_is(traffic: Any) -> None:
    for apart, same in ((timedelta(seconds=1.5), True), (timedelta(seconds=2.5), False)):
        day = traffic()
        attempt(day, "a", 0)
        attempt(day, "b", apart.total_seconds(), **OTHER)
        assert bool(told(day)) == same


def equal_calls(
    count: int, apart: timedelta, dialects: tuple[str, ...]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Trajectories, steps and spans of runs of one equal call."""
    number = pl.Series("number", range(count)).cast(pl.String)
    names = {"trajectory_id": "t" + number, "trace_id": "x" + number, "span_id": "s" + number}
    rows = pl.DataFrame(names).with_columns(
        started_at=START + pl.int_range(count) * apart, rollout_id="trajectory_id", source=pl.lit("otlp"),
        dialect=pl.Series((dialects * count)[:count]), result_id=pl.lit(bytes(16)),
        response_id=pl.lit(None, pl.String),
    )  # fmt: skip
    return rows.select("trajectory_id", "rollout_id", "source"), rows.drop("source"), rows


@pytest.mark.parametrize(
    ("apart", "dialects"),
    [
        (timedelta(minutes=1), ("otlp_genai",)),  # over a day
        (timedelta(microseconds=50), ("otlp_genai",)),  # in one second
        (timedelta(microseconds=50), ("otlp_genai", "langsmith")),  # a crowd, told by two systems
    ],
)
def test_what_is_said_again_and_again_costs_no_square(apart: timedelta, dialects: tuple[str, ...]) -> None:
    frames = equal_calls(10_000, apart, dialects)
    began = time.process_time()
    assert same_runs(*frames).is_empty()
    assert time.process_time() - began < 0.5
