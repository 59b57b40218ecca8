"""A policy is judged on held-out pairs, in words that the numbers carry."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dagster_pipes import encode_param

from training import dpo, evaluate
from training.encode import Pair
from training.evaluate import SideScores, judge
from training.tokens import CallTokens, merge

ROOT = Path(__file__).parents[2]


def pairs(count: int) -> list[Pair]:
    rows = merge([(0, CallTokens([1], [2, 3], [True, True]))])
    return [Pair(f"pair-{number}", f"task-{number}", rows, rows) for number in range(count)]


def scores(differences: list[float]) -> SideScores:
    """Scores whose chosen side is ahead by `differences`."""
    sides = np.array([[difference, 0.0] for difference in differences])
    return SideScores(sides, 2 * sides)


def test_a_policy_that_prefers_what_did_better_passes() -> None:
    found = judge(pairs(30), scores([-0.1] * 15 + [0.1] * 15), scores([0.5] * 30), beta=0.1)
    assert found["verdict"] == "pass" and found["mean_margin"] > 0
    preferred = found["measures"][0]
    assert (preferred["before"], preferred["after"], preferred["count"]) == (0.5, 1.0, 30)
    assert {measure["measure"] for measure in found["measures"]} >= {"preferred", "positive_margin"}


def test_a_policy_that_prefers_what_did_worse_fails() -> None:
    found = judge(pairs(30), scores([0.1] * 30), scores([-0.5] * 30), beta=0.1)
    assert found["verdict"] == "fail"


def test_an_unchanged_policy_is_inconclusive_at_best() -> None:
    same = scores([0.1, -0.1] * 15)
    assert judge(pairs(30), same, same, beta=0.1)["verdict"] != "pass"


def test_a_policy_that_moves_both_ways_is_inconclusive() -> None:
    found = judge(pairs(30), scores([0.1] * 30), scores([0.2, 0.05] * 15), beta=0.1)
    assert found["verdict"] == "inconclusive"


def test_nineteen_pairs_are_too_few_to_judge() -> None:
    found = judge(pairs(19), scores([-1.0] * 19), scores([1.0] * 19), beta=0.1)
    assert found["verdict"] == "inconclusive" and found["reason"].startswith("too few to judge: 19")
    assert {measure["verdict"] for measure in found["measures"]} == {"too few to judge"}
    assert found["measures"][0]["before"] == 0.0 and found["measures"][0]["after"] == 1.0


def test_no_pairs_at_all_are_too_few_to_judge(
    tiny_model: Path, make_release: Callable[..., Path], tmp_path: Path
) -> None:
    release, out = make_release(tmp_path / "r", train=1, test=0), tmp_path / "verdict.json"
    given = ["--release", str(release), "--reference", str(tiny_model), "--policy", str(tiny_model), "--out", str(out)]
    assert evaluate.main(given) == 0
    assert json.loads(out.read_text())["reason"].startswith("too few to judge: 0")


def reported(messages: Path) -> dict[str, Any]:
    """What a process told Dagster of its asset."""
    lines = [json.loads(line) for line in messages.read_text().splitlines()]
    (found,) = [line["params"] for line in lines if line["method"] == "report_asset_materialization"]
    return dict(found)


def test_training_then_evaluation_pass_on_held_out_tasks_and_report_to_dagster(
    make_release: Callable[..., Path], tmp_path: Path
) -> None:
    release, policy, out = make_release(tmp_path / "r", train=8, test=20), tmp_path / "p", tmp_path / "v.json"
    assert dpo.main(["--release", str(release), "--out", str(policy), "--epochs", "3"]) == 0
    command = [sys.executable, "-m", "training.evaluate", "--release", str(release), "--out", str(out)]
    command += ["--reference", str(policy / "reference"), "--policy", str(policy)]
    context = {
        "asset_keys": ["evaluation"],
        "code_version_by_asset_key": None,
        "provenance_by_asset_key": None,
        "partition_key": None,
        "partition_key_range": None,
        "partition_time_window": None,
        "run_id": "run",
        "job_name": None,
        "retry_number": 0,
        "extras": {},
    }
    (tmp_path / "context.json").write_text(json.dumps(context))
    pipes = {
        "DAGSTER_PIPES_CONTEXT": encode_param({"path": str(tmp_path / "context.json")}),
        "DAGSTER_PIPES_MESSAGES": encode_param({"path": str(tmp_path / "messages")}),
    }
    subprocess.run(command, check=True, cwd=ROOT, env=os.environ | pipes)
    verdict = json.loads(out.read_text())
    assert verdict["verdict"] == "pass" and verdict["pairs"] == 20
    told = reported(tmp_path / "messages")
    assert told["metadata"]["verdict"]["raw_value"] == "pass"
    assert told["data_version"] == verdict["hashes"]["policy"][:32]


def test_models_with_different_tokens_are_not_compared(tiny_model: Path, release: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    other = tmp_path / "other"
    other.mkdir()
    for file in tiny_model.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    tokenizer = AutoTokenizer.from_pretrained(other, local_files_only=True)
    tokenizer.chat_template = tokenizer.chat_template.replace("Tools:", "You have:")
    tokenizer.save_pretrained(other)
    given = ["--release", str(release), "--reference", str(tiny_model), "--policy", str(other)]
    assert evaluate.main([*given, "--out", str(tmp_path / "v.json")]) == 2


def test_the_programs_and_the_readers_do_not_import_torch() -> None:
    modules = "training.dpo, training.grpo, training.evaluate, training.tiny, training.release"
    check = f"import sys, {modules}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, check=False).returncode == 0


@pytest.mark.parametrize("program", ["dpo", "grpo", "evaluate", "tiny"])
def test_help_explains_every_flag(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    import importlib

    with pytest.raises(SystemExit) as raised:
        importlib.import_module(f"training.{program}").main(["--help"])
    assert raised.value.code == 0 and "--release" in capsys.readouterr().out
