"""Finds personal data: every rule runs in one trimmed Presidio engine, and each distinct leaf is searched once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from presidio_analyzer import AnalyzerEngine, EntityRecognizer, RecognizerRegistry

from transforms.privacy import addresses, ids, korean, names, patterns, phones, secrets, weak_types
from transforms.privacy.audit import STRONG
from transforms.privacy.fields import may_hold_fields
from transforms.privacy.gates import may_name
from transforms.privacy.model import LANGUAGE, NameModel
from transforms.privacy.overlaps import Hit
from transforms.privacy.policy import PrivacyPolicy, UserRecogniser
from transforms.privacy.recognisers import (
    FIELD,
    FieldRecognizer,
    NameCueRecognizer,
    NameRecognizer,
    NearbyContext,
    RuleRecognizer,
)
from transforms.privacy.rule import THRESHOLD, Rule
from transforms.privacy.sieve import Sieve
from transforms.privacy.surrogates import is_surrogate
from transforms.privacy.taggers import PERSON
from transforms.privacy.unscannable import Unscannable

CHUNK_CHARS = 8_000
OVERLAP_CHARS = 300
CACHED_LEAVES = 400_000
RULES = (
    *secrets.RULES, *patterns.RULES, *phones.RULES, *ids.RULES, *addresses.RULES, *korean.RULES, *names.RULES,
)  # fmt: skip
_OVER_ALL = frozenset(("SECRET", FIELD))
_PLAIN = re.compile(
    r"[A-Za-z]?[a-z_.-]*|[A-Z0-9#_-]{1,8}|(?!(?:\D*\d){9})[a-z][a-z0-9_-]{0,15}|\d{4}-\d\d-\d\d(?:[T "
    r"]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?|[\d:.,$%+-]{1,6}|\s*"
)


class Detector:
    """Finds what the rules, the user's recognisers and the name model say is personal; remembers distinct leaves."""

    def __init__(self, policy: PrivacyPolicy) -> None:
        self._model = NameModel(policy.model, policy.model_sha256)
        self._namer = NameRecognizer()
        own = [RuleRecognizer(one.supported_entity, list(_user_rules(one))) for one in policy.recognisers]
        self._users = {one.supported_entity for one in policy.recognisers}
        self._max_chars = policy.max_leaf_chars
        rules = (*RULES, *(rule for rule in weak_types.RULES if policy.action(rule.entity) != "keep"))
        self._engine = _engine(self._model, self._namer, own, rules)
        self._nothing = self._model.artefacts([])
        self._entities = frozenset(self._engine.get_supported_entities(LANGUAGE))
        self._chances = sieve(rules).chances
        self._found: dict[str | bytes, tuple[Hit, ...]] = {}
        self._named: dict[str | bytes, tuple[Hit, ...]] = {}

    def find(self, text: str) -> tuple[Hit, ...]:
        """All hits in `text`, overlapping ones too, surrogates marked as such.

        Raises Unscannable for a text over the limit, and where a pattern takes too long.
        """
        return self.by_rule(text) + self.by_model(text)

    def by_rule(self, text: str) -> tuple[Hit, ...]:
        """What rules find. Raises as `find` does."""
        key = _key(text)
        found = self._found.get(key)
        if found is None:
            if len(self._found) >= CACHED_LEAVES:
                self._found.clear()
            found = self._found[key] = self._search(text)
        return found

    def strong(self, text: str) -> tuple[Hit, ...]:
        """What rules find of the strong types, surrogates marked; all of `by_rule` where one is none. Raises as `find`.

        An audit reads everything that was cleaned: most of it holds nothing strong but surrogates.
        """
        if _PLAIN.fullmatch(text) and not self._users or len(text) <= self._max_chars and self._is_free(text):
            return ()
        return self.by_rule(text)

    def _is_free(self, text: str) -> bool:
        found = self._found.get(_key(text)) if len(text) <= CHUNK_CHARS else None
        if found is not None and all(hit.ours for hit in found if hit.entity in STRONG):
            return True
        strong = self._likely(text, STRONG)
        try:
            return all(hit.ours for hit in self._marked(text, self._analyze(text, strong, 0)))
        except TimeoutError:
            raise Unscannable("timeout") from None

    def by_model(self, text: str) -> tuple[Hit, ...]:
        """What the name model finds."""
        key = _key(text)
        if key not in self._named:
            self.read_names([text])
        return self._named[key]

    def asks_model(self, text: str) -> bool:
        """Whether the model has to be asked about `text`, or was and found a name."""
        key = _key(text)
        if key not in self._named and not self._model.asks_about(text, _spans(self.by_rule(text))):
            self._named[key] = ()
        return key not in self._named or bool(self._named[key])

    def read_names(self, texts: Iterable[str]) -> None:
        """Ask the model about many texts at once."""
        if len(self._named) >= CACHED_LEAVES:
            self._named.clear()
        fresh = [text for text in dict.fromkeys(texts) if _key(text) not in self._named]
        known = [_spans(self.by_rule(text)) for text in fresh]
        for text, artefacts in self._model.process_batch(fresh, LANGUAGE, covered=known):
            self._named[_key(text)] = tuple(
                Hit(found.start, found.end, found.entity_type, self._namer.name, found.score)
                for found in self._namer.analyze(text, [PERSON], artefacts)
            )

    def _search(self, text: str) -> tuple[Hit, ...]:
        if len(text) > self._max_chars:
            raise Unscannable("too_long")
        if not self._users and _PLAIN.fullmatch(text):
            return ()
        try:
            hits = list(self._whole(text) if len(text) <= CHUNK_CHARS else self._in_parts(text))
        except TimeoutError:
            raise Unscannable("timeout") from None
        return self._marked(text, hits)

    def _marked(self, text: str, hits: Iterable[Hit]) -> tuple[Hit, ...]:
        """Distinct hits, surrogates marked as such."""
        distinct = dict.fromkeys(hits)
        return tuple(replace(hit, ours=is_surrogate(hit.entity, text[hit.start : hit.end])) for hit in distinct)

    def _whole(self, text: str) -> Iterator[Hit]:
        return self._analyze(text, self._likely(text, self._entities), 0)

    def _in_parts(self, text: str) -> Iterator[Hit]:
        """A long text in chunks; but secrets of many lines, and columns under a heading, over all of it."""
        yield from self._analyze(text, self._likely(text, _OVER_ALL), 0)
        for start, end in chunks(text):
            yield from self._analyze(text[start:end], self._likely(text[start:end], self._entities - _OVER_ALL), start)

    def _likely(self, text: str, among: frozenset[str]) -> set[str]:
        """The types of some that have a chance in a text; those of a user's recognisers always have."""
        likely = {*self._chances(text).among(among), *(self._users & among)}
        if FIELD in among and may_hold_fields(text):
            likely.add(FIELD)
        if PERSON in among and may_name(text):
            likely.add(PERSON)
        return likely

    def _analyze(self, text: str, entities: Collection[str], offset: int) -> Iterator[Hit]:
        if not entities:
            return
        for result in self._engine.analyze(text, LANGUAGE, entities=sorted(entities), nlp_artifacts=self._nothing):
            name = result.recognition_metadata["recognizer_name"]
            yield Hit(result.start + offset, result.end + offset, result.entity_type, name, result.score)


def _key(text: str) -> str | bytes:
    """What a leaf is remembered by: itself, or 128 bits of a long one."""
    return text if len(text) <= 64 else blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def chunks(text: str) -> Iterator[tuple[int, int]]:
    """Pieces of at most CHUNK_CHARS, cut at blanks where there are any; neighbours overlap: nothing is cut in two."""
    start = 0
    while len(text) - start > CHUNK_CHARS:
        end = start + CHUNK_CHARS
        cut = max(text.rfind("\n", end - 1000, end), text.rfind(" ", end - 200, end))
        end = cut if cut > start else end
        yield start, end
        blank = text.find(" ", end - OVERLAP_CHARS, end)
        start = blank if blank > 0 else end - OVERLAP_CHARS
    yield start, len(text)


class _Registry(RecognizerRegistry):  # type: ignore[misc]
    """A registry that remembers which recognisers it chose: they do not change.

    Presidio chooses them in the order of their addresses; of two that find the same, the first is named in findings.
    """

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self._chosen: dict[tuple[str, ...], list[EntityRecognizer]] = {}

    def get_recognizers(
        self,
        language: str,
        entities: list[str] | None = None,
        all_fields: bool = False,
        ad_hoc_recognizers: list[EntityRecognizer] | None = None,
    ) -> list[EntityRecognizer]:
        key = tuple(entities or ())
        if key not in self._chosen:
            chosen = super().get_recognizers(language, entities, all_fields, ad_hoc_recognizers)
            self._chosen[key] = sorted(chosen, key=self.recognizers.index)
        return self._chosen[key]


@lru_cache(maxsize=4)
def sieve(rules: tuple[Rule, ...] = RULES) -> Sieve:
    """The sieve for rules; it takes a tenth of a second to make."""
    return Sieve(rules)


def _engine(
    model: NameModel, namer: NameRecognizer, own: list[RuleRecognizer], rules: tuple[Rule, ...]
) -> AnalyzerEngine:
    grouped: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        grouped[rule.entity].append(rule)
    ours = [RuleRecognizer(entity, own_rules, sieve(rules).chances) for entity, own_rules in grouped.items()]
    registry = _Registry(
        recognizers=[*ours, *own, FieldRecognizer(), NameCueRecognizer(), namer],
        supported_languages=[LANGUAGE],
    )
    return AnalyzerEngine(
        registry,
        model,
        default_score_threshold=THRESHOLD,
        supported_languages=[LANGUAGE],
        context_aware_enhancer=NearbyContext(),
    )


def _spans(hits: Iterable[Hit]) -> list[tuple[int, int]]:
    """Disjoint spans in order that cover the hits."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((hit.start, hit.end) for hit in hits):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _user_rules(recogniser: UserRecogniser) -> Iterator[Rule]:
    for pattern in recogniser.patterns:
        yield Rule(
            recogniser.supported_entity,
            f"{recogniser.name}: {pattern.name}",
            pattern.regex,
            pattern.score,
            context=tuple(word.lower() for word in recogniser.context),
            ignore_case=True,
        )
