"""What a reward is made of and what may never be done, as `tracemill.yaml` says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer, model_validator

from transforms.rewards.rule_spec import AnyRule, checked_pattern
from transforms.rewards.verifier_spec import AnyVerifier, digest_of
from transforms.spec import Spec, version_of

COMPOSED = "reward"  # name of the composed reward among the components
SAME = 1e-9  # rewards closer than this are equal: sums of weights leave such gaps
REVISION = 1  # of what verifiers and rules do: a change of it makes their rows new ones


class Grown(Spec):
    """A specification that got fields later: where they say nothing, it has the version it had before."""

    LATER: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        silent = {name for name in self.LATER if getattr(self, name) == type(self).model_fields[name].get_default(
            call_default_factory=True)}  # fmt: skip
        return {name: value for name, value in written.items() if name not in silent}


class Smoothing(Spec):
    """Votes as a Beta posterior: (a + Σwy) / (a + b + Σw), so that one thumb is no certainty."""

    prior: tuple[float, float] = Field(default=(1.0, 1.0), description="a and b: votes for and against before any")
    votes: dict[str, float] = Field(
        default_factory=lambda: {"human": 1.0, "llm": 0.5, "user": 0.5},
        description="weight of a vote by who gave it: human, llm, code, user, env, unknown; others have 1",
    )

    @model_validator(mode="after")
    def _sound(self) -> Smoothing:
        if min(self.prior) <= 0 or min(self.votes.values(), default=0) < 0:
            raise ValueError("priors are above 0, weights not below")
        return self


class Component(Grown):
    """One part of the reward: what it rests on, and how that becomes a number between 0 and 1."""

    LATER: ClassVar[frozenset[str]] = frozenset({"smoothing", "verifier", "rule"})

    feedback: tuple[str, ...] = Field(
        default=(),
        description="key of the feedback, or keys, of which the first with a value counts: [reward, outcome]",
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
        description="weight among the components that have a value; 0: kept beside the reward; below 0 only where "
        "`combine` is sum",
    )
    smoothing: Smoothing | None = Field(default=None, description="votes as a Beta posterior, not as their mean")
    verifier: AnyVerifier | None = Field(default=None, description="what checks the answer, in place of feedback")
    rule: AnyRule | None = Field(default=None, description="what is measured on the trace, in place of feedback")

    @field_validator("feedback", mode="before")
    @classmethod
    def _one_key(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _sound(self) -> Component:
        if self.range[0] >= self.range[1]:
            raise ValueError("range must be [lower, higher]")
        if sum(map(bool, (self.feedback, self.verifier, self.rule))) != 1:
            raise ValueError("either feedback (at least one key), or verifier, or rule is needed")
        if self.smoothing and not self.feedback:
            raise ValueError("smoothing is for feedback")
        return self

    @property
    def version(self) -> str:
        """Hash of what the component rests on, of the files beside it too; its weight and range do not count."""
        own = self.model_copy(update={"weight": 1.0, "range": (0.0, 1.0), "direction": "higher"})
        files = digest_of(self.verifier.files) if self.verifier else []
        return version_of(own, REVISION, *files)


def _outcome() -> dict[str, Component]:
    return {"outcome": Component(feedback=("task_success", "reward"))}


class Stage(Spec):
    """A step of a staircase: what comes after it counts only where it was reached."""

    components: tuple[str, ...] = Field(min_length=1, description="components whose weighted mean must be reached")
    least: float = Field(default=1.0, ge=0, le=1, description="the least mean, each from 0 to 1, that reaches it")


class RewardSpec(Grown):
    """The composed reward: its components, each normalised to its range, weighted."""

    LATER: ClassVar[frozenset[str]] = frozenset({"combine", "least_coverage", "stages", "phases", "phase", "normalise"})

    components: dict[str, Component] = Field(
        default_factory=_outcome, description="name of each component, and what it is made of"
    )
    combine: Literal["mean", "sum"] = Field(
        default="mean",
        description="mean: Σwx / Σw over what has a value, 0 to 1; sum: Σwx, where weights may be below 0",
    )
    least_coverage: float = Field(
        default=0.0, ge=0, le=1, description="share of the weights that must have a value; below it there is no reward"
    )
    stages: tuple[Stage, ...] = Field(
        default=(), description="in order: components of a later stage, and those in none, earn 0 before it is reached"
    )
    phases: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="curriculum: by name, weights of components in place of their own; others 0"
    )
    phase: str | None = Field(default=None, description="the phase whose weights count")
    normalise: Literal["gdpo"] | None = Field(
        default=None,
        description="gdpo: in a release, each component becomes its z-score within the task before they are weighted",
    )

    @model_validator(mode="after")
    def _sound(self) -> RewardSpec:
        if COMPOSED in self.components:
            raise ValueError(f"`{COMPOSED}` is the composed one: name the component otherwise")
        named = {name for stage in self.stages for name in stage.components}
        named |= {name for weights in self.phases.values() for name in weights}
        if unknown := sorted(named - {*self.components}):
            raise ValueError(f"stages and phases name what is no component: {', '.join(unknown)}")
        if self.phase is not None and self.phase not in self.phases:
            raise ValueError("phase is none of phases")
        if self.combine == "mean" and min(self.weights.values(), default=0) < 0:
            raise ValueError("a weight below 0 needs `combine: sum`; for a mean, say `direction: lower`")
        return self

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each component in the phase that counts."""
        phase = self.phases.get(self.phase or "")
        return {name: part.weight if phase is None else phase.get(name, 0.0) for name, part in self.components.items()}

    @property
    def version(self) -> str:
        """Hash of the specification, and of the files that its verifiers rest on."""
        return version_of(self, *self.digests)

    @property
    def digests(self) -> list[str]:
        """What the files hold that verifiers rest on."""
        return digest_of([path for part in self.components.values() if part.verifier for path in part.verifier.files])

    @property
    def rests_on(self) -> Any:
        """All that the day's rewards read of the configuration, as JSON-like data."""
        written = self.model_dump(mode="json")
        return [written, self.digests] if self.digests else written


class ArgumentTest(Spec):
    """A test of one argument; all that is given must hold."""

    equals: str | float | bool | None = Field(default=None, description="exactly this value")
    above: float | None = Field(default=None, description="a number above this one")
    below: float | None = Field(default=None, description="a number below this one")
    matches: str | None = Field(default=None, description="a regular expression that occurs in it")

    @field_validator("matches")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        return checked_pattern(pattern)


class Approval(Spec):
    """Whose word an action needs, and how that word is written in the feedback."""

    feedback: tuple[str, ...] = Field(default=("approval",), description="key of the feedback, or keys")
    by: tuple[str, ...] = Field(default=("human", "user"), description="annotators whose word counts")
    approved: tuple[str, ...] = Field(
        default=("approved", "approve", "accept", "accepted", "yes"), description="labels"
    )
    denied: tuple[str, ...] = Field(
        default=("denied", "deny", "reject", "rejected", "no", "respond"), description="labels"
    )
    edited: tuple[str, ...] = Field(default=("edited", "edit", "modified"), description="labels")

    @field_validator("feedback", mode="before")
    @classmethod
    def _one_key(cls, value: object) -> object:
        return (value,) if isinstance(value, str) else value


class GateRule(Grown):
    """Tool X must not be called, or not unless tool Y was called before, or not without a person's word; or: the
    model must not say what matches a pattern."""

    LATER: ClassVar[frozenset[str]] = frozenset({"says", "needs_approval"})

    tool: str | None = Field(default=None, description="tool that the rule forbids")
    unless_before: str | None = Field(
        default=None, description="tool that, called in an earlier step and without an error, makes it allowed"
    )
    when_arguments: dict[str, ArgumentTest] = Field(
        default_factory=dict, description="only calls count whose arguments pass: {amount: {above: 100}}"
    )
    says: str | None = Field(
        default=None, description="a regular expression that may occur in nothing the model writes, calls included"
    )
    needs_approval: Approval | None = Field(
        default=None, description="a person must approve the call; {} for what the feedback `approval` says"
    )

    @field_validator("says")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        return checked_pattern(pattern)

    @model_validator(mode="after")
    def _sound(self) -> GateRule:
        if (self.tool is None) == (self.says is None):
            raise ValueError("either tool or says is needed")
        if self.says is not None and (self.unless_before or self.when_arguments or self.needs_approval):
            raise ValueError("unless_before, when_arguments and needs_approval are about a tool")
        return self


class GateSpec(Spec):
    """Hard rules. Breaking one has no price: such a trajectory has no reward and is never a good example."""

    rules: dict[str, GateRule] = Field(default_factory=dict, description="name of each rule, and what it forbids")

    @property
    def reads_feedback(self) -> bool:
        return any(rule.needs_approval for rule in self.rules.values())

    @property
    def reads_text(self) -> bool:
        return any(rule.says is not None for rule in self.rules.values())
