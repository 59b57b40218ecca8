"""Reads token ids and log-probabilities that an engine logged with a call, where they can be what was said.

They are kept packed: ids as 32-bit, log-probabilities as 64-bit little-endian numbers, in base64. Whether they may be
stored is for cleaning to say: ids are text.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from transforms.readers.decoding import decode
from transforms.readers.values import json_text, listing, mapping, number, text
from transforms.records import Message, Span

UNVERIFIED = "tokens_unverified"
"""Flag of a call with token ids or log-probabilities that cannot be what was said, and were left out."""

PROMPT_UNVERIFIED = "prompt_tokens_unverified"
"""Flag of a call whose ids of the prompt were left out, while those of the answer were read."""

ID, LIKELY = np.dtype("<i4"), np.dtype("<f8")

VOCABULARY = 1 << 20
"""Ids that no tokenizer has: the largest vocabularies hold a quarter of a million."""

LEAST_SLACK = 64
"""Tokens that templates put around an answer, beside those of its text: each of these covers a byte at least."""

ATTRIBUTES = {
    "prompt": ("prompt_token_ids", "llm.hosted_vllm.prompt_token_ids"),
    "output": ("response_token_ids", "completion_token_ids", "llm.hosted_vllm.response_token_ids",
               "agentlightning.operation.output.choices.0.token_ids",
               "agentlightning.operation.output.choices.0.provider_specific_fields.token_ids"),
    "logprobs": ("logprobs.content", "response_log_probs", "response_logprobs"),
}  # fmt: skip
"""Attributes of spans in which engines and their proxies leave ids."""

KEYS = frozenset(name for names in ATTRIBUTES.values() for name in names)


def fill_tokens(span: Span, prompt: Any, output: Any, logprobs: Any) -> None:
    """Keep ids and log-probabilities of a call that is read already, where they agree with it.

    `logprobs` are numbers, or OpenAI's objects of `token` and `logprob`. The lengths of ids and log-probabilities
    must be the same, ids must be ids, one answer must have been given to its end, and either the tokens' own text
    holds what was said, or as many were counted; more ids than bytes are of something else.
    """
    prompt, output, logprobs = (_opened(value) for value in (prompt, output, logprobs))
    if not output and not logprobs:
        return
    ids, likely, written = _ids(output), _logprobs(logprobs), _written(logprobs)
    if not _is_sound(span, ids, likely, written, bool(output), bool(logprobs)):
        span.flags.append(UNVERIFIED)
        return
    span.output_token_ids = _packed(ids, ID)
    span.output_logprobs = _packed(likely, LIKELY)
    if ids and prompt:
        known = _ids(prompt)
        if known and span.input_tokens in (None, len(known)) and len(known) <= _shown_bytes(span):
            span.prompt_token_ids = _packed(known, ID)
        else:
            span.flags.append(PROMPT_UNVERIFIED)


def fill_from_answer(span: Span, answer: dict[str, Any], said: dict[str, Any]) -> None:
    """The same out of an answer in OpenAI's shape, of vLLM's with ids, or of LangChain's metadata `said`."""
    choices = listing(answer.get("choices"))
    choice = mapping(choices[0]) if len(choices) == 1 else {}
    logprobs = choice.get("logprobs") or said.get("logprobs")
    ids = choice.get("token_ids") or mapping(choice.get("provider_specific_fields")).get("token_ids")
    ids = ids or answer.get("response_token_ids")
    if logprobs or ids:
        told = mapping(logprobs).get("content") or answer.get("response_log_probs")
        fill_tokens(span, answer.get("prompt_token_ids") or choice.get("prompt_token_ids"), ids, told)


def fill_from_attributes(span: Span, said: dict[str, Any]) -> None:
    """The same out of attributes, or of the JSON of an answer among them."""
    if not KEYS.isdisjoint(said):
        found = {part: next((said[name] for name in names if said.get(name)), None)
                 for part, names in ATTRIBUTES.items()}  # fmt: skip
        fill_tokens(span, found["prompt"], found["output"], found["logprobs"])
        return
    answer = said.get("output.value")
    if isinstance(answer, str) and ('"logprob"' in answer or 'token_ids"' in answer):
        fields = mapping(_opened(answer))
        generated = listing(fields.get("generations"))[:1]
        first = (
            mapping((listing(generated[0])[:1] or [None])[0]) if generated and isinstance(generated[0], list) else {}
        )
        fill_from_answer(span, fields, mapping(first.get("generation_info")))


def _is_sound(span: Span, ids: list[int], likely: list[float], written: str, told_ids: bool, told_likely: bool) -> bool:
    if (told_ids and not ids) or (told_likely and not likely) or (ids and likely and len(ids) != len(likely)):
        return False
    if span.status != "ok" or len(span.output) != 1 or span.finish_reason == "error":
        return False
    said = span.output[0]
    hidden = bool(span.reasoning_tokens) and not said.reasoning
    count = len(ids or likely)
    if hidden or count > _bytes(said) + LEAST_SLACK:
        return False
    if written:
        return _holds(written, said)
    return bool(ids) and (span.output_tokens == count or (span.output_tokens is None and bool(likely)))


def _holds(written: str, said: Message) -> bool:
    """Whether the text of the tokens is that of the message; arguments may be written in any notation."""
    if not said.tool_calls:
        return said.content.strip() == written.strip() or (bool(said.reasoning) and said.content.strip() in written)
    return said.content.strip() in written and all(call.name in written for call in said.tool_calls)


def _bytes(said: Message) -> int:
    texts = [said.content, said.reasoning, *(part for call in said.tool_calls for part in (call.name, call.arguments))]
    return sum(len(part.encode("utf-8", "replace")) for part in texts) + LEAST_SLACK * len(said.tool_calls)


def _shown_bytes(span: Span) -> int:
    """Bytes of all that a call was shown, with what a template may put around it."""
    return (
        sum(_bytes(message) + LEAST_SLACK for message in span.prompt)
        + len(json_text(span.tools).encode())
        + LEAST_SLACK
    )


def _ids(value: Any) -> list[int]:
    """The ids, or nothing where one of them is none."""
    ids = listing(value)
    return ids if all(type(one) is int and 0 <= one < VOCABULARY for one in ids) else []


def _logprobs(value: Any) -> list[float]:
    found = [number(one.get("logprob") if isinstance(one, dict) else one) for one in listing(value)]
    sound = [one for one in found if one is not None and one <= 0]
    return sound if len(sound) == len(found) else []


def _written(value: Any) -> str:
    """The text of the tokens, where they bring it."""
    tokens = [mapping(one) for one in listing(value)]
    if not tokens or not all(isinstance(one.get("token"), str) for one in tokens):
        return ""
    if all(isinstance(one.get("bytes"), list) for one in tokens):
        try:  # a character may be spread over several tokens
            return b"".join(bytes(one["bytes"]) for one in tokens).decode("utf-8", "replace")
        except (ValueError, TypeError):
            return ""
    return "".join(text(one["token"]) for one in tokens)


def _opened(value: Any) -> Any:
    """A list, also where an attribute holds it as JSON text."""
    if isinstance(value, str) and value.startswith(("[", "{")):
        try:
            return decode(value, set())
        except (ValueError, RecursionError):
            return None
    return value


def unpacked(packed: str, kind: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Ids (`ID`) or log-probabilities (`LIKELY`) as numbers."""
    return np.frombuffer(base64.b64decode(packed), kind)


def _packed(values: list[Any], kind: np.dtype[Any]) -> str:
    return base64.b64encode(np.array(values, kind).tobytes()).decode("ascii")
