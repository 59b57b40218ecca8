"""Lands what a tracing service holds, runs and verdicts alike, in the landing folder."""
