"""The ways in which cleaning fails: closed."""

from __future__ import annotations


class Unscannable(Exception):
    """A value that cannot be cleared. `reason` says why (too_long, timeout, undecodable, key_collision); no text."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ModelMissing(RuntimeError):
    """The policy names a spaCy package that is not installed; nothing is ever downloaded."""
