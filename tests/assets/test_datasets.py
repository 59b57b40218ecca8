"""A release is sealed over the days that it says it rests on, or not at all."""

from pathlib import Path

import pytest
from lake_samples import BY, DAY, landed
from mills import mill_at

from assets.datasets import rests_on_input, seal
from transforms.datasets.release_spec import ReleaseSpec
from warehouse.catalog import RELEASED
from warehouse.problem import Problem


def test_a_day_that_is_published_while_a_release_is_cut_keeps_it_from_being_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill, spec = mill_at(tmp_path, monkeypatch), ReleaseSpec()
    mill.lake.publish("landed", DAY, landed("a"), BY)
    tables = {table.name: table.empty() for table in RELEASED}
    facts = {"rests_on": rests_on_input(mill, DAY, spec), "through": DAY.isoformat()}
    mill.lake.publish("landed", DAY, landed("a", "b"), BY)
    with pytest.raises(Problem, match="days changed while release r was cut"):
        seal(mill, "r", DAY, spec, tables, facts)
    assert mill.releases.names() == []
    mill.lake.publish("landed", DAY, landed("a"), BY)
    assert seal(mill, "r", DAY, spec, tables, facts)["release"] == "r"
