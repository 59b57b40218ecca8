"""What is measured on a trace itself, as `tracemill.yaml` says it: one model a method."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from transforms.spec import Spec


class Latency(Spec):
    """Seconds from the rollout's first call to the end of its last."""

    method: Literal["latency"] = "latency"


class Tokens(Spec):
    """Tokens of all calls of the rollout."""

    method: Literal["tokens"] = "tokens"
    of: Literal["input", "output", "all"] = Field(default="all", description="prompts, completions or both")


class Price(Spec):
    """What a model costs."""

    input: float = Field(ge=0, description="for a million prompt tokens")
    output: float = Field(ge=0, description="for a million completion tokens")


class Cost(Spec):
    """What models and tools cost; missing where a model has no price."""

    method: Literal["cost"] = "cost"
    models: dict[str, Price] = Field(default_factory=dict, description="price of each model; none: models are free")
    tools: dict[str, float] = Field(default_factory=dict, description="price of a call of a tool")
    any_tool: float = Field(default=0.0, ge=0, description="price of a call of any other tool")


class Errors(Spec):
    """Tool calls that failed."""

    method: Literal["errors"] = "errors"


class Repeats(Spec):
    """Tool calls that an earlier one of the trajectory has asked already, word for word."""

    method: Literal["repeats"] = "repeats"
    tools: tuple[str, ...] = Field(default=(), description="tools that count; none named: all")


class Length(Spec):
    """Model calls of the rollout."""

    method: Literal["steps"] = "steps"


class Escalation(Spec):
    """1 where the agent handed over to a person without need, else 0."""

    method: Literal["escalation"] = "escalation"
    tools: tuple[str, ...] = Field(min_length=1, description="tools that hand over")
    unless_failed: bool = Field(default=True, description="an earlier call that failed is a need")
    unless_after: tuple[str, ...] = Field(default=(), description="tools of which an earlier call is a need")
    unless_asked: str | None = Field(default=None, description="pattern of what a user says who wants a person")

    @field_validator("unless_asked")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        return checked_pattern(pattern)


class Overlong(Spec):
    """DAPO's soft overlong punishment (arXiv 2503.14476, eq. 13) of the longest answer: 0 down to -1."""

    method: Literal["overlong"] = "overlong"
    longest: int = Field(default=20_480, ge=1, description="tokens of a completion from which on it is -1")
    cache: int = Field(default=4_096, ge=1, description="tokens before it over which it falls from 0 to -1")

    @model_validator(mode="after")
    def _sound(self) -> Overlong:
        if self.cache >= self.longest:
            raise ValueError("cache must be less than longest")
        return self


AnyRule = Annotated[
    Latency | Tokens | Cost | Errors | Repeats | Length | Escalation | Overlong, Field(discriminator="method")
]


def checked_pattern(pattern: str | None) -> str | None:
    """`pattern` where Polars can match it. Raises ValueError."""
    try:
        pl.Series([""]).str.contains(pattern or "")
    except pl.exceptions.ComputeError:
        raise ValueError("not a regular expression of Rust's `regex`, which looks neither ahead nor back") from None
    return pattern
