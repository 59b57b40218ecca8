"""Anchors: steps of one task that were shown the same, so that what they did then can be compared.

What is compared is what was new to the model at a step: tool results, a user's turn, at the start the whole prompt.
Texts must be equal to the letter; ids of tool calls are left aside, since every call has another. Where clocks and
request ids tell every answer from every other, `mask_numbers` makes words with digits equal: amounts, too. What was
said before may differ, unless `memory` asks for equal observations before it: two agents that read the same answer
may know different things.
"""

from __future__ import annotations

import polars as pl

from transforms.credit.spec import AnchorTdCredit, GigpoCredit

ANCHOR = ("task", "seen")
"""Columns that name a group of equal observations."""

_CALL_ID = r'"id": ?"(?:[^"\\]|\\.)*"'


_NUMBER = r"\b\w*\d\w*\b"


def with_anchors(
    rows: pl.DataFrame, steps: pl.DataFrame, messages: pl.DataFrame, spec: GigpoCredit | AnchorTdCredit
) -> pl.DataFrame:
    """`rows` of `credited_steps` with `seen`, `anchor` (span of the first step in the group) and `anchor_size`.

    A step that was shown nothing new (a retry) has an anchor of its own, as has one whose messages are unknown.
    """
    own = ["trajectory_id", "revision", "step"]
    shown = rows.select(own).join(steps.select(*own, "observed"), on=own, how="left", maintain_order="left")
    seen = _observations(shown, said(messages, spec.mask_numbers))
    told = rows.with_columns(seen).with_columns(_with_past(spec.memory)).with_row_index("place")
    group = [*ANCHOR, pl.when(pl.col("seen").is_null()).then("place")]
    return told.with_columns(
        pl.col("span_id").first().over(group).alias("anchor"),
        pl.len().over(group).cast(pl.Int64).alias("anchor_size"),
        pl.col("place").first().over(group).alias("seen"),
    ).drop("place")


def said(messages: pl.DataFrame, mask_numbers: bool = False) -> pl.DataFrame:
    """(message_id, said): messages of MESSAGES that say the same have the same number, whatever ids they bear.

    A 64-bit hash, for grouping within one run; it is never stored.
    """
    latest = messages.sort("day").unique("message_id", keep="last", maintain_order=True)
    texts = [pl.col("content"), pl.col("tool_calls").str.replace_all(_CALL_ID, "")]
    if mask_numbers:
        texts = [text.str.replace_all(_NUMBER, "#") for text in texts]
    return latest.select("message_id", pl.struct("role", "name", *texts).hash(seed=0).alias("said"))


def _observations(shown: pl.DataFrame, texts: pl.DataFrame) -> pl.Series:
    """`seen`: one number for what each step was shown, out of (message_id, said); null for nothing, or unknown."""
    numbered = shown.select(pl.int_range(pl.len()).alias("row"), pl.col("observed").alias("message_id"))
    each = (
        numbered.explode("message_id", empty_as_null=False)
        .join(texts, on="message_id", how="left", maintain_order="left")
        .group_by("row", maintain_order=True)
        .agg(pl.col("said").cast(pl.String), pl.col("said").is_not_null().all().alias("known"))
    )
    keys = each.select("row", pl.when("known").then(pl.col("said").list.join(" ").hash(seed=0)).alias("seen"))
    return numbered.select("row").join(keys, on="row", how="left", maintain_order="left")["seen"]


def _with_past(memory: int) -> pl.Expr:
    """`seen`, with as many observations before it as count."""
    if not memory:
        return pl.col("seen")
    past = [
        pl.col("seen").shift(back).over("trajectory").fill_null(0).alias(f"{back}") for back in range(1, memory + 1)
    ]
    return pl.when(pl.col("seen").is_not_null()).then(pl.struct("seen", *past).hash(seed=0)).alias("seen")
