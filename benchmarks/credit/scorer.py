"""What methods with a model reach with a model that was trained on the logs, and not with an oracle.

    python -m benchmarks.credit.scorer [--tasks 300] [--steps 600]

A small model is trained from nothing on the rollouts of half the tasks of the desk, twice: on what was done (`policy`,
what HCAPO is published with), and told how each ended, in the words that scoring uses (`hindsight`). Both then score
the other half. They are small, and the desk is simple: what fails here has no reason to work elsewhere, and what works
here may still fail there.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.credit.desk import desks
from benchmarks.credit.frames import Sample, sample
from benchmarks.credit.measure import measure
from training.hindsight import FAILURE, FINAL, SUCCESS, Segment, final_state
from training.scoring import score, segments_of
from training.tiny import CONTEXT, blank_model, tokenizer_of
from training.tokens import Renderer, Report, Row, rows
from transforms.credit.assign import Scored, assign_credit
from transforms.datasets.release_spec import ReleaseSpec

METHODS: list[dict[str, Any]] = [
    {"method": "hcapo"},
    {"method": "hcapo", "injection": "prefix"},
    {"method": "contrastive"},
    {"method": "contrastive", "reduce": "mean"},
]
BATCH, RATE = 16, 3e-3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=300, help="of which half are scored")
    parser.add_argument("--steps", type=int, default=600, help="optimiser steps of each model")
    options = parser.parse_args()
    whole = desks(options.tasks)
    held = {f"question {task}" for task in range(0, options.tasks, 2)}
    train, test = (sample([r for r in whole.rollouts if (r.task in held) == out]) for out in (False, True))
    print("| model | method | within | across | right signs |\n|---|---|---|---|---|")
    for told in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model"
            train_scorer(train, model, told, options.steps)
            for method in METHODS:
                print(line("hindsight" if told else "policy", method, test, model, Path(folder) / "store"), flush=True)


def train_scorer(data: Sample, out: Path, told: bool, steps: int, seed: int = 0) -> None:
    """A small model that predicts the actions of `data`; with `told`, also under the news of how they ended."""
    import torch

    from training.logprobs import pad, score_actions

    segments = [*segments_of(data.cut, data.trajectories, data.steps, data.messages, {})]
    rewards = dict(data.cut.select("trajectory_id", "reward").iter_rows())
    talks = [banner_of(segment, rewards[segment.trajectory_id], kind) for segment in segments
             for kind in (("none", "outcome", "final") if told else ("none",))]  # fmt: skip
    tokenizer = tokenizer_of([(talk.messages, talk.actions, None) for talk in talks])
    made = [row for talk in talks for row in _rows(Renderer(tokenizer), talk)]
    torch.set_num_threads(1)  # threads cost a model of this size more than they bring
    model = score_actions(blank_model(tokenizer, seed)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    order = np.random.default_rng(seed)
    for _ in range(steps):
        loss = -model(**pad([made[at] for at in order.integers(len(made), size=BATCH)])).logp.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def banner_of(segment: Segment, reward: float, kind: str) -> Segment:
    """The segment under a banner before the task: how it was judged, how it ended, or none."""
    texts = {"outcome": SUCCESS if reward else FAILURE, "final": FINAL.format(final=final_state(segment.messages))}
    if kind not in texts:
        return segment
    first = segment.messages[0]
    return replace(
        segment, messages=[first | {"content": f"{first['content']}\n\n{texts[kind]}"}, *segment.messages[1:]]
    )


def line(model: str, method: dict[str, Any], data: Sample, path: Path, store: Path) -> str:
    """A row of the table."""
    spec: Any = ReleaseSpec.model_validate({"credit": method}).credit
    scored: Scored = score(spec, data.cut, data.trajectories, data.steps, data.messages, path, store)
    credit = assign_credit("study", data.cut, data.steps, data.rewards, data.messages, spec, scored)
    found = measure(credit, data.truth)
    options = ", ".join(f"{key} {value}" for key, value in method.items() if key != "method")
    within, across = f"{found.within:.2f} ± {found.within_error:.2f}", f"{found.across:.2f} ± {found.across_error:.2f}"
    name = f"{method['method']}{f' ({options})' if options else ''}"
    return f"| {model} | {name} | {within} | {across} | {found.sign:.2f} |"


def _rows(renderer: Renderer, talk: Segment) -> list[Row]:
    return rows(renderer, talk.messages, talk.actions, talk.finishes, None, CONTEXT, Report())


if __name__ == "__main__":
    main()
