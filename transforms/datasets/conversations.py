"""Trajectories as conversations: the messages of each segment in order, and which of them the model wrote."""

from __future__ import annotations

import polars as pl

from warehouse.schemas import MESSAGE

SEGMENT = ("trajectory_id", "segment")
_STORED_CALL = pl.List(pl.Struct({"id": pl.String, "name": pl.String, "arguments": pl.String}))


def conversations(steps: pl.DataFrame) -> pl.DataFrame:
    """One row a segment of `steps` (STEPS): trajectory_id, segment, tools and lists of what is in it.

    `message_ids`: what its first step was shown, that step's action, what came before the next, and so on.
    `positions` (of the actions in it), `steps`, `span_ids`, `models`, `finish_reasons`: one entry an action.
    """
    ordered = steps.sort("trajectory_id", "step").with_columns(
        pl.col("observed").list.concat("action").alias("message_ids")
    )
    ends = pl.col("message_ids").list.len().cast(pl.Int64).cum_sum().over(SEGMENT)
    return ordered.with_columns((ends - 1).alias("position")).group_by(SEGMENT, maintain_order=True).agg(
        pl.col("tools").first(),
        pl.col("message_ids").explode(empty_as_null=False),
        pl.col("position").alias("positions"),
        pl.col("step").alias("steps"),
        pl.col("span_id").alias("span_ids"),
        pl.col("model").alias("models"),
        pl.col("finish_reason").alias("finish_reasons"),
    )  # fmt: skip


def with_bodies(segments: pl.DataFrame, messages: pl.DataFrame) -> pl.DataFrame:
    """`segments` of `conversations` with `messages`: the bodies of `message_ids` (lists of MESSAGE).

    A segment of which a message is not in `messages` (MESSAGES) is left out: half a prompt is another prompt.
    """
    bodies = message_bodies(messages)
    found = (
        segments.select(*SEGMENT, pl.col("message_ids").alias("message_id"))
        .explode("message_id", empty_as_null=False)
        .join(bodies, on="message_id", how="left", maintain_order="left")
        .group_by(SEGMENT, maintain_order=True)
        .agg(pl.col("message").alias("messages"), pl.col("present").is_not_null().all())
    )
    return segments.join(found.filter("present").drop("present"), on=SEGMENT, how="inner", maintain_order="left")


def message_bodies(messages: pl.DataFrame) -> pl.DataFrame:
    """(message_id, message, present): each message of MESSAGES once, its latest day, as a MESSAGE struct."""
    latest = messages.sort("day").unique("message_id", keep="last", maintain_order=True)
    return latest.select("message_id", body().alias("message"), pl.lit(value=True).alias("present"))


def body() -> pl.Expr:
    """MESSAGE out of the columns of MESSAGES: empty text stays empty, what is not there is null."""
    calls = pl.col("tool_calls").str.json_decode(_STORED_CALL).list.eval(
        pl.struct(
            pl.element().struct.field("id"),
            pl.lit("function").alias("type"),
            pl.struct(
                pl.element().struct.field("name"),
                pl.element().struct.field("arguments"),
            ).alias("function"),
        )
    )  # fmt: skip
    fields = [
        pl.col("role"),
        pl.col("content"),
        _given("reasoning").alias("reasoning_content"),
        pl.when(calls.list.len() > 0).then(calls).alias("tool_calls"),
        _given("tool_call_id"),
        _given("name"),
    ]
    return pl.struct(fields).cast(MESSAGE)


def _given(name: str) -> pl.Expr:
    return pl.when(pl.col(name) != "").then(pl.col(name)).alias(name)
