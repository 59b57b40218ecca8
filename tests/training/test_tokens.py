"""Token rows hold what was served, and the mask exactly what the model wrote."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from training.release import messages, read_pairs, tools
from training.tokens import CallTokens, RejectedCall, Renderer, Report, merge, rows

Message = dict[str, Any]

THOUGHT: Message = {"role": "assistant", "content": "Done.", "reasoning_content": "Easy."}
PLAIN: Message = {"role": "assistant", "content": "Done."}
ASK: Message = {"role": "user", "content": "Do it."}

TURNS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}BODY{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\nOPEN{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer(tiny_model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(tiny_model, local_files_only=True)


@pytest.fixture
def rendered_with(tokenizer: Any) -> Callable[..., Renderer]:
    """A renderer of a template with this body of assistant turns and this end of the generation prompt."""

    def made(body: str, opening: str = "") -> Renderer:
        other = copy.deepcopy(tokenizer)
        other.chat_template = TURNS.replace("BODY", body).replace("OPEN", opening)
        return Renderer(other)

    return made


def written(tokenizer: Any, call: CallTokens) -> str:
    """Text of the tokens that are trained."""
    ids = [token for token, sampled in zip(call.completion, call.sampled, strict=True) if sampled]
    return str(tokenizer.decode(ids))


def test_the_mask_covers_what_the_model_wrote_and_nothing_else(tokenizer: Any, release: Path) -> None:
    record = read_pairs(release, "train").row(0, named=True)
    talk = messages(record["prompt"] + record["chosen"])
    actions = [2 + action for action in record["chosen_actions"]]
    (row,) = rows(Renderer(tokenizer), talk, actions, ["stop"] * len(actions), tools(record["tools"]), 10_000, Report())
    texts = [tokenizer.decode(row.ids[row.calls == call]) for call in range(3)]
    assert texts == [
        "<think>\nFirst I look the order up.\n</think>\n"
        '<tool_call>\n{"name": "look_up", "arguments": {"order": "A-000"}}\n</tool_call><|im_end|>',
        '<tool_call>\n{"name": "refund", "arguments": {"order": "A-000"}}\n</tool_call><|im_end|>',
        "Order A-000 is paid back.<|im_end|>",
    ]
    whole = tokenizer.apply_chat_template(talk, tools=tools(record["tools"]), tokenize=False)
    assert tokenizer.decode(row.ids) + "\n" == whole


def test_a_turn_the_model_did_not_write_is_context(tokenizer: Any, release: Path) -> None:
    record = read_pairs(release, "train").row(0, named=True)
    talk = messages(record["prompt"] + record["rejected"])
    actions = [2 + action for action in record["rejected_actions"]]
    (row,) = rows(Renderer(tokenizer), talk, actions, ["stop"] * len(actions), tools(record["tools"]), 10_000, Report())
    trained = tokenizer.decode(row.ids[row.calls >= 0])
    assert "Thanks, we are done here." in tokenizer.decode(row.ids)
    assert "Thanks, we are done here." not in trained
    assert "some day.<|im_end|>" in trained


def test_prompt_and_completion_are_tokenised_apart(tokenizer: Any) -> None:
    call = Renderer(tokenizer).call([ASK, PLAIN], 1)
    prompt = tokenizer.apply_chat_template([ASK], add_generation_prompt=True, tokenize=False)
    assert call.prompt == tokenizer(prompt)["input_ids"]
    assert call.completion == tokenizer("Done.<|im_end|>")["input_ids"]


def test_a_call_cut_by_length_did_not_sample_its_end(tokenizer: Any) -> None:
    call = Renderer(tokenizer).call([ASK, PLAIN], 1, finish="length")
    assert written(tokenizer, call) == "Done."


def test_text_that_looks_like_an_end_of_turn_does_not_train_on_half_an_action(tokenizer: Any) -> None:
    forged = {"role": "assistant", "content": "Done.<|im_end|>\nand more"}
    with pytest.raises(RejectedCall, match="content_lost"):
        Renderer(tokenizer).call([ASK, forged], 1)


def test_arguments_stay_as_they_were_and_null_keys_never_reach_a_template(tokenizer: Any) -> None:
    call = {"id": None, "type": "function", "function": {"name": "f", "arguments": '{"b": 1, "a": null}'}}
    talk = messages([{"role": "user", "content": "x", "name": None}, {"role": "assistant", "tool_calls": [call]}])
    assert talk[0] == {"role": "user", "content": "x"} and talk[1]["content"] == ""
    made = written(tokenizer, Renderer(tokenizer).call(talk, 1))
    assert json.loads(made.split("\n")[1]) == {"name": "f", "arguments": {"b": 1, "a": None}}


def test_an_empty_thought_that_the_template_puts_in_is_not_trained(
    tokenizer: Any, rendered_with: Callable[..., Renderer]
) -> None:
    body = "<think>\n{{ m.reasoning_content or '' }}\n</think>\n{{ m.content }}"
    assert written(tokenizer, rendered_with(body).call([ASK, PLAIN], 1)) == "Done.<|im_end|>"
    thought = written(tokenizer, rendered_with(body).call([ASK, THOUGHT], 1))
    assert thought == "<think>\nEasy.\n</think>\nDone.<|im_end|>"


def test_a_closed_thought_in_the_generation_prompt_stays_as_it_was_served(
    tokenizer: Any, rendered_with: Callable[..., Renderer]
) -> None:
    renderer = rendered_with("{{ m.content }}", "<think>\n\n</think>\n\n")
    call = renderer.call([ASK, PLAIN], 1)
    assert tokenizer.decode(call.prompt).endswith("<think>\n\n</think>\n\n")
    assert written(tokenizer, call) == "Done.<|im_end|>"


def test_an_open_thought_without_the_logged_thought_is_rejected(rendered_with: Callable[..., Renderer]) -> None:
    with pytest.raises(RejectedCall, match="unaligned"):
        rendered_with("{{ m.content }}", "<think>\n").call([ASK, PLAIN], 1)


def test_a_prompt_that_the_final_text_contradicts_is_rejected(rendered_with: Callable[..., Renderer]) -> None:
    with pytest.raises(RejectedCall, match="unaligned"):
        rendered_with("{{ m.content }}", "Sure: ").call([ASK, PLAIN], 1)


@pytest.mark.parametrize("body", ["{{ m.content }}", "{{ m.reasoning_content }}"])
def test_a_template_that_drops_part_of_an_action_is_found_out(
    rendered_with: Callable[..., Renderer], body: str
) -> None:
    with pytest.raises(RejectedCall, match="content_lost"):
        rendered_with(body).call([ASK, THOUGHT], 1)


def test_a_template_that_raises_rejects_the_call_and_not_the_run(rendered_with: Callable[..., Renderer]) -> None:
    renderer = rendered_with("{% if m.content == 'Done.' %}{{ raise_exception('no') }}{% endif %}{{ m.content }}")
    report = Report()
    assert (
        rows(renderer, [ASK, PLAIN, ASK, {"role": "assistant", "content": "x"}], [1, 3], [None, None], None, 99, report)
        == []
    )
    assert report.rejected == {"template_error": 2}


def test_a_template_that_strips_earlier_thoughts_opens_a_new_row(rendered_with: Callable[..., Renderer]) -> None:
    body = (
        "{% if loop.last and m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}"
    )
    talk, report = [ASK, THOUGHT, ASK, THOUGHT], Report()
    made = rows(rendered_with(body), talk, [1, 3], ["stop", "stop"], None, 1000, report)
    assert len(made) == 2 and report.splits == 1 and report.kept == 2
    assert [set(row.calls) - {-1} for row in made] == [{0}, {1}]


def test_calls_join_only_where_ids_continue() -> None:
    first = CallTokens([1, 2], [3, 4], [True, True])
    follows = CallTokens([1, 2, 3, 4, 5], [6], [True])
    retokenised = CallTokens([1, 2, 34, 5], [6], [False])
    (joined,) = merge([(0, first), (1, follows)])
    assert joined.ids.tolist() == [1, 2, 3, 4, 5, 6] and joined.calls.tolist() == [-1, -1, 0, 0, -1, 1]
    assert [row.ids.tolist() for row in merge([(0, first), (1, retokenised)])] == [[1, 2, 3, 4], [1, 2, 34, 5, 6]]


def test_a_call_that_is_too_long_is_left_out_whole_and_counted(tokenizer: Any) -> None:
    talk = [ASK, PLAIN, ASK, {"role": "assistant", "content": "Done again, and at length. " * 20}]
    report = Report()
    (row,) = rows(Renderer(tokenizer), talk, [1, 3], ["stop", "stop"], None, 60, report)
    assert report.rejected == {"too_long": 1} and report.kept == 1
    assert tokenizer.decode(row.ids[row.calls == 0]) == "Done.<|im_end|>"


def test_a_rows_key_tells_apart_what_is_trained_of_it() -> None:
    (all_of_it,) = merge([(0, CallTokens([1], [2, 3], [True, True]))])
    (some_of_it,) = merge([(0, CallTokens([1], [2, 3], [True, False]))])
    assert np.array_equal(all_of_it.ids, some_of_it.ids) and all_of_it.key != some_of_it.key
