"""Recall and precision on synthetic traces; the worst of several fresh seeds counts, and every miss is listed.

    python -m benchmarks.privacy.synthetic --seeds 5 [--traces 40] [--seed 7] [--stock] [--no-model]

A value counts as covered when nothing that gives it away can be read in the cleaned value, whatever it is encoded in.
With `--stock`, Presidio out of the box cleans the first traces of the first seed, too.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter

from benchmarks.privacy.cleaners import Cleaner, Ours, Stock
from benchmarks.privacy.score import OVERALL, PRECISION, TARGETS, Score
from benchmarks.privacy.traces import Trace, trace
from transforms.privacy.policy import PrivacyPolicy

STOCK_TRACES = 8


def main() -> None:
    """Print one table; exit 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--traces", type=int, default=40, help="trajectories a seed, 24 values each")
    parser.add_argument("--seed", type=int, help="of the first run; none: a fresh one")
    parser.add_argument("--stock", action="store_true", help="Presidio out of the box beside")
    parser.add_argument("--no-model", action="store_true", help="without the model for names")
    parser.add_argument("--misses", type=int, default=200, help="how many are listed at most")
    options = parser.parse_args()
    first = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    scores = {}
    for seed in range(first, first + options.seeds):
        ours = Ours(PrivacyPolicy(model=None) if options.no_model else None)
        before = time.process_time()
        scores[seed] = run(ours, generated(seed, options.traces))
        spent = time.process_time() - before
        told = f"recall {scores[seed].recall():.4f}, precision {scores[seed].precision:.4f}, {spent:.1f} CPU s"
        print(f"seed {seed}: {told}", file=sys.stderr)
    stock = run(Stock(), generated(first, STOCK_TRACES)) if options.stock else None
    tell_misses(scores, options.misses)
    sys.exit(0 if tell(list(scores.values()), stock) else 1)


def generated(seed: int, count: int) -> list[Trace]:
    """The traces of a seed."""
    return [trace(random.Random(f"{seed}/{number}")) for number in range(count)]


def run(cleaner: Cleaner, traces: list[Trace]) -> Score:
    """One cleaner over traces."""
    score = Score()
    for made in traces:
        score.add(made, cleaner(made.values))
    return score


def tell(scores: list[Score], stock: Score | None) -> bool:
    """Print the worst figures; whether all targets are met."""
    groups = sorted({group for score in scores for group in score.planted})
    met = True
    print(f"\n{'kind':24}{'planted':>9}{'worst recall':>14}{'target':>8}{'stock':>8}")
    for group in [*groups, ""]:
        planted = sum(score.planted[group] if group else score.planted.total() for score in scores)
        recall = min(score.recall(group) for score in scores)
        target = TARGETS.get(group) if group else OVERALL
        beside = f"{stock.recall(group):8.3f}" if stock else ""
        fine = target is None or recall >= target
        met &= fine
        wanted, missed = f"{target:.3f}" if target else "", "" if fine else "  MISSED"
        print(f"{group or 'all':24}{planted:9}{recall:14.4f}{wanted:>8}{beside}{missed}")
    precision = min(score.precision for score in scores)
    beside = f"{stock.precision:8.3f}" if stock else ""
    print(f"{'precision':24}{sum(score.spans for score in scores):9}{precision:14.4f}{PRECISION:8.3f}{beside}")
    print(f"\n{'place':24}{'planted':>9}{'worst recall':>14}")
    for place in sorted({place for score in scores for place in score.places}):
        least = min(score.recall_in(place) for score in scores)
        print(f"{place:24}{sum(score.places[place] for score in scores):9}{least:14.4f}")
    return met and precision >= PRECISION


def tell_misses(scores: dict[int, Score], most: int) -> None:
    """Print every miss and every false span; all of it is invented."""
    print("misses (kind, place, value, what is left, around it):")
    for seed, score in scores.items():
        for one, left, around in score.misses[:most]:
            print(f"  {seed} {one.kind} | {one.place} | {one.value[:50]!r} | {left[:40]!r} | {around!r}")
    print("replaced for nothing:")
    for (entity, text), count in Counter(span for score in scores.values() for span in score.false).most_common(most):
        print(f"  {count}x {entity} {text[:80]!r}")


if __name__ == "__main__":
    main()
