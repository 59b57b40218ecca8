"""Which method of credit ranks steps as their true advantages do, where those are known.

    python -m benchmarks.credit.study [--world NAME] [--tasks 400]

`steps`: a small world of eight steps with exact values (benchmarks/credit/mdp.py). `desk`: an agent with tools, real
SQL and real errors (benchmarks/credit/desk.py). `half`, `apart`: half of the observations after the first, or all, are
unlike any other. `alone`: each task is done once. Methods with a model get log-probs of an oracle that knows
the policy and the values: what they reach is the most that any model could, not what one does; `noise` adds a nat
(standard deviation) to each answer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from benchmarks.credit.desk import desks
from benchmarks.credit.frames import Sample
from benchmarks.credit.mdp import worlds
from benchmarks.credit.measure import measure
from transforms.credit.assign import Scored, assign_credit
from transforms.datasets.release_spec import ReleaseSpec

WORLDS: dict[str, Callable[[int, float], Sample]] = {
    "steps": lambda tasks, noise: worlds(tasks, noise=noise),
    "steps-apart": lambda tasks, noise: worlds(tasks, noise=noise, apart=1.0),
    "desk": lambda tasks, noise: desks(tasks, noise=noise),
    "desk-half": lambda tasks, noise: desks(tasks, noise=noise, apart=0.5),
    "desk-apart": lambda tasks, noise: desks(tasks, noise=noise, apart=1.0),
    "desk-alone": lambda tasks, noise: desks(8 * tasks, group=1, noise=noise),
}
METHODS: list[dict[str, Any]] = [
    {"method": "outcome"},
    {"method": "outcome", "scale": "std"},
    {"method": "return_to_go"},
    {"method": "return_to_go", "gamma": 0.95},
    {"method": "return_to_go", "process": {"judge": {"weight": 0.1}}},
    {"method": "gigpo"},
    {"method": "gigpo", "gamma": 1.0},
    {"method": "gigpo", "memory": 1},
    {"method": "gigpo", "mask_numbers": True},
    {"method": "anchor_td"},
    {"method": "anchor_td", "lam": 0.0},
    {"method": "anchor_td", "lam": 1.0},
    {"method": "anchor_td", "leave_one_out": False},
    {"method": "anchor_td", "lam": 0.0, "leave_one_out": False},
    {"method": "anchor_td", "shrinkage": 4.0},
    {"method": "anchor_td", "memory": 1},
    {"method": "anchor_td", "mask_numbers": True},
    {"method": "shaping", "potential": "progress"},
    {"method": "adca", "flags": "judge"},
    {"method": "hcapo"},
    {"method": "hcapo", "residual": True},
    {"method": "hcapo", "exclude_final": True},
    {"method": "contrastive"},
    {"method": "contrastive", "noise": 1.0},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", choices=list(WORLDS), help="one of them; none: all")
    parser.add_argument("--tasks", type=int, default=400)
    options = parser.parse_args()
    for name in [options.world] if options.world else WORLDS:
        print(f"\n{name}\n\n| method | within | across | right signs |\n|---|---|---|---|")
        samples = {noise: WORLDS[name](options.tasks, noise) for noise in (0.0, 1.0)}
        for method in METHODS:
            spec = {key: value for key, value in method.items() if key != "noise"}
            print(line(method, samples[method.get("noise", 0.0)], spec, alone=name.endswith("alone")), flush=True)


def line(method: dict[str, Any], sample: Sample, spec: dict[str, Any], alone: bool) -> str:
    """A row of the table."""
    chosen = ReleaseSpec.model_validate({"credit": spec}).credit
    credit = assign_credit(
        "study", sample.cut, sample.steps, sample.rewards, sample.messages, chosen, Scored(sample.scores)
    )
    found = measure(credit, sample.truth, alone=alone)
    options = ", ".join(f"{key} {_shown(value)}" for key, value in method.items() if key != "method")
    within, across = f"{found.within:.2f} ± {found.within_error:.2f}", f"{found.across:.2f} ± {found.across_error:.2f}"
    return f"| {method['method']}{f' ({options})' if options else ''} | {within} | {across} | {found.sign:.2f} |"


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, dict) else str(value).lower()


if __name__ == "__main__":
    main()
