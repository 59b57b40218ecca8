"""The tiny model: the same for the same release, and the same after it was saved."""

from pathlib import Path

import pytest

from training import tiny
from training.release import messages, read_pairs
from training.tokens import Renderer


def test_the_same_release_and_seed_give_the_same_model(tiny_model: Path, release: Path, tmp_path: Path) -> None:
    tiny.make(release, tmp_path, seed=0)
    for file in ("model.safetensors", "tokenizer.json", "chat_template.jinja"):
        assert (tmp_path / file).read_bytes() == (tiny_model / file).read_bytes()


def test_a_saved_tokenizer_cuts_text_as_the_one_that_was_made(tiny_model: Path, release: Path) -> None:
    from transformers import AutoTokenizer

    made = tiny.tokenizer_of([])
    made_of_release = tiny.tokenizer_of(list(tiny.conversations_of(release)))
    loaded = AutoTokenizer.from_pretrained(tiny_model, local_files_only=True)
    text = "It's  A-001,\n\n won't you?\tno 김철수 \U0001f600 <think>x</think>"
    assert loaded(text)["input_ids"] == made_of_release(text)["input_ids"]
    assert loaded.decode(loaded(text)["input_ids"]) == text == made.decode(made(text)["input_ids"])


def test_the_template_only_ever_appends(tiny_model: Path, release: Path) -> None:
    from transformers import AutoTokenizer

    renderer = Renderer(AutoTokenizer.from_pretrained(tiny_model, local_files_only=True))
    record = read_pairs(release, "train").row(0, named=True)
    talk = messages(record["prompt"] + record["chosen"])
    texts = [renderer.text(talk[:length], None) for length in range(1, len(talk) + 1)]
    assert all(later.startswith(earlier) for earlier, later in zip(texts, texts[1:], strict=False))


@pytest.mark.parametrize("held_out", ["order A-006", "A-007"])
def test_held_out_texts_teach_neither_weights_nor_tokens(release: Path, held_out: str) -> None:
    assert held_out not in str(list(tiny.conversations_of(release)))
