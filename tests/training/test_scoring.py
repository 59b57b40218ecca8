"""A model reads logged actions again, told how they ended: exactly, once, and never what it cannot render."""

import json
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch

from training import score_store
from training.hindsight import FAILURE, FINAL, SUCCESS, final_state
from training.launch import Refused, load
from training.release import messages as as_messages
from training.scoring import score, scoring_input, scoring_tokenizer
from training.tokens import Renderer
from transforms.credit.assign import Scored
from transforms.datasets.release_spec import ReleaseSpec
from warehouse.schemas import CUT, MESSAGES, STEPS, TRAJECTORIES

DAY = date(2026, 11, 30)
CALL = json.dumps([{"id": "c", "name": "look_up", "arguments": '{"order": "A-001"}'}])


def world(rollouts: int = 3) -> dict[str, pl.DataFrame]:
    """Rollouts of three steps each: a lookup, an answer, and after the user's word another."""
    cut, trajectories, steps, messages = [], [], [], []

    def say(key: str, role: str, content: str, **more: Any) -> bytes:
        message = {"day": DAY, "message_id": key.encode(), "role": role, "content": content, "altered": False}
        messages.append(message | more)
        return key.encode()

    for number in range(rollouts):
        name = f"r{number}"
        shown = [
            [
                say(f"{name}s", "system", "Be kind." * (number + 1)),
                say(f"{name}u", "user", f"Where is order A-00{number}?"),
            ],
            [say(f"{name}t", "tool", "delivered, broken " * (3 * number + 1), tool_call_id="c")],
            [say(f"{name}v", "user", "But it is broken.")],
        ]
        did = [
            say(f"{name}a", "assistant", "", tool_calls=CALL),
            say(f"{name}b", "assistant", "It was delivered."),
            say(f"{name}c", "assistant", "I pay it back " + "now " * number),
        ]
        cut.append({
            "release": "r", "trajectory_id": name, "revision": DAY, "rollout_id": name, "task_id": "t",
            "task_family": "f", "component": "t", "split": "train", "reward": float(number % 2), "gated": False,
        })  # fmt: skip
        trajectories.append({
            "revision": DAY, "trajectory_id": name, "rollout_id": name, "trace_ids": [name], "source": "otlp",
            "task_id": "t", "task": "orders", "task_rule": "explicit", "task_family": "f", "steps": 3, "segments": 1,
            "tool_calls": 1, "models": [], "termination": "finished", "trainable": True, "flags": [],
        })  # fmt: skip
        steps += [
            {"revision": DAY, "trajectory_id": name, "step": at, "trace_id": name, "span_id": f"{name}{at}",
             "segment": 0, "observed": new, "action": action, "prompt_length": 2 + 2 * at, "content_state": "full"}
            for at, (new, action) in enumerate(zip(shown, did, strict=True))
        ]  # fmt: skip
    return {
        "cut": CUT.frame(cut), "trajectories": TRAJECTORIES.frame(trajectories), "steps": STEPS.frame(steps),
        "messages": MESSAGES.frame(messages),
    }  # fmt: skip


def scored(model: Path, store: Path, rollouts: int = 3, **spec: Any) -> Scored:
    method: Any = ReleaseSpec.model_validate({"credit": spec}).credit
    return score(method, **world(rollouts), model=model, store=store)


def talk(number: int) -> list[dict[str, Any]]:
    """The whole conversation of a rollout, as a template takes it."""
    texts = {row["message_id"]: row for row in world(number + 1)["messages"].to_dicts()}
    calls = [{"id": "c", "type": "function", "function": {"name": "look_up", "arguments": '{"order": "A-001"}'}}]
    made = []
    for part in "suatbvc":
        row = texts[f"r{number}{part}".encode()]
        extra = {"tool_calls": calls} if part == "a" else {"tool_call_id": "c"} if part == "t" else {}
        made.append({"role": row["role"], "content": row["content"], **extra})
    return as_messages(made)


def read(model: Path, messages: list[dict[str, Any]], action: int, finish: str = "stop") -> tuple[float, int]:
    """Sum of log-probs of one action, and its tokens: one sequence, the whole of its logits, one softmax."""
    from transformers import AutoModelForCausalLM

    call = Renderer(load(model).tokenizer).call(messages, action, None, finish)
    ids = torch.tensor([call.prompt + call.completion])
    whole = AutoModelForCausalLM.from_pretrained(model, dtype="float32").eval()
    with torch.no_grad():
        logprobs = whole(input_ids=ids).logits.double().log_softmax(-1)[0, :-1].gather(1, ids[0, 1:, None])[:, 0]
    own = [len(call.prompt) + at - 1 for at, sampled in enumerate(call.sampled) if sampled]
    return float(logprobs[own].sum()), len(own)


def close(expected: tuple[float, int]) -> tuple[Any, int]:
    """To 1e-5 nats a token."""
    return pytest.approx(expected[0], abs=1e-5 * expected[1]), expected[1]


def told(messages: list[dict[str, Any]], at: int, banner: str) -> list[dict[str, Any]]:
    return [m | {"content": f"{m['content']}\n\n{banner}"} if n == at else m for n, m in enumerate(messages)]


def by_step(found: Scored, context: str) -> dict[tuple[str, int], tuple[float, int]]:
    rows = found.scores.filter(pl.col("context") == context)
    return {(row["trajectory_id"], row["step"]): (row["logprob"], row["tokens"]) for row in rows.to_dicts()}


@pytest.mark.parametrize("injection", ["step", "prefix"])
def test_actions_are_scored_as_by_a_model_that_reads_them_one_by_one(
    tiny_model: Path, tmp_path: Path, injection: str
) -> None:
    found = by_step(scored(tiny_model, tmp_path, method="hcapo", injection=injection), "hindsight")
    assert len(found) == 9
    for number in range(3):  # rows of several lengths in one batch: padding must not be seen
        messages = talk(number)
        banner = FINAL.format(final=final_state(messages))
        for step, action in enumerate((2, 4, 6)):
            place = 0 if injection == "prefix" else action - 1
            expected = read(tiny_model, told(messages, place, banner)[: action + 1], action)
            assert found[f"r{number}", step] == close(expected)


def test_the_two_outcomes_are_told_before_the_task_in_as_many_words(tiny_model: Path, tmp_path: Path) -> None:
    found = scored(tiny_model, tmp_path, method="contrastive")
    assert len(SUCCESS.split()) == len(FAILURE.split())
    for context, banner in (("success", SUCCESS), ("failure", FAILURE)):
        expected = read(tiny_model, told(talk(1), 0, banner)[:5], 4)
        assert by_step(found, context)["r1", 1] == close(expected)


def test_the_right_answer_is_scored_in_place_of_each_action(tiny_model: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"task": "orders", "answer": "It is paid back."}\n\n')
    found = by_step(scored(tiny_model, tmp_path, method="igpo", answers=str(answers)), "answer")
    assert len(found) == 9
    messages = [*talk(2)[:4], {"role": "assistant", "content": "It is paid back."}]
    expected = read(tiny_model, messages, 4, finish="length")
    assert found["r2", 1] == close(expected)


def test_a_second_run_loads_no_model(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = scored(tiny_model, tmp_path, method="hcapo")
    monkeypatch.setattr(score_store, "load_model", lambda path: pytest.fail("scored again"))
    again = scored(tiny_model, tmp_path, method="hcapo")
    assert again.scores.equals(first.scores) and again.by == first.by
    fewer = scored(tiny_model, tmp_path, rollouts=2, method="hcapo")
    assert fewer.scores.equals(first.scores.filter(pl.col("trajectory_id") != "r2"))


def test_what_was_not_kept_or_is_torn_is_scored_again(tiny_model: Path, tmp_path: Path) -> None:
    first = scored(tiny_model, tmp_path, rollouts=2, method="hcapo")
    (kept,) = tmp_path.rglob("*.parquet")
    kept.write_bytes(b"torn")
    found = scored(tiny_model, tmp_path, rollouts=2, method="hcapo")
    assert found.scores.equals(first.scores)
    more = scored(tiny_model, tmp_path, rollouts=3, method="hcapo")
    assert more.scores.height == 9 and len([*tmp_path.rglob("*.parquet")]) == 2


def test_what_was_read_cannot_be_guessed_at_without_the_key(tiny_model: Path, tmp_path: Path) -> None:
    method: Any = ReleaseSpec.model_validate({"credit": {"method": "hcapo"}}).credit
    kept = []
    for key in (b"one", b"other"):
        score(method, **world(1), model=tiny_model, store=tmp_path / key.decode(), key=key)
        (file,) = (tmp_path / key.decode()).rglob("*.parquet")
        kept.append(set(pl.read_parquet(file)["key"]))
        assert b"paid" not in file.read_bytes() and b"broken" not in file.read_bytes()
    assert not kept[0] & kept[1]


def test_another_model_scores_anew_and_is_another_version(tiny_model: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    other = shutil.copytree(tiny_model, tmp_path / "other")
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(1.01)
    model.save_pretrained(other)
    first, second = (scored(path, tmp_path / "store", method="hcapo") for path in (tiny_model, other))
    assert first.by != second.by and not first.scores["logprob"].equals(second.scores["logprob"])
    method: Any = ReleaseSpec.model_validate({"credit": {"method": "hcapo"}}).credit
    assert scoring_input(method, tiny_model) != scoring_input(method, other)


def test_a_model_without_a_template_reads_a_plain_one(tiny_model: Path, tmp_path: Path) -> None:
    bare = shutil.copytree(tiny_model, tmp_path / "bare")
    (bare / "chat_template.jinja").unlink()
    assert scoring_tokenizer(bare).chat_template != load(tiny_model).tokenizer.chat_template
    found = scored(bare, tmp_path / "store", method="contrastive")
    assert found.scores.height == 18 and found.scores["logprob"].is_finite().all()


def test_calls_that_are_too_long_have_no_score(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_store, "MAX_LENGTH", 160)
    found = scored(tiny_model, tmp_path, method="contrastive").scores
    assert 0 < found.height < 18


def test_what_cannot_be_used_is_refused_with_what_is_wrong(tiny_model: Path, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"no model there \(config.json is missing\)"):
        scored(tmp_path, tmp_path, method="hcapo")
    answers = tmp_path / "answers.jsonl"
    for text, why in [
        ('{"task": "orders"}\n', "line 1: not"), ("\n", "no answers in it"), ("{", "line 1: not"),
        ('{"task": "another", "answer": "x"}\n', "no answer is of a task of this release"),
    ]:  # fmt: skip
        answers.write_text(text)
        with pytest.raises(Refused, match=why):
            scored(tiny_model, tmp_path, method="igpo", answers=str(answers))
    with pytest.raises(Refused, match="answers cannot be read"):
        scored(tiny_model, tmp_path, method="igpo", answers=str(tmp_path / "none"))
