"""Reads rollouts of NeMo Gym: a request and an answer of OpenAI's Responses API, and a reward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transforms.readers.calls import finish_reason, read_parameters, read_tools, read_usage
from transforms.readers.messages import read_message, with_system
from transforms.readers.reading import Reading
from transforms.readers.responses import read_items
from transforms.readers.rollouts import Turn, call_spans, digest, reward, root_span
from transforms.readers.tokens import fill_tokens
from transforms.readers.values import first_text, listing, mapping, number, text, whole
from transforms.records import Feedback, Span

TOKENS = ("prompt_token_ids", "generation_token_ids", "generation_log_probs")
"""Where an item of the answer that ends a turn holds ids."""


def is_rollout(fields: dict[str, Any]) -> bool:
    """Whether an object is a rollout."""
    return "responses_create_params" in fields and "response" in fields and "reward" in fields


def read_rollout(fields: dict[str, Any], position: int, reading: Reading) -> Iterator[Span | Feedback]:
    """A root, a call for each thing the model said in the answer, and rewards.

    The group is `_ng_task_index` or an instance's id; where there is neither, the prompt tells it. What the request
    holds of earlier answers is prompt. Counts are of the whole rollout and told where it is one call.
    """
    asked, answer = fields["responses_create_params"], fields["response"]
    odd: set[str] = set()
    said = [Turn([message], own=False) for message in _prompt(asked, odd)]
    calls = [Turn([message]) for message in read_items(listing(answer.get("output")), odd)]
    task = whole(fields.get("_ng_task_index"))
    attempt = whole(fields.get("_ng_rollout_index"))
    identity = ("nemo_gym", reading.dataset, text(task), text(attempt), digest(asked, answer, fields["reward"]))
    root = root_span("nemo_gym", "rollout", position, identity=identity)
    metadata = mapping(asked.get("metadata"))
    root.dataset, root.trial = reading.dataset, attempt
    root.task = text(task) or first_text(fields, "instance_id") or first_text(metadata, "instance_id")
    root.agent = first_text(mapping(fields.get("agent_ref")), "name")
    root.flags += ["masked"] if fields.get("mask_sample") else []
    if said or calls:
        (said or calls)[0].odd |= odd
    yield root
    yield from _calls(root, said, calls, asked, answer)
    yield from reward(root, "reward", number(fields["reward"]))
    for part, score in mapping(fields.get("reward_components")).items():
        yield from reward(root, f"reward.{part}", number(score))


def _calls(
    root: Span, said: list[Turn], calls: list[Turn], asked: dict[str, Any], answer: dict[str, Any]
) -> Iterator[Span]:
    tools = read_tools(asked.get("tools") or answer.get("tools"))
    parameters = read_parameters({**asked, "text": None, "reasoning": None}, {"temperature": answer.get("temperature")})
    odd = {*root.flags} | ({"prompt_unknown"} if not said else set())
    made = list(call_spans(root, [*said, *calls], tools, odd))
    spans = [span for span in made if span.kind == "llm"]
    for span in spans:
        span.model, span.parameters = first_text(answer, "model"), parameters
        span.finish_reason = "tool_calls" if span.output[0].tool_calls else ""
    if spans:
        reason = mapping(answer.get("incomplete_details")).get("reason") or answer.get("status")
        last = spans[-1]
        last.finish_reason = last.finish_reason or finish_reason(reason)
        if len(spans) == 1:
            usage = read_usage(answer.get("usage"))
            last.input_tokens, last.output_tokens = usage.input, usage.output or None
            last.cache_read_tokens, last.reasoning_tokens = usage.cache_read, usage.reasoning
    logged = [item for item in map(mapping, listing(answer.get("output"))) if item.get("generation_token_ids")]
    if len(logged) == len(spans):
        for span, item in zip(spans, logged, strict=True):
            fill_tokens(span, *(item.get(name) for name in TOKENS))
    yield from made


def _prompt(asked: dict[str, Any], odd: set[str]) -> Any:
    given = asked.get("input")
    messages = read_items(given, odd) if isinstance(given, list) else read_message(given, odd)
    return with_system(messages, asked.get("instructions"), odd)
