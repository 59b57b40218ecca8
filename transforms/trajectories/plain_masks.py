"""Texts of prompts masked, many at once: what `masked` gives for each."""

from __future__ import annotations

import polars as pl

from transforms.privacy.coined import ENDINGS
from transforms.trajectories.tasks import MONTHS, masked

_SPACE = r"\t-\r\x1c-\x20"
_MONTH = "|".join(MONTHS)
# Texts with any of these are masked one by one: what looks around itself, is looked up, or differs beyond ASCII.
_HARD = "|".join((
    r"[^\x00-\x7f]|[\[@]|day\b|[0-9a-f]-[0-9a-f]{4}-", rf"(?:{'|'.join(ENDINGS)})\b",
    rf"(?:{_MONTH})[a-z]*\.?[{_SPACE}]+[0-9]|[0-9][{_SPACE}]+(?:{_MONTH})",
))  # fmt: skip
_NUMBER = r"(?-u:\b)[a-z_]*[0-9][a-z0-9_]*"
_GAP = rf"[\t-\r\x1c-\x1f][{_SPACE}]*| [{_SPACE}]+"  # but for single blanks, of which there are most
_SIGNS = rf"#(?:[{_SPACE}.,:/+()#-]*#)+"


def masked_texts(texts: pl.Series) -> pl.Series:
    """`masked` of each text."""
    low = texts.str.to_lowercase()
    hard = low.str.contains(_HARD)
    easy = low.str.replace_all(_NUMBER, "#").str.replace_all(_SIGNS, "#")
    easy = easy.str.replace_all(_GAP, " ").str.strip_chars(" ")
    slow = pl.Series([masked(text) for text in texts.filter(hard)], dtype=pl.String)
    if not len(slow):
        return easy
    return easy.scatter(hard.arg_true(), slow)
