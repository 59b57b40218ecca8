"""Pure functions on frames and on text: no Dagster, no database, no paths."""
