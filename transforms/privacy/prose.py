"""Sentences, told from code, logs and tables."""

from __future__ import annotations

import re
from functools import lru_cache

MOST_SYMBOLS = 0.05  # share of a line
LEAST_WORDS = 3  # in small letters
_LOWER = re.compile(r"(?<![\w.])[a-zß-öø-ÿ]{2,}(?![\w(])")
_SYMBOLS = re.compile(r"[{}\[\]();=<>|\\/_*#$&`~^]")
_CODE = re.compile(
    r"[;{}]\s*$|^\s*(?:def|class|import|from|return|if|elif|else|for|while|try|except|with|func|const|let|var|public|private|fn)\b"
    r"|^\s*(?:self\.|@)|\w\s?(?:=|:=|\+=|==)\s?[\w\"'\[({]|\w\([\w\"',. ]*\)"
)


def is_prose(line: str) -> bool:
    """Whether a line is a sentence rather than code, a log, or a table."""
    return len(_LOWER.findall(line)) >= LEAST_WORDS and len(_SYMBOLS.findall(line)) <= MOST_SYMBOLS * len(line)


@lru_cache(maxsize=64)
def is_code(text: str) -> bool:
    """Whether many of a text's first lines are a program's."""
    lines = [line for line in text[:6_000].split("\n") if line.strip()]
    return len(lines) > 4 and sum(_CODE.search(line) is not None for line in lines) > len(lines) // 5
