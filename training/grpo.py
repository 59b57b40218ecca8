"""Offline replay of logged rollouts, GRPO's way.

Rollouts of one task are compared with each other, and each logged action bears the advantage that credit gave it. The
policy is moved towards what did better than its group and away from what did worse, in a clipped trust region around
a named anchor. Releases hold no verified log-probs of the model that acted, so the anchor is the model that training
starts from: its first step is a policy gradient whoever wrote the data (arXiv 2509.24203), later ones are a
regularised fit to it. That is no on-policy RL, and nothing here calls it so. Against a fixed anchor a symmetric clip
stops every token at the same bound for good, so the upper bound is wide; the k2 term pulls back.

    python -m training.grpo --release DIR --out DIR                      # a tiny model, on a CPU, in a minute
    python -m training.grpo --release DIR --out DIR --model PATH         # a model of yours, on a GPU where there is one
    torchrun --nproc-per-node 8 -m training.grpo --release DIR --out DIR --model PATH
    python -m training.grpo … --resume                                   # after Ctrl-C or a crash: as if nothing was

Exit status: 0 done, 1 stopped by an alarm, 2 refused, 130 interrupted with a checkpoint saved.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from training import launch
from training.encode import Replay, encode_rollouts
from training.fit import Data, Reference, fit
from training.release import read_rollouts
from training.tokens import Renderer

if TYPE_CHECKING:
    from torch import Tensor

    from training.logprobs import Scores
    from training.loop import Batch
    from training.losses import Aggregation, PolicyKind, RowShare

NO_LOGGED_LOGPROBS = (
    "anchor `logged` needs verified log-probs of the model that acted, and a release holds none: text that was cleaned "
    "or tokenised again has other tokens than those that were sampled. Use --anchor reference"
)


def main(arguments: list[str] | None = None) -> int:
    options = flags().parse_args(arguments)
    return launch.guarded(lambda: train(options))


def flags() -> argparse.ArgumentParser:
    parser = launch.parser(__doc__)
    add = parser.add_argument
    add("--anchor", choices=["reference", "logged"], default="reference", help="whose log-probs ratios are against")
    add("--loss", choices=["clip", "dual_clip", "cispo"], default="clip", help="the surrogate")
    add("--clip-low", type=float, default=0.2, help="ratios below 1 - this no longer push a bad action down")
    add("--clip-high", type=float, default=4.0, help="ratios above 1 + this no longer push a good action up")
    add("--dual-clip", type=float, default=3.0, help="bound on ratios of bad actions (dual_clip)")
    aggregations = ["rollout", "token", "sequence", "constant"]
    add(
        "--aggregate",
        choices=aggregations,
        default="rollout",
        help="mean over rollouts; token: DAPO; constant: Dr. GRPO",
    )
    add("--length-constant", type=float, default=1024.0, help="tokens that Dr. GRPO divides a row by")
    add("--kl", type=float, default=0.02, help="weight of k2 to the reference")
    add("--advantage-clip", type=float, default=3.0, help="advantages are kept within ± this")
    return parser


def train(options: argparse.Namespace) -> None:
    """Read, encode, train, write. Raises Refused, Alarm, Interrupted."""
    if options.anchor == "logged":
        raise launch.Refused(NO_LOGGED_LOGPROBS)
    frame = read_rollouts(options.release, "train")
    signal = with_signal(frame)
    if signal.is_empty():
        raise launch.Refused(
            f"{options.release}: none of {frame.height} rows is in a group whose rewards differ; nothing to learn"
        )
    arguments = launch.trainer_arguments(options)
    start = launch.start(options, arguments)
    renderer = Renderer(start.tokenizer, options.template_options)
    replays, report = encode_rollouts(signal, renderer, options.max_length)
    if not any(replay.advantages.any() for replay in replays):
        raise launch.Refused(f"{options.release}: no call with an advantage is left; calls left out: {report.rejected}")
    facts = {"anchor": options.anchor, "rows_without_signal": frame.height - signal.height, "rows": frame.height}
    collator = Collator(shares(replays, options.aggregate, options.length_constant), options.advantage_clip)
    data = Data(replays, [replay.row for replay in replays], collator, report, facts)
    objective = Surrogate(options.loss, options.clip_low, options.clip_high, options.dual_clip, options.kl)
    fit(options, arguments, start, data, objective, ("gain", "ess", "clipped", "k2"))


def with_signal(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of ROLLOUTS in groups in which some action has an advantage; a task done once may, by a wider baseline."""
    credited = pl.col("advantages").list.eval(pl.element() != 0).list.any()
    return frame.filter(credited.any().over("task_id"))


def shares(replays: Sequence[Replay], aggregation: Aggregation, constant: float) -> dict[str, RowShare]:
    """How each row counts, by rollout and row."""
    from training.losses import row_shares

    lengths = [len(replay.advantages) for replay in replays]
    rollouts = [replay.rollout_id for replay in replays]
    made = row_shares(lengths, rollouts, aggregation, constant)
    return {share_key(replay): share for replay, share in zip(replays, made, strict=True)}


def share_key(replay: Replay) -> str:
    return f"{replay.rollout_id} {replay.row.key}"


@dataclass(frozen=True)
class Collator:
    """Rows as one batch, every action token with its advantage, its anchor and its weight in the loss."""

    shares: dict[str, RowShare]
    advantage_clip: float = float("inf")

    def __call__(self, replays: Sequence[Replay], reference: Reference) -> Batch:
        """Adds to `pad`: anchor, advantage, weight [T]."""
        import torch

        from training.logprobs import pad

        rows = [replay.row for replay in replays]
        shares = [self.shares[share_key(replay)] for replay in replays]
        lengths = [len(replay.advantages) for replay in replays]
        advantages = np.concatenate([replay.advantages for replay in replays])
        weights = np.repeat([share.weight for share in shares], lengths)
        return pad(rows) | {
            "anchor": torch.from_numpy(np.concatenate([reference[row.key] for row in rows])),
            "advantage": torch.from_numpy(advantages.clip(-self.advantage_clip, self.advantage_clip)).float(),
            "weight": torch.from_numpy(weights).float(),
            "count": torch.tensor(sum(share.count for share in shares), dtype=torch.float32),
        }


@dataclass(frozen=True)
class Surrogate:
    """A surrogate over action tokens and k2 to the reference, which is the anchor too."""

    kind: PolicyKind
    low: float
    high: float
    ceiling: float
    kl_weight: float

    def loss(self, scores: Scores, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        from training.losses import clipped, k2

        log_ratio = scores.logp - batch["anchor"]
        losses = self._surrogate(scores.logp, log_ratio, batch["advantage"]) + self.kl_weight * k2(log_ratio)
        ratio = log_ratio.detach().exp()
        sums = {
            "gain": (batch["advantage"] * log_ratio.detach()).sum(),
            "ratio": ratio.sum(),
            "ratio_squared": (ratio**2).sum(),
            "clipped": clipped(log_ratio.detach(), batch["advantage"], self.low, self.high).sum(),
            "k2": k2(log_ratio.detach()).sum(),
        }
        return (batch["weight"] * losses).sum(), sums

    def metrics(self, sums: dict[str, float]) -> dict[str, float]:
        """Of a step's tokens: gain, mean of advantage times log-ratio, which rises where learning goes the right way
        (the loss tells little: it is about 0 at the anchor, and differs from batch to batch); ess, effective sample
        size as a share; clipped, share that no longer moves; mean k2."""
        tokens = sums["token_count"]
        ess = sums["ratio"] ** 2 / sums["ratio_squared"] / tokens
        return {"ess": ess} | {name: sums[name] / tokens for name in ("gain", "clipped", "k2")}

    def _surrogate(self, logp: Tensor, log_ratio: Tensor, advantage: Tensor) -> Tensor:
        from training.losses import cispo_losses, clip_losses, dual_clip_losses

        match self.kind:
            case "cispo":
                return cispo_losses(logp, log_ratio, advantage, None, self.high)
            case "dual_clip":
                return dual_clip_losses(log_ratio, advantage, self.low, self.high, self.ceiling)
            case _:
                return clip_losses(log_ratio, advantage, self.low, self.high)


if __name__ == "__main__":
    sys.exit(main())
