"""From a cut to its credit, by the method that the release asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from transforms.credit import adca, anchor_td, contrastive, gigpo, hcapo, igpo, outcome, return_to_go, shaping
from transforms.credit.anchors import with_anchors
from transforms.credit.audit import audit
from transforms.credit.process import with_process, with_value
from transforms.credit.rows import credit_table, credited_steps
from transforms.credit.scores import SCORES, with_scores
from transforms.credit.spec import (
    AdcaCredit,
    AnchorTdCredit,
    ContrastiveCredit,
    GigpoCredit,
    HcapoCredit,
    IgpoCredit,
    Method,
    OutcomeCredit,
    ReturnToGoCredit,
    ShapingCredit,
    method_version,
)


@dataclass(frozen=True)
class Scored:
    """Log-probs (SCORES) and hashes of what they rest on by name: model, tokenizer, template, what it was told."""

    scores: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SCORES))
    by: dict[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        """The hashes as part of a version."""
        return [f"{name} {value}" for name, value in sorted(self.by.items())]


UNSCORED = Scored()


def assign_credit(
    release: str,
    cut: pl.DataFrame,
    steps: pl.DataFrame,
    rewards: pl.DataFrame,
    messages: pl.DataFrame,
    spec: Method,
    scored: Scored = UNSCORED,
) -> pl.DataFrame:
    """CREDIT of every step of every rollout with a reward, audited. Raises CreditError where sums do not add up.

    `cut`, `steps`, `rewards`, `messages` are CUT, STEPS, REWARDS, MESSAGES of the release; `scored` is what methods
    with a model rest on. Raises Refused where a component that the method reads is told on no step.
    """
    rows = credited_steps(cut, steps)
    match spec:
        case OutcomeCredit():
            credited, revision = outcome.outcome_credit(rows, spec), outcome.REVISION
        case ReturnToGoCredit():
            known = with_process(rows, rewards, spec.process)
            credited, revision = return_to_go.return_to_go(known, spec), return_to_go.REVISION
        case GigpoCredit():
            known = with_process(with_anchors(rows, steps, messages, spec), rewards, spec.process)
            credited, revision = gigpo.gigpo(known, spec), gigpo.REVISION
        case AnchorTdCredit():
            known = with_process(with_anchors(rows, steps, messages, spec), rewards, spec.process)
            credited, revision = anchor_td.anchor_td(known, spec), anchor_td.REVISION
        case ShapingCredit():
            known = with_value(rows, rewards, spec.potential, spec.range)
            credited, revision = shaping.shaping(known, spec), shaping.REVISION
        case AdcaCredit():
            credited, revision = adca.adca(with_value(rows, rewards, spec.flags), spec), adca.REVISION
        case HcapoCredit():
            credited, revision = hcapo.hcapo(with_scores(rows, scored.scores, "hindsight"), spec), hcapo.REVISION
        case ContrastiveCredit():
            known = with_scores(rows, scored.scores, "success", "failure")
            credited, revision = contrastive.contrastive(known, spec), contrastive.REVISION
        case IgpoCredit():
            credited, revision = igpo.igpo(with_scores(rows, scored.scores, "answer"), spec), igpo.REVISION
    table = credit_table(release, credited, spec.method, method_version(spec, revision, *scored.parts))
    audit(table, cut, steps, spec)
    return table
