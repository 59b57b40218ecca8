"""Word lists: which words are too common to be somebody's name on sight."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def everyday() -> frozenset[str]:
    """Words of everyday messages, many of which are names too (may, will, austin): alone they prove nothing."""
    return _read("everyday.txt")


@lru_cache(maxsize=1)
def known_names() -> frozenset[str]:
    """Given names and surnames that dictionaries list as words."""
    return _read("names.txt")


@lru_cache(maxsize=1)
def things() -> frozenset[str]:
    """Products, firms, countries, big cities, languages and technical terms: written as names are, and nobody."""
    return _read("things.txt")


def words(text: str) -> tuple[str, ...]:
    """The words of a list that is short enough to stand in the code."""
    return tuple(text.split())


def _read(name: str) -> frozenset[str]:
    return frozenset(files(__package__).joinpath(name).read_text("utf-8").split())
