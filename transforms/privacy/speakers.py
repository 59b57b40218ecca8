"""The name beside what a user says: somebody's own, or that of an agent whose words are shown to another."""

from __future__ import annotations

import re

from transforms.privacy.lexicon import uncommon

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")  # of `QA_agent` and `SQLExpert` as of `mia_li`
_LEAST_DIGITS = 3  # of an id; fewer number agents


def may_be_somebody(name: str) -> bool:
    """Whether a name says more than a part that is played: its words are not all common, or its number is long."""
    return sum(map(str.isdigit, name)) >= _LEAST_DIGITS or any(map(uncommon, _WORD.findall(name)))
