"""Presidio recognisers: one a type, made of rules; the one that reads the name model; and context by distance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from presidio_analyzer import EntityRecognizer, RecognizerResult
from presidio_analyzer.context_aware_enhancers import ContextAwareEnhancer

from transforms.privacy.fields import personal_fields
from transforms.privacy.model import NameSpan
from transforms.privacy.name_cues import cued_names
from transforms.privacy.policy import TYPES
from transforms.privacy.rule import Rule
from transforms.privacy.sieve import Chances
from transforms.privacy.taggers import PERSON

FIELD = "FIELD"  # what it is asked for by; its findings have the types of their fields
FIELD_SCORE, CUE_SCORE = 0.9, 0.7
MATCH_SECONDS = 10.0
CONTEXT_CHARS = 64
# A tag that stands for a value, whole or cut at either end: the name of its type is nobody's context.
_TAG = re.compile(rf"\[(?:{'|'.join(TYPES)})(?:_[0-9a-f]{{12}})?\]|\A[A-Z0-9_a-f]*\]|\[[A-Z0-9_a-f]*\Z")
_KEY_BEFORE = re.compile(r"([^\W\d][\w-]{1,40})[\"']?(?:=|[\"']:|:[\"'])\s?[\"']?$")
CONTEXT_BOOST, CONTEXT_FLOOR = 0.35, 0.4  # Presidio's own figures


class RuleRecognizer(EntityRecognizer):  # type: ignore[misc]
    """All rules of one type. Raises TimeoutError where a pattern takes too long: Presidio would go on without it."""

    def __init__(self, entity: str, rules: Sequence[Rule], chances: Callable[[str], Chances] | None = None) -> None:
        """`chances` says which of the rules have one in a text; without it all are tried."""
        self._rules, self._chances = rules, chances
        context = sorted({word for rule in rules for word in rule.context})
        super().__init__([entity], name=f"{entity.lower()}_rules", context=context)

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any = None) -> list[RecognizerResult]:
        rules = self._chances(text).of(self.supported_entities[0]) if self._chances else self._rules
        found: list[RecognizerResult] = []
        for rule in rules:
            if rule.gate is None or rule.gate(text):
                found += self._matches(rule, text)
        return found

    def _matches(self, rule: Rule, text: str) -> Iterable[RecognizerResult]:
        pattern = rule.pattern
        narrowed = "v" in pattern.groupindex
        for match in pattern.finditer(text, timeout=MATCH_SECONDS):
            if rule.whole and not rule.whole(match.group()):
                continue
            for start, end in match.spans("v") if narrowed else [match.span()]:
                if start == end or (rule.valid and not rule.valid(text[start:end])):
                    continue
                yield self._result(rule, text, start, end)

    def _result(self, rule: Rule, text: str, start: int, end: int) -> RecognizerResult:
        score = rule.score
        if rule.context and _near(text, start, end, rule.context):
            score = min(max(score + CONTEXT_BOOST, CONTEXT_FLOOR), 1.0)
        return _result(rule.entity, start, end, score, rule.name, self.id)


class NameRecognizer(EntityRecognizer):  # type: ignore[misc]
    """Names that the model found; its spans come with the NLP artefacts."""

    def __init__(self) -> None:
        super().__init__([PERSON], name="name_model")

    def load(self) -> None:
        """Nothing to load: the NLP engine holds the model."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[RecognizerResult]:
        spans: list[NameSpan] = nlp_artifacts.entities
        return [_result(PERSON, span.start, span.end, span.score, self.name, self.id) for span in spans]


class NameCueRecognizer(EntityRecognizer):  # type: ignore[misc]
    """Names that something said beside them gives away."""

    def __init__(self) -> None:
        super().__init__([PERSON], name="name_cues")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[RecognizerResult]:
        return [_result(PERSON, start, end, CUE_SCORE, cue, self.id) for cue, start, end in cued_names(text)]


class FieldRecognizer(EntityRecognizer):  # type: ignore[misc]
    """What keys and headings in a text say of the values that stand under them, over the whole text."""

    def __init__(self) -> None:
        super().__init__([FIELD], name="field")

    def load(self) -> None:
        """Nothing to load."""

    def analyze(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[RecognizerResult]:
        found = personal_fields(text)
        return [_result(entity, start, end, FIELD_SCORE, self.name, self.id) for entity, start, end in found]


class NearbyContext(ContextAwareEnhancer):  # type: ignore[misc]
    """Leaves scores as they are: rules look for their context words themselves, within a fixed distance.

    Presidio's enhancer compares every match with every token, which is quadratic, and needs lemmas.
    """

    def __init__(self) -> None:
        super().__init__(CONTEXT_BOOST, CONTEXT_FLOOR, 0, 0)

    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: Any,
        recognizers: list[EntityRecognizer],
        context: list[str] | None = None,
    ) -> list[RecognizerResult]:
        return raw_results


def _result(entity: str, start: int, end: int, score: float, name: str, recogniser: str) -> RecognizerResult:
    known_by = {
        RecognizerResult.RECOGNIZER_NAME_KEY: name,
        RecognizerResult.RECOGNIZER_IDENTIFIER_KEY: recogniser,
    }
    return RecognizerResult(entity, start, end, score, recognition_metadata=known_by)


def _near(text: str, start: int, end: int, words: tuple[str, ...]) -> bool:
    """Whether one of `words` stands near a match; where the match is the value of a key, only the key counts."""
    if key := _KEY_BEFORE.search(text, max(0, start - CONTEXT_CHARS), start):
        return any(word in key[1].lower() for word in words)
    around = f"{text[max(0, start - CONTEXT_CHARS) : start]} {text[end : end + CONTEXT_CHARS // 2]}"
    said = (_TAG.sub(" ", around) if "]" in around or "[" in around else around).lower()
    return any(word in said for word in words)
