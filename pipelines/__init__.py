"""The Dagster code location and the command line."""
