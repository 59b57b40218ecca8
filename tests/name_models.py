"""Tiny models that take every word for a person, made on the spot, as folders that users would name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast


def classifier(folder: Path) -> Path:
    """A token classifier of transformers."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    _tokenizer(["[PAD]", "[UNK]"]).save_pretrained(folder)
    config = BertConfig(
        vocab_size=2, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
        id2label={0: "O", 1: "B-PER"}, label2id={"O": 0, "B-PER": 1}, max_position_embeddings=512,
    )  # fmt: skip
    model = BertForTokenClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 9.0]))
    model.save_pretrained(folder)
    return folder


def gliner(folder: Path) -> Path:
    """A GLiNER model, without the backbone that it was made of; needs the package."""
    import torch
    from gliner import GLiNER, GLiNERConfig
    from transformers import BertConfig, BertModel

    backbone = folder / "backbone"
    _tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "person"]).save_pretrained(backbone)
    small = BertConfig(vocab_size=5, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8)
    BertModel(small).save_pretrained(backbone)
    config = GLiNERConfig(model_name=str(backbone), hidden_size=8, max_width=1, max_len=32, num_rnn_layers=0)
    model = GLiNER.from_config(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith("bias") and "bert" not in name:
                weights.fill_(3.0)
    model.save_pretrained(folder / "model")
    backbone.rename(folder / "gone")
    return folder / "model"


def _tokenizer(words: list[str]) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]", pad_token="[PAD]", model_max_length=64)
