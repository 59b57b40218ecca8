"""How the outcome of a rollout becomes the credit of its steps: one model a method, chosen by `method`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from transforms.spec import Spec, version_of

SCALE = "none: the value less its group's mean; std: that over the group's standard deviation (ddof 1)"
STD_FLOOR = "least divisor of `std`, so that a tiny gap in a group is not blown up"
GAMMA = "discount a step; below 1 late steps get more of the outcome"
SHRINKAGE = (
    "how many rollouts a mean must rest on to outweigh the wider one: task over family of tasks over all of training"
)
LAMBDA = "0: a step is worth the change of value that it makes; 1: what came of it in the end, less the value before it"
SCORER = "folder of the causal model that scores; none: `training.model` of tracemill.yaml"


class CreditPart(Spec):
    """A part of a method's settings: numbers are finite."""

    model_config = ConfigDict(allow_inf_nan=False)


class StepReward(CreditPart):
    """A reward component that is told on steps, and how it becomes a number between 0 and 1."""

    range: tuple[float, float] = Field(default=(0.0, 1.0), description="worst and best possible value, in its units")
    weight: float = Field(default=1.0, description="what the best value adds to the return; below 0: takes from it")

    @model_validator(mode="after")
    def _sound(self) -> StepReward:
        if self.range[0] >= self.range[1]:
            raise ValueError("range must be [lower, higher]")
        return self


MEMORY = "how many observations before must be equal, too, for two steps to be compared"
MASK = "true: words that hold a digit are all alike, so that clocks and request ids do not tell observations apart"
PROCESS = "step rewards beside the outcome: name of a component that is told on steps, and its range and weight"


class OutcomeCredit(CreditPart):
    """The same for every step of a rollout: what it did better than its group."""

    method: Literal["outcome"] = Field(default="outcome", description="outcome: the same for every step")
    scale: Literal["none", "std"] = Field(
        default="none",
        description="none: reward less the group's mean; std: that over the group's standard deviation (ddof 1)",
    )
    std_floor: float = Field(
        default=0.05, gt=0, description="least divisor of `std`, so that a tiny gap in a group is not blown up"
    )


class ReturnToGoCredit(CreditPart):
    """What is still to come at a step, less what others of its task, its family and all tasks had to come there."""

    method: Literal["return_to_go"] = "return_to_go"
    gamma: float = Field(default=1.0, gt=0, le=1, description=GAMMA)
    shrinkage: float = Field(default=1.0, gt=0, description=SHRINKAGE)
    process: dict[str, StepReward] = Field(default_factory=dict, description=PROCESS)


class GigpoCredit(CreditPart):
    """Outcome credit, and on top how a step's return compares with those of other steps that saw the same."""

    method: Literal["gigpo"] = "gigpo"
    gamma: float = Field(default=0.95, gt=0, le=1, description=GAMMA)
    weight: float = Field(default=1.0, ge=0, description="weight of the comparison among equal observations")
    scale: Literal["none", "std"] = Field(default="none", description=SCALE)
    std_floor: float = Field(default=0.05, gt=0, description=STD_FLOOR)
    memory: int = Field(default=0, ge=0, le=8, description=MEMORY)
    mask_numbers: bool = Field(default=False, description=MASK)
    process: dict[str, StepReward] = Field(default_factory=dict, description=PROCESS)


class AnchorTdCredit(CreditPart):
    """By how much a step raised the mean outcome of those who saw what it led to over those who saw what it saw."""

    method: Literal["anchor_td"] = "anchor_td"
    gamma: float = Field(default=1.0, gt=0, le=1, description=GAMMA)
    lam: float = Field(default=0.5, ge=0, le=1, description=LAMBDA)
    shrinkage: float = Field(default=1.0, gt=0, description=SHRINKAGE)
    leave_one_out: bool = Field(
        default=True, description="true: a rollout's own outcome is no evidence of what was to be expected in it"
    )
    memory: int = Field(default=0, ge=0, le=8, description=MEMORY)
    mask_numbers: bool = Field(default=False, description=MASK)
    process: dict[str, StepReward] = Field(default_factory=dict, description=PROCESS)


class ShapingCredit(CreditPart):
    """Progress that is told on steps, as a potential: it moves credit between steps and cannot be farmed."""

    method: Literal["shaping"] = "shaping"
    potential: str = Field(description="component that tells, on a step, how far the task is after it")
    range: tuple[float, float] = Field(default=(0.0, 1.0), description="its values where nothing and where all is done")
    weight: float = Field(default=1.0, gt=0, le=1, description="how far progress is believed; 1: all done is success")
    gamma: float = Field(default=1.0, gt=0, le=1, description=GAMMA)
    lam: float = Field(default=0.0, ge=0, le=1, description=LAMBDA)
    shrinkage: float = Field(default=1.0, gt=0, description=SHRINKAGE)

    @model_validator(mode="after")
    def _sound(self) -> ShapingCredit:
        if self.range[0] >= self.range[1]:
            raise ValueError("range must be [lower, higher]")
        return self


class AdcaCredit(CreditPart):
    """A judge's good or bad on each step, normalised over the group, with the outcome at the end."""

    method: Literal["adca"] = "adca"
    flags: str = Field(description="component that tells, on a step, whether it was good")
    good_from: float = Field(default=0.5, description="least value of the component that means good")
    weight: float = Field(default=1.0, ge=0, description="weight of the flags beside the outcome")


class HcapoCredit(CreditPart):
    """HCAPO as published: outcome credit, and how likely an action is in hindsight of the final state."""

    method: Literal["hcapo"] = "hcapo"
    model: str | None = Field(default=None, description=SCORER)
    injection: Literal["step", "prefix"] = Field(
        default="step", description="step: the final state stands in each step's prompt, as published; prefix: once,"
        " before the task, so that a trajectory is scored in one pass",
    )  # fmt: skip
    temperature: float = Field(default=5.0, gt=0, description="divides the mean log-prob of an action")
    clip: tuple[float, float] = Field(default=(0.8, 1.2), description="bounds of the hindsight ratio")
    gamma: float = Field(default=0.95, gt=0, le=1, description=GAMMA)
    smoothing: float = Field(default=0.5, ge=0, le=1, description="weight of a step's own value beside the next one's")
    weight: float = Field(default=1.0, ge=0, description="weight of hindsight beside the outcome")
    success: float = Field(default=0.5, description="least reward of a success")
    do_no_harm: bool = Field(default=True, description="whether no step of a success loses by hindsight")
    residual: bool = Field(
        default=False, description="true: what the length of an action explains of its log-prob is taken out"
    )
    exclude_final: bool = Field(
        default=False, description="true: hindsight says nothing of the last step, which the final state gives away"
    )

    @model_validator(mode="after")
    def _sound(self) -> HcapoCredit:
        if not 0 < self.clip[0] < 1 < self.clip[1]:
            raise ValueError("clip must be [below 1, above 1]")
        return self


class ContrastiveCredit(CreditPart):
    """How much likelier an action is under the news of success than under that of failure."""

    method: Literal["contrastive"] = "contrastive"
    model: str | None = Field(default=None, description=SCORER)
    reduce: Literal["sum", "mean"] = Field(
        default="sum", description="sum: of the action's log-probs, as Bayes has it; mean: by token"
    )
    cap: float = Field(default=5.0, gt=0, description="most nats that one action may tell")
    shrinkage: float = Field(default=1.0, gt=0, description=SHRINKAGE)


class IgpoCredit(CreditPart):
    """How much likelier each step made the right answer."""

    method: Literal["igpo"] = "igpo"
    model: str | None = Field(default=None, description=SCORER)
    answers: str = Field(
        description='JSON lines of right answers: {"task": its id in the export or its task_id, "answer": text}'
    )
    gamma: float = Field(default=1.0, gt=0, le=1, description=GAMMA)


Method = (
    OutcomeCredit | ReturnToGoCredit | GigpoCredit | AnchorTdCredit | ShapingCredit | AdcaCredit
    | HcapoCredit | ContrastiveCredit | IgpoCredit
)  # fmt: skip
ScoredMethod = HcapoCredit | ContrastiveCredit | IgpoCredit
"""Methods that need log-probs of a model."""

METHODS = (
    "outcome", "return_to_go", "gigpo", "anchor_td", "shaping", "adca", "hcapo", "contrastive", "igpo",
)  # fmt: skip


def _method(value: Any) -> Any:
    """The method that a mapping or a model names; one that names none is `outcome`."""
    return value.get("method", "outcome") if isinstance(value, Mapping) else getattr(value, "method", None)


CreditSpec = Annotated[
    Annotated[OutcomeCredit, Tag("outcome")]
    | Annotated[ReturnToGoCredit, Tag("return_to_go")]
    | Annotated[GigpoCredit, Tag("gigpo")]
    | Annotated[AnchorTdCredit, Tag("anchor_td")]
    | Annotated[ShapingCredit, Tag("shaping")]
    | Annotated[AdcaCredit, Tag("adca")]
    | Annotated[HcapoCredit, Tag("hcapo")]
    | Annotated[ContrastiveCredit, Tag("contrastive")]
    | Annotated[IgpoCredit, Tag("igpo")],
    Discriminator(
        _method,
        custom_error_type="unknown_method",
        custom_error_message=f"a mapping with one of these as `method`: {', '.join(METHODS)}",
    ),
]


def method_version(spec: Method, revision: int, *scored_by: str) -> str:
    """Version of a method: its parameters, the revision of its formula, and hashes of what scored."""
    return version_of(spec, revision, *scored_by)
