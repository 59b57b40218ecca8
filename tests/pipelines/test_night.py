"""One night over captures of real SDKs, from exports to a sealed release."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from canaries import leaks
from mills import KEY, Night, run_night

from assets.datasets import MADE_OF, data_version
from warehouse.duck import reader
from warehouse.key import fingerprint
from warehouse.schemas import CREDIT, CUT, FEEDBACK, MESSAGES, PREFERENCE_PAIRS, ROLLOUTS, SPANS, STEPS, TRAJECTORIES

EXPECTED = [
    json.loads(path.read_text())
    for path in sorted((Path(__file__).parent.parent / "corpus" / "expected").glob("*.json"))
]
RUNS = [run for capture in EXPECTED for run in capture["runs"]]


def ask(night: Night, query: str) -> list[tuple[Any, ...]]:
    with reader(night.mill.home) as connection:
        return connection.sql(query).fetchall()


def test_every_record_is_accounted_for(night: Night) -> None:
    assert ask(night, "SELECT sum(rejects), count(*) FROM exports") == [(0, 3)]
    assert ask(night, "SELECT count(*) FROM rejects") == [(0,)]


def test_trajectories_steps_and_tool_calls_are_those_that_the_agents_made(night: Night) -> None:
    assert ask(night, "SELECT count(*) FROM trajectories") == [(len(RUNS),)]
    (steps,) = ask(night, "SELECT count(*) FROM steps")[0]
    assert steps == sum(capture["n_llm_calls"] for capture in EXPECTED)
    (calls,) = ask(night, "SELECT count(*) FROM tool_calls")[0]
    assert calls == sum(capture["n_tool_calls"] for capture in EXPECTED)


def test_attempts_of_a_task_are_one_group_and_exports_keep_theirs_apart(night: Night) -> None:
    groups = ask(night, "SELECT task, source, count(*), count(DISTINCT task_id) FROM trajectories GROUP BY 1, 2")
    attempts: dict[str, int] = {}
    for run in EXPECTED[0]["runs"]:
        attempts[run["task_id"]] = attempts.get(run["task_id"], 0) + 1
    assert len(groups) == len(EXPECTED) * len(attempts)
    assert all(count == attempts[task] and ids == 1 for task, _, count, ids in groups)


def test_rewards_are_those_that_the_graders_gave(night: Night) -> None:
    rows = ask(
        night,
        "SELECT task, trial, source, max(reward), bool_or(gated) FROM curated_trajectories GROUP BY ALL ORDER BY ALL",
    )
    truth = {(run["task_id"], run["attempt"]): run["reward"] for run in RUNS}
    for task, trial, _, reward, gated in rows:
        if gated:
            assert reward is None
        elif reward is not None:
            assert reward == pytest.approx(truth[task, trial])
    gated = {(task, trial) for task, trial, _, _, gated in rows if gated}
    assert gated == {("refund-HP-20417", 2)}  # refunded without having looked at the policy


def test_no_planted_value_is_anywhere_in_the_home(night: Night) -> None:
    planted = {item["value"] for run in RUNS for item in run["pii"]}
    assert len(planted) >= 15
    assert leaks(night.mill.home.root, planted) == {}


def test_conversations_read_back_as_they_were_but_for_what_was_replaced(night: Night) -> None:
    """A run without planted values is stored to the letter."""
    run = next(run for run in EXPECTED[0]["runs"] if run["scenario"] == "sql-a1")
    lake = night.mill.lake
    trajectory = lake.scan(TRAJECTORIES).filter(pl.col("trace_ids").list.contains(run["trace_ids"][0])).collect()
    steps = lake.scan(STEPS).filter(pl.col("trajectory_id") == trajectory["trajectory_id"][0]).sort("step").collect()
    messages = {row["message_id"]: row for row in lake.scan(MESSAGES).collect().to_dicts()}
    shown = [messages[key] for observed in steps["observed"] for key in observed] + [messages[steps["action"][-1]]]
    truth = [message for message in run["last_call_messages"] if message["role"] != "assistant"]
    assert [(m["role"], m["content"]) for m in shown[:-1]] == [(m["role"], m["content"] or "") for m in truth]
    assert shown[-1]["content"] == run["last_call_output"]["content"]


def test_pairs_stay_within_a_task_and_lead_back_to_spans(night: Night) -> None:
    releases = night.mill.releases
    pairs, cut = releases.read(night.release, PREFERENCE_PAIRS), releases.read(night.release, CUT)
    tasks = dict(cut.select("trajectory_id", "task_id").iter_rows())
    spans = set(night.mill.lake.scan(SPANS).select("span_id").collect()["span_id"])
    assert pairs.height >= 10
    for pair in pairs.iter_rows(named=True):
        assert tasks[pair["chosen_trajectory_id"]] == tasks[pair["rejected_trajectory_id"]] == pair["task_id"]
        for side in ("chosen", "rejected"):
            assert len(pair[f"{side}_actions"]) == len(pair[f"{side}_span_ids"])
            assert set(pair[f"{side}_span_ids"]) <= spans
            assert all(pair[side][position]["role"] == "assistant" for position in pair[f"{side}_actions"])
        assert pair["chosen"] != pair["rejected"]


def test_advantages_are_zero_mean_over_the_rollouts_of_each_group(night: Night) -> None:
    credit = night.mill.releases.read(night.release, CREDIT)
    per_rollout = credit.group_by("task_id", "trajectory_id").agg(pl.col("advantage").first())
    means = per_rollout.group_by("task_id").agg(pl.col("advantage").mean())["advantage"]
    assert means.abs().max() < 1e-12  # type: ignore[operator]


def test_the_manifest_of_a_release_names_key_code_and_the_versions_of_what_made_it(night: Night) -> None:
    manifest, settings = night.mill.releases.manifest(night.release), night.mill.settings
    assert manifest["key"] == fingerprint(bytes.fromhex(KEY))
    assert manifest["code"] and manifest["spec"] == settings.release.model_dump(mode="json")
    assert manifest["versions"]["rewards"] == [settings.rewards.version]
    assert manifest["versions"]["gates"] == [settings.gates.version]
    assert len(manifest["versions"]["credit"]) == 1


def test_a_data_version_follows_rows_and_the_part_of_the_specification_that_the_asset_reads(night: Night) -> None:
    manifest = night.mill.releases.manifest(night.release)
    changed = manifest | {"spec": manifest["spec"] | {"pairs": {"max_per_task": 1}}}
    moved = {asset for asset in MADE_OF if data_version(changed, asset) != data_version(manifest, asset)}
    assert moved == {"preference_pairs"}
    assert {part for _, parts in MADE_OF.values() for part in parts} == set(manifest["spec"])


def test_no_task_is_in_two_splits_and_nothing_gated_is_replayed(night: Night) -> None:
    releases = night.mill.releases
    cut, rollouts = releases.read(night.release, CUT), releases.read(night.release, ROLLOUTS)
    splits = cut.drop_nulls("split").group_by("task_id").agg(pl.col("split").n_unique())
    assert set(splits["split"]) == {1}
    gated = set(cut.filter(pl.col("gated"))["trajectory_id"])
    assert gated and not gated & set(rollouts["trajectory_id"])
    assert releases.verify(night.release) == []


def test_the_same_night_again_changes_no_byte_of_lake_and_manifests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, night: Night
) -> None:
    def contents(root: Path) -> dict[str, bytes]:
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}

    before = contents(night.mill.home.lake)
    corpus = Path(__file__).parent.parent / "corpus" / "exports"
    again = run_night(night.mill.home.root, monkeypatch, corpus, date(2026, 11, 30))
    assert again.release == night.release
    assert contents(night.mill.home.lake) == before
    elsewhere = run_night(tmp_path, monkeypatch, corpus, date(2026, 11, 30))
    other = contents(elsewhere.mill.home.lake)
    assert {name for name in before if "arrivals" not in name} == {name for name in other if "arrivals" not in name}
    assert night.mill.lake.scan(FEEDBACK).collect().equals(elsewhere.mill.lake.scan(FEEDBACK).collect())
