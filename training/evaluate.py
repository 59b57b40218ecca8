"""Judge a policy on the held-out pairs of its release, against the model it started from.

Logs cannot tell how often a policy would succeed: it was not there. What they can tell is whether it now finds the
better of two logged continuations likelier, on tasks that it has not seen. So, for each pair of the test split and for
action tokens only: is the mean log-prob of the chosen side the higher one, before and after; and is the implicit
reward margin, β Δ(log π/π_ref), positive. Passing needs margins that are positive on more than half of the pairs,
beyond chance, and no loss of the first; under twenty pairs nothing is judged.

    python -m training.evaluate --release DIR --reference PATH --policy PATH --out FILE.json
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log as ln
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from training import artifacts, intervals, launch
from training.encode import Pair, data_hash, encode_pairs
from training.release import read_pairs
from training.tokens import Renderer, Report
from warehouse.files import write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from training.tokens import Row

log = logging.getLogger("training")

FEWEST_PAIRS = 20
"""Below this an interval of a share spans two fifths: nothing can be told."""

TOO_FEW = "too few to judge"

MATCHED = ln(2)
"""Sides whose lengths differ by less than a factor of two are of matched length."""


@dataclass(frozen=True)
class SideScores:
    """Of P pairs, per model: mean log-prob of a token [P, 2] and sum [P, 2], chosen then rejected."""

    mean: NDArray[np.float64]
    total: NDArray[np.float64]


def main(arguments: list[str] | None = None) -> int:
    options = flags().parse_args(arguments)
    return launch.guarded(lambda: evaluate(options))


def flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--release", type=Path, required=True, help="release folder")
    add("--reference", type=Path, required=True, help="folder of the model that training started from")
    add("--policy", type=Path, required=True, help="folder of the trained model")
    add("--out", type=Path, required=True, help="JSON file for the verdict")
    add("--beta", type=float, default=0.1, help="scale of the margins, as in training")
    add("--max-length", type=int, default=32_768, help="tokens of a call with its prompt; longer calls are left out")
    add("--template-options", type=launch.json_object, default={}, help="JSON object of template options, as served")
    return parser


def evaluate(options: argparse.Namespace) -> None:
    """Score the held-out pairs with both models and write the verdict. Raises Refused."""
    reference = launch.load(options.reference)
    pairs, report = tokens_of(options, reference)
    before = score(reference, pairs)
    hashes = {"reference": reference.hashes["model"], "data": data_hash(pairs)}
    policy = launch.load(options.policy)
    if data_hash(tokens_of(options, policy)[0]) != hashes["data"]:
        raise launch.Refused("policy and reference differ in tokenizer or template: their tokens are not the same")
    verdict = judge(pairs, before, score(policy, pairs), options.beta)
    written = verdict | {"hashes": hashes | {"policy": policy.hashes["model"]}, "counts": asdict(report)}
    write_json(options.out, written)
    artifacts.report_to_dagster(_headline(verdict), policy.hashes["model"][:32])
    log.info("%s: %s", verdict["verdict"], verdict["reason"])


def tokens_of(options: argparse.Namespace, start: launch.Start) -> tuple[list[Pair], Report]:
    """The held-out pairs as the model's tokenizer and template have them."""
    renderer = Renderer(start.tokenizer, options.template_options)
    return encode_pairs(read_pairs(options.release, "test"), renderer, options.max_length)


def score(start: launch.Start, pairs: list[Pair]) -> SideScores:
    """Log-probs of both sides of each pair."""
    from training.logprobs import row_logprobs

    sides = [side for pair in pairs for side in (pair.chosen, pair.rejected)]
    scored = iter(row_logprobs(start.model, [row for side in sides for row in side], launch.device()))
    tokens = [np.concatenate([next(scored) for _ in side]).astype(np.float64) for side in sides]
    mean = np.array([values.mean() for values in tokens]).reshape(-1, 2)
    return SideScores(mean, np.array([values.sum() for values in tokens]).reshape(-1, 2))


def judge(pairs: list[Pair], before: SideScores, after: SideScores, beta: float) -> dict[str, Any]:
    """Verdict, its reason, and the measures it rests on."""
    tasks = [pair.task_id for pair in pairs]
    facts = {"pairs": len(pairs), "tasks": len(set(tasks)), "beta": beta}
    too_few = f"{TOO_FEW}: {len(pairs)} held-out pairs, {FEWEST_PAIRS} are needed"
    if not pairs:
        return facts | {"verdict": "inconclusive", "reason": too_few, "measures": []}
    was, now = (scores.mean[:, 0] > scores.mean[:, 1] for scores in (before, after))
    ratio = after.total - before.total
    margins = beta * (ratio[:, 0] - ratio[:, 1])
    preferred = intervals.share(now.tolist(), tasks)
    gained = intervals.change((now.astype(int) - was).tolist(), tasks)
    positive = intervals.share((margins > 0).tolist(), tasks)
    measures = [
        _measure("preferred", preferred, len(pairs), _against(gained, 0.0), float(was.mean())),
        _measure("preferred_change", gained, len(pairs), _against(gained, 0.0)),
        _measure("positive_margin", positive, len(pairs), _against(positive, 0.5)),
        *_length_matched(pairs, was, now, tasks),
    ]
    verdict, reason = _verdict(gained, positive)
    if len(pairs) < FEWEST_PAIRS:
        verdict, reason = "inconclusive", too_few
        measures = [measure | {"verdict": TOO_FEW} for measure in measures]
    shown = {"mean_margin": float(margins.mean()), "longer_is_chosen": _longer_is_chosen(pairs)}
    return facts | shown | {"verdict": verdict, "reason": reason, "measures": measures}


def _verdict(gained: intervals.Interval, positive: intervals.Interval) -> tuple[str, str]:
    if _against(gained, 0.0) == "fail":
        return "fail", "fewer chosen sides are preferred than before, beyond chance"
    if _against(positive, 0.5) == "fail":
        return "fail", "margins are negative on more than half of the pairs, beyond chance"
    if _against(positive, 0.5) == "pass" and gained.mean >= 0:
        return "pass", "margins are positive on more than half of the pairs, beyond chance, and no preference was lost"
    return "inconclusive", "the intervals leave open whether the policy is better than its reference"


def _against(interval: intervals.Interval, neutral: float) -> str:
    if interval.low > neutral:
        return "pass"
    return "fail" if interval.high < neutral else "inconclusive"


def _measure(
    name: str, interval: intervals.Interval, count: int, verdict: str, before: float | None = None
) -> dict[str, Any]:
    return {
        "measure": name,
        "before": before,
        "after": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "count": count,
        "verdict": verdict,
    }


def _length_matched(
    pairs: list[Pair], was: NDArray[np.bool_], now: NDArray[np.bool_], tasks: Sequence[str]
) -> list[dict[str, Any]]:
    """The first measure on pairs of matched length, where length cannot be what is preferred."""
    kept = [
        index for index, pair in enumerate(pairs) if abs(ln(_length(pair.chosen) / _length(pair.rejected))) < MATCHED
    ]
    if len(kept) < FEWEST_PAIRS:
        return []
    chosen = [tasks[index] for index in kept]
    gained = intervals.change((now[kept].astype(int) - was[kept]).tolist(), chosen)
    share = intervals.share(now[kept].tolist(), chosen)
    return [_measure("preferred_length_matched", share, len(kept), _against(gained, 0.0), float(was[kept].mean()))]


def _longer_is_chosen(pairs: list[Pair]) -> float:
    return float(np.mean([_length(pair.chosen) > _length(pair.rejected) for pair in pairs]))


def _length(side: list[Row]) -> int:
    return sum(len(row.positions) for row in side)


def _headline(verdict: dict[str, Any]) -> dict[str, str | int | float | None]:
    values = {
        f"{entry['measure']}_{when}": entry[when] for entry in verdict["measures"] for when in ("before", "after")
    }
    return {name: verdict[name] for name in ("verdict", "reason", "pairs", "tasks")} | values


if __name__ == "__main__":
    sys.exit(main())
