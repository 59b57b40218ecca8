"""The name model: spaCy's entity recogniser alone, on the lines where a name may stand, behind Presidio's interface."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

from transforms.privacy.coined import holds_coined, is_coined
from transforms.privacy.unscannable import ModelMissing
from transforms.privacy.words import everyday, known_names, words

PERSON = "PERSON"
LANGUAGE = "en"
MODEL_SCORE = 0.6
PIECE_CHARS = 6_000
_OTHER_PIPES = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_NOISE = re.compile(
    r"<[^<>\n]{1,200}>|https?://\S+|\S+@\S+|\[[A-Z][A-Z0-9_]*\]|(?<!\S)\S*[0-9_/\\=]\S*|(?<!\S)\S{30,}|[\ud800-\udfff`|{}\[\]]"
)
_CAPITAL = re.compile(r"(?<![A-Za-z])[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ'’]{1,30}(?![a-zA-Z])")
_CONTRACTED = re.compile(r"(?:n['’]t|['’](?:ll|m|d|s|re|ve))$|['’]+$")
_ORGANISATION = frozenset(
    words(
        "international airport university college inc llc ltd corp corporation company bank hospital "
        "foundation institute street avenue "
        "road drive center centre museum stadium park station hotel airlines airways"
    )
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_SHAPE = re.compile(r"(?:[^\W\d_a-z][\w'’.-]*)(?: [\w'’.-]+){0,4}")


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A name in a text, by code points."""

    start: int
    end: int
    score: float


class NameModel(NlpEngine):  # type: ignore[misc]
    """Presidio's NLP engine whose artefacts are name spans only; `package` None finds none."""

    engine_name = "tracemill_names"
    is_available = True

    def __init__(self, package: str | None) -> None:
        self._package = package
        self._nlp: Any = None
        self._common: frozenset[str] = frozenset()
        self._judged: dict[str, bool] = {}
        self._loaded = False

    def load(self) -> None:
        """Loads the package's entity recogniser. Raises ModelMissing where the package is not installed."""
        if self._package is not None:
            import spacy

            spec = importlib.util.find_spec(self._package) if self._package.isidentifier() else None
            if spec is None or not spacy.util.is_package(self._package):
                raise ModelMissing(
                    f"the spaCy package {self._package!r} is not installed; install it, or set `model: null` "
                    "to do without a model for names"
                )
            self._nlp = spacy.load(self._package, exclude=_OTHER_PIPES)
            self._common = _dictionary(spec.origin) | everyday()
        self._loaded = True

    def is_loaded(self) -> bool:
        return self._loaded

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        return next(self.process_batch([text], language))[1]

    def artefacts(self, spans: list[NameSpan]) -> NlpArtifacts:
        """What recognisers are given: spans, and none of what the trimmed pipeline does not make."""
        return NlpArtifacts(spans, [], [], [], None, LANGUAGE, [MODEL_SCORE] * len(spans))

    def process_batch(
        self, texts: Iterable[str], language: str, batch_size: int = 1, n_process: int = 1, **_: Any
    ) -> Iterator[tuple[str, NlpArtifacts]]:
        """Artefacts of each text, in order; asked in batches, the model costs a third of what it costs one by one."""
        known = list(texts)
        for text, spans in zip(known, self.find(known), strict=True):
            yield text, self.artefacts(spans)

    def is_stopword(self, word: str, language: str) -> bool:
        return False

    def is_punct(self, word: str, language: str) -> bool:
        return False

    def get_supported_entities(self) -> list[str]:
        return [PERSON]

    def get_supported_languages(self) -> list[str]:
        return [LANGUAGE]

    def asks_about(self, text: str) -> bool:
        """Whether a line of `text` may hold a name. A text with a coined name has been cleaned: never again."""
        if self._nlp is None or not _CAPITAL.search(text):
            return False
        return any(self._may_name(line) for _, line in _lines(text)) and not holds_coined(text)

    def find(self, texts: Sequence[str]) -> list[list[NameSpan]]:
        """The names in each of `texts`."""
        found: list[list[NameSpan]] = [[] for _ in texts]
        pieces = [(i, piece) for i, text in enumerate(texts) if self.asks_about(text) for piece in self._pieces(text)]
        if not pieces:
            return found
        masked = [_mask("\n".join(line for _, line in piece)) for _, piece in pieces]
        with self._nlp.memory_zone():
            for (index, piece), doc in zip(pieces, self._nlp.pipe(masked, batch_size=64), strict=True):
                for entity in doc.ents:
                    if entity.label_ == PERSON:
                        found[index] += self._placed(texts[index], piece, entity.start_char, entity.end_char)
        return found

    def _pieces(self, text: str) -> Iterator[list[tuple[int, str]]]:
        """The lines that may hold a name, with their offsets, in pieces of bounded size."""
        piece: list[tuple[int, str]] = []
        size = 0
        for at, line in _lines(text):
            if not self._may_name(line):
                continue
            if piece and size + len(line) > PIECE_CHARS:
                yield piece
                piece, size = [], 0
            piece.append((at, line))
            size += len(line)
        if piece:
            yield piece

    def _placed(self, text: str, piece: list[tuple[int, str]], start: int, end: int) -> Iterator[NameSpan]:
        """A span of a piece as a span of the text, as far as it lies in one line."""
        at = 0
        for offset, line in piece:
            if at <= start < at + len(line):
                shift = offset - at
                if span := self._trimmed(text, start + shift, min(end, at + len(line)) + shift):
                    yield span
                return
            at += len(line) + 1

    def _may_name(self, line: str) -> bool:
        return any(self._uncommon(match.group()) for match in _CAPITAL.finditer(line))

    def _uncommon(self, word: str) -> bool:
        low = word.lower()
        known = self._judged.get(low)
        if known is None:
            plain = _CONTRACTED.sub("", low)
            known = self._judged[low] = plain in known_names() or not self._in_dictionary(plain)
        return known

    def _in_dictionary(self, word: str) -> bool:
        """Whether the word, or what it is an inflected form of, is a common one."""
        stems = (word, word[:-1], word[:-2], word[:-3], f"{word[:-3]}e", f"{word[:-3]}y", f"{word[:-2]}e", word[:-4])
        endings = ("", "s", "es", "ing", "ing", "ies", "ed", "ning")
        return any(word.endswith(e) and stem in self._common for stem, e in zip(stems, endings, strict=True)) or (
            word.endswith("ed") and (word[:-1] in self._common or word[:-3] in self._common)
        )

    def _trimmed(self, text: str, start: int, end: int) -> NameSpan | None:
        """The span without punctuation and everyday words at its edges; None where nothing like a name is left."""
        words = [
            match
            for match in _WORD.finditer(text, start, end)
            if match.group().rstrip(".").lower() not in ("the", "and")
        ]
        while words and not self._name_like(words[0].group()):
            words.pop(0)
        while words and not self._name_like(words[-1].group()):
            words.pop()
        if not words or len(words) > 4:
            return None
        start, end = words[0].start(), words[-1].end()
        end -= text[end - 1] == "." and end - words[-1].start() > 2
        name = text[start:end]
        if any(word.group().lower() in _ORGANISATION for word in words):
            return None
        uncommon = [word for word in words if self._uncommon(word.group().rstrip("."))]
        if not uncommon or _SHAPE.fullmatch(name) is None or (len(words) == 1 and not self._single(name)):
            return None
        return NameSpan(start, end, MODEL_SCORE)

    def _name_like(self, word: str) -> bool:
        plain = word.rstrip(".")
        if not plain[:1].isupper() or (len(plain) > 1 and plain.isupper()) or is_coined(plain):
            return False
        return plain.lower() not in everyday() or plain.lower() in known_names()

    def _single(self, name: str) -> bool:
        low = name.lower()
        return len(name) > 2 and name[1:].islower() and low not in everyday() and self._uncommon(low)


def _mask(text: str) -> str:
    return _NOISE.sub(lambda noise: " " * len(noise.group()), text)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their offsets; one that is too long for a piece comes in several."""
    at = 0
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), PIECE_CHARS):
            yield at + start, line[start : start + PIECE_CHARS]
        at += len(line) + 1


def _dictionary(origin: str | None) -> frozenset[str]:
    """The words that the package's lemmatizer knows (WordNet's index); empty where it has none."""
    from spacy.lookups import Lookups

    for folder in Path(origin or ".").parent.glob("*/lemmatizer/lookups"):
        lookups = Lookups().from_disk(folder)
        if lookups.has_table("lemma_index"):
            index = lookups.get_table("lemma_index")
            return frozenset(word for words in index.values() for word in words)
    return frozenset()
