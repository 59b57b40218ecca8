"""The command line as its user meets it: exit codes, sentences, and what it prints."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mills import ROOT, Night

from assets.settings import load_settings

WISHES = (
    "Please book the large room beside the garden for the board on Friday morning",
    "I need a quiet corner with a whiteboard where eight people can argue about budgets",
    "Cancel whatever stands in my calendar after lunch and tell the caterers to go home",
    "Which floors have step-free access and a kitchen that visitors may use in the evening",
    "Move our weekly design review somewhere with daylight and better chairs than last time",
    "Extend the workshop downstairs until midnight because the demonstration is not ready yet",
)
TAU = [
    {
        "task_id": task, "trial": trial, "reward": float((task + trial) % 2), "info": {},
        "traj": [
            {"role": "system", "content": "You book rooms."},
            {"role": "user", "content": WISHES[task]},
            {"role": "assistant", "content": f"Room {task} is booked." if (task + trial) % 2 else "I cannot do that."},
        ],
    }
    for task in range(6) for trial in range(2)
]  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs `tracemill` in a folder and home of its own; returns the finished process."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TRACEMILL_", "DAGSTER_"))}
    environment |= {"TRACEMILL_HOME": str(tmp_path / "home"), "COLUMNS": "200"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from pipelines.cli import main; main()", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)

    return run


def write(path: Path, content: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return str(path)


def test_without_exports_it_says_where_it_looked_and_what_to_do(shell, tmp_path: Path) -> None:
    done = shell("run")
    assert done.returncode == 1
    assert str(tmp_path / "landing") in done.stderr and "--from" in done.stderr
    assert "Traceback" not in done.stderr
    assert shell("run", "--from", "nowhere").returncode == 1
    (tmp_path / "empty").mkdir()
    for command in (("run", "--from", "empty"), ("doctor", "empty")):
        done = shell(*command)
        assert done.returncode == 1 and f"there is no export at {tmp_path / 'empty'}" in done.stderr


def test_a_day_of_trials_goes_to_a_release_and_answers_sql(shell, tmp_path: Path) -> None:
    done = shell("run", "--from", write(tmp_path / "rooms.json", TAU))
    assert done.returncode == 0, done.stderr
    assert "12 in 6 tasks" in done.stdout and "nightly-" in done.stdout
    counted = shell(
        "sql", "SELECT count(*) AS n, count(DISTINCT task_id) AS tasks FROM trajectories", "--format", "json"
    )
    assert json.loads(counted.stdout) == [{"n": 12, "tasks": 6}]
    listed = shell("release", "list")
    assert listed.returncode == 0 and "nightly-" in listed.stdout


def test_the_same_file_again_and_another_data_set_with_the_same_numbers_keep_groups_apart(
    shell, tmp_path: Path
) -> None:
    first = write(tmp_path / "rooms.json", TAU)
    assert shell("run", "--from", first).returncode == 0
    copied = write(tmp_path / "again" / "rooms.json", TAU)
    other = write(tmp_path / "cars.json", TAU)
    assert shell("run", "--from", copied, "--from", other).returncode == 0
    groups = shell(
        "sql", "SELECT dataset, task, count(*) AS n FROM trajectories GROUP BY ALL HAVING n <> 2", "--format", "json"
    )
    assert json.loads(groups.stdout) == []
    counted = shell(
        "sql", "SELECT count(DISTINCT task_id) AS tasks, count(*) AS n FROM trajectories", "--format", "json"
    )
    assert json.loads(counted.stdout) == [{"tasks": 12, "n": 24}]


def test_a_file_that_lands_late_says_which_days_rest_on_it_and_stale_runs_them(shell, tmp_path: Path) -> None:
    for day in ("2026-11-03", "2026-11-02"):
        write(tmp_path / "landing" / day / "rooms.json", TAU)
        done = shell("run", "--day", day)
        assert done.returncode == 0, done.stderr
    assert "1 later days rest on what has changed: tracemill run --stale" in done.stdout
    done = shell("run", "--stale")
    assert done.returncode == 0 and "rest on" not in done.stdout
    spans = shell("sql", "SELECT day, count(*) AS n FROM exports GROUP BY 1", "--format", "csv")
    assert spans.stdout == "day,n\n2026-11-02,1\n"


def test_a_folder_of_a_day_that_cannot_be_run_stops_no_other(shell, tmp_path: Path) -> None:
    write(tmp_path / "landing" / "2019-05-05" / "old.json", TAU)
    write(tmp_path / "landing" / "2026-01-01" / "rooms.json", TAU)
    done = shell("run")
    assert done.returncode == 0, done.stderr
    assert "left alone: what arrived on 2019-05-05" in done.stderr
    assert "12 in 6 tasks" in done.stdout


def test_what_cannot_be_read_is_counted_and_the_rest_goes_on(shell, tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    write(exports / "rooms.json", TAU)
    lines = (ROOT / "tests/corpus/exports/langsmith-wrap-openai/feedback.jsonl.gz").read_bytes()
    (exports / "torn.jsonl.gz").write_bytes(lines[: len(lines) // 2])
    (exports / "broken.jsonl").write_text('{"id": bob@corp.test\n')
    (exports / "unknown.jsonl").write_text('{"colour": "blue"}\n')
    done = shell("run", "--from", str(exports))
    assert done.returncode == 3, done.stderr
    for reason in ("torn_gzip", "unknown_dialect"):
        assert reason in done.stdout
    assert "bob" not in done.stdout + done.stderr
    rejects = json.loads(shell("sql", "SELECT count(*) AS n FROM rejects", "--format", "json").stdout)
    assert rejects[0]["n"] >= 3
    assert json.loads(shell("sql", "SELECT count(*) AS n FROM trajectories", "--format", "json").stdout) == [{"n": 12}]


def test_a_file_that_lies_anywhere_below_the_landing_folder_is_run_and_its_incomplete_end_waits(
    shell, tmp_path: Path
) -> None:
    lines = b"".join(json.dumps(trial).encode() + b"\n" for trial in TAU)
    (tmp_path / "landing" / "support").mkdir(parents=True)
    (tmp_path / "landing" / "support" / "rooms.jsonl").write_bytes(lines + lines[:40])
    done = shell("run")
    assert done.returncode == 0, done.stderr
    assert "12 records in 1 files" in done.stdout
    assert "1 exports end in an incomplete record" in done.stdout


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("landing: [", "line 1"),
        ("colour: blue", "known here: gates, lake, landing"),
        ("release: {split: {test_share: 2}}", "release.split.test_share: Input should be less than 1"),
        ("rewards: {components: {x: {feedback: r, range: [1, 0]}}}", "range must be [lower, higher]"),
        ("rewards: {components: {x: {feedback: r, wieght: 1}}}", "known here: direction, feedback"),
        ("- a list", "a mapping of settings is needed"),
        ("release:", "release: a mapping is needed; without one, leave the key out"),
        ("gates: {rules: {x: {tool: a}, x: {tool: b}}}", "line 1, column 31: not YAML ('x' is there twice)"),
        ("gates: {rules: {x: {tool: a, when_arguments: {b: {matches: (}}}}}", "b.matches: not a regular expression"),
        ("landing: \x07", "it must be text in UTF-8"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place_and_what_would_be_right(
    shell, tmp_path: Path, written: str, told: str
) -> None:
    (tmp_path / "tracemill.yaml").write_text(written)
    done = shell("sql", "SELECT 1")
    assert done.returncode == 1
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_on_yes_and_no_are_words_in_settings(tmp_path: Path) -> None:
    written = """
privacy: {keep_role_accounts: no, allow: [Trueman Ltd, falsehood]}
rewards:
  components:
    asked: {verifier: {method: regex, pattern: x, on: steps}}
    liked: {feedback: thumbs, labels: {yes: 1, no: 0}}
gates: {rules: {wire: {tool: wire, needs_approval: {approved: [yes, on], denied: [no, off]}}}}
release: {where: "true"}
"""
    (tmp_path / "tracemill.yaml").write_text(written)
    settings = load_settings(tmp_path / "tracemill.yaml")
    verifier, approval = settings.rewards.components["asked"].verifier, settings.gates.rules["wire"].needs_approval
    assert verifier is not None and getattr(verifier, "on", None) == "steps"
    assert settings.rewards.components["liked"].labels == {"yes": 1.0, "no": 0.0}
    assert approval is not None and (approval.approved, approval.denied) == (("yes", "on"), ("no", "off"))
    assert settings.privacy.keep_role_accounts is False and settings.privacy.allow == ("Trueman Ltd", "falsehood")


def test_too_few_tasks_are_refused_with_their_counts_and_the_day_stays_done(shell, tmp_path: Path) -> None:
    done = shell("run", "--from", write(tmp_path / "rooms.json", TAU[:2]))
    assert done.returncode == 0, done.stderr
    assert "no release: release refused by `too_few_tasks`" in done.stdout and "tasks 1" in done.stdout
    refused = shell("release", "create")
    assert refused.returncode == 1 and "too_few_tasks" in refused.stderr


def test_a_release_that_fails_rather_than_being_refused_fails_the_run(shell, tmp_path: Path) -> None:
    (tmp_path / "tracemill.yaml").write_text("release: {where: no_such_column > 1}\n")
    done = shell("run", "--from", write(tmp_path / "rooms.json", TAU))
    assert done.returncode == 1
    assert "release.where is no condition" in done.stderr and "Traceback" not in done.stderr


def test_a_filter_that_is_no_sql_is_told_in_a_sentence(shell, tmp_path: Path) -> None:
    assert shell("run", "--from", write(tmp_path / "rooms.json", TAU)).returncode == 0
    (tmp_path / "spec.yaml").write_text("where: no_such_column > 1\n")
    done = shell("release", "create", "spec.yaml")
    assert done.returncode == 1
    assert "release.where is no condition over curated_trajectories" in done.stderr
    (tmp_path / "good.yaml").write_text("where: steps < 40\n")
    assert shell("release", "create", "good.yaml", "--name", "mine").returncode == 0
    assert shell("release", "verify", "mine").returncode == 0
    assert shell("release", "show", "nothing").returncode == 1


def test_a_missing_model_or_key_is_a_sentence(shell, tmp_path: Path) -> None:
    file = write(tmp_path / "rooms.json", TAU)
    (tmp_path / "tracemill.yaml").write_text("privacy: {model: en_core_web_nowhere}\n")
    done = shell("run", "--from", file)
    assert done.returncode == 1 and "en_core_web_nowhere" in done.stderr and "Traceback" not in done.stderr
    (tmp_path / "tracemill.yaml").unlink()
    assert shell("run", "--from", file).returncode == 0
    (tmp_path / "home" / "key").unlink()
    done = shell("run", "--from", file)
    assert done.returncode == 1 and "its key is not at" in done.stderr


def test_where_dagster_cannot_write_is_told_in_a_sentence(shell, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "dagster.part").write_text("")  # in the way of the folder that is made here
    done = shell("run", "--from", write(tmp_path / "rooms.json", TAU))
    assert done.returncode == 1 and "cannot write below" in done.stderr and "Traceback" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_training_that_is_refused_says_why_and_leaves_nothing_in_the_warehouse(shell, tmp_path: Path) -> None:
    assert shell("run", "--from", write(tmp_path / "2026-11-29" / "rooms.json", TAU)).returncode == 0
    done = shell("train", "dpo", "--release", "nightly-2026-11-29", "--model", "nowhere")
    assert done.returncode == 1 and "no model there" in done.stderr and "did not finish" in done.stderr
    assert "Traceback" not in done.stderr
    assert shell("sql", "SELECT count(*) AS n FROM models", "--format", "csv").stdout == "n\n0\n"


def test_sql_speaks_csv_and_parquet_and_a_wrong_query_is_a_sentence(shell, tmp_path: Path) -> None:
    assert shell("sql", "SELECT 1 AS a, [1, 2] AS b", "--format", "csv").stdout == 'a,b\n1,"[1, 2]"\n'
    wrong = shell("sql", "SELEC 1")
    assert wrong.returncode == 1 and "Parser" in wrong.stderr and "Traceback" not in wrong.stderr
    assert shell("sql", "SELECT 1", "--format", "xml").returncode == 1


def test_durations_and_sums_are_answered_as_what_they_are(shell) -> None:
    query = "SELECT INTERVAL 90 SECOND AS took, sum(n) AS total, 'x'::BLOB AS raw FROM range(4) AS t(n)"
    assert json.loads(shell("sql", query, "--format", "json").stdout) == [{"took": "00:01:30", "total": 6, "raw": "x"}]
    assert shell("sql", query, "--format", "csv").stdout == "took,total,raw\n00:01:30,6,x\n"
    assert "00:01:30" in shell("sql", query).stdout


@pytest.mark.parametrize(
    "statement",
    ["COPY (SELECT 1) TO '{0}/x'", "SELECT '환불'; EXPLAIN ANALYZE COPY (SELECT 1) TO '{0}/x'", "ATTACH '{0}/x'"],
)
def test_sql_writes_nothing_into_the_lake(shell, tmp_path: Path, statement: str) -> None:
    lake = tmp_path / "home" / "lake"
    lake.mkdir(parents=True)
    done = shell("sql", statement.format(lake))
    assert done.returncode == 1 and "only reads" in done.stderr
    assert not list(lake.iterdir())
    assert shell("sql", "SELECT 'copy' AS \"copy\" -- copy", "--format", "csv").stdout == "copy\ncopy\n"


def test_doctor_tells_what_a_file_holds(shell, tmp_path: Path) -> None:
    file = write(tmp_path / "rooms.json", TAU)
    report = json.loads(shell("doctor", file, "--format", "json").stdout)[0]
    assert report["dialects"] == ["tau_bench"]
    assert (report["records"], report["traces"], report["llm_calls"], report["trainable"]) == (12, 12, 12, 12)
    assert file in shell("doctor", file).stdout  # in one line, to be pasted
    torn = tmp_path / "torn.jsonl.gz"
    torn.write_bytes(gzip.compress(b'{"a": 1}\n' * 50)[:-9])
    assert shell("doctor", str(torn)).returncode == 3
    assert shell("doctor", file, "--format", "yaml").returncode == 2
    assert shell("doctor").returncode == 0


def test_show_reads_a_trajectory_and_a_pair(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {**os.environ, "TRACEMILL_HOME": str(night.mill.home.root), "COLUMNS": "120"}

    def show(identifier: str) -> str:
        command = [sys.executable, "-c", "from pipelines.cli import main; main()", "show", identifier]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=True, cwd=ROOT).stdout

    pair = night.mill.releases.read(night.release, _pairs())
    assert "rejected" in show(pair["pair_id"][0])
    text = show(pair["chosen_trajectory_id"][0])
    assert "step 0" in text and "assistant" in text


def test_show_reads_a_pair_that_several_releases_hold(shell, tmp_path: Path) -> None:
    assert shell("run", "--from", write(tmp_path / "rooms.json", TAU)).returncode == 0
    assert shell("release", "create", "--name", "mine").returncode == 0
    held = "SELECT pair_id, count(*) AS n FROM preference_pairs GROUP BY 1 LIMIT 1"
    pair = json.loads(shell("sql", held, "--format", "json").stdout)[0]
    assert pair["n"] == 2
    done = shell("show", pair["pair_id"])
    assert done.returncode == 0, done.stderr
    assert "rejected" in done.stdout


def _pairs():  # type: ignore[no-untyped-def]
    from warehouse.schemas import PREFERENCE_PAIRS

    return PREFERENCE_PAIRS


def test_help_teaches_every_command(shell) -> None:
    for command in ("run", "train", "sql", "show", "doctor", "release", "warehouse"):
        done = shell(command, "--help")
        assert done.returncode == 0 and len(done.stdout) > 100
    assert shell("train", "sft", "--release", "x").returncode == 2
    assert shell("run", "--day", "yesterday").returncode == 2
    assert shell("release", "create", "--through", "2026-13-01").returncode == 2
