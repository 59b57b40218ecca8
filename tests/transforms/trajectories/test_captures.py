"""Captures of real SDKs become the trajectories that there were, and the same ones however their records arrive."""

from __future__ import annotations

import json
import os
import random
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks.conformance.captures import EXPORTS, Export
from benchmarks.conformance.corpus import place
from benchmarks.conformance.tables import DAY, KEY, Threaded, cleaned, records_of, threaded
from benchmarks.conformance.threads import compare_threads, needless_threads
from transforms.identity import Identity
from transforms.trajectories.threads import Threads, build_threads

SHIPPED = Path(__file__).parents[2] / "corpus"
CORPUS = os.environ.get("TRACEMILL_CORPUS", "")


def named(export: Export) -> str:
    return f"{export.capture}/{export.files[0]}"


def folder_of(export: Export) -> Path:
    if (SHIPPED / "exports" / export.capture).exists():
        return SHIPPED
    if not CORPUS:
        pytest.skip("TRACEMILL_CORPUS does not name a folder of captures")
    return Path(CORPUS)


def threads_of(export: Export) -> Threaded:
    return threaded(folder_of(export), export)


@pytest.mark.parametrize("export", EXPORTS, ids=named)
def test_steps_order_tool_joins_agents_groups_and_ends_are_what_happened(export: Export) -> None:
    cells = compare_threads(threads_of(export), export.all_lost)
    assert {aspect: cell for aspect, cell in cells.items() if cell.state == "DIFFERS"} == {}


@pytest.mark.parametrize("capture", sorted({export.capture for export in EXPORTS if export.lost_threads}))
def test_what_is_said_to_be_lost_of_threads_is_lost_in_some_export(capture: str) -> None:
    exports = [export for export in EXPORTS if export.capture == capture]
    found = [set(needless_threads(threads_of(export), export)) for export in exports]
    assert set.intersection(*found) == set()


def told(threads: Threads) -> dict[str, list[dict[str, object]]]:
    """The tables. Blanks in arguments are those of the answer or of its echo, whichever was read first."""
    names = ("trajectories", "steps", "tool_calls", "left_out")
    made = {name: getattr(threads, name).to_dicts() for name in names}
    for row in made["tool_calls"]:
        row["arguments"] = json.loads(row["arguments"] or "{}")
    return made


def arranged(records: list[Any], chance: random.Random, files: int) -> list[list[Any]]:
    """The records in any order, a third of them twice, over several files, one of which stands in full in another."""
    several = records + chance.sample(records, len(records) // 3)
    chance.shuffle(several)
    cuts = sorted(chance.choices(range(len(several) + 1), k=files - 1))
    parts = [several[begin:end] for begin, end in pairwise([0, *cuts, len(several)])]
    return [*parts, parts[0]]


def records_in(export: Export) -> list[Any]:
    folder = folder_of(export)
    return [record for name in export.files for record in records_of(place(folder, export, name))]


@pytest.mark.parametrize("export", EXPORTS, ids=named)
def test_records_shuffled_repeated_and_split_over_files_become_the_same_tables(export: Export) -> None:
    records, identity = records_in(export), Identity(KEY)
    whole = build_threads(*cleaned([records], identity), identity, DAY)
    for seed in range(3 if folder_of(export) == SHIPPED else 1):
        files = arranged(records, random.Random(f"{named(export)} {seed}"), 1 + seed % 3 + 1)
        assert told(build_threads(*cleaned(files, identity), identity, DAY)) == told(whole)


@pytest.mark.parametrize("export", EXPORTS, ids=named)
def test_records_that_arrive_over_several_days_become_the_same_tables(export: Export) -> None:
    records, identity = records_in(export), Identity(KEY)
    whole = build_threads(*cleaned([records], identity), identity, DAY)
    chance = random.Random(named(export))
    days = arranged(records, chance, 3)
    made = [cleaned([one], identity, DAY - timedelta(days=number)) for number, one in enumerate(days) if one]
    chance.shuffle(made)
    spans, messages = (pl.concat(frames) for frames in zip(*made, strict=True))
    assert told(build_threads(spans, messages, identity, DAY)) == told(whole)
