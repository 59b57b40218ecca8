"""Stands in for the cleaner where the rest is measured; in a module of its own, since each worker loads it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from transforms.privacy.deidentifier import Cleaned, Leak
from transforms.privacy.propagation import Known

T = TypeVar("T")


class Untouched:
    """A cleaner that finds nothing."""

    def __init__(self, *_: object) -> None:
        pass

    def learn_for(self, scopes: Collection[str], value: object) -> None:
        """Learn nothing."""

    def knowledge(self) -> dict[str, set[Known]]:
        """Nothing."""
        return {}

    def share(self, knowledge: dict[str, set[Known]]) -> None:
        """Know nothing more."""

    def clean(self, value: T, scopes: Collection[str]) -> Cleaned[T]:
        """The same value."""
        return Cleaned(value, (), False)

    def audit(self, rows: Iterable[tuple[str, object]]) -> list[Leak]:
        """No leaks; the rows are gone through."""
        for _ in rows:
            pass
        return []
