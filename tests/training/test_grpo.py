"""Replay moves the policy the way the advantages point, and refuses what the logs can't support."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from training import grpo
from training.encode import Replay, encode_rollouts
from training.launch import load
from training.logprobs import row_logprobs
from training.losses import clip_losses, k2
from training.release import read_rollouts
from training.tokens import Renderer


def encoded(model: Path, release: Path) -> list[Replay]:
    frame = grpo.with_signal(read_rollouts(release, "train"))
    return encode_rollouts(frame, Renderer(load(model).tokenizer), 10_000)[0]


def arguments(release: Path, out: Path, model: Path, *flags: str) -> list[str]:
    return ["--release", str(release), "--out", str(out), "--model", str(model), "--lr", "1e-3", *flags]


def test_log_probs_move_the_way_the_advantages_point(tiny_model: Path, release: Path, tmp_path: Path) -> None:
    assert grpo.main(arguments(release, tmp_path, tiny_model, "--epochs", "3")) == 0
    replays = encoded(tiny_model, release)
    rows = [replay.row for replay in replays]
    before, after = (row_logprobs(load(path).model, rows) for path in (tiny_model, tmp_path))
    gained = [
        float((replay.advantages * (new - old)).mean()) for replay, old, new in zip(replays, before, after, strict=True)
    ]
    assert np.mean(gained) > 0.05
    report = json.loads((tmp_path / "training.json").read_text())
    assert report["anchor"] == "reference" and report["rows_without_signal"] == 1 and report["rows"] == 13
    assert report["curve"][0]["ess"] == pytest.approx(1, abs=1e-6) and 0 < report["ess"] < 1
    assert report["curve"][0]["clipped"] == 0
    assert report["first_loss"] == pytest.approx(0, abs=0.05) and report["last_loss"] < report["first_loss"]
    assert report["curve"][0]["gain"] == pytest.approx(0, abs=1e-6) and report["curve"][-1]["gain"] > 0.05


def test_a_task_done_once_is_replayed_where_a_wider_baseline_gives_it_credit(release: Path) -> None:
    alone = read_rollouts(release, "train").filter(~pl.col("mixed"))
    assert alone.height == 1 and grpo.with_signal(alone).is_empty()
    credited = alone.with_columns(pl.col("advantages").list.eval(pl.element() + 0.3))
    assert grpo.with_signal(credited).equals(credited)


def test_the_loss_is_the_mean_over_rollouts_written_out(tiny_model: Path, release: Path) -> None:
    start, replays = load(tiny_model), encoded(tiny_model, release)[:4]
    rows = [replay.row for replay in replays]
    stored = {row.key: logp - 0.3 for row, logp in zip(rows, row_logprobs(start.model, rows), strict=True)}
    collator = grpo.Collator(grpo.shares(replays, "rollout", 1.0))
    objective = grpo.Surrogate("clip", 0.2, 4.0, 3.0, 0.02)
    total, count = torch.zeros(()), torch.zeros(())
    for part in (replays[:1], replays[1:]):
        batch = collator(part, stored)
        scores = start.model(**{name: batch[name] for name in ("input_ids", "row", "position")})
        loss, _ = objective.loss(scores, batch)
        total, count = total + loss.detach(), count + batch["count"]
    expected = []
    for replay, logp in zip(replays, row_logprobs(start.model, rows), strict=True):
        ratio = torch.from_numpy(logp - stored[replay.row.key])
        advantage = torch.from_numpy(replay.advantages).float()
        expected.append(float((clip_losses(ratio, advantage, 0.2, 4.0) + 0.02 * k2(ratio)).mean()))
    assert float(count) == pytest.approx(4)
    assert float(total / count) == pytest.approx(np.mean(expected), abs=1e-5)


def test_advantages_are_those_of_the_call_that_wrote_a_token(tiny_model: Path, release: Path) -> None:
    frame = read_rollouts(release, "train").head(1)
    column = frame.columns.index("advantages")
    frame = frame.replace_column(column, frame["advantages"].__class__("advantages", [[0.25, -0.5]]))
    (replay,) = encode_rollouts(frame, Renderer(load(tiny_model).tokenizer), 10_000)[0]
    owners = replay.row.calls[replay.row.positions]
    assert set(zip(owners.tolist(), replay.advantages.tolist(), strict=True)) == {(0, 0.25), (1, -0.5)}


@pytest.mark.parametrize("flags", [("--loss", "cispo"), ("--loss", "dual_clip"), ("--aggregate", "constant")])
def test_every_objective_trains(tiny_model: Path, release: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    assert grpo.main(arguments(release, tmp_path, tiny_model, "--epochs", "1", *flags)) == 0


def refusal(caplog: pytest.LogCaptureFixture, given: list[str]) -> str:
    with caplog.at_level(logging.ERROR, "training"):
        assert grpo.main(given) == 2
    return caplog.text


def test_a_logged_anchor_is_refused_with_the_reason(
    tiny_model: Path, release: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert "verified log-probs" in refusal(caplog, arguments(release, tmp_path, tiny_model, "--anchor", "logged"))


def test_data_without_a_signal_is_refused(
    tiny_model: Path, make_release: Callable[..., Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    silent = make_release(tmp_path / "silent", train=0, test=1, silent=3)
    text = refusal(caplog, arguments(silent, tmp_path / "out", tiny_model))
    assert "none of 3 rows" in text and "nothing to learn" in text


def test_calls_that_do_not_fit_are_named_where_nothing_is_left(
    tiny_model: Path, release: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert "'too_long': 30" in refusal(caplog, arguments(release, tmp_path, tiny_model, "--max-length", "9"))


def test_a_group_whose_members_all_got_nothing_is_no_signal(release: Path) -> None:
    import polars as pl

    frame = read_rollouts(release, "train")
    silenced: Any = frame.with_columns(pl.col("advantages").list.eval(pl.element() * 0))
    assert grpo.with_signal(silenced).is_empty() and grpo.with_signal(frame).height == 12
