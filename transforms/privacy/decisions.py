"""What the policy decides of each hit: whether it stays, is a surrogate already, or is replaced, and by what."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from transforms.privacy.generalised import LEVELS, generalised
from transforms.privacy.leaves import Leaf
from transforms.privacy.overlaps import Hit, resolve
from transforms.privacy.policy import KEPT, TYPES, PrivacyPolicy
from transforms.privacy.surrogates import Surrogates, is_surrogate, is_tag

_IDS = ("USER_ID", "ID_NUMBER")


class Decisions:
    """A policy at work, with the surrogates of one tenant."""

    def __init__(self, policy: PrivacyPolicy, surrogates: Surrogates) -> None:
        self._policy, self._surrogates = policy, surrogates
        self._levels = {entity: level for entity in LEVELS if (level := policy.level(entity))}
        entities = {*TYPES, *(recogniser.supported_entity for recogniser in policy.recognisers)}
        self._tag = re.compile(rf"\[(?:{'|'.join(sorted(entities))})_(?=[0-9]*[a-f])[0-9a-f]{{12}}\]")

    def meant(self, text: str, hits: Iterable[Hit]) -> list[Hit]:
        """Hits that are to be replaced, and surrogates, which shield what they cover."""
        meant = []
        tags = [tag.span() for tag in self._tag.finditer(text)] if "[" in text else []
        for hit in hits:
            if tags and _is_within(hit, tags):
                continue
            if hit.entity in self._levels:
                hit = replace(hit, ours=self.is_ours(hit.entity, text[hit.start : hit.end]))
            if hit.ours or not self._stays(hit.entity, text[hit.start : hit.end]):
                meant.append(hit)
        return meant

    def resolved(self, text: str, hits: Iterable[Hit]) -> list[Hit]:
        """Disjoint hits, without surrogates."""
        return [
            hit
            for hit in resolve(text, hits)
            if not hit.ours and not self.is_ours(hit.entity, text[hit.start : hit.end])
        ]

    def instead(self, entity: str, text: str) -> str:
        """What stands in the place of a personal value."""
        if self._policy.action(entity) == "drop":
            return f"[{entity}]"
        if level := self._levels.get(entity):
            return generalised(entity, text, level) or self._surrogates.tag(entity, text)
        return self._surrogates.replace(entity, text)

    def is_ours(self, entity: str, text: str) -> bool:
        """Whether a text is what a value becomes here: a surrogate, a tag, or as coarse as it is to be."""
        level = self._levels.get(entity)
        if level is None:
            return is_surrogate(entity, text) or (entity in _IDS and self._is_network(text))
        return is_tag(text) or bool(text) and generalised(entity, text, level) == text

    def _is_network(self, text: str) -> bool:
        """Whether an id is an address of a computer that was made coarser: few would be taken for an address again."""
        level = self._levels.get("IP_ADDRESS")
        return level is not None and bool(text) and generalised("IP_ADDRESS", text, level) == text

    def concern(self, entity: str, text: str) -> bool:
        """Whether a value must not be left anywhere."""
        return not self._stays(entity, text) and not self.is_ours(entity, text)

    def keeps_number(self, leaf: Leaf) -> bool:
        """Whether the key says that a number is of a type that stays: then no part of it is anything else."""
        return leaf.entity in KEPT and self._policy.action(leaf.entity) == "keep"

    def _stays(self, entity: str, text: str) -> bool:
        return self._policy.action(entity) == "keep" or self._policy.allows(text)


def _is_within(hit: Hit, tags: list[tuple[int, int]]) -> bool:
    """Whether a hit lies in a tag of ours: it is part of that."""
    before = bisect_left(tags, (hit.start, 0)) - 1
    return before >= 0 and hit.end < tags[before][1]
