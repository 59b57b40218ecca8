"""DPO learns what it should, whatever the layout of its batches, and survives being stopped."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from training import dpo
from training.encode import encode_pairs
from training.launch import Refused, load
from training.logprobs import row_logprobs
from training.release import messages, read_pairs, tools
from training.tokens import Renderer

ROOT = Path(__file__).parents[2]


def report(out: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((out / "training.json").read_text())
    return read


def run(release: Path, out: Path, model: Path, *flags: str) -> dict[str, Any]:
    arguments = ["--release", str(release), "--out", str(out), "--model", str(model), "--lr", "1e-3", *flags]
    assert dpo.main(arguments) == 0
    return report(out)


def call_logprobs(model: Any, renderer: Renderer, record: dict[str, Any], side: str) -> torch.Tensor:
    """Σ log π of a side's actions, one forward pass a call, from whole logits."""
    talk, offered = messages(record["prompt"] + record[side]), tools(record["tools"])
    total = torch.zeros((), dtype=torch.float64)
    for action in record[f"{side}_actions"]:
        call = renderer.call(talk, len(record["prompt"]) + action, offered)
        ids = torch.tensor([call.prompt + call.completion])
        logp = model(input_ids=ids).logits[0].double().log_softmax(-1)[:-1].gather(-1, ids[0, 1:, None])[:, 0]
        total = total + logp[len(call.prompt) - 1 :].sum()
    return total


def plain_model(path: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(path, local_files_only=True, dtype="float32")


def test_loss_and_gradient_equal_dpo_written_out_call_by_call(tiny_model: Path, release: Path) -> None:
    start, reference, policy = load(tiny_model), plain_model(tiny_model), plain_model(tiny_model)
    frame, renderer = read_pairs(release, "train").head(2), Renderer(start.tokenizer)
    pairs, _ = encode_pairs(frame, renderer, 10_000)
    rows = [row for pair in pairs for row in pair.rows]
    stored = dict(zip((row.key for row in rows), row_logprobs(start.model, rows), strict=True))
    with torch.no_grad():
        torch.manual_seed(1)
        for ours, theirs in zip(start.model.parameters(), policy.parameters(), strict=True):
            noise = 0.02 * torch.randn_like(ours)
            ours += noise
            theirs += noise
    batch = dpo.Collator()(pairs, stored)
    scores = start.model(**{name: batch[name] for name in ("input_ids", "row", "position")})
    loss, _ = dpo.Preference("sigmoid", 0.1, 0.1, 0.0).loss(scores, batch)
    loss.backward()
    naive = torch.zeros((), dtype=torch.float64)
    for record in frame.iter_rows(named=True):
        ratios = {}
        for side in ("chosen", "rejected"):
            with torch.no_grad():
                anchor = call_logprobs(reference, renderer, record, side)
            ratios[side] = call_logprobs(policy, renderer, record, side) - anchor
        naive = naive - torch.nn.functional.logsigmoid(0.1 * (ratios["chosen"] - ratios["rejected"]))
    naive.backward()
    assert loss.item() == pytest.approx(naive.item(), rel=1e-5)
    for ours, theirs in zip(start.model.parameters(), policy.parameters(), strict=True):
        assert torch.allclose(ours.grad, theirs.grad, rtol=1e-3, atol=1e-4)


def test_dmpo_weighs_the_tokens_of_a_turn_alike(tiny_model: Path, release: Path) -> None:
    pairs, _ = encode_pairs(read_pairs(release, "train").head(1), Renderer(load(tiny_model).tokenizer), 10_000)
    (row,) = pairs[0].chosen
    weights = dpo.Collator(1.0).weights(pairs[0].chosen)
    by_turn = [set(weights[row.calls[row.positions] == turn]) for turn in range(3)]
    assert by_turn == [{1.0}, {2 / 3}, {1 / 3}]


def test_training_learns_the_preference_and_leaves_what_it_promises(
    tiny_model: Path, release: Path, tmp_path: Path
) -> None:
    found = run(release, tmp_path, tiny_model, "--epochs", "4")
    assert found["first_loss"] == pytest.approx(0.693147, abs=1e-5)
    assert found["last_loss"] < 0.3 < found["first_loss"]
    assert found["curve"][0]["margin"] == pytest.approx(0, abs=1e-5) and found["curve"][-1]["accuracy"] == 1.0
    assert found["counts"]["items"] == 6 and found["counts"]["rejected"] == {} and found["anchor"] == "reference"
    names = {path.name for path in tmp_path.iterdir()}
    assert {"model.safetensors", "tokenizer.json", "chat_template.jinja", "config.json", "curve.png"} <= names
    assert "checkpoints" not in names and (tmp_path / "curve.png").stat().st_size < 30_000
    assert not list(tmp_path.rglob("*.bin")) and not list(tmp_path.rglob("*.pt"))


def test_the_layout_of_batches_changes_neither_losses_nor_gradients(
    tiny_model: Path, release: Path, tmp_path: Path
) -> None:
    curves = []
    for size, accumulation in ((4, 1), (2, 2), (1, 4)):
        flags = ("--epochs", "1", "--batch-size", str(size), "--accumulation", str(accumulation), "--lr", "1e-4")
        curves.append(run(release, tmp_path / str(size), tiny_model, *flags)["curve"])
    for curve in curves[1:]:
        assert len(curve) == 2
        for ours, whole in zip(curve, curves[0], strict=True):
            assert ours["loss"] == pytest.approx(whole["loss"], rel=1e-4)
            assert ours["grad_norm"] == pytest.approx(whole["grad_norm"], rel=1e-4)
            assert ours["tokens"] == whole["tokens"]


def test_an_interrupted_run_resumed_equals_an_uninterrupted_one_exactly(
    tiny_model: Path, release: Path, tmp_path: Path
) -> None:
    flags = ("--epochs", "12", "--batch-size", "3", "--beta", "0.01")
    whole = run(release, tmp_path / "whole", tiny_model, *flags)
    out = tmp_path / "stopped"
    command = [sys.executable, "-m", "training.dpo", "--release", str(release), "--out", str(out)]
    command += ["--model", str(tiny_model), "--lr", "1e-3", *flags]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("step 3/"):
                process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    assert list((out / "checkpoints").glob("checkpoint-*")) and not (out / "training.json").exists()
    resumed = run(release, out, tiny_model, *flags, "--resume")
    assert resumed["curve"] == whole["curve"] and resumed["data_version"] == whole["data_version"]
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()
    written = (out / "model.safetensors").stat().st_mtime_ns
    assert run(release, out, tiny_model, *flags, "--resume") == resumed
    assert (out / "model.safetensors").stat().st_mtime_ns == written


def test_an_alarm_leaves_the_policy_of_the_last_good_run(tiny_model: Path, release: Path, tmp_path: Path) -> None:
    run(release, tmp_path, tiny_model, "--epochs", "1")
    before = (tmp_path / "model.safetensors").read_bytes()
    arguments = ["--release", str(release), "--out", str(tmp_path), "--model", str(tiny_model)]
    assert dpo.main([*arguments, "--lr", "1e30", "--epochs", "5", "--save-steps", "1"]) == 1
    assert (tmp_path / "model.safetensors").read_bytes() == before and report(tmp_path)["steps"] == 2


def test_calls_that_do_not_fit_are_counted_in_the_report(tiny_model: Path, release: Path, tmp_path: Path) -> None:
    renderer = Renderer(load(tiny_model).tokenizer)
    pairs, _ = encode_pairs(read_pairs(release, "train"), renderer, 10_000)
    shortest = min(len(row.ids) for pair in pairs for row in pair.chosen)
    flags = ("--epochs", "1", "--max-length", str(shortest - 1))
    counts = run(release, tmp_path, tiny_model, *flags)["counts"]
    assert counts["calls"] == 30 and counts["items"] == 6
    assert counts["rejected"]["too_long"] == 30 - counts["kept"] >= 6


def test_a_release_without_pairs_and_a_folder_without_a_model_are_refused(
    make_release: Callable[..., Path], release: Path, tmp_path: Path
) -> None:
    empty = make_release(tmp_path / "empty", train=0, test=1, silent=0)
    assert dpo.main(["--release", str(empty), "--out", str(tmp_path / "out")]) == 2
    assert dpo.main(["--release", str(release), "--out", str(tmp_path / "out"), "--model", str(tmp_path)]) == 2


def test_a_model_whose_weights_are_torn_or_that_changes_its_logits_is_refused_in_a_sentence(
    tiny_model: Path, tmp_path: Path
) -> None:
    torn = Path(shutil.copytree(tiny_model, tmp_path / "torn"))
    weights = (torn / "model.safetensors").read_bytes()
    (torn / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    with pytest.raises(Refused, match="model or tokenizer cannot be loaded"):
        load(torn)
    from transformers import RecurrentGemmaConfig, RecurrentGemmaForCausalLM

    capped = Path(shutil.copytree(tiny_model, tmp_path / "capped"))
    RecurrentGemmaForCausalLM(
        RecurrentGemmaConfig(
            vocab_size=2048, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=1, lru_width=16, logits_soft_cap=0.1, block_types=["recurrent"],
        )
    ).save_pretrained(capped)  # fmt: skip
    with pytest.raises(Refused, match="changes its logits"):
        load(capped)


@pytest.mark.slow
def test_two_processes_equal_one_with_accumulation(tiny_model: Path, release: Path, tmp_path: Path) -> None:
    flags = ("--epochs", "2", "--lr", "1e-4")
    one = run(release, tmp_path / "one", tiny_model, *flags, "--batch-size", "1", "--accumulation", "2")
    out = tmp_path / "two"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "training.dpo", "--release", str(release), "--out", str(out), "--model", str(tiny_model)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    subprocess.run(
        [*command, *flags, "--batch-size", "1", "--accumulation", "1"], check=True, cwd=ROOT, env=environment
    )
    for ours, theirs in zip(report(out)["curve"], one["curve"], strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
        assert ours["grad_norm"] == pytest.approx(theirs["grad_norm"], rel=1e-3)
        assert ours["tokens"] == theirs["tokens"]
