"""The audit: what of personal data is left in values that were cleaned."""

from __future__ import annotations

from dataclasses import dataclass

from transforms.privacy.words import words

STRONG = frozenset(
    words("EMAIL_ADDRESS PHONE_NUMBER CREDIT_CARD IBAN_CODE US_SSN KR_RRN IP_ADDRESS MAC_ADDRESS SECRET")
)


@dataclass(frozen=True, slots=True)
class Leak:
    """Personal data that remains: in which row and of which type; never what it is."""

    row_id: str
    entity: str
