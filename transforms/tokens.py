"""Token ids in the lake: those of calls that cleaning left as they were, each prompt told by the one before it.

Ids are text: of a call in which anything was replaced, none may stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from transforms.readers.tokens import ID, LIKELY, UNVERIFIED, unpacked
from transforms.surroundings import OwnFields

ABSENT, KEPT, LOGPROBS, ALTERED, NOT_VERIFIED = "absent", "kept", "logprobs", "altered", "unverified"
NAMES = ("token_ids", "tokenids", "logprob", "log_prob")
"""What names of fields hold that list ids, or tell something of each token."""

KNOWN_KEYS = 4096
"""Names of fields of which it is remembered whether they do."""

Row = dict[str, Any]
NO_TOKENS: Row = {"prompt_token_ids": None, "output_token_ids": None, "output_logprobs": None}


def no_tokens(flags: list[str]) -> Row:
    """The columns of a span with these flags that tells no tokens."""
    return NO_TOKENS | {"token_state": NOT_VERIFIED if UNVERIFIED in flags else ABSENT}


def token_columns(span: OwnFields, altered: bool, content_state: str) -> Row:
    """The columns of a span that tell its tokens, still packed; none where it has `no_tokens`.

    `altered` says whether any of its text was replaced.
    """
    ids, likely = span.output_token_ids, span.output_logprobs
    if not ids and not likely:
        return {}
    if altered:
        return NO_TOKENS | {"token_state": ALTERED}
    if content_state != "full":
        return NO_TOKENS | {"token_state": NOT_VERIFIED}
    packed = (span.prompt_token_ids if ids else "", ids, likely)
    told = dict(zip(NO_TOKENS, (one or None for one in packed), strict=True))
    return told | {"token_state": KEPT if ids else LOGPROBS}


def drop_tokens(row: Row) -> None:
    """Take a row's tokens, since text that the call was shown turned out to be replaced."""
    if row.get("token_state") in (KEPT, LOGPROBS):
        row |= NO_TOKENS | {"token_state": ALTERED}


def unpack_rows(rows: Iterable[Row]) -> None:
    """Packed columns become lists, and ids of a prompt only those behind what the base span's tokens say already.

    The rows are one trace's, in an order in which bases come first; they are changed.
    """
    whole: dict[str, np.ndarray[Any, Any]] = {}
    for row in rows:
        row["prompt_tokens_shared"] = None
        if row.get("output_logprobs") is not None:
            row["output_logprobs"] = unpacked(row["output_logprobs"], LIKELY).tolist()
        if row.get("output_token_ids") is None:
            continue
        output = unpacked(row["output_token_ids"], ID)
        row["output_token_ids"] = output.tolist()
        if row["prompt_token_ids"] is None:
            continue
        prompt = unpacked(row["prompt_token_ids"], ID)
        before = whole.get(row["base_span_id"] or "")
        shared = _shared(before, prompt) if before is not None else 0
        row["prompt_tokens_shared"], row["prompt_token_ids"] = shared, prompt[shared:].tolist()
        whole[row["span_id"]] = np.concatenate([prompt, output])


def prompt_token_ids(spans: pl.DataFrame) -> dict[tuple[str, str], list[int]]:
    """The ids of whole prompts, by trace and span, out of the rows of one day (SPANS)."""
    told = spans.filter(pl.col("prompt_token_ids").is_not_null())
    columns = ("trace_id", "span_id", "base_span_id", "prompt_tokens_shared", "prompt_token_ids", "output_token_ids")
    rows = {(row[0], row[1]): row for row in told.select(columns).iter_rows()}
    known: dict[tuple[str, str], list[int]] = {}
    for key in rows:
        waiting = [key]
        while waiting[-1] not in known:
            trace, span, base, shared, suffix, _ = rows[waiting[-1]]
            if shared and (trace, base) not in known:
                waiting.append((trace, base))
                continue
            before = known[trace, base] + rows[trace, base][5] if shared else []
            known[trace, span] = before[:shared] + suffix
            if len(waiting) > 1:
                waiting.pop()
    return known


def without_tokens(value: Any) -> Any:
    """Metadata without what lists tokens, at any depth: it is text that no cleaner can read."""
    if isinstance(value, dict):
        return {key: without_tokens(inner) for key, inner in value.items() if not _lists_tokens(key, inner)}
    if isinstance(value, list):
        return [without_tokens(inner) for inner in value]
    return value


def _lists_tokens(key: str, value: Any) -> bool:
    if isinstance(value, str):
        return value.startswith(("[", "{")) and (_names_tokens(key) or any(name in value for name in NAMES))
    return isinstance(value, list | dict) and _names_tokens(key)


@lru_cache(KNOWN_KEYS)
def _names_tokens(key: str) -> bool:
    return any(name in key.lower() for name in NAMES)


def _shared(before: np.ndarray[Any, Any], prompt: np.ndarray[Any, Any]) -> int:
    """How many ids two lists have in common from the first on."""
    length = min(len(before), len(prompt))
    differing = np.flatnonzero(before[:length] != prompt[:length])
    return int(differing[0]) if len(differing) else length
