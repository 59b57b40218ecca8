"""Log-probs of action tokens equal the naive ones, whatever shares a row or a batch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from training.encode import Pair, encode_pairs
from training.launch import load
from training.logprobs import chunked_scores, pad, row_logprobs, score_actions
from training.reference import reference_logprobs
from training.release import messages, read_pairs, tools
from training.tokens import Renderer, Row, merge


@pytest.fixture
def start(tiny_model: Path) -> Any:
    return load(tiny_model)


@pytest.fixture
def pairs(start: Any, release: Path) -> list[Pair]:
    return encode_pairs(read_pairs(release, "train"), Renderer(start.tokenizer), 10_000)[0]


def naive(path: Path, ids: list[int]) -> torch.Tensor:
    """log π of each token after the first, from the model's own logits."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(path, local_files_only=True, dtype="float32")
    tokens = torch.tensor(ids)
    with torch.no_grad():
        logits = model(input_ids=tokens[None]).logits[0]
    return logits.log_softmax(-1)[:-1].gather(-1, tokens[1:, None])[:, 0]


def gradients(model: Any, rows: list[Row], chunks: list[list[int]]) -> tuple[float, torch.Tensor]:
    """Σ log π over rows, batched as `chunks` says, and its gradient as one vector."""
    model.zero_grad()
    total = 0.0
    for chunk in chunks:
        loss = model(**pad([rows[index] for index in chunk])).logp.sum()
        loss.backward()
        total += float(loss.detach())
    return total, torch.cat([parameter.grad.flatten() for parameter in model.parameters()])


def test_chunks_of_the_head_equal_a_whole_softmax_in_value_and_gradient() -> None:
    torch.manual_seed(0)
    hidden = torch.randn(37, 8, dtype=torch.float64, requires_grad=True)
    head, targets = torch.nn.Linear(8, 19, bias=False).double(), torch.randint(0, 19, (37,))
    scores = chunked_scores(hidden, head, targets, chunk=5)
    log_softmax = head(hidden).log_softmax(-1)
    whole = log_softmax.gather(-1, targets[:, None])[:, 0]
    assert torch.allclose(scores.logp, whole, atol=1e-12)
    assert torch.allclose(scores.entropy, -(log_softmax.exp() * log_softmax).sum(-1), atol=1e-12)
    weights = torch.randn(37, dtype=torch.float64)
    ours = torch.autograd.grad((scores.logp * weights).sum(), [hidden, head.weight])
    theirs = torch.autograd.grad((whole * weights).sum(), [hidden, head.weight])
    assert all(torch.allclose(one, other, atol=1e-12) for one, other in zip(ours, theirs, strict=True))


def test_scores_equal_the_models_own_logits(start: Any, pairs: list[Pair]) -> None:
    rows = [row for pair in pairs for row in pair.rows]
    for row, found in zip(rows[:4], row_logprobs(start.model, rows)[:4], strict=True):
        expected = naive(start.path, row.ids.tolist())[row.positions - 1]
        assert np.allclose(found, expected.numpy(), atol=2e-5)


def test_a_merged_row_equals_its_calls_apart_in_log_prob_and_gradient(start: Any, release: Path) -> None:
    record = read_pairs(release, "train").row(0, named=True)
    talk, renderer = messages(record["prompt"] + record["chosen"]), Renderer(start.tokenizer)
    offered = tools(record["tools"])
    calls = [(index, renderer.call(talk, 2 + action, offered)) for index, action in enumerate([0, 2, 4])]
    together, apart = merge(calls), [merge([call])[0] for call in calls]
    assert len(together) == 1 and len(apart) == 3
    model = start.model.double()
    one, one_gradient = gradients(model, together, [[0]])
    three, three_gradient = gradients(model, apart, [[0], [1, 2]])
    assert one == pytest.approx(three, abs=1e-4)
    assert torch.allclose(one_gradient, three_gradient, atol=1e-4, rtol=1e-5)


def test_the_layout_of_batches_changes_neither_log_probs_nor_gradients(start: Any, pairs: list[Pair]) -> None:
    rows = [row for pair in pairs[:2] for row in pair.rows]
    one, one_gradient = gradients(start.model, rows, [[0, 1, 2, 3]])
    four, four_gradient = gradients(start.model, rows, [[2], [0, 3], [1]])
    assert one == pytest.approx(four, rel=1e-6)
    assert torch.allclose(one_gradient, four_gradient, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Gemma2", {"head_dim": 8, "final_logit_softcapping": 0.1}),
        ("Cohere", {"logit_scale": 4.0}),
        ("Granite", {"logits_scaling": 0.25}),
        ("Mistral", {"sliding_window": 8}),
    ],
)
def test_a_model_that_scales_or_caps_its_logits_is_scored_as_it_answers(kind: str, more: dict[str, Any]) -> None:
    import transformers

    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = getattr(transformers, f"{kind}Config")(vocab_size=32, num_key_value_heads=1, **sizes, **more)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    ids = torch.randint(0, 32, (3, 20), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = model(input_ids=ids).logits.double().log_softmax(-1)[:, :-1].gather(2, ids[:, 1:, None])[..., 0]
    rows = [Row(row[: 20 - 3 * at].numpy(), np.r_[-1, np.zeros(19 - 3 * at, int)]) for at, row in enumerate(ids)]
    for found, true in zip(row_logprobs(score_actions(model), rows), expected, strict=True):
        assert found == pytest.approx(true[: len(found)].numpy(), abs=1e-5)


def test_a_model_that_changes_its_logits_in_another_way_is_refused() -> None:
    from transformers import RecurrentGemmaConfig, RecurrentGemmaForCausalLM

    config = RecurrentGemmaConfig(
        vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, lru_width=16, logits_soft_cap=0.1, block_types=["recurrent"],
    )  # fmt: skip
    with pytest.raises(ValueError, match="changes its logits"):
        score_actions(RecurrentGemmaForCausalLM(config))


def test_reference_log_probs_are_computed_once_and_only_for_new_rows(
    start: Any, pairs: list[Pair], tmp_path: Path
) -> None:
    rows, path = [row for pair in pairs for row in pair.rows], tmp_path / "reference.parquet"
    first = reference_logprobs(start.model, rows[:4], path, "cpu")
    with torch.no_grad():
        start.model.get_output_embeddings().weight.zero_()
    second = reference_logprobs(start.model, rows, path, "cpu")
    assert all(np.array_equal(first[row.key], second[row.key]) for row in rows[:4])
    assert len(second) == len({row.key for row in rows}) and len(second[rows[-1].key]) == len(rows[-1].positions)
