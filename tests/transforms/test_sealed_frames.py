"""A table too large for memory is the same table: rows, order, hash, and what is left out."""

import random
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from transforms import sealed_frames
from transforms.sealed_frames import SealedFrames, framed, frames_of, without
from warehouse.rows import write_rows
from warehouse.schemas import MESSAGES
from warehouse.schemas.table import SchemaError


def messages(count: int, seed: int = 1) -> list[pl.DataFrame]:
    chance = random.Random(seed)
    rows = [
        {
            "day": date(2026, 11, 30), "message_id": chance.randbytes(16), "role": "user", "altered": False,
            "content": "é" * chance.randrange(200), "name": chance.choice([None, "n"]),
        }
        for _ in range(count)
    ]  # fmt: skip
    return [MESSAGES.part(rows[start : start + 30]) for start in range(0, count, 30)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed_frames, "SMALL_BYTES", 1)
    monkeypatch.setattr(sealed_frames, "FRAME_BYTES", 5_000)
    monkeypatch.setattr(sealed_frames, "APART_BYTES", 2_000)


def test_a_large_table_has_the_rows_and_the_hash_of_the_same_table_in_memory(small: None, tmp_path: Path) -> None:
    frames = messages(500)
    large = framed(MESSAGES, frames)
    whole = MESSAGES.enforce(pl.concat(frames))
    assert isinstance(large, SealedFrames) and large.height == 500
    assert len(list(large)) > 5
    assert pl.concat(list(large)).equals(whole)
    written, expected = (
        write_rows(tmp_path / name, "t", MESSAGES, rows) for name, rows in [("a", large), ("b", whole)]
    )
    assert written == expected
    assert pl.read_parquet(tmp_path / "a" / written["files"][0]).equals(whole)
    again = write_rows(tmp_path / "a", "t", MESSAGES, large)
    assert again == written


def test_frames_that_ascend_are_the_same_table(small: None, tmp_path: Path) -> None:
    whole = MESSAGES.enforce(pl.concat(messages(500)))
    frames = [part.sample(fraction=1.0, shuffle=True, seed=1) for part in whole.iter_slices(7)]
    large = framed(MESSAGES, [*frames[:3], MESSAGES.empty(), *frames[3:], MESSAGES.empty()], ascending=True)
    assert isinstance(large, SealedFrames) and large.height == 500
    assert 5 < len(list(large)) < len(frames)
    assert pl.concat(list(large)).equals(whole)
    assert write_rows(tmp_path / "a", "t", MESSAGES, large) == write_rows(tmp_path / "b", "t", MESSAGES, whole)
    assert pl.concat(list(framed(MESSAGES, [whole], ascending=True))).equals(whole)
    with pytest.raises(SchemaError, match="do not ascend"):
        framed(MESSAGES, [*frames[10:], *frames[:10]], ascending=True)


def test_rows_are_left_out_by_their_key(small: None, tmp_path: Path) -> None:
    frames = messages(100)
    whole = MESSAGES.enforce(pl.concat(frames))
    gone = whole["message_id"][::3]
    large, expected = without(framed(MESSAGES, frames), "message_id", gone), without(whole, "message_id", gone)
    assert pl.concat(list(frames_of(large))).equals(*frames_of(expected))
    assert write_rows(tmp_path, "t", MESSAGES, large)["rows"] == 66
    nothing = without(framed(MESSAGES, frames), "message_id", whole["message_id"])
    assert write_rows(tmp_path, "t", MESSAGES, nothing) == write_rows(tmp_path, "t", MESSAGES, MESSAGES.empty())


def test_a_key_that_occurs_twice_is_found_wherever_it_stands(small: None) -> None:
    frames = messages(100)
    with pytest.raises(SchemaError, match="repeat the key"):
        framed(MESSAGES, [*frames, frames[0][:1]])


def test_a_small_table_is_one_frame() -> None:
    assert isinstance(framed(MESSAGES, messages(10)), pl.DataFrame)
    assert framed(MESSAGES, []).equals(MESSAGES.empty())  # type: ignore[union-attr]


def test_text_that_rows_share_counts_once() -> None:
    shared = [{**row, "content": "x" * 40_000} for frame in messages(1_000) for row in frame.to_dicts()]
    own = [{**row, "content": f"{number:<40000}"} for number, row in enumerate(shared)]
    assert isinstance(framed(MESSAGES, [MESSAGES.part(shared)]), pl.DataFrame)
    assert isinstance(framed(MESSAGES, [MESSAGES.part(own)]), SealedFrames)
