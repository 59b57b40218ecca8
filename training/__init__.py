"""Policies from frozen releases; importable without Dagster."""
