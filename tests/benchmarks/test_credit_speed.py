"""The traffic that speed is measured on is what methods take."""

import pytest

from benchmarks.credit.speed import METHODS, scores, traffic
from transforms.credit.assign import Scored, assign_credit
from transforms.datasets.release_spec import ReleaseSpec


@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_is_timed_runs(name: str) -> None:
    frames = traffic(3_000)
    spec = ReleaseSpec.model_validate({"credit": {"method": name.partition(",")[0], **METHODS[name]}}).credit
    rows = assign_credit("r", **frames, spec=spec, scored=Scored(scores(frames["steps"])))
    assert rows.height == frames["steps"].height and rows["advantage"].abs().max() > 0  # type: ignore[operator]
