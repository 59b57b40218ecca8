"""Sentences, told from code, logs and tables."""

from __future__ import annotations

import re

MOST_SYMBOLS = 0.05  # share of a line
LEAST_WORDS = 3  # in small letters
_LOWER = re.compile(r"(?<![\w.])[a-zß-öø-ÿ]{2,}(?![\w(])")
_SYMBOLS = re.compile(r"[{}\[\]();=<>|\\/_*#$&`~^]")


def is_prose(line: str) -> bool:
    """Whether a line is a sentence rather than code, a log, or a table."""
    return len(_LOWER.findall(line)) >= LEAST_WORDS and len(_SYMBOLS.findall(line)) <= MOST_SYMBOLS * len(line)
