"""Messages as columns: what threads need of each, and no text that they do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from transforms.trajectories.tool_results import says_error
from transforms.trajectories.trace_rows import NONE, Array, Index, id_halves

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


SAID = (
    pl.col("day", "message_id", "role", "tool_calls", "tool_call_id"),
    ((pl.col("media") != "") & (pl.col("media") != "[]")).fill_null(False).alias("media"),
    pl.when(pl.col("role").is_in(["system", "user"])).then(pl.col("content")).alias("text"),
    pl.when(pl.col("role") == "tool").then(may_tell_failure("content")).alias("failure"),
)
"""What `Messages` takes of MESSAGES."""


def let_go(said: pl.DataFrame) -> pl.DataFrame:
    """`said` without the memory of texts that it does not show: a column keeps all that it was chosen from."""
    return said.with_columns(pl.Series(name, said[name].to_list(), dtype=pl.String) for name in ("text", "failure"))


@dataclass
class Messages:
    """Each message once, by number. `frame` has `text` of those that a user or a system wrote, `tool_calls`, and
    `tool_call_id`; the arrays say what role a message has and what is known of it, and False for NONE."""

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
        role = said["role"]
        return cls(
            said,
            _or_none((role == "system").to_numpy()),
            _or_none((role == "user").to_numpy()),
            _or_none((role == "tool").to_numpy()),
            _or_none((role == "assistant").to_numpy()),
            _or_none(said["media"].to_numpy()),
            _or_none((said["tool_calls"] != "").fill_null(False).to_numpy()),
            _or_none(tells_failure(said["failure"])),
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


def _or_none(known: Array) -> Array:
    """What is known of messages, and False behind it, where NONE points."""
    return np.append(known, False)


def tells_failure(texts: pl.Series) -> Array:
    """Where a tool's answer tells that the tool failed; null is none."""
    failed = np.zeros(len(texts), dtype=bool)
    asked = np.flatnonzero(texts.is_not_null().to_numpy())
    failed[asked] = _say_error(texts.gather(asked))
    return failed


def _say_error(texts: Iterable[str]) -> Array:
    return np.fromiter(map(says_error, texts), dtype=bool)
