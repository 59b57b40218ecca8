"""Homes for tests: a fresh one each, or one day of the shipped captures, run once for all who only read it."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from mills import Night, run_night

if TYPE_CHECKING:
    from object_store import Store

CORPUS = Path(__file__).parent / "corpus"


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, home or configuration of whoever runs the tests must not decide them."""
    for name in [name for name in os.environ if name.startswith(("TRACEMILL_", "DAGSTER_"))]:
        if name != "TRACEMILL_CORPUS":
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Night]:
    """One night over the shipped captures: exports to sealed release, through the real jobs. Read only."""
    with pytest.MonkeyPatch.context() as patch:
        yield run_night(tmp_path_factory.mktemp("night"), patch, CORPUS / "exports", date(2026, 11, 30))


@pytest.fixture(scope="session")
def object_store() -> "Iterator[Store]":
    """One store for all tests of a process: clients are remembered by their settings, not by where these point."""
    from object_store import running

    with running() as store:
        yield store


@pytest.fixture
def store(object_store: "Store", monkeypatch: pytest.MonkeyPatch) -> "Store":
    """The store, empty, and found by this process and its children."""
    from object_store import find

    return find(object_store, monkeypatch)
