"""What a release is cut by, as a YAML file or `tracemill.yaml` says it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from transforms.credit.spec import CreditSpec, OutcomeCredit
from transforms.spec import Spec


class Refused(ValueError):
    """A release that the data do not carry: which rule refuses it, and the counts that made it."""

    def __init__(self, rule: str, advice: str, counts: Mapping[str, int]) -> None:
        told = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        super().__init__(f"release refused by `{rule}`: {advice} ({told})")
        self.rule, self.counts = rule, dict(counts)


class PairSpec(Spec):
    """Which trajectories of one task are compared."""

    max_per_task: int = Field(default=4, ge=1, description="most pairs of one task, best evidence first")
    min_margin: float = Field(default=0.5, gt=0, le=1, description="least difference of two rewards")
    max_length_ratio: float | None = Field(
        default=None, ge=1, description="most that one side's actions may be longer, in characters: 2; none: any"
    )


class SplitSpec(Spec):
    """How tasks are held out."""

    test_share: float = Field(default=0.2, gt=0, lt=1, description="share of the rows to hold out, about")
    max_component_share: float = Field(
        default=0.2, gt=0, le=1, description="most of the rows that near-duplicates or persons may tie together"
    )
    near_duplicate: float = Field(
        default=0.9, gt=0, le=1, description="overlap (Jaccard, word triples) from which two task texts are one"
    )


class ReleaseSpec(Spec):
    """A release: its window, its filter, and the rules of credit, pairs and splits."""

    window_days: int = Field(default=30, ge=1, description="arrival days that it reaches back, its last one included")
    where: str | None = Field(
        default=None, description="SQL condition over `curated_trajectories`: steps < 40 AND agent = 'support'"
    )
    credit: CreditSpec = Field(
        default_factory=OutcomeCredit, description="how steps get their due: a mapping with `method` and its options"
    )
    pairs: PairSpec = Field(default_factory=PairSpec, description="how preference pairs are found")
    split: SplitSpec = Field(default_factory=SplitSpec, description="how tasks are held out")
    min_tasks: int = Field(default=2, ge=2, description="fewest tasks with a usable outcome; fewer are refused")
