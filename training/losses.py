"""Losses over action tokens, to be minimised: pure functions of log-probs, nothing reduced before it has to be.

Shapes: P pairs, T action tokens of a batch laid end to end, S rows. A token's advantage is the credit of the call
that wrote it. Papers stand beside the functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

PreferenceKind = Literal["sigmoid", "cdpo", "robust", "ipo", "ipo_sum", "hinge", "sigmoid_norm"]
PolicyKind = Literal["clip", "dual_clip", "cispo"]
Aggregation = Literal["rollout", "token", "sequence", "constant"]

KL_RANGE = 20.0
"""Nats; a log-ratio beyond it is a broken token, not a policy that drifted (k3 would overflow)."""


@dataclass(frozen=True)
class PairRatios:
    """Both sides of P pairs. Ratios [P]: weighted sums of log π/π_ref over action tokens, added up token by token,
    since the two sums apart cancel badly. Lengths [P]: action tokens. chosen_nll [P]: mean -log π of the chosen."""

    chosen: Tensor
    rejected: Tensor
    chosen_length: Tensor
    rejected_length: Tensor
    chosen_nll: Tensor


@dataclass(frozen=True)
class PairLosses:
    """losses [P] and implicit reward margins [P], β times the difference of the log-ratios."""

    losses: Tensor
    margins: Tensor


def preference_losses(
    pairs: PairRatios,
    kind: PreferenceKind = "sigmoid",
    beta: float = 0.1,
    label_noise: float = 0.1,
    nll_weight: float = 0.0,
) -> PairLosses:
    """DPO and its kin, plus `nll_weight` times the chosen side's NLL (RPO, arXiv 2404.19733, eq. 1).

    sigmoid: DPO, arXiv 2305.18290 eq. 7. cdpo, robust: `label_noise` of the pairs are the wrong way round (arXiv
    2403.00409 §3). ipo: arXiv 2310.12036 eq. 17, on per-token means so that length does not decide; ipo_sum: on
    sums, as printed. hinge: arXiv 2309.06657. sigmoid_norm: DPO on per-token means; wants β of 1 to 10.
    """
    difference = pairs.chosen - pairs.rejected
    if kind in ("ipo", "sigmoid_norm"):
        difference = pairs.chosen / pairs.chosen_length - pairs.rejected / pairs.rejected_length
    logit = beta * difference
    right, wrong = -logsigmoid(logit), -logsigmoid(-logit)
    match kind:
        case "sigmoid" | "sigmoid_norm":
            losses = right
        case "cdpo":
            losses = (1 - label_noise) * right + label_noise * wrong
        case "robust":
            losses = ((1 - label_noise) * right - label_noise * wrong) / (1 - 2 * label_noise)
        case "ipo" | "ipo_sum":
            losses = (difference - 1 / (2 * beta)) ** 2
        case "hinge":
            losses = torch.relu(1 - logit)
    return PairLosses(losses + nll_weight * pairs.chosen_nll, beta * (pairs.chosen - pairs.rejected))


def turn_weights(turns: int, discount: float) -> list[float]:
    """Weight of each turn of a side: φ(t, T) = γ^t (1 - γ^(T-t)) / (1 - γ^T), (T - t)/T at γ = 1.

    DMPO, arXiv 2406.14868 eq. 13. ETO (arXiv 2403.02502) is every weight 1.
    """
    if discount == 1:
        return [(turns - turn) / turns for turn in range(turns)]
    return [discount**t * (1 - discount ** (turns - t)) / (1 - discount**turns) for t in range(turns)]


def clip_losses(log_ratio: Tensor, advantage: Tensor, low: float, high: float) -> Tensor:
    """Clipped surrogate [T] with two bounds: arXiv 1707.06347 eq. 7, apart as in DAPO, arXiv 2503.14476 eq. 10."""
    ratio = log_ratio.exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)


def dual_clip_losses(log_ratio: Tensor, advantage: Tensor, low: float, high: float, ceiling: float) -> Tensor:
    """Clipped surrogate [T], bounded by `ceiling` times |A| too where A < 0: arXiv 1912.09729 eq. 5."""
    clipped = clip_losses(log_ratio, advantage, low, high)
    return torch.where(advantage < 0, torch.minimum(clipped, -ceiling * advantage), clipped)


def cispo_losses(logp: Tensor, log_ratio: Tensor, advantage: Tensor, low: float | None, high: float) -> Tensor:
    """-sg(clip(r)) A log π [T]: the weight is clipped, the gradient is not. arXiv 2506.13585 eq. 4; `low` None: no
    lower bound. `high` is the bound's distance from 1, as elsewhere."""
    floor = 0.0 if low is None else 1 - low
    return -log_ratio.exp().clamp(floor, 1 + high).detach() * advantage * logp


def clipped(log_ratio: Tensor, advantage: Tensor, low: float, high: float) -> Tensor:
    """Tokens [T] that a clipped surrogate no longer moves."""
    ratio = log_ratio.exp()
    return ((advantage > 0) & (ratio > 1 + high)) | ((advantage < 0) & (ratio < 1 - low))


def k1(log_ratio: Tensor) -> Tensor:
    """log π/π_ref [T]; unbiased for KL(π, π_ref) on samples of π, and on no others. http://joschu.net/blog/kl-approx.html"""
    return log_ratio


def k2(log_ratio: Tensor) -> Tensor:
    """(log π/π_ref)²/2 [T]: biased, but its gradient is the reverse KL's on samples of π; pulls back on any sample."""
    return log_ratio.clamp(-KL_RANGE, KL_RANGE) ** 2 / 2


def k3(log_ratio: Tensor) -> Tensor:
    """π_ref/π - 1 + log π/π_ref [T]: unbiased on samples of π and never negative."""
    bounded = log_ratio.clamp(-KL_RANGE, KL_RANGE)
    return torch.expm1(-bounded) + bounded


def effective_sample_size(log_ratio: Tensor) -> Tensor:
    """(Σw)²/Σw² with w = π/π_anchor: of how many samples the weighted ones are worth. Kong 1992."""
    weights = log_ratio.exp()
    return weights.sum() ** 2 / (weights**2).sum()


@dataclass(frozen=True)
class RowShare:
    """How a row counts: each of its tokens `weight`, and the row `count` in the denominator.

    Loss of a batch = Σ_rows weight · Σ_tokens ℓ / Σ_rows count; both are known before batches are made, so the
    layout of a batch cannot change the loss.
    """

    weight: float
    count: float


def row_shares(
    lengths: Sequence[int], rollouts: Sequence[str], aggregation: Aggregation = "rollout", constant: float = 1.0
) -> list[RowShare]:
    """Shares of S rows with `lengths` action tokens each, belonging to `rollouts`.

    rollout: mean over rollouts of the mean over all tokens of a rollout, however many rows it was split into
    (arXiv 2608.17528). token: DAPO, arXiv 2503.14476. sequence: GRPO, arXiv 2402.03300 eq. 3, mean of row means.
    constant: Dr. GRPO, arXiv 2503.20783, token sums over rows times a constant length.
    """
    totals: dict[str, int] = {}
    for length, rollout in zip(lengths, rollouts, strict=True):
        totals[rollout] = totals.get(rollout, 0) + length
    match aggregation:
        case "rollout":
            return [
                RowShare(1 / totals[rollout], length / totals[rollout])
                for length, rollout in zip(lengths, rollouts, strict=True)
            ]
        case "token":
            return [RowShare(1.0, float(length)) for length in lengths]
        case "sequence":
            return [RowShare(1 / length, 1.0) for length in lengths]
        case "constant":
            return [RowShare(1.0, constant) for _ in lengths]
