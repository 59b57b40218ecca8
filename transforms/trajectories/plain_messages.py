"""Messages as columns: what threads need of each, and no text that they do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from transforms.trajectories.tool_results import says_error
from transforms.trajectories.trace_rows import NONE, Array, Index, id_halves, true_in

# What Python's `str.isspace` counts in addition to White_Space, and all that may stand in front of what tells a
# failure. Wider than `says_error`, which looks at what passes: letters beyond ASCII may fold to one of a word, and an
# escape in JSON may stand for one.
_MAY_TELL = (
    r"^[\s\x1c-\x1f]*(?:\{(?s:.*)(?:rror|\\u)|(?i:traceback|[\w.[^\x00-\x7f]]*"
    r"(?:error|exception|timeout|failure|exceeded|denied|[^\x00-\x7f])))"
)


def may_tell_failure(text: str) -> pl.Expr:
    """A column's texts where `says_error` could be true, else null."""
    return pl.when(pl.col(text).str.contains(_MAY_TELL)).then(pl.col(text))


_ROLES = pl.Enum(["system", "user", "assistant", "tool"])
_TEXT = (
    pl.when(pl.col("role").is_in(["system", "user"])).then(pl.col("content"))
    .when(pl.col("role") == "tool").then(may_tell_failure("content"))
)  # fmt: skip
SAID = (
    pl.col("day", "message_id", "tool_calls", "tool_call_id"),
    pl.col("role").cast(_ROLES, strict=False),
    ((pl.col("media") != "") & (pl.col("media") != "[]")).fill_null(False).alias("media"),
    (_TEXT + pl.lit("")).alias("text"),  # a copy: a column keeps all that it was chosen from
)
"""What `Messages` takes of MESSAGES: of their texts those of systems and users, and those of tools that may tell of a
failure."""


@dataclass
class Messages:
    """Each message once, by number. `frame` has `message_id`, `text` (of those that a user or a system wrote),
    `tool_calls` and `tool_call_id`; the arrays say what role a message has and what is known of it, and False for NONE.
    """

    frame: pl.DataFrame
    systems: Array
    users: Array
    tools: Array
    assistants: Array
    media: Array
    calls: Array
    failed: Array
    _index: Index
    _other: Array

    @classmethod
    def of(cls, said: pl.DataFrame) -> Messages | None:
        """Messages as `SAID` selects them, later days behind earlier ones; None where an id is none of ours."""
        said = said.rechunk()
        halves = id_halves(said["message_id"])
        if halves is None:
            return None
        index = Index.of(halves[:, 0])
        systems, users, assistants, tools = (_or_none(said["role"] == role) for role in _ROLES.categories)
        media, calls = _or_none(said["media"]), _or_none(said["tool_calls"] != "")
        failed = tools.copy()
        failed[tools] = tells_failure(said["text"].filter(pl.Series(tools[:-1])))
        return cls(
            said.select("message_id", "text", "tool_calls", "tool_call_id"),
            systems,
            users,
            tools,
            assistants,
            media,
            calls,
            failed,
            index,
            halves[:, 1],
        )

    def numbers(self, ids: pl.Series) -> tuple[Array, Array] | None:
        """The numbers of messages (NONE of those that are not there), and a number each for ids; None where an id is
        none of ours, or has half of its bits in common with another."""
        halves = id_halves(ids)
        if halves is None:
            return None
        found = self._index.places(halves[:, 0])
        there = np.flatnonzero(found != NONE)
        return None if (self._other[found[there]] != halves[there, 1]).any() else (found, halves[:, 0])


def _or_none(known: pl.Series) -> Array:
    """What is known of messages, and False behind it, where NONE points."""
    return np.append(true_in(known), False)


def tells_failure(texts: pl.Series) -> Array:
    """Where a tool's answer tells that the tool failed; null is none."""
    failed = np.zeros(len(texts), dtype=bool)
    asked = np.flatnonzero(texts.is_not_null().to_numpy())
    failed[asked] = _say_error(texts[asked])
    return failed


def _say_error(texts: Iterable[str]) -> Array:
    return np.fromiter(map(says_error, texts), dtype=bool)
