"""Cleaners with one key, and a network that is closed while their tests run, and for no others."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from transforms.privacy.deidentifier import Deidentifier
from transforms.privacy.policy import PrivacyPolicy

KEY = b"a tenant's key, 32 bytes at least"
RULES_ONLY = PrivacyPolicy(model=None)


@pytest.fixture(scope="module", autouse=True)
def no_network() -> Iterator[None]:
    """Whatever opens a connection fails: nothing is fetched, at no time."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    socket.socket.connect, socket.getaddrinfo = refuse, refuse  # type: ignore[method-assign, assignment]
    yield
    socket.socket.connect, socket.getaddrinfo = connect, look_up  # type: ignore[method-assign]


@pytest.fixture(scope="module")
def rules() -> Deidentifier:
    """A cleaner without a name model, into which nothing is learnt."""
    return Deidentifier(RULES_ONLY, KEY)


@pytest.fixture(scope="module")
def with_model() -> Deidentifier:
    """A cleaner with the default policy; use scopes of your own."""
    return Deidentifier(PrivacyPolicy(), KEY)


@pytest.fixture(scope="module")
def clean(rules: Deidentifier) -> Callable[[Any], Any]:
    """A value cleaned by rules alone."""
    return lambda value: rules.clean(value, []).value
