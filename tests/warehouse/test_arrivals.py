"""A file arrives on the day its folder names, else on the day it is first seen, for good."""

from datetime import date
from pathlib import Path

import pytest

from warehouse.arrivals import Arrivals, folder_day
from warehouse.problem import Problem

TODAY = date(2026, 3, 4)


def put(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def uris(arrivals: Arrivals, day: date) -> list[str]:
    return [one.uri for one in arrivals.of(day)]


@pytest.mark.parametrize(
    ("folder", "day"),
    [
        ("2026-02-28", date(2026, 2, 28)),
        ("2026-02-28/langsmith", date(2026, 2, 28)),
        ("runs/year=2026/month=2/day=8", date(2026, 2, 8)),
        ("year=2026/month=02/day=08", date(2026, 2, 8)),
        ("2026-02-31", None),
        ("exports", None),
    ],
)
def test_a_folder_names_a_day_or_does_not(folder: str, day: date | None) -> None:
    assert folder_day(Path("landing") / folder / "runs.jsonl") == day


def test_landed_files_are_found_by_day_and_hidden_or_half_written_ones_are_not(tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    runs = put(landing / "2026-02-28" / "runs.jsonl")
    put(landing / "2026-02-28" / ".runs.swp")
    put(landing / "2026-02-28" / "more.jsonl.part")
    put(landing / "no day" / "runs.jsonl")
    arrivals = Arrivals(str(landing), tmp_path / "lake")
    assert arrivals.days() == [date(2026, 2, 28)]
    assert uris(arrivals, date(2026, 2, 28)) == [str(runs)]


def test_a_file_given_by_name_keeps_the_day_on_which_it_was_first_seen(tmp_path: Path) -> None:
    runs = put(tmp_path / "given" / "runs.jsonl")
    arrivals = Arrivals(str(tmp_path / "landing"), tmp_path / "lake")
    assert arrivals.register([runs], TODAY) == [TODAY]
    assert arrivals.register([runs.parent], date(2026, 3, 9)) == [TODAY]
    assert uris(arrivals, TODAY) == [str(runs)]
    assert arrivals.days() == [TODAY]


def test_a_dated_folder_that_is_given_by_name_keeps_its_day(tmp_path: Path) -> None:
    put(tmp_path / "2026-02-01" / "runs.jsonl")
    arrivals = Arrivals(str(tmp_path / "landing"), tmp_path / "lake")
    assert arrivals.register([tmp_path / "2026-02-01"], TODAY) == [date(2026, 2, 1)]


@pytest.mark.parametrize("folder", ["2019-05-05", "2031-01-01"])
def test_a_folder_of_a_day_that_cannot_be_run_dates_nothing(tmp_path: Path, folder: str) -> None:
    runs = put(tmp_path / folder / "runs.jsonl")
    arrivals = Arrivals(str(tmp_path / "landing"), tmp_path / "lake")
    assert arrivals.register([runs], TODAY, first=date(2024, 1, 1)) == [TODAY]


def test_the_digest_of_a_day_follows_its_files(tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    put(landing / "2026-02-28" / "runs.jsonl")
    arrivals = Arrivals(str(landing), tmp_path / "lake")
    first = arrivals.digest(date(2026, 2, 28))
    assert arrivals.digest(date(2026, 2, 28)) == first
    put(landing / "2026-02-28" / "runs.jsonl", "{}\n{}\n")
    assert arrivals.digest(date(2026, 2, 28)) != first


def test_nothing_at_a_path_is_told_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="there is no export at"):
        Arrivals(str(tmp_path), tmp_path / "lake").register([tmp_path / "nothing"], TODAY)


def test_a_file_that_lies_in_no_folder_of_a_day_arrives_when_it_is_first_seen_for_good(tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    runs = put(landing / "support" / "runs.jsonl")
    dated = put(landing / "2026-02-28" / "runs.jsonl")
    arrivals = Arrivals(str(landing), tmp_path / "lake")
    assert arrivals.register([], TODAY) == []
    assert uris(arrivals, TODAY) == [str(runs)]
    arrivals.register([], date(2026, 3, 9))
    assert arrivals.days() == [date(2026, 2, 28), TODAY]
    assert uris(arrivals, date(2026, 2, 28)) == [str(dated)]


def test_what_came_later_belongs_to_the_day_on_which_it_came_and_leaves_the_first_as_it_was(tmp_path: Path) -> None:
    runs = put(tmp_path / "given" / "runs.jsonl", "{}\n")
    arrivals = Arrivals(str(tmp_path / "landing"), tmp_path / "lake")
    arrivals.register([runs], TODAY)
    before = arrivals.digest(TODAY)
    put(runs, "{}\n{}\n")
    assert arrivals.digest(TODAY) == before  # nothing of it is known yet
    arrivals.register([], date(2026, 3, 5))
    assert [arrivals.of(day)[0].size for day in (TODAY, date(2026, 3, 5))] == [3, 6]
    assert arrivals.digest(TODAY) == before
    put(runs, "[]\n[]\n[]\n")
    arrivals.register([], date(2026, 3, 5))
    assert arrivals.of(date(2026, 3, 5))[0].size == 9


def test_a_ledger_that_knows_no_ends_is_read_as_it_is(tmp_path: Path) -> None:
    runs = put(tmp_path / "given" / "runs.jsonl")
    put(tmp_path / "lake" / "arrivals" / "2026-03-04.json", f'{{"day": "2026-03-04", "uris": ["{runs}"]}}')
    arrivals = Arrivals(str(tmp_path / "landing"), tmp_path / "lake")
    assert uris(arrivals, TODAY) == [str(runs)]
    assert arrivals.register([runs], date(2026, 3, 5)) == [TODAY]
