"""Spans to trajectories and steps: CPU seconds and memory, against what one would script by hand."""
