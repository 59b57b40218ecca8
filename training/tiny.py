"""A tiny model and tokenizer made on the spot from a release's own texts: the whole path runs in seconds on a CPU.

It shows that the plumbing learns; its weights are of no other use. Same release, same seed: same model.

    python -m training.tiny --release DIR --out DIR
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from training.launch import Refused, guarded
from training.release import messages, read_pairs, read_rollouts, tools
from training.tokens import Renderer, Report, Row, rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEMPLATE = Path(__file__).with_name("chat.jinja")
PAD, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
TAGS = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
VOCABULARY = 2048
HIDDEN = 64
LAYERS = 2
CONTEXT = 32_768

WARM_UP_STEPS = 40
"""Steps of plain language modelling, so that log-probs mean something before preferences are learnt."""

WARM_UP_ROWS = 4
WARM_UP_WINDOW = 384
"""Tokens: the end of an action and what came right before it. Short, as this only has to take seconds."""

WARM_UP_RATE = 3e-3


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=Path, required=True, help="release folder")
    parser.add_argument("--out", type=Path, required=True, help="folder for the model")
    parser.add_argument("--seed", type=int, default=0, help="seed of the weights and of the warm-up")
    options = parser.parse_args(arguments)
    return guarded(lambda: make(options.release, options.out, options.seed))


def make(release: Path, out: Path, seed: int) -> None:
    """Write a model of ~0.2 M parameters and its tokenizer to `out`, from the train split only. Raises Refused."""
    conversations = list(conversations_of(release))
    if not conversations:
        raise Refused(f"{release}: no training rows, so nothing to make a model from")
    import torch

    torch.set_num_threads(1)  # The sum of a row depends on how many threads share it: same release, same model.
    tokenizer = tokenizer_of(conversations)
    model = blank_model(tokenizer, seed)
    warm_up(model, action_rows(Renderer(tokenizer), conversations), seed)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


Conversation = tuple[list[dict[str, Any]], list[int], list[dict[str, Any]] | None]
"""Messages, which of them the model wrote, and the tools it was offered."""


def conversations_of(release: Path) -> Iterator[Conversation]:
    pairs, rollouts = read_pairs(release, "train"), read_rollouts(release, "train")
    columns = [(pairs, "chosen", "chosen_actions"), (pairs, "rejected", "rejected_actions")]
    for frame, side, actions in [*columns, (rollouts, "completion", "actions")]:
        chosen = frame.select("prompt", "tools", pl.col(side).alias("side"), pl.col(actions).alias("actions"))
        for record in chosen.iter_rows(named=True):
            prompt = messages(record["prompt"])
            written = [len(prompt) + action for action in record["actions"]]
            yield prompt + messages(record["side"]), written, tools(record["tools"])


def tokenizer_of(conversations: list[Conversation]) -> Any:
    """Byte-level BPE over the distinct texts, with ChatML turns and the template of this package.

    It is trained as Qwen2's own class, since AutoTokenizer makes one of any tokenizer beside a Qwen2 model: another
    class would cut text in other places after it was saved and loaded.
    """
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import Qwen2Tokenizer

    made = Qwen2Tokenizer(pad_token=PAD, eos_token=END).train_new_from_iterator(
        _texts(conversations),
        VOCABULARY,
        new_special_tokens=[START],
        initial_alphabet=sorted(ByteLevel.alphabet()),
        show_progress=False,
    )
    made.add_special_tokens({"additional_special_tokens": [START]})
    made.add_tokens(TAGS)
    made.chat_template = TEMPLATE.read_text()
    made.model_max_length = CONTEXT
    return made


def blank_model(tokenizer: Any, seed: int) -> Any:
    """A Qwen2 of LAYERS layers with random weights."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=3 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Qwen2ForCausalLM(config)


def _texts(conversations: list[Conversation]) -> list[str]:
    """Each distinct text once; templates and repeated prompts would crowd out everything else."""
    found: dict[str, None] = {}
    for talk, _, offered in conversations:
        for message in talk:
            found |= dict.fromkeys([message["content"], message.get("reasoning_content", "")])
            found |= dict.fromkeys(str(call["function"]) for call in message.get("tool_calls", []))
        found |= dict.fromkeys(str(tool) for tool in offered or [])
    return list(found)


def action_rows(renderer: Renderer, conversations: list[Conversation]) -> list[Row]:
    report = Report()
    made = [
        row
        for talk, written, offered in conversations
        for row in rows(renderer, talk, written, [None] * len(written), offered, CONTEXT, report)
    ]
    return list({row.key: row for row in made}.values())


def warm_up(model: Any, actions: list[Row], seed: int) -> None:
    import torch

    from training.logprobs import pad, score_actions

    order = np.random.default_rng(seed)
    score_actions(model).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=WARM_UP_RATE)
    for _ in range(WARM_UP_STEPS if actions else 0):
        windows = [_window(actions[index], order) for index in order.integers(len(actions), size=WARM_UP_ROWS)]
        loss = -model(**pad(windows)).logp.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def _window(row: Row, order: np.random.Generator) -> Row:
    """WARM_UP_WINDOW tokens of `row` that end with one of its action tokens; the first is context."""
    end = int(order.choice(row.positions[row.positions > 0])) + 1
    kept: NDArray[np.intp] = np.arange(max(0, end - WARM_UP_WINDOW), end)
    calls = row.calls[kept].copy()
    calls[0] = -1
    return Row(row.ids[kept], calls)


if __name__ == "__main__":
    sys.exit(main())
