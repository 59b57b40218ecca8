"""Spans of which several days hold a copy or a half: the most complete one, completed by the others."""

from __future__ import annotations

import polars as pl

from transforms.duplicates import SILENT
from transforms.offered_tools import TOOLS_OF_AGENT, inherit_tools

KEY = ("trace_id", "span_id")
PROMPT = ("day", "base_span_id", "base_length", "prompt_suffix", "prompt_length")
"""What tells a prompt: its base is a span of the same day."""

_SILENT_TEXTS = [value for value in SILENT if isinstance(value, str)]
_TOLD, _STATE = "_told", "_state"
_HAS_PROMPT = pl.col("prompt_length") > 0


def most_complete(spans: pl.DataFrame) -> pl.DataFrame:
    """One row a span out of several days' and copies': ended before not ended, with content, then later."""
    return _ranked(spans).unique(KEY, keep="last").select(spans.columns)


def completed(spans: pl.DataFrame) -> pl.DataFrame:
    """`most_complete`, where what the best copy does not say is what the next one says.

    A run's beginning may come on one day and its end on the next, or a call's messages in logs apart from its span.
    `day` is then the day that tells the prompt. `spans` has the columns of SPANS.
    """
    several = spans.filter(pl.struct(KEY).is_duplicated())
    if several.is_empty():
        return spans
    told = _ranked(several).group_by(KEY, maintain_order=True).agg(
        _last(pl.struct(PROMPT), _HAS_PROMPT).alias(_TOLD),
        pl.col("content_state").filter(_HAS_PROMPT).last().alias(_STATE),  # an end without its prompt knows no better
        *(_last(pl.col(name), says) for name, says in _said(spans.schema).items()),
    )  # fmt: skip
    state = pl.when(~pl.col(_STATE).is_in(["full", "absent"])).then(_STATE)
    told = told.with_columns(content_state=pl.coalesce(state, "content_state"))
    single = spans.join(several, on=KEY, how="anti")
    return pl.concat([single, told.unnest(_TOLD).select(spans.columns)])


def completed_traces(spans: pl.DataFrame) -> pl.Series:
    """Traces of which a span's most complete copy does not say all that the others say."""
    told = [_HAS_PROMPT, *_said(spans.schema).values()]
    lacking = pl.any_horizontal((says.any() & ~says.last()) for says in told)
    copies = _ranked(spans).group_by(KEY).agg(lacking.alias(_TOLD))
    return copies.filter(pl.col(_TOLD))["trace_id"].unique()


def with_inherited_tools(spans: pl.DataFrame) -> pl.DataFrame:
    """Spans of which calls have the tools of the agent's span around them, also where that came on another day.

    `spans` (SPANS) holds each span once.
    """
    offering = spans.filter((pl.col("kind") == "agent") & pl.col("tools").is_not_null()).select("trace_id").unique()
    asked = spans.join(offering, on="trace_id", how="semi")
    own = pl.when(~pl.col("flags").list.contains(TOOLS_OF_AGENT)).then("tools").alias("tools")
    columns = ("parent_span_id", "kind", "flags", pl.lit(False).alias("altered"), own)
    rows = asked.select(*KEY, *columns).to_dicts()
    inherit_tools(rows)
    found = {name: [row[name] for row in rows] for name in (*KEY, "tools")}
    inherited = pl.DataFrame(found, schema=dict.fromkeys(found, pl.String)).rename({"tools": _TOLD}).drop_nulls()
    return spans.join(inherited, on=KEY, how="left").with_columns(tools=pl.coalesce(_TOLD, "tools")).drop(_TOLD)


def _ranked(spans: pl.DataFrame) -> pl.DataFrame:
    """Copies of a span from the least to the most complete one."""
    better = [
        (pl.col("status") != "pending").alias("_settled"),
        pl.col("ended_at").is_not_null().alias("_ended"),
        (pl.col("content_state") == "full").alias("_full"),
        pl.col("output").list.len().alias("_outputs"),
    ]
    order = ["_settled", "_ended", "_full", "_outputs", "day", "file_id", "position"]
    return spans.with_columns(better).sort(order)


def _last(values: pl.Expr, wanted: pl.Expr) -> pl.Expr:
    return pl.when(wanted.any()).then(values.filter(wanted).last()).otherwise(values.last())


def _said(schema: pl.Schema) -> dict[str, pl.Expr]:
    """By column of its own whether a copy says something there."""
    return {name: _says(name, dtype) for name, dtype in schema.items() if name not in (*KEY, *PROMPT)}


def _says(name: str, dtype: pl.DataType) -> pl.Expr:
    """Whether a copy says something in a column, as `merged` takes it."""
    column = pl.col(name)
    if isinstance(dtype, pl.String):
        return (column.is_not_null() & ~column.is_in(_SILENT_TEXTS)).fill_null(False)
    if isinstance(dtype, pl.List):
        return (column.list.len() > 0).fill_null(False)
    return column.is_not_null()
