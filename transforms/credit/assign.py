"""From a cut to its credit, by the method that the release asks for."""

from __future__ import annotations

import polars as pl

from transforms.credit import adca, anchor_td, gigpo, outcome, return_to_go, shaping
from transforms.credit.anchors import with_anchors
from transforms.credit.audit import audit
from transforms.credit.process import with_process, with_value
from transforms.credit.rows import credit_table, credited_steps
from transforms.credit.spec import (
    AdcaCredit,
    AnchorTdCredit,
    GigpoCredit,
    Method,
    OutcomeCredit,
    ReturnToGoCredit,
    ShapingCredit,
    method_version,
)


def assign_credit(
    release: str,
    cut: pl.DataFrame,
    steps: pl.DataFrame,
    rewards: pl.DataFrame,
    messages: pl.DataFrame,
    spec: Method,
) -> pl.DataFrame:
    """CREDIT of every step of every rollout with a reward, audited. Raises CreditError where sums do not add up.

    `cut`, `steps`, `rewards`, `messages` are CUT, STEPS, REWARDS, MESSAGES of the release.
    """
    rows = credited_steps(cut, steps)
    match spec:
        case OutcomeCredit():
            credited, revision = outcome.outcome_credit(rows, spec), outcome.REVISION
        case ReturnToGoCredit():
            known = with_process(rows, rewards, spec.process)
            credited, revision = return_to_go.return_to_go(known, spec), return_to_go.REVISION
        case GigpoCredit():
            known = with_process(with_anchors(rows, steps, messages, spec.memory), rewards, spec.process)
            credited, revision = gigpo.gigpo(known, spec), gigpo.REVISION
        case AnchorTdCredit():
            known = with_process(with_anchors(rows, steps, messages, spec.memory), rewards, spec.process)
            credited, revision = anchor_td.anchor_td(known, spec), anchor_td.REVISION
        case ShapingCredit():
            known = with_value(rows, rewards, spec.potential, spec.range)
            credited, revision = shaping.shaping(known, spec), shaping.REVISION
        case AdcaCredit():
            known = with_value(rows, rewards, spec.flags)
            credited, revision = adca.adca(known, spec), adca.REVISION
    table = credit_table(release, credited, spec.method, method_version(spec, revision))
    audit(table, cut, steps, spec)
    return table
