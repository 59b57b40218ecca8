"""Task texts that say nearly the same, found exactly and without comparing all with all."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from transforms.trajectories.tasks import mask

SHINGLE = 3  # words
ROUNDING = 1e-9  # 0.7 * 10 is a little more than 7


def near_duplicates(texts: Iterable[tuple[str, str]], threshold: float) -> list[tuple[str, str]]:
    """Pairs of keys out of (key, text) whose word triples overlap by at least `threshold` (Jaccard), as links.

    Texts are masked. Keys of equal texts are linked in a chain rather than each with each. Exact set similarity
    join by prefix filtering (Bayardo et al., WWW 2007): two sets that overlap enough share a shingle among the
    (1 - threshold)·n + 1 rarest of each.
    """
    keys: dict[frozenset[str], list[str]] = defaultdict(list)
    for key, text in sorted(texts):
        keys[_shingles(mask(text).split())].append(key)
    links = [pair for same in keys.values() for pair in zip(same, same[1:], strict=False)]
    return links + [(keys[one][0], keys[other][0]) for one, other in _similar(list(keys), threshold)]


def _shingles(words: Sequence[str]) -> frozenset[str]:
    return frozenset(" ".join(words[i : i + SHINGLE]) for i in range(max(len(words) - SHINGLE + 1, 1)))


def _similar(sets: Sequence[frozenset[str]], threshold: float) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    frequency = Counter(shingle for shingles in sets for shingle in shingles)
    holders: dict[str, list[frozenset[str]]] = defaultdict(list)
    for shingles in sorted(sets, key=len):
        rarest = sorted(shingles, key=lambda shingle: (frequency[shingle], shingle))
        prefix = rarest[: len(rarest) - math.ceil(threshold * len(rarest) - ROUNDING) + 1]
        candidates = {other for shingle in prefix for other in holders[shingle]}
        for other in candidates:
            if len(other) >= threshold * len(shingles) and _jaccard(shingles, other) >= threshold:
                yield shingles, other
        for shingle in prefix:
            holders[shingle].append(shingles)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
