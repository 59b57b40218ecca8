"""Token rows of LLM calls: exactly what the served model read, and a mask on exactly what it wrote.

The unit is one LLM call, rendered as it was served: the prompt is the template's text up to the generation
prompt, the completion what the template adds for the answer, and their ids are tokenised apart, as a server does
it. Calls whose prompt ids continue the row so far share that row; others open a new one, so that nothing assumes
that a template only ever appends. (A token trie over all calls of a rollout would share what branches, too: it
takes the place of `merge`, from the same `CallTokens`.)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2.exceptions import TemplateError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import PreTrainedTokenizerBase

SENTINEL = "zqxsentinelzqx"
NOT_TRAINED = -1
_CLOSED_THOUGHT = re.compile(r"\s*(<think>\s*)?(</think>\s*)?")


class RejectedCall(ValueError):
    """A call that cannot be rendered as it was served; `reason` is one of few words and counted."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class CallTokens:
    """One call: prompt ids, completion ids, and for each completion id whether the model sampled it."""

    prompt: list[int]
    completion: list[int]
    sampled: list[bool]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One sequence to score. ids [L]; calls [L]: which call sampled the token, -1 where none did."""

    ids: NDArray[np.int64]
    calls: NDArray[np.int64]

    @property
    def positions(self) -> NDArray[np.int64]:
        """Positions [T] of the sampled tokens."""
        return np.flatnonzero(self.calls != NOT_TRAINED)

    @property
    def key(self) -> str:
        """Hash of the ids and of what is trained of them."""
        mask = (self.calls != NOT_TRAINED).tobytes()
        return hashlib.blake2b(self.ids.tobytes() + mask, digest_size=16).hexdigest()


@dataclass(slots=True)
class Report:
    """What became of the calls: how many were kept, in how many rows, and why the others were not.

    `splits` counts prompts that did not continue the row before; `items` are what the encoder makes of the rows.
    """

    calls: int = 0
    kept: int = 0
    rows: int = 0
    splits: int = 0
    items: int = 0
    items_dropped: int = 0
    rejected: dict[str, int] = field(default_factory=dict)

    def reject(self, reason: str) -> None:
        self.rejected[reason] = self.rejected.get(reason, 0) + 1


class Renderer:
    """Renders calls with a tokenizer's chat template; `options` are the template's own, as they were served."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, options: dict[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._options = options or {}
        self._ends = self._end_tokens()

    def call(
        self,
        messages: Sequence[dict[str, Any]],
        action: int,
        tools: list[dict[str, Any]] | None = None,
        finish: str = "stop",
    ) -> CallTokens:
        """Tokens of the call that wrote `messages[action]`. Raises RejectedCall.

        `finish` is the logged finish reason: the end-of-turn token of a call cut by `length` was not sampled.
        """
        try:
            prompt, completion, injected = self._texts(list(messages), action, tools)
        except TemplateError:
            raise RejectedCall("template_error") from None
        own = self._until_end(completion[len(injected) :])
        _nothing_lost(messages[action], own)
        given, written = self._ids(injected), self._ids(own)
        sampled = [False] * len(given) + [True] * len(written)
        sampled[-1] = finish != "length"
        return CallTokens(self._ids(prompt), given + written, sampled)

    def text(self, messages: Sequence[dict[str, Any]], tools: list[dict[str, Any]] | None) -> str:
        """The whole conversation as the template shows it."""
        return self._render(list(messages), tools, generation=False)

    def _texts(
        self, messages: list[dict[str, Any]], action: int, tools: list[dict[str, Any]] | None
    ) -> tuple[str, str, str]:
        """Prompt, completion, and the part of the completion that the template put before the model's own."""
        if action == 0:
            raise RejectedCall("no_prompt")
        prompt = self._render(messages[:action], tools, generation=True)
        full = self._render(messages[: action + 1], tools, generation=False)
        if not full.startswith(prompt):
            return prompt, self._after_thought(messages, action, tools, prompt, full), ""
        completion = full[len(prompt) :]
        if messages[action].get("reasoning_content"):
            return prompt, completion, ""
        return prompt, completion, self._injected(messages[:action], tools, prompt, completion)

    def _after_thought(
        self,
        messages: list[dict[str, Any]],
        action: int,
        tools: list[dict[str, Any]] | None,
        prompt: str,
        full: str,
    ) -> str:
        """Completion where only an empty thought in the generation prompt is missing from the final text."""
        shared = len(commonprefix([prompt, full]))
        opening = len(self._render(messages[:action], tools, generation=False))
        closed = prompt[opening:].count("<think>") == prompt[opening:].count("</think>")
        thought = _CLOSED_THOUGHT.fullmatch(prompt[shared:])
        if shared < opening or not thought or not closed or messages[action].get("reasoning_content"):
            raise RejectedCall("unaligned")
        return full[shared:]

    def _injected(
        self, before: list[dict[str, Any]], tools: list[dict[str, Any]] | None, prompt: str, completion: str
    ) -> str:
        """What the template writes before any answer without thoughts, such as an empty thought."""
        probe = self._render([*before, {"role": "assistant", "content": SENTINEL}], tools, generation=False)
        injected = probe[len(prompt) : max(probe.find(SENTINEL), len(prompt))] if probe.startswith(prompt) else ""
        return injected if completion.startswith(injected) else ""

    def _until_end(self, own: str) -> str:
        """`own` up to its first end-of-turn token, the last thing a call samples; what follows is the next prompt's."""
        ends = [own.find(end) + len(end) for end in self._ends if end in own]
        if not ends:
            raise RejectedCall("no_end_of_turn")
        return own[: min(ends)]

    def _end_tokens(self) -> list[str]:
        """Tokens that end a turn: the tokenizer's, and what the template writes after an answer or a tool call."""
        call = {"type": "function", "function": {"name": "probe", "arguments": {"probe": SENTINEL}}}
        answers: list[dict[str, Any]] = [
            {"role": "assistant", "content": SENTINEL},
            {"role": "assistant", "content": "", "tool_calls": [call | {"id": "call00000"}]},
        ]
        ends = {self._tokenizer.eos_token_id} - {None}
        special = set(self._tokenizer.all_special_ids)
        for answer in answers:
            try:
                text = self._render([{"role": "user", "content": "probe"}, answer], None, generation=False)
            except TemplateError:
                continue
            after = self._ids(text.rpartition(SENTINEL)[2]) if SENTINEL in text else []
            ends.update([token for token in after if token in special][:1])
        return [str(self._tokenizer.convert_ids_to_tokens(token)) for token in sorted(ends)]

    def _render(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, *, generation: bool) -> str:
        text: str = self._tokenizer.apply_chat_template(
            messages, tools=tools, add_generation_prompt=generation, tokenize=False, **self._options
        )
        return text

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return ids


def rows(
    renderer: Renderer,
    messages: Sequence[dict[str, Any]],
    actions: Sequence[int],
    finishes: Sequence[str | None],
    tools: list[dict[str, Any]] | None,
    max_length: int,
    report: Report,
) -> list[Row]:
    """Rows of the calls at `actions`, which ended as `finishes` say; a row's `calls` count in `actions`.

    What is left out, `report` counts.
    """
    kept: list[tuple[int, CallTokens]] = []
    for index, (action, finish) in enumerate(zip(actions, finishes, strict=True)):
        try:
            call = renderer.call(messages, action, tools, finish or "stop")
            if len(call.prompt) + len(call.completion) > max_length:
                raise RejectedCall("too_long")
            kept.append((index, call))
        except RejectedCall as rejected:
            report.reject(rejected.reason)
    merged = merge(kept)
    report.calls += len(actions)
    report.kept += len(kept)
    report.rows += len(merged)
    report.splits += max(len(merged) - 1, 0)
    return merged


def merge(calls: Sequence[tuple[int, CallTokens]]) -> list[Row]:
    """Rows of numbered calls: a call joins the row iff its prompt's ids start with the row's ids."""
    open_rows: list[tuple[list[int], list[int]]] = []
    for index, call in calls:
        if not open_rows or call.prompt[: len(open_rows[-1][0])] != open_rows[-1][0]:
            open_rows.append(([], []))
        ids, owners = open_rows[-1]
        owners += [NOT_TRAINED] * (len(call.prompt) - len(ids))
        ids += call.prompt[len(ids) :]
        ids += call.completion
        owners += [index if sampled else NOT_TRAINED for sampled in call.sampled]
    return [Row(np.asarray(ids), np.asarray(owners)) for ids, owners in open_rows]


def _nothing_lost(message: dict[str, Any], text: str) -> None:
    """Some templates drop thoughts or tool calls without a word; such a call would train on half an action."""
    names = [call["function"]["name"] for call in message.get("tool_calls", [])]
    wanted = [message.get("content", ""), message.get("reasoning_content", ""), *names]
    if any(part.strip() not in text for part in wanted):
        raise RejectedCall("content_lost")
