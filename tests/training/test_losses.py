"""Losses against published numbers: float64, 1e-9."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from training import losses

MASK = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=torch.bool)
LOGP = torch.tensor([[-0.5, -1.0, -0.2, -2.0], [-0.7, -0.1, -3.0, 0.0], [-1.5, -0.3, -0.4, -0.6]], dtype=torch.float64)
OLD = torch.tensor([[-0.6, -1.3, -0.2, -1.8], [-0.7, -0.4, -2.0, 0.0], [-1.0, -0.3, -0.9, -0.6]], dtype=torch.float64)
REFERENCE = torch.tensor(
    [[-0.55, -1.1, -0.3, -1.9], [-0.8, -0.2, -2.5, 0.0], [-1.2, -0.4, -0.7, -0.5]], dtype=torch.float64
)
ADVANTAGE = torch.tensor([[1.5] * 4, [-1.0] * 4, [0.5, 0.5, -0.8, -0.8]], dtype=torch.float64)
LENGTHS, ROLLOUTS = [3, 3, 4], ["t1", "t1", "t2"]
LOW, HIGH = 0.2, 0.28

CLIP = [
    [-1.6577563771134711, -1.92, -1.5, -1.228096129616973],
    [1.0, 1.3498588075760032, 0.8, 1.0],
    [-0.3032653298563167, -0.5, 1.3189770165601027, 0.8],
]
CISPO_ABOVE = [
    [0.8288781885567356, 2.0247882113640046, 0.30000000000000004, 2.456192259233946],
    [-0.7, -0.13498588075760032, -1.103638323514327, 0.0],
    [0.45489799478447507, 0.15, -0.5275908066240411, -0.48],
]
CISPO_BOTH = [
    [0.8288781885567356, 1.92, 0.30000000000000004, 2.456192259233946],
    [-0.7, -0.128, -2.4000000000000004, 0.0],
    [0.6000000000000001, 0.15, -0.4096, -0.48],
]


def close(found: Tensor, expected: Any) -> bool:
    return torch.allclose(found, torch.as_tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9)


def aggregated(token_losses: Tensor, aggregation: losses.Aggregation, constant: float = 1.0) -> float:
    shares = losses.row_shares(LENGTHS, ROLLOUTS, aggregation, constant)
    weights = torch.tensor([share.weight for share in shares], dtype=torch.float64)
    total = ((token_losses * MASK).sum(1) * weights).sum()
    return float(total / sum(share.count for share in shares))


def clip() -> Tensor:
    return losses.clip_losses(LOGP - OLD, ADVANTAGE, LOW, HIGH)


def cispo_above() -> Tensor:
    return losses.cispo_losses(LOGP, LOGP - OLD, ADVANTAGE, None, 4.0)


def cispo_both() -> Tensor:
    return losses.cispo_losses(LOGP, LOGP - OLD, ADVANTAGE, LOW, HIGH)


def test_the_clipped_surrogates_are_the_published_ones() -> None:
    assert close(clip(), CLIP)
    assert close(losses.dual_clip_losses(LOGP - OLD, ADVANTAGE, LOW, HIGH, 3.0), CLIP)
    assert close(cispo_above(), CISPO_ABOVE)
    assert close(cispo_both(), CISPO_BOTH)


def test_the_dual_clip_bounds_what_a_bad_action_costs() -> None:
    far = torch.tensor([math.log(50.0)], dtype=torch.float64)
    bad = torch.tensor([-1.0], dtype=torch.float64)
    assert close(losses.clip_losses(far, bad, LOW, HIGH), [50.0])
    assert close(losses.dual_clip_losses(far, bad, LOW, HIGH, 3.0), [3.0])


def test_a_clipped_token_has_no_gradient_and_is_counted() -> None:
    logp = LOGP.clone().requires_grad_()
    (losses.clip_losses(logp - OLD, ADVANTAGE, LOW, HIGH) * MASK).sum().backward()
    expected = [
        [-1.6577563771134711, 0.0, 0.0, -1.228096129616973],
        [1.0, 1.3498588075760032, 0.0, 0.0],
        [-0.3032653298563167, -0.5, 1.3189770165601027, 0.8],
    ]
    assert logp.grad is not None and close(logp.grad, expected)
    stopped = losses.clipped(LOGP - OLD, ADVANTAGE, LOW, HIGH)
    assert torch.equal(stopped & MASK, (logp.grad == 0) & MASK)


@pytest.mark.parametrize(
    ("made", "token", "sequence", "constant", "rollout"),
    [
        (clip, -0.03402820124506545, -0.07435665934740006, -0.028356834370887873, 0.026464485908436558),
        (cispo_above, 0.2968541643043193, 0.3410238717781205, 0.2473784702535994, 0.23059960309361752),
        (cispo_both, 0.18374704477906817, 0.20804116086563132, 0.15312253731589015, 0.14730587064922349),
    ],
)
def test_rows_aggregate_as_published(
    made: Callable[[], Tensor], token: float, sequence: float, constant: float, rollout: float
) -> None:
    assert aggregated(made(), "token") == pytest.approx(token, abs=1e-9)
    assert aggregated(made(), "sequence") == pytest.approx(sequence, abs=1e-9)
    assert aggregated(made(), "constant", 4.0) == pytest.approx(constant, abs=1e-9)
    assert aggregated(made(), "rollout") == pytest.approx(rollout, abs=1e-9)


def test_a_rollout_counts_once_however_many_rows_it_was_split_into() -> None:
    whole = losses.row_shares([6, 4], ["t1", "t2"])
    split = losses.row_shares([2, 4, 4], ["t1", "t1", "t2"])
    assert whole[0].weight == split[0].weight == split[1].weight
    assert sum(share.count for share in split) == pytest.approx(2)


def test_kl_estimators_are_the_published_ones() -> None:
    ratio = LOGP - REFERENCE
    tokens = ratio[MASK]
    assert float(losses.k1(tokens).mean()) == pytest.approx(-0.025, abs=1e-9)
    assert float(losses.k2(tokens).mean()) == pytest.approx(0.024625, abs=1e-9)
    assert float(losses.k3(tokens).mean()) == pytest.approx(0.027031923175369687, abs=1e-9)
    assert close(losses.k2(ratio)[2], [0.045, 0.005, 0.045, 0.005])
    third = [0.04985880757600314, 0.004837418035959606, 0.04081822068171781, 0.005170918075647624]
    assert close(losses.k3(ratio)[2], third)


def test_kl_estimators_are_unbiased_on_policy_and_biased_on_logs() -> None:
    policy, reference, logged = (
        torch.tensor(values, dtype=torch.float64) for values in ([0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.7, 0.2, 0.1])
    )
    ratio = (policy / reference).log()
    estimators = (losses.k1, losses.k2, losses.k3)
    on_policy = [float((policy * estimator(ratio)).sum()) for estimator in estimators]
    offline = [float((logged * estimator(ratio)).sum()) for estimator in estimators]
    assert on_policy == pytest.approx([0.02526715392157057, 0.024862407344802114, 0.02526715392157057], abs=1e-12)
    assert offline == pytest.approx([0.0986640714295906, 0.02570366305360626, 0.02533073809625727], abs=1e-12)


def test_the_effective_sample_size_is_the_published_one() -> None:
    tokens = (LOGP - OLD)[MASK]
    assert float(losses.effective_sample_size(tokens)) == pytest.approx(8.930153809741856, abs=1e-9)
    rows = ((LOGP - OLD) * MASK).sum(1)
    assert float(losses.effective_sample_size(rows)) == pytest.approx(2.697706934088874, abs=1e-9)


def pairs() -> losses.PairRatios:
    """Three pairs: policy (-42, -55), (-100, -60), (-12, -12.5); reference (-45, -52), (-95, -61), (-12, -12.5)."""
    chosen, rejected = [3.0, -5.0, 0.0], [-3.0, 1.0, 0.0]
    lengths = ([20.0, 80.0, 10.0], [25.0, 30.0, 10.0])
    nll = [42 / 20, 100 / 80, 12 / 10]
    columns = (chosen, rejected, *lengths, nll)
    return losses.PairRatios(*(torch.tensor(values, dtype=torch.float64) for values in columns))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("sigmoid", [0.4374879504858856, 1.0374879504858856, 0.6931471805599453]),
        ("cdpo", [0.4974879504858857, 0.9774879504858855, 0.6931471805599453]),
        ("robust", [0.3624879504858856, 1.1124879504858856, 0.6931471805599452]),
        ("ipo", [22.372900000000005, 25.96751736111111, 25.0]),
        ("ipo_sum", [1.0, 121.0, 25.0]),
        ("hinge", [0.3999999999999999, 1.6, 1.0]),
        ("sigmoid_norm", [0.679738302792158, 0.6979503272174041, 0.6931471805599453]),
    ],
)
def test_preference_losses_are_the_published_ones(kind: losses.PreferenceKind, expected: list[float]) -> None:
    found = losses.preference_losses(pairs(), kind, beta=0.1, label_noise=0.1)
    assert close(found.losses, expected)
    assert close(found.margins, [0.6, -0.6, 0.0])


def test_an_nll_anchor_adds_the_chosen_sides_nll() -> None:
    found = losses.preference_losses(pairs(), nll_weight=1.0)
    assert close(found.losses, [2.5374879504858856, 2.2874879504858856, 1.8931471805599451])


def test_the_gradient_of_dpo_weighs_a_pair_by_how_wrong_it_is() -> None:
    given = pairs()
    given.chosen.requires_grad_()
    losses.preference_losses(given, beta=0.1).losses.sum().backward()
    weights = [0.3543436937742045, 0.6456563062257954, 0.5]
    assert given.chosen.grad is not None and close(given.chosen.grad, [-0.1 * weight for weight in weights])


def turn_loss(weights: tuple[list[float], list[float]]) -> float:
    turns = ([2.0, 1.0, -0.5], [-1.0, 0.5, 0.2, -2.0])
    sums = [
        torch.tensor([sum(w * r for w, r in zip(side_weights, side, strict=True))], dtype=torch.float64)
        for side_weights, side in zip(weights, turns, strict=True)
    ]
    ones = torch.ones(1, dtype=torch.float64)
    return float(losses.preference_losses(losses.PairRatios(*sums, ones, ones, ones)).losses)


def test_turns_weigh_as_eto_and_dmpo_say() -> None:
    chosen, rejected = losses.turn_weights(3, 0.7), losses.turn_weights(4, 0.7)
    assert chosen == pytest.approx([1.0, 0.5433789954337899, 0.2237442922374429], abs=1e-12)
    phi = [1.0, 0.6052112120015791, 0.32885906040268453, 0.13541255428345833]
    assert rejected == pytest.approx(phi, abs=1e-12)
    assert losses.turn_weights(3, 1.0) == pytest.approx([1.0, 2 / 3, 1 / 3], abs=1e-12)
    assert turn_loss(([1.0] * 3, [1.0] * 4)) == pytest.approx(0.4816748743957433, abs=1e-9)
    assert turn_loss((chosen, rejected)) == pytest.approx(0.5402796441498838, abs=1e-9)
    assert turn_loss(([1 / 3] * 3, [1 / 4] * 4)) == pytest.approx(0.6252077211713645, abs=1e-9)
    assert turn_loss(([1.0, 0.2, 0.0], [0.0, 0.3, 0.0, 1.0])) == pytest.approx(0.5110116929691274, abs=1e-9)
