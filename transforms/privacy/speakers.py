"""The name beside what a user says: somebody's own, or that of an agent whose words are shown to another."""

from __future__ import annotations

import re

from transforms.privacy.lexicon import uncommon
from transforms.privacy.names import NOT_PEOPLE
from transforms.privacy.words import words

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")  # of `QA_agent` and `SQLExpert` as of `mia_li`
_LEAST_DIGITS = 3  # of an id; fewer number agents
_TWO = re.compile(r"[A-Z][a-z]+(?: [A-Z]\.?)?(?: [A-Z][a-z]+){1,2}")
_PARTS = NOT_PEOPLE | frozenset(
    words(
        "actor administrator advisor adviser ai analyst anonymous app application applicant architect author "
        "booking browser buyer caller candidate chat chatbot checker client clerk coach coder colleague computer "
        "concierge consultant contact controller coordinator copilot critic customer data debater debugger demo "
        "designer desktop detective developer director doctor driver editor employee engineer environment evaluator "
        "examiner executive executor expert explorer feedback file finder function grader group guest guide helper "
        "human instructor internal interpreter interviewer judge lawyer lead leader lecturer librarian machine "
        "maintainer manager member mentor mind moderator monitor narrator negotiator nurse observer officer operator "
        "optimizer orchestrator owner participant passenger patient person persona planner player plugin programmer "
        "project prompt proposer provider proxy question reader receptionist recruiter refiner reporter representative "
        "requester researcher responder retriever reviewer robot role router scheduler scientist scraper scribe "
        "searcher secretary seller session shopper simulated simulator skeptic solver speaker specialist staff "
        "strategist student summarizer supervisor surfer synthesizer system task teacher technician terminal test "
        "tester therapist tool tourist trader trainer translator traveler traveller tutor user validator verifier "
        "viewer visitor voice web worker writer"
    )
)
"""Words that say which part is played; a name that holds one is the part's."""


def may_be_somebody(name: str) -> bool:
    """Whether a name says more than a part that is played: its words are not all common, it is two or three of which
    none is a part's, or its number is long."""
    if sum(map(str.isdigit, name)) >= _LEAST_DIGITS or any(map(uncommon, _WORD.findall(name))):
        return True
    return _TWO.fullmatch(name) is not None and _PARTS.isdisjoint(name.lower().split())
