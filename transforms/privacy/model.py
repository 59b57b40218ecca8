"""The name model, on the lines where a name may stand that no rule has found, behind Presidio's interface."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

from transforms.privacy.coined import holds_coined
from transforms.privacy.lexicon import uncommon
from transforms.privacy.name_judge import candidates, trimmed
from transforms.privacy.prose import is_code, is_prose
from transforms.privacy.taggers import PERSON, Label, Tagger, load_tagger

LANGUAGE = "en"
MODEL_SCORE = 0.6
PIECE_CHARS = 6_000
_NOISE = re.compile(
    r"<[^<>\n]{1,200}>|https?://\S+|\S+@\S+|\[[A-Z][A-Z0-9_]*\]|(?<!\S)\S*[0-9_/\\=]\S*|(?<!\S)\S{30,}|[\ud800-\udfff`|{}\[\]]"
)
_CAPITAL = re.compile(r"(?<![A-Za-z])[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ'’]{1,30}(?![a-zA-Z])")


_TWO_CAPITALS = re.compile(r"[^\W\d_a-z][\w'’.-]* [^\W\d_a-z]")

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A name in a text, by code points."""

    start: int
    end: int
    score: float


class NameModel(NlpEngine):  # type: ignore[misc]
    """Presidio's NLP engine whose artefacts are name spans only; without a model it finds none."""

    engine_name = "tracemill_names"
    is_available = True

    def __init__(self, model: str | None, sha256: str | None = None) -> None:
        self._model, self._sha256 = model, sha256
        self._tag: Tagger | None = None
        self._loaded = False

    def load(self) -> None:
        """Loads the model. Raises ModelMissing where it is not installed, or has other files than it should."""
        if self._model is not None:
            self._tag = load_tagger(self._model, self._sha256)
        self._loaded = True

    def is_loaded(self) -> bool:
        return self._loaded

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        return next(self.process_batch([text], language))[1]

    def artefacts(self, spans: list[NameSpan]) -> NlpArtifacts:
        """What recognisers are given: spans, and none of what the trimmed pipeline does not make."""
        return NlpArtifacts(spans, [], [], [], None, LANGUAGE, [MODEL_SCORE] * len(spans))

    def process_batch(
        self,
        texts: Iterable[str],
        language: str,
        batch_size: int = 1,
        n_process: int = 1,
        covered: Sequence[Spans] = (),
        **_: Any,
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        """Artefacts of each text, in order; asked in batches, the model costs a third of what it costs one by one.

        `covered`: of each text, disjoint spans in order that are known to be personal: no name is looked for in them.
        """
        known = list(texts)
        for text, spans in zip(known, self.find(known, covered or [()] * len(known)), strict=True):
            yield text, self.artefacts(spans)

    def is_stopword(self, word: str, language: str) -> bool:
        return False

    def is_punct(self, word: str, language: str) -> bool:
        return False

    def get_supported_entities(self) -> list[str]:
        return [PERSON]

    def get_supported_languages(self) -> list[str]:
        return [LANGUAGE]

    def asks_about(self, text: str, covered: Spans = ()) -> bool:
        """Whether a line of `text` may hold a name that no span of `covered` holds.

        A text with a coined name has been cleaned: never again.
        """
        if self._tag is None or not _CAPITAL.search(text):
            return False
        return any(_may_name(line, at, covered) for at, line in _lines(text)) and not holds_coined(text)

    def find(self, texts: Sequence[str], covered: Sequence[Spans]) -> list[list[NameSpan]]:
        """The names in each of `texts`."""
        found: list[list[NameSpan]] = [[] for _ in texts]
        pieces = [
            (index, piece)
            for index, (text, known) in enumerate(zip(texts, covered, strict=True))
            if self.asks_about(text, known)
            for piece in _pieces(text, known)
        ]
        if not pieces or self._tag is None:
            return found
        masked = [_mask("\n".join(line for _, line in piece)) for _, piece in pieces]
        for (index, piece), said, labels in zip(pieces, masked, self._tag(masked), strict=True):
            found[index] += _judged(texts[index], piece, said, labels)
        return found


def _pieces(text: str, covered: Spans) -> Iterator[list[tuple[int, str]]]:
    """The lines that may hold a name, with their offsets, in pieces of bounded size."""
    piece: list[tuple[int, str]] = []
    size = 0
    for at, line in _lines(text):
        if not _may_name(line, at, covered):
            continue
        if piece and size + len(line) > PIECE_CHARS:
            yield piece
            piece, size = [], 0
        piece.append((at, line))
        size += len(line)
    if piece:
        yield piece


def _is_covered(place: int, covered: Spans) -> bool:
    index = bisect_right(covered, place, key=itemgetter(0)) - 1
    return index >= 0 and place < covered[index][1]


def _may_name(line: str, at: int, covered: Spans) -> bool:
    """Whether an uncommon capitalised word of a line stands in no span, alone in a sentence or beside another.

    What is no sentence names nobody by one word.
    """
    odd = [match for match in _CAPITAL.finditer(line) if uncommon(match.group())]
    if covered and odd:
        odd = [one for one in odd if not _is_covered(at + one.start(), covered)]
    return bool(odd) and (_TWO_CAPITALS.search(line) is not None or is_prose(line))


def _judged(text: str, piece: list[tuple[int, str]], masked: str, labels: list[Label]) -> Iterator[NameSpan]:
    """The names in a piece as spans of the text: what the model calls persons, and what it has no better word for."""
    at, code = 0, is_code(text)
    for offset, line in piece:
        end = at + len(line)
        own = [(a - at, min(b, end) - at, label) for a, b, label in labels if at <= a < end]
        prose = is_prose(masked[at:end]) and not code
        for a, b, label in own:
            if label == PERSON and (span := trimmed(text, offset + a, offset + b, prose)):
                yield NameSpan(*span, MODEL_SCORE)
        for a, b in candidates(masked[at:end], own):
            yield NameSpan(offset + a, offset + b, MODEL_SCORE)
        at = end + 1


def _mask(text: str) -> str:
    return _NOISE.sub(lambda noise: " " * len(noise.group()), text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their offsets; one that is too long for a piece comes in several."""
    at = 0
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), PIECE_CHARS):
            yield at + start, line[start : start + PIECE_CHARS]
        at += len(line) + 1
