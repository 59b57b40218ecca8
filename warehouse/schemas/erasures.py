"""Table of what was erased and why, made from append-only records."""

import polars as pl

from warehouse.schemas.table import TIME, Column, Table

ERASURES = Table(
    "erasures",
    "One row a deed of `tracemill forget` or `tracemill retain`: what went, and never whom it was about.",
    ("erasure", "at"),
    {
        "erasure": Column(pl.String, "forget: hash over the person's keyed hashes; retain: the first day that stays"),
        "kind": Column(pl.String, "forget or retain"),
        "at": Column(TIME, "when it was done"),
        "days": Column(pl.List(pl.Date), "arrival days that were rewritten or dropped"),
        "traces": Column(pl.Int64, "traces that were removed"),
        "releases": Column(pl.List(pl.String), "releases that were withdrawn"),
        "models": Column(pl.List(pl.String), "policies that were trained on them"),
        "files": Column(pl.Int64, "files that were removed from the lake"),
        "left": Column(pl.Int64, "rows that still held the person when all was done: 0, or it is not done"),
    },
)
