"""The code location loads fast and light, and asks for the right runs."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from lake_samples import BY, DAY, landed
from mills import ROOT, mill_at

from pipelines.definitions import defs
from pipelines.schedules import every_night
from pipelines.sensors import landing, release_after_nightly

HEAVY = ("torch", "transformers", "spacy", "presidio_analyzer", "matplotlib")


def loaded_after(statement: str) -> list[str]:
    """Modules that a fresh interpreter holds after `statement`."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return list(json.loads(done.stdout.splitlines()[-1]))


def test_all_definitions_load() -> None:
    dg.Definitions.validate_loadable(defs)
    assert {job.name for job in defs.resolve_all_job_defs()} >= {"nightly", "release", "train_dpo", "train_grpo"}


def test_the_code_location_loads_without_what_only_runs_need() -> None:
    loaded = loaded_after("import pipelines.definitions")
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize("command", ["sql", "show", "doctor"])
def test_commands_that_only_look_do_not_load_dagster(command: str) -> None:
    loaded = loaded_after(f"import pipelines.cli, pipelines.{command}")
    assert not {"dagster", *HEAVY} & set(loaded)


def test_training_and_transforms_load_without_dagster() -> None:
    loaded = loaded_after("import training.dpo, training.grpo, training.evaluate, transforms.cleaning, warehouse.duck")
    assert "dagster" not in loaded


def test_the_five_packages_come_from_this_checkout() -> None:
    for name in ("pipelines", "assets", "transforms", "training", "warehouse"):
        file = sys.modules.get(name) or __import__(name)
        assert Path(str(file.__file__)).resolve().parent == ROOT / name


def test_at_two_in_the_morning_yesterday_is_asked_for() -> None:
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 11, 30, 2, tzinfo=UTC))
    request = every_night(context)
    assert isinstance(request, dg.RunRequest)
    assert request.partition_key == "2026-11-29"
    assert every_night.cron_schedule == "0 2 * * *"
    assert every_night.execution_timezone == "UTC"


def test_the_landing_sensor_asks_once_for_each_change_of_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "tracemill.yaml"
    config.write_text("landing: arrivals\n")
    mill_at(tmp_path / "home", monkeypatch, config)
    export = tmp_path / "arrivals" / "2026-11-29" / "runs.jsonl"
    export.parent.mkdir(parents=True)

    def asked(cursor: str | None) -> tuple[list[str | None], str | None]:
        result = landing(dg.build_sensor_context(cursor=cursor))
        assert isinstance(result, dg.SensorResult)
        return [request.partition_key for request in result.run_requests or []], result.cursor

    export.write_text("{}\n")
    first, cursor = asked(None)
    again, cursor = asked(cursor)
    export.write_text("{}\n{}\n")
    changed, cursor = asked(cursor)
    assert (first, again, changed) == (["2026-11-29"], [], ["2026-11-29"])


def test_the_landing_sensor_sees_first_what_lies_outside_of_dated_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "tracemill.yaml"
    config.write_text("landing: arrivals\n")
    mill = mill_at(tmp_path / "home", monkeypatch, config)
    (tmp_path / "arrivals").mkdir()
    (tmp_path / "arrivals" / "runs.jsonl").write_text("{}\n")
    today = datetime.now(UTC).date()
    result = landing(dg.build_sensor_context(cursor=None))
    assert isinstance(result, dg.SensorResult)
    asked = [str(request.partition_key) for request in result.run_requests or []]
    assert asked == [day.isoformat() for day in mill.arrivals.days()]
    assert mill.arrivals.days()[0] in (today, datetime.now(UTC).date())  # midnight may have passed


def test_a_refused_release_is_asked_for_again_once_its_input_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mill = mill_at(tmp_path / "home", monkeypatch)
    run = dg.DagsterRun(job_name="nightly", tags={"dagster/partition": DAY.isoformat()})

    def asked() -> dg.RunRequest:
        with dg.DagsterInstance.ephemeral() as instance:
            event = dg.DagsterEvent(event_type_value="PIPELINE_SUCCESS", job_name="nightly")
            context = dg.build_run_status_sensor_context("release_after_nightly", event, instance, run)
            request = release_after_nightly(context)
        assert isinstance(request, dg.RunRequest)
        return request

    mill.lake.publish("landed", DAY, landed("a"), BY)
    first, again = asked(), asked()
    mill.lake.publish("landed", DAY, landed("a", "b"), BY)
    changed = asked()
    assert first.partition_key == again.partition_key == changed.partition_key == f"nightly-{DAY}"
    assert first.run_key == again.run_key != changed.run_key


def test_an_edge_of_the_graph_stands_for_what_is_read() -> None:
    graph = defs.resolve_asset_graph()
    reads = {key.path[-1]: {p.path[-1] for p in graph.get(key).parent_keys} for key in graph.get_all_asset_keys()}
    assert reads == {
        "landed": set(), "clean_spans": {"landed"}, "trajectories": {"clean_spans"},
        "gates": {"clean_spans", "trajectories"},
        "rewards": {"clean_spans", "trajectories", "gates"},
        "release": {"clean_spans", "trajectories", "rewards", "gates"},
        "credit": {"release"}, "preference_pairs": {"release"}, "rollouts": {"credit"},
        "dpo_policy": {"preference_pairs"}, "grpo_policy": {"rollouts"},
        "evaluation": {"preference_pairs", "dpo_policy", "grpo_policy"},
    }  # fmt: skip


def test_asset_groups_and_partitions_are_those_of_the_graph() -> None:
    graph = defs.resolve_asset_graph()
    groups = {key.path[-1]: graph.get(key).group_name for key in graph.get_all_asset_keys()}
    assert groups == {
        "landed": "ingest", "clean_spans": "privacy", "trajectories": "trajectories", "gates": "rewards",
        "rewards": "rewards", "release": "datasets", "credit": "datasets", "preference_pairs": "datasets",
        "rollouts": "datasets", "dpo_policy": "training", "grpo_policy": "training", "evaluation": "training",
    }  # fmt: skip
