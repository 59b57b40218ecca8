"""Direct preference optimisation on the pairs of a release.

Each pair shares its first messages; then two trajectories part, and one did better. DPO (Rafailov et al., arXiv
2305.18290) raises the chosen side's log-prob against the rejected side's, both measured against the model that
training starts from. Only tokens that a model wrote count: what tools, users and templates put between them is read
and not learnt. Every call is rendered as it was served. The reference is computed once, a number a token.

    python -m training.dpo --release DIR --out DIR                       # a tiny model, on a CPU, in a minute
    python -m training.dpo --release DIR --out DIR --model PATH          # a model of yours, on a GPU where there is one
    torchrun --nproc-per-node 8 -m training.dpo --release DIR --out DIR --model PATH
    python -m training.dpo … --resume                                    # after Ctrl-C or a crash: as if nothing was

Exit status: 0 done, 1 stopped by an alarm, 2 refused, 130 interrupted with a checkpoint saved.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from training import launch
from training.encode import Pair, encode_pairs
from training.fit import Data, Reference, fit
from training.release import read_pairs
from training.tokens import NOT_TRAINED, Renderer, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from training.logprobs import Scores
    from training.loop import Batch
    from training.losses import PreferenceKind


def main(arguments: list[str] | None = None) -> int:
    options = flags().parse_args(arguments)
    return launch.guarded(lambda: train(options))


def flags() -> argparse.ArgumentParser:
    parser = launch.parser(__doc__)
    add = parser.add_argument
    kinds = ["sigmoid", "cdpo", "robust", "ipo", "ipo_sum", "hinge", "sigmoid_norm"]
    add("--loss", choices=kinds, default="sigmoid", help="sigmoid is DPO; sigmoid_norm wants a beta of 1 to 10")
    add("--beta", type=float, default=0.1, help="how dearly leaving the reference is paid; with ipo its τ")
    add("--label-noise", type=float, default=0.1, help="share of pairs that are the wrong way round (cdpo, robust)")
    add("--nll", type=float, default=0.0, help="weight of the chosen side's NLL; 0.2 to 1 keeps its log-prob up")
    add("--turn-discount", type=float, help="weigh turns as DMPO does, with this γ; without it every turn weighs 1")
    return parser


def train(options: argparse.Namespace) -> None:
    """Read, encode, train, write. Raises Refused, Alarm, Interrupted."""
    arguments = launch.trainer_arguments(options)
    start = launch.start(options, arguments)
    renderer = Renderer(start.tokenizer, options.template_options)
    pairs, report = encode_pairs(read_pairs(options.release, "train"), renderer, options.max_length)
    if not pairs:
        raise launch.Refused(f"{options.release}: no training pair can be used; calls left out: {report.rejected}")
    collator = Collator(options.turn_discount)
    data = Data(pairs, [row for pair in pairs for row in pair.rows], collator, report, {"anchor": "reference"})
    objective = Preference(options.loss, options.beta, options.label_noise, options.nll)
    fit(options, arguments, start, data, objective, ("accuracy", "margin", "entropy"))


@dataclass(frozen=True)
class Collator:
    """Pairs as one batch: all rows of all sides below each other, every action token told its side."""

    turn_discount: float | None = None

    def __call__(self, pairs: Sequence[Pair], reference: Reference) -> Batch:
        """Adds to `pad`: reference, weight [T]; side [T], 2 · pair + (0 chosen, 1 rejected); lengths [P, 2]."""
        import torch

        from training.logprobs import pad

        sides = [side for pair in pairs for side in (pair.chosen, pair.rejected)]
        rows = [row for side in sides for row in side]
        lengths = [sum(len(row.positions) for row in side) for side in sides]
        return pad(rows) | {
            "reference": torch.from_numpy(np.concatenate([reference[row.key] for row in rows])),
            "weight": torch.from_numpy(np.concatenate([self.weights(side) for side in sides])).float(),
            "side": torch.arange(len(sides)).repeat_interleave(torch.tensor(lengths)),
            "lengths": torch.tensor(lengths, dtype=torch.float32).view(-1, 2),
            "count": torch.tensor(float(len(pairs))),
        }

    def weights(self, side: list[Row]) -> NDArray[np.float64]:
        """Weight of each action token of a side: 1, or what DMPO gives its turn."""
        from training.losses import turn_weights

        calls = np.concatenate([row.calls[row.calls != NOT_TRAINED] for row in side])
        if self.turn_discount is None:
            return np.ones(len(calls))
        turns, turn = np.unique(calls, return_inverse=True)
        return np.asarray(turn_weights(len(turns), self.turn_discount))[turn]


@dataclass(frozen=True)
class Preference:
    """A loss of the DPO family over pairs."""

    kind: PreferenceKind
    beta: float
    label_noise: float
    nll_weight: float

    def loss(self, scores: Scores, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        from training.losses import PairRatios, preference_losses

        ratio = self._by_side((scores.logp - batch["reference"]) * batch["weight"], batch)
        logp, lengths = self._by_side(scores.logp, batch), batch["lengths"]
        pairs = PairRatios(ratio[:, 0], ratio[:, 1], lengths[:, 0], lengths[:, 1], -logp[:, 0] / lengths[:, 0])
        result = preference_losses(pairs, self.kind, self.beta, self.label_noise, self.nll_weight)
        margins = result.margins.detach()
        sums = {"pairs": batch["count"], "right": (margins > 0).sum(), "margins": margins.sum()}
        return result.losses.sum(), sums

    def metrics(self, sums: dict[str, float]) -> dict[str, float]:
        return {"accuracy": sums["right"] / sums["pairs"], "margin": sums["margins"] / sums["pairs"]}

    def _by_side(self, values: Tensor, batch: Batch) -> Tensor:
        """Sums [P, 2] of values [T] over each side."""
        sums = values.new_zeros(batch["lengths"].numel())
        return sums.index_add(0, batch["side"], values).view(-1, 2)


if __name__ == "__main__":
    sys.exit(main())
