"""A model that is trained on the logs scores them through the product's own path."""

from pathlib import Path

from benchmarks.credit.desk import desks
from benchmarks.credit.scorer import banner_of, line, train_scorer
from training.hindsight import FAILURE, SUCCESS, told
from training.scoring import segments_of
from transforms.credit.spec import ContrastiveCredit


def test_a_model_is_told_in_training_what_it_is_told_when_it_scores(tmp_path: Path) -> None:
    data = desks(4)
    segment = next(segments_of(data.cut, data.trajectories, data.steps, data.messages, {}))
    for told_then, (reward, banner) in zip(
        told(segment, ContrastiveCredit()), ((1.0, SUCCESS), (0.0, FAILURE)), strict=True
    ):
        assert banner_of(segment, reward, "outcome").messages == told_then.messages
        assert banner in told_then.messages[0]["content"]
    train_scorer(data, tmp_path / "model", told=True, steps=2)
    row = line("hindsight", {"method": "contrastive"}, data, tmp_path / "model", tmp_path / "store")
    assert row.startswith("| hindsight | contrastive | ")
