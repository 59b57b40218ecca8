"""Log-probs of the tokens a model wrote, and of no others; logits never stand for more than a chunk of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from training.progress import progress
from training.tokens import Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNK = 1024
"""Action tokens whose logits exist at one time: 0.6 GB in fp32 at a vocabulary of 152k."""

SCORING_TOKENS = 16_384
"""Padded tokens in a batch that is only scored."""

TOLERANCE = 1e-3
"""Nats by which the head may differ from the model's own logits; a model that scales or caps them differs by more."""


class Scores(NamedTuple):
    """Log-prob [T] of each action token, and entropy [T] of the distribution it was drawn from, without gradient."""

    logp: Tensor
    entropy: Tensor


@dataclass(frozen=True)
class Head:
    """A model's way from its last hidden state to its logits: its head, times `scale`, softly capped where it caps."""

    project: nn.Module
    scale: float = 1.0
    cap: float | None = None

    @classmethod
    def of(cls, model: Any) -> Head:
        """The head of a causal model, with what its configuration says of scales and caps (Cohere, Granite, Gemma)."""
        known = model.config.get_text_config().to_dict()
        scale = (known.get("logit_scale") or 1.0) / (known.get("logits_scaling") or 1.0)
        return cls(model.get_output_embeddings(), scale, known.get("final_logit_softcapping"))

    def __call__(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.project(hidden) * self.scale
        return torch.tanh(logits / self.cap) * self.cap if self.cap else logits


def chunked_scores(hidden: Tensor, head: nn.Module | Head, targets: Tensor, chunk: int = CHUNK) -> Scores:
    """Scores of targets [T] under head(hidden [T, H]); each chunk's logits are made again in the backward pass."""
    parts = [
        checkpoint(_score, part, head, target, use_reentrant=False, preserve_rng_state=False)
        for part, target in zip(torch.split(hidden, chunk), torch.split(targets, chunk), strict=True)
    ]
    return Scores(torch.cat([logp for logp, _ in parts]), torch.cat([entropy for _, entropy in parts]))


def score_actions(model: Any) -> Any:
    """`model`, whose forward now takes a padded batch and gives `Scores`.

    The forward itself is replaced, not called around, because DDP and FSDP hang on it. Raises ValueError for a
    model whose logits are not its `Head` on its last hidden state.
    """
    _check_head(model)
    model.forward = MethodType(_forward, model)
    return model


def pad(rows: Sequence[Row]) -> dict[str, Tensor]:
    """Batch of rows: input_ids [S, L], zeros at the right; row [T], position [T] of each action token.

    There is no attention mask: what is causal never looks to the right, and padding lies there.
    """
    input_ids = torch.zeros(len(rows), max(len(row.ids) for row in rows), dtype=torch.long)
    for line, row in enumerate(rows):
        input_ids[line, : len(row.ids)] = torch.from_numpy(row.ids)
    owner = np.concatenate([np.full(len(row.positions), line) for line, row in enumerate(rows)])
    position = np.concatenate([row.positions for row in rows])
    return {"input_ids": input_ids, "row": torch.from_numpy(owner), "position": torch.from_numpy(position)}


def row_logprobs(model: Any, rows: Sequence[Row], device: str = "cpu") -> list[NDArray[np.float32]]:
    """Log-probs [T] of each row's action tokens under a model prepared by `score_actions`, without gradient."""
    return [logp for logp, _ in row_scores(model, rows, device)]


def row_scores(
    model: Any, rows: Sequence[Row], device: str = "cpu"
) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Log-prob [T] and entropy [T] of each row's action tokens, as `row_logprobs`."""
    nothing = np.empty(0, np.float32)
    scored = [(nothing, nothing)] * len(rows)
    model.eval()
    for batch in progress(_by_length(rows), "log-probs"):
        inputs = {name: tensor.to(device) for name, tensor in pad([rows[index] for index in batch]).items()}
        with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            found = model(**inputs)
        ends = np.cumsum([len(rows[index].positions) for index in batch])[:-1]
        logp, entropy = (np.split(tensor.float().cpu().numpy(), ends) for tensor in found)
        for index, part in zip(batch, zip(logp, entropy, strict=True), strict=True):
            scored[index] = part
    return scored


def model_hash(model: Any) -> str:
    """Hash of the weights as they are in memory."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _forward(model: Any, input_ids: Tensor, row: Tensor, position: Tensor) -> Scores:
    hidden = model.base_model(input_ids=input_ids, use_cache=False).last_hidden_state
    return chunked_scores(hidden[row, position - 1], Head.of(model), input_ids[row, position])


def _score(hidden: Tensor, head: nn.Module | Head, targets: Tensor) -> tuple[Tensor, Tensor]:
    logits = head(hidden)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    normaliser = logits.logsumexp(-1)
    logp = logits.gather(-1, targets[:, None]).squeeze(-1) - normaliser
    with torch.no_grad():
        entropy = normaliser - (logits.softmax(-1) * logits).sum(-1)
    return logp, entropy


def _check_head(model: Any) -> None:
    ids = torch.arange(8, device=model.device)[None] % model.config.get_text_config().vocab_size
    with torch.no_grad():
        expected = model(input_ids=ids, use_cache=False).logits
        found = Head.of(model)(model.base_model(input_ids=ids, use_cache=False).last_hidden_state)
    if not torch.allclose(found, expected, atol=TOLERANCE, rtol=TOLERANCE):
        raise ValueError(f"{type(model).__name__} changes its logits after the head; it cannot be scored in chunks")


def _by_length(rows: Sequence[Row]) -> list[list[int]]:
    """Indices in batches of similar length, at most SCORING_TOKENS padded tokens each, longest first."""
    batches: list[list[int]] = []
    for index in sorted(range(len(rows)), key=lambda index: len(rows[index].ids), reverse=True):
        longest = len(rows[batches[-1][0]].ids) if batches else 0
        if batches and (len(batches[-1]) + 1) * longest <= SCORING_TOKENS:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
