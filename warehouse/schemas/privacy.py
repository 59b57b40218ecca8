"""The view that sums up for a privacy officer what was found, changed, held back and left."""

import polars as pl

from warehouse.schemas.table import Column, Table

PRIVACY_REPORT = Table(
    "privacy_report",
    "One row a count of a day's privacy report: what was found, changed, held back, and how alike the rest is.",
    ("day", "section", "item", "place"),
    {
        "day": Column(pl.Date, "UTC day of arrival; of anonymity: the day that last touched the trajectories"),
        "section": Column(pl.String, "found, changed, quarantined or anonymity"),
        "item": Column(pl.String, "type of personal data; what was changed; reason; columns that were grouped by"),
        "place": Column(pl.String, "table and column"),
        "count": Column(pl.Int64, "values found; rows changed; records held back; rows in groups of fewer than five"),
        "total": Column(pl.Int64, "characters of the values; rows there are", nullable=True),
        "smallest": Column(pl.Int64, "size of the smallest group (k)", nullable=True),
    },
)
