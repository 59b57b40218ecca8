"""Releases over captures of real SDKs, by every method of credit that needs no model."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from mills import Night, mill_at

from assets.datasets import ReleaseConfig, cut_release, release_day, rests_on_input
from assets.mill import Mill
from assets.settings import load_spec
from pipelines.summary import credit_facts
from transforms.datasets.release_spec import Refused, ReleaseSpec
from warehouse.duck import reader
from warehouse.problem import Problem
from warehouse.schemas import CREDIT, CREDIT_DIAGNOSTICS, REWARDS, ROLLOUTS, STEPS, TRAJECTORIES

OPTIONS: dict[str, dict[str, Any]] = {
    "return_to_go": {"process": {"progress": {"weight": 0.1}}},
    "gigpo": {},
    "anchor_td": {},
    "shaping": {"potential": "progress"},
    "adca": {"flags": "progress", "good_from": 0.4},
}
ADDS_UP = {
    "return_to_go": "return - baseline",
    "gigpo": "evidence.episode + evidence.local",
    "anchor_td": "return - baseline",
    "shaping": "return - baseline",
    "adca": "coalesce(evidence.local, 0) + coalesce(lead(advantage) OVER (PARTITION BY trajectory_id ORDER BY step),"
    " evidence.episode)",
}
"""What the advantage is made of, as one would ask for it."""


@pytest.fixture
def mill(night: Night, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mill:
    """A home of its own with the night's lake."""
    shutil.copytree(night.mill.home.lake, tmp_path / "home" / "lake")
    mill = mill_at(tmp_path / "home", monkeypatch)
    told = _progress(mill.lake.scan(STEPS).collect())
    rewards = pl.concat([mill.lake.scan(REWARDS).collect(), told])
    mill.lake.publish("rewards", night.day, {"rewards": rewards}, mill.provenance("rewards", {}))
    return mill


def _progress(steps: pl.DataFrame) -> pl.DataFrame:
    """Step rewards as a judge of progress would tell them: the share of the steps that are done."""
    share = (pl.col("step") + 1) / pl.len().over("trajectory_id")
    told = steps.select("revision", "trajectory_id", "step", share.alias("value")).to_dicts()
    judged = {"component": "progress", "source": "feedback", "version": "v", "verdict": "ok", "evidence": []}
    return REWARDS.frame([judged | row for row in told])


def cut(mill: Mill, folder: Path, **credit: Any) -> dict[str, Any]:
    """A release by a specification file that names the method."""
    file = folder / "spec.yaml"
    file.write_text(yaml.safe_dump({"credit": credit}))
    return cut_release(mill, credit["method"], ReleaseConfig(spec=load_spec(file).model_dump_json()))


@pytest.mark.parametrize("method", ADDS_UP)
def test_a_release_is_credited_by_the_method_that_its_specification_names(
    mill: Mill, night: Night, tmp_path: Path, method: str
) -> None:
    manifest = cut(mill, tmp_path, method=method, **OPTIONS[method])
    credit, rollouts = mill.releases.read(method, CREDIT), mill.releases.read(method, ROLLOUTS)
    assert set(credit["method"]) == {method} and manifest["spec"]["credit"]["method"] == method
    assert manifest["versions"]["credit"] == credit["version"].unique().to_list()
    default = mill.releases.read(night.release, CREDIT)
    assert credit.select("trajectory_id", "step").equals(default.select("trajectory_id", "step"))
    assert not credit["advantage"].equals(default["advantage"])
    shown = rollouts.explode("advantages", "steps", empty_as_null=False).select(
        "trajectory_id", pl.col("steps").alias("step"), pl.col("advantages").alias("advantage")
    )
    given = credit.join(shown.select("trajectory_id", "step"), on=["trajectory_id", "step"], how="semi")
    assert shown.sort("trajectory_id", "step").equals(given.select(shown.columns))
    with reader(mill.home) as connection:
        rows = connection.sql(
            f"SELECT count(*), count(*) FILTER (abs(due - advantage) > 1e-9) FROM"
            f" (SELECT advantage, {ADDS_UP[method]} AS due FROM credit WHERE release = '{method}')"
        )
        assert rows.fetchall() == [(credit.height, 0)]


def test_credit_can_be_worked_out_again_in_sql(mill: Mill, tmp_path: Path) -> None:
    cut(mill, tmp_path, method="gigpo")
    again = """
        WITH rollouts AS (SELECT DISTINCT task_id, rollout_id, reward FROM credit WHERE release = 'gigpo'),
        groups AS (SELECT task_id, avg(reward) AS mean FROM rollouts GROUP BY 1)
        SELECT advantage AS found,
            c.reward - g.mean + return - avg(return) OVER (PARTITION BY c.task_id, anchor) AS due
        FROM credit AS c JOIN groups AS g USING (task_id) WHERE release = 'gigpo'
    """
    with reader(mill.home) as connection:
        rows = connection.sql(f"SELECT count(*), max(abs(found - due)) FROM ({again})").fetchall()
    assert rows[0][0] > 50 and rows[0][1] < 1e-9


def test_a_component_that_is_told_on_no_step_refuses_the_release(mill: Mill, tmp_path: Path) -> None:
    for credit in ({"method": "shaping", "potential": "proggress"}, {"method": "gigpo", "process": {"proggress": {}}}):
        with pytest.raises(Refused, match="`credit`: no step has a value of `proggress`"):
            cut(mill, tmp_path, **credit)


def test_a_method_that_is_not_known_is_told_with_those_that_are(mill: Mill, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"credit: a mapping with one of these as `method`: outcome, return_to_go"):
        cut(mill, tmp_path, method="magic")
    with pytest.raises(Problem, match=r"credit\.gamma: Input should be less than or equal to 1 \(discount a step"):
        cut(mill, tmp_path, method="return_to_go", gamma=2)
    with pytest.raises(Problem, match=r"credit\.scale: unknown; known here: gamma, method, process, shrinkage"):
        cut(mill, tmp_path, method="return_to_go", scale="std")
    with pytest.raises(Problem, match=r"credit\.process\.helpful\.range: .*\(worst and best possible value"):
        cut(mill, tmp_path, method="return_to_go", process={"helpful": {"range": 3}})


def test_what_credit_says_and_may_say_by_mistake_is_sealed_shown_and_asked_for(mill: Mill, tmp_path: Path) -> None:
    cut(mill, tmp_path, method="gigpo")
    shown = dict(credit_facts(mill.releases.read("gigpo", CREDIT_DIAGNOSTICS)))
    assert shown["credit"] == "gigpo" and shown["  agreement"].startswith("anchor_td ")
    assert {"  group_spread", "  silent_groups", "  share_lone_anchor", "  final_turn_share"} <= set(shown)
    lone = "SELECT avg(list_contains(flags, 'lone_anchor')::INT) FROM credit WHERE release = 'gigpo'"
    with reader(mill.home) as connection:
        rows = connection.sql("SELECT measure, value FROM credit_diagnostics WHERE release = 'gigpo'").fetchall()
        assert dict(rows)["share_lone_anchor"] == pytest.approx(connection.sql(lone).fetchall()[0][0])


def test_a_release_that_was_sealed_before_there_were_diagnostics_is_read_as_before(mill: Mill, night: Night) -> None:
    path = mill.releases.folder(night.release) / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["tables"]["credit_diagnostics"]
    path.write_text(json.dumps(manifest))
    assert mill.releases.verify(night.release) == []
    assert mill.releases.read(night.release, CREDIT_DIAGNOSTICS).is_empty()
    with reader(mill.home) as connection:
        assert connection.sql("SELECT count(*) FROM credit_diagnostics").fetchall() == [(0,)]
        assert connection.sql("SELECT count(*) > 0 FROM credit").fetchall() == [(True,)]


@pytest.fixture(scope="module")
def scorer(night: Night, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model made of the night's own texts."""
    from training import tiny

    out = tmp_path_factory.mktemp("scorer")
    tiny.make(night.mill.releases.folder(night.release), out, seed=0)
    return out


@pytest.mark.parametrize(
    ("method", "options", "due"),
    [
        ("hcapo", {}, "evidence.episode + evidence.local"),
        ("hcapo", {"injection": "prefix"}, "evidence.episode + evidence.local"),
        ("contrastive", {}, "return - baseline"),
        ("igpo", {"answers": "answers.jsonl"}, "coalesce(evidence.local, 0)"
         " + coalesce(lead(advantage) OVER (PARTITION BY trajectory_id ORDER BY step), 0)"),
    ],
)  # fmt: skip
def test_a_release_is_credited_by_what_a_model_scored_and_scored_once(
    mill: Mill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scorer: Path,
    method: str, options: dict[str, Any], due: str,
) -> None:  # fmt: skip
    tasks = mill.lake.scan(TRAJECTORIES).select("task").unique().collect()["task"].drop_nulls()
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps({"task": task, "answer": "It is done."}) + "\n" for task in tasks))
    options = options | ({"answers": str(answers)} if "answers" in options else {})
    first = cut(mill, tmp_path, method=method, model=str(scorer), **options)
    credit = mill.releases.read(method, CREDIT)
    assert credit.filter(pl.col("flags").list.contains("unscored")).height < credit.height / 2
    assert {"model", "tokenizer", "template", "told"} <= set(first["scored_by"])
    assert credit["evidence"].struct.field("entropy").drop_nulls().min() > 0  # type: ignore[operator]
    with reader(mill.home) as connection:
        query = f"SELECT advantage, {due} AS due FROM credit WHERE release = '{method}'"
        assert connection.sql(f"SELECT count(*) FROM ({query}) WHERE abs(due - advantage) > 1e-9").fetchall() == [(0,)]
    mill.releases.delete(method)
    monkeypatch.setattr("training.score_store.load_model", lambda path: pytest.fail("scored again"))
    again = cut(mill, tmp_path, method=method, model=str(scorer), **options)
    assert again["version"] == first["version"]


def test_a_model_that_is_missing_is_asked_for(mill: Mill, tmp_path: Path) -> None:
    with pytest.raises(Problem, match="credit `hcapo` needs a model that scores: name its folder as `model`"):
        cut(mill, tmp_path, method="hcapo")
    with pytest.raises(Problem, match=r"no model there \(config.json is missing\)"):
        cut(mill, tmp_path, method="hcapo", model=str(tmp_path))


def test_a_release_by_another_model_is_another_release(mill: Mill, tmp_path: Path, scorer: Path) -> None:
    model = shutil.copytree(scorer, tmp_path / "model")
    spec = ReleaseSpec.model_validate({"credit": {"method": "hcapo", "model": str(model)}})
    through = release_day(mill, "")
    before = rests_on_input(mill, through, spec)
    assert rests_on_input(mill, through, spec) == before
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 1e-4}))
    assert rests_on_input(mill, through, spec) != before
