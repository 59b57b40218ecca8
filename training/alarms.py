"""When training is no longer learning: the signs that RAGEN (arXiv 2504.20073) found before a collapse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from transforms.credit.echo_trap import BASELINE, COLLAPSED_SHARE, collapses

SPIKE_FACTOR = 3.0
"""Times the running median above which a gradient norm is a spike. Ours, as above."""

PATIENCE = 2
"""Signs in a row that stop a run, as one may be one odd batch. No checkpoint is saved on a gradient spike meanwhile."""


class Alarm(RuntimeError):
    """Training stopped before the last good checkpoint was overwritten."""


def gradient_spikes(norms: Sequence[float]) -> list[int]:
    """Steps, from 0, whose gradient norm is above SPIKE_FACTOR times the median of all steps before."""
    return [step for step in range(BASELINE, len(norms)) if not norms[step] <= SPIKE_FACTOR * median(norms[:step])]


def alarm(losses: Sequence[float], norms: Sequence[float], entropies: Sequence[float]) -> str:
    """Why training must stop after the last of these steps; empty while it need not."""
    step = len(losses) - 1
    if not math.isfinite(losses[-1]):
        return f"the loss of step {step + 1} is not a number"
    if not math.isfinite(norms[-1]):
        return f"the gradient norm of step {step + 1} is not a number"
    if _lasts(gradient_spikes(norms), len(norms)):
        return f"gradient norms of the {PATIENCE} steps to {step + 1} are over {SPIKE_FACTOR:g} times the median"
    if _lasts(collapses(entropies), len(entropies)):
        return f"entropies of the {PATIENCE} steps to {step + 1} are under {COLLAPSED_SHARE:.0%} of the first steps'"
    return ""


def doubtful(norms: Sequence[float]) -> bool:
    """Whether the last step spiked: what it left is not to be saved over a good checkpoint."""
    return len(norms) - 1 in gradient_spikes(norms)


def _lasts(signs: list[int], steps: int) -> bool:
    """Whether each of the last PATIENCE steps bears the sign."""
    return steps >= PATIENCE and signs[-PATIENCE:] == list(range(steps - PATIENCE, steps))
