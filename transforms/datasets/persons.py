"""Who a trajectory is about, by strong identifiers only: their surrogates are the same wherever the person occurs."""

from __future__ import annotations

import polars as pl

from transforms.privacy.surrogates import EMAIL_OURS, ID_DIGITS, is_surrogate

# Surrogates of e-mail addresses, and of user ids that hold a name: coined words and ten keyed digits. A name alone is
# shared by many people and joins nobody.
EMAIL = rf"[A-Za-z0-9._%+-]+?{EMAIL_OURS}"
USER_ID = rf"[A-Za-z]+[_.-][A-Za-z]+[_.-]?[0-9]{{{ID_DIGITS}}}"
STRONG = rf"(?i)\b(?:{EMAIL}|{USER_ID})\b"


def first_user_texts(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """The first thing a user said in each trajectory (trajectory_id, text), empty where nobody did."""
    said = _observed(steps.filter(pl.col("step") == 0), messages).filter(pl.col("role") == "user")
    first = said.group_by("trajectory_id", maintain_order=True).agg(pl.col("content").first().alias("text"))
    everyone = steps.select("trajectory_id").unique(maintain_order=True)
    return everyone.join(first, on="trajectory_id", how="left").with_columns(pl.col("text").fill_null(""))


def persons(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """Strong identifiers in the messages of each trajectory (trajectory_id, person), once each."""
    texts = pl.concat_str([pl.col("content"), pl.col("tool_calls").fill_null("")], separator=" ")
    said = _observed(steps, messages).select("trajectory_id", texts.str.extract_all(STRONG).alias("person"))
    plain = pl.col("person").str.to_lowercase().str.replace("%40", "@", literal=True)
    found = said.explode("person", empty_as_null=False).drop_nulls().with_columns(plain).unique()
    ours = [person for person in found["person"].unique() if is_surrogate("USER_ID", person)]
    return found.filter(pl.col("person").is_in(ours)).sort("*")


def _observed(steps: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    shown = steps.sort("trajectory_id", "step").select(
        "trajectory_id", pl.col("observed").list.concat("action").alias("message_id")
    )
    return shown.explode("message_id", empty_as_null=False).join(
        messages, on="message_id", how="inner", maintain_order="left"
    )
