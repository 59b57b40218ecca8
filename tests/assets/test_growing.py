"""A file that grows arrives piece by piece: each day has what came on it, and all days together the whole, once."""

import gzip
import io
import shutil
import zipfile
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from landings import all_spans, counts, line, publish, publish_stale, rejects, spans
from mills import mill_at

from assets.mill import Mill
from assets.staleness import is_stale
from transforms.readers.exports import Tally, read_export
from transforms.records import Reject, Span
from warehouse.problem import Problem
from warehouse.schemas import EXPORTS

FIRST = date(2026, 11, 2)
DAYS = [FIRST + timedelta(days=n) for n in range(5)]


@pytest.fixture
def mill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tracemill.yaml").write_text("landing: landing\n")
    return mill_at(tmp_path / "home", monkeypatch, tmp_path / "tracemill.yaml")


def test_of_a_file_that_grew_the_next_night_has_only_the_tail(mill: Mill, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "runs.jsonl"
    log.parent.mkdir()
    log.write_bytes(line(0) + line(1) + line(2)[:40])
    assert mill.register([log], DAYS[0]) == [DAYS[0]]
    first = publish(mill, DAYS[0])
    assert spans(mill, DAYS[0]) == [(0, "run-0"), (1, "run-1")]
    assert rejects(mill) == []
    assert mill.waiting(DAYS[0]) == 1
    assert mill.lake.scan(EXPORTS, only=DAYS[0]).collect()["waiting"].to_list() == [40]
    with log.open("ab") as stream:
        stream.write(line(2)[40:] + line(3))
    assert mill.register([], DAYS[1]) == []  # it is looked after without being named again
    publish(mill, DAYS[1])
    assert spans(mill, DAYS[1]) == [(2, "run-2"), (3, "run-3")]
    assert not is_stale(mill, "landed", DAYS[0])
    assert publish(mill, DAYS[0]) == first
    assert counts(mill) == (4, 0, 0, log.stat().st_size)
    assert mill.waiting(DAYS[1]) == 0


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b" \n"])
def test_a_file_that_was_cut_before_its_newline_goes_on_with_the_next_record(
    mill: Mill, tmp_path: Path, ending: bytes
) -> None:
    log = tmp_path / "runs.jsonl"
    log.write_bytes(line(0) + line(1)[:-1])
    mill.register([log], DAYS[0])
    publish(mill, DAYS[0])
    assert len(spans(mill, DAYS[0])) == 2
    log.write_bytes(line(0) + line(1)[:-1] + ending + line(2))
    mill.register([log], DAYS[1])
    publish(mill, DAYS[1])
    assert spans(mill, DAYS[1]) == [(2, "run-2")]
    assert counts(mill)[:3] == (3, 0, 0)


@pytest.mark.parametrize("successor", [line(7), line(7, "longer than what was there " * 20)])
def test_a_log_that_is_rotated_and_grown_is_the_same_file_and_its_successor_a_new_one(
    mill: Mill, tmp_path: Path, successor: bytes
) -> None:
    log = tmp_path / "landing" / "runs.jsonl"
    log.parent.mkdir()
    log.write_bytes(line(0) + line(1))
    mill.register([], DAYS[0])
    first = publish(mill, DAYS[0])
    with log.open("ab") as stream:
        stream.write(line(2))
    log.rename(log.with_name("runs.jsonl.1"))
    log.write_bytes(successor)
    mill.register([], DAYS[1])
    publish(mill, DAYS[1])
    assert spans(mill, DAYS[1]) == [(0, "run-7"), (2, "run-2")]
    assert publish(mill, DAYS[0]) == first
    assert spans(mill, DAYS[0]) == [(0, "run-0"), (1, "run-1")]
    publish_stale(mill, DAYS[:2])
    assert [one for _, one in all_spans(mill)] == ["run-0", "run-7", "run-1", "run-2"]


def test_a_longer_copy_in_a_later_day_s_folder_gives_its_tail_whichever_day_is_run_first(
    mill: Mill, tmp_path: Path
) -> None:
    whole = b"".join(map(line, range(6)))
    for number in (0, 1):
        copy = tmp_path / "landing" / DAYS[number].isoformat() / "runs.jsonl"
        copy.parent.mkdir(parents=True)
        copy.write_bytes(whole if number else whole[: len(line(0)) * 2])
    publish(mill, DAYS[1])
    assert len(spans(mill, DAYS[1])) == 6
    publish(mill, DAYS[0])
    assert is_stale(mill, "landed", DAYS[1])
    publish_stale(mill, DAYS[:2])
    assert spans(mill, DAYS[1]) == [(number, f"run-{number}") for number in range(2, 6)]


def as_zip(lines: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(zipfile.ZipInfo("runs.jsonl"), lines)
    return held.getvalue()


def as_parquet(lines: bytes) -> bytes:
    held = io.BytesIO()
    pl.read_ndjson(io.BytesIO(lines)).write_parquet(held)
    return held.getvalue()


@pytest.mark.parametrize("pack", [lambda lines: gzip.compress(lines, mtime=0), as_zip, as_parquet])
def test_what_cannot_grow_by_appending_is_a_new_file(mill: Mill, tmp_path: Path, pack) -> None:  # type: ignore[no-untyped-def]
    export = tmp_path / "runs"
    before, after = line(0) + line(1), line(2)
    export.write_bytes(pack(before))
    mill.register([export], DAYS[0])
    publish(mill, DAYS[0])
    export.write_bytes(pack(before) + pack(after) if pack(after)[:2] == b"\x1f\x8b" else pack(before + after * 9))
    mill.register([export], DAYS[1])
    publish(mill, DAYS[1])
    assert {one for _, one in spans(mill, DAYS[1])} == {"run-0", "run-1", "run-2"}


@pytest.mark.parametrize("overwritten", [line(7), line(7) * 2, line(7) * 3])
def test_a_file_that_was_truncated_or_overwritten_is_refused_in_a_sentence(
    mill: Mill, tmp_path: Path, overwritten: bytes
) -> None:
    log = tmp_path / "runs.jsonl"
    log.write_bytes(line(0) + line(1))
    mill.register([log], DAYS[0])
    version = publish(mill, DAYS[0])
    log.write_bytes(overwritten)
    (day,) = mill.register([log], DAYS[1])
    with pytest.raises(Problem, match="overwritten.*a name of its own each time"):
        publish(mill, day)
    assert mill.lake.version_of("landed", DAYS[0]) == version


def test_a_file_that_was_renamed_is_found_under_its_new_name_and_one_that_is_gone_is_refused(
    mill: Mill, tmp_path: Path
) -> None:
    log = tmp_path / "landing" / "runs.jsonl"
    log.parent.mkdir()
    log.write_bytes(line(0) + line(1))
    mill.register([], DAYS[0])
    version = publish(mill, DAYS[0])
    renamed = log.rename(log.with_name("archived.jsonl"))
    mill.register([], DAYS[1])
    publish(mill, DAYS[1])
    assert spans(mill, DAYS[1]) == []
    assert publish(mill, DAYS[0]) == version
    assert len(spans(mill, DAYS[0])) == 2
    renamed.unlink()
    with pytest.raises(Problem, match="cannot be read"):
        publish(mill, DAYS[0])
    assert mill.lake.version_of("landed", DAYS[0]) == version


def test_a_file_that_grows_within_its_day_belongs_to_it_as_a_whole(mill: Mill, tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    whole = b"".join(map(line, range(3)))
    for end in (0, 20, len(line(0)), len(line(0)) + 20, len(whole)):
        log.write_bytes(whole[:end])
        assert mill.register([log], DAYS[0]) == [DAYS[0]]
        publish(mill, DAYS[0])
        assert len(spans(mill, DAYS[0])) == end // len(line(0))
    assert mill.arrivals.days() == [DAYS[0]]


def test_what_is_touched_or_copied_is_the_same_file(mill: Mill, tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    log.write_bytes(line(0))
    mill.register([log], DAYS[0])
    version = publish(mill, DAYS[0])
    log.touch()
    shutil.copy(log, tmp_path / "again.jsonl")
    assert mill.register([log], DAYS[1]) == [DAYS[0]]
    assert publish(mill, DAYS[0]) == version
    assert mill.register([tmp_path / "again.jsonl"], DAYS[1]) == [DAYS[1]]
    publish(mill, DAYS[1])
    assert spans(mill, DAYS[1]) == []


PIECES = st.sampled_from(["record", "record", "blank", "garbage", "two", "crlf", "number", "null"])


CUTS = st.tuples(st.floats(0, 1), st.sampled_from([None, -1, 0, 1]))


def at(cut: tuple[float, int | None], whole: bytes) -> int:
    """A place in the file: anywhere, or beside a newline."""
    place, beside = round(cut[0] * len(whole)), cut[1]
    return place if beside is None else max(whole.rfind(b"\n", 0, place) + 1 + beside, 0)


def written(kinds: list[str], final_newline: bool) -> bytes:
    made = [line(8888)]  # what a file is, its beginning says
    for number, kind in enumerate(kinds):
        text = {
            "record": line(number), "blank": b" \n", "garbage": "환불 {".encode() + b"\n", "number": b"12\n",
            "two": line(number)[:-1] + b" " + line(1000 + number), "crlf": line(number)[:-1] + b"\r\n", "null": b"{}\n",
        }[kind]  # fmt: skip
        made.append(text)
    made.append(line(9999) if final_newline else line(9999)[:-1])
    return b"".join(made)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, max_size=8), st.booleans(), st.lists(CUTS, min_size=1, max_size=3), st.randoms())
def test_however_a_file_grows_and_in_whatever_order_days_are_run_all_of_it_is_read_once(
    mill: Mill, tmp_path: Path, kinds: list[str], final_newline: bool, cuts: list[float], dice
) -> None:
    whole = written(kinds, final_newline)
    tally = Tally()
    told = list(read_export(io.BytesIO(whole), tally, first=0))
    shutil.rmtree(mill.home.lake, ignore_errors=True)
    log = tmp_path / "runs.jsonl"
    ends = [*sorted(at(cut, whole) for cut in cuts), len(whole)]
    for end, day in zip(ends, sorted(dice.choices(DAYS, k=len(ends))), strict=True):
        log.write_bytes(whole[:end])
        mill.register([log], day)
        for one in dice.sample(mill.arrivals.days(), dice.randint(0, 1)):  # others are run later
            publish(mill, one)
    publish_stale(mill, mill.arrivals.days())
    assert all_spans(mill) == sorted((one.position, one.span_id) for one in told if isinstance(one, Span))
    assert rejects(mill) == sorted({(one.position, one.reason) for one in told if isinstance(one, Reject)})
    assert counts(mill) == (tally.records, tally.rejects, tally.blanks, len(whole))
    versions = {day: mill.lake.version_of("landed", day) for day in mill.lake.days("landed")}
    assert {day: publish(mill, day) for day in dice.sample(list(versions), len(versions))} == versions
