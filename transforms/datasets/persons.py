"""Who a trajectory is about, by strong identifiers only: their surrogates are the same wherever the person occurs."""

from __future__ import annotations

import polars as pl

# Surrogates of e-mail addresses; a name alone is shared by many people and joins nobody.
EMAIL_SURROGATE = r"[A-Za-z0-9._%+-]+@d[0-9a-f]{6,}\.example"


def first_user_texts(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """The first thing a user said in each trajectory (trajectory_id, text), empty where nobody did."""
    said = _observed(steps.filter(pl.col("step") == 0), messages).filter(pl.col("role") == "user")
    first = said.group_by("trajectory_id", maintain_order=True).agg(pl.col("content").first().alias("text"))
    everyone = steps.select("trajectory_id").unique(maintain_order=True)
    return everyone.join(first, on="trajectory_id", how="left").with_columns(pl.col("text").fill_null(""))


def persons(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """Strong identifiers in the messages of each trajectory (trajectory_id, person), once each."""
    texts = pl.concat_str([pl.col("content"), pl.col("tool_calls").fill_null("")], separator=" ")
    found = _observed(steps, messages).select("trajectory_id", texts.str.extract_all(EMAIL_SURROGATE).alias("person"))
    return (
        found.explode("person", empty_as_null=False)
        .drop_nulls()
        .with_columns(pl.col("person").str.to_lowercase())
        .unique()
        .sort("*")
    )


def _observed(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    shown = steps.sort("trajectory_id", "step").select(
        "trajectory_id", pl.col("observed").list.concat("action").alias("message_id")
    )
    return shown.explode("message_id", empty_as_null=False).join(
        messages, on="message_id", how="inner", maintain_order="left"
    )
