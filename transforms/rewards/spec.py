"""What a reward is made of and what may never be done, as `tracemill.yaml` says it."""

from __future__ import annotations

from typing import Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from transforms.spec import Spec

COMPOSED = "reward"  # name of the composed reward among the components
SAME = 1e-9  # rewards closer than this are equal: sums of weights leave such gaps


class Component(Spec):
    """One part of the reward: which verdicts it rests on, and how they become a number between 0 and 1."""

    feedback: tuple[str, ...] = Field(
        description="key of the feedback, or keys, of which the first with a value counts: [reward, outcome]"
    )
    direction: Literal["higher", "lower"] = Field(default="higher", description="which end is good")
    range: tuple[float, float] = Field(
        default=(0.0, 1.0), description="worst and best possible value, lower one first: [0, 1], or [1, 5] for stars"
    )
    labels: dict[str, float] = Field(
        default_factory=lambda: {"success": 1.0, "failure": 0.0},
        description="what verdicts in words are worth, in the units of `range`; case does not matter",
    )
    weight: float = Field(
        default=1.0,
        ge=0,
        description="weight among the components that have a value; 0: kept beside the reward",
    )

    @field_validator("feedback", mode="before")
    @classmethod
    def _one_key(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _sound(self) -> Component:
        if self.range[0] >= self.range[1]:
            raise ValueError("range must be [lower, higher]")
        if not self.feedback:
            raise ValueError("at least one feedback key is needed")
        return self


def _outcome() -> dict[str, Component]:
    return {"outcome": Component(feedback=("task_success", "reward"))}


class RewardSpec(Spec):
    """The composed reward: the weighted mean of its components, each normalised to its range."""

    components: dict[str, Component] = Field(
        default_factory=_outcome, description="name of each component, and what it is made of"
    )

    @model_validator(mode="after")
    def _names(self) -> RewardSpec:
        if COMPOSED in self.components:
            raise ValueError(f"`{COMPOSED}` is the composed one: name the component otherwise")
        return self


class ArgumentTest(Spec):
    """A test of one argument; all that is given must hold."""

    equals: str | float | bool | None = Field(default=None, description="exactly this value")
    above: float | None = Field(default=None, description="a number above this one")
    below: float | None = Field(default=None, description="a number below this one")
    matches: str | None = Field(default=None, description="a regular expression that occurs in it")

    @field_validator("matches")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        try:
            pl.Series([""]).str.contains(pattern or "")
        except pl.exceptions.ComputeError:
            raise ValueError("not a regular expression of Rust's `regex`, which looks neither ahead nor back") from None
        return pattern


class GateRule(Spec):
    """Tool X must not be called, or not unless tool Y was called before."""

    tool: str = Field(description="tool that the rule forbids")
    unless_before: str | None = Field(
        default=None, description="tool that, called in an earlier step and without an error, makes it allowed"
    )
    when_arguments: dict[str, ArgumentTest] = Field(
        default_factory=dict, description="only calls count whose arguments pass: {amount: {above: 100}}"
    )


class GateSpec(Spec):
    """Hard rules. Breaking one has no price: such a trajectory has no reward and is never a good example."""

    rules: dict[str, GateRule] = Field(default_factory=dict, description="name of each rule, and what it forbids")
