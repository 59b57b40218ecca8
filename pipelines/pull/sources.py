"""What a tracing service is to a pull: streams of records, in windows of time, a page at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from urllib.parse import urlsplit

from pipelines.pull.patience import Trouble
from warehouse.problem import Problem

Row = dict[str, Any]

LATE_SPANS = timedelta(hours=6)
"""A span is sent when it ends and filed under its start: so long may one take that is not missed."""
LATE_EDITS = timedelta(days=7)
"""Verdicts are filed under when they were first given: so long may a person change one's mind."""


@dataclass(frozen=True)
class Window:
    """A stretch of time, UTC: `start` belongs to it, `end` does not."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Page:
    """Some records of a window, and the cursor that asks for more; none after the last."""

    records: list[Row]
    cursor: str | None


@dataclass(frozen=True)
class Stream:
    """One kind of record. The last `overlap` of what was pulled is asked for again: records come late and change.

    `verdicts` are given to runs long after, and are pulled up to now, whichever runs are asked for; those that are
    filed under the run they are about (`by_run`), as far as runs were pulled.
    """

    name: str
    overlap: timedelta
    verdicts: bool = False
    by_run: bool = False


@dataclass(frozen=True)
class Service:
    """How a service is spoken of: its name, where it is, and which variables say so."""

    name: str
    address: str
    keys: str
    endpoint: str

    def problem(self, trouble: Trouble) -> Problem:
        """What a failed request means and what to do about it; nothing of what the service said."""
        status, kept = trouble.status, "what was pulled is kept: run the same command again"
        if status in (401, 403):
            return Problem(f"{self.name} at {self.place} refuses the credentials ({status}): set {self.keys}")
        if status == 429:
            wait = f" and asks to wait {trouble.retry_after / 60:.0f} minutes" if trouble.retry_after else ""
            return Problem(f"{self.name} limits how much may be asked{wait}; {kept} later")
        if not status:
            return Problem(
                f"{self.name} at {self.place} cannot be reached, or breaks off its answers: look at the network, and "
                f"at {self.endpoint}; {kept}"
            )
        if status >= 500:
            return Problem(f"{self.name} at {self.place} fails (HTTP {status}); {kept} when it is well")
        return Problem(
            f"{self.name} at {self.place} does not take the request (HTTP {status}): is {self.endpoint} right, and is "
            "the service of a version that its client knows?"
        )

    @property
    def place(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"


class Source(Protocol):
    """A project of a service. `page` raises Trouble where the service does not answer."""

    @property
    def service(self) -> Service: ...

    @property
    def project(self) -> str: ...

    @property
    def identity(self) -> str:
        """What tells this project from every other, also of other services."""

    @property
    def streams(self) -> tuple[Stream, ...]:
        """In the order in which they are pulled: runs before what is said of them."""

    def page(self, stream: Stream, window: Window, cursor: str | None, size: int) -> Page: ...

    def close(self) -> None: ...


@contextmanager
def opening(source: Source) -> Iterator[None]:
    """First questions to a service: where they fail, its connections are closed and the reason is a Problem."""
    try:
        yield
    except Trouble as trouble:
        source.close()
        raise source.service.problem(trouble) from None
    except Problem:
        source.close()
        raise


def setting(*names: str) -> str:
    """The first of the environment variables that is set; empty where none is."""
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")


def needed(service: str, *names: str) -> str:
    """The first of the variables that is set. Raises Problem where none is."""
    value = setting(*names)
    if not value:
        raise Problem(f"{service} wants credentials: set {names[0]} in the environment")
    return value


def missing_client(service: str, package: str) -> Problem:
    """What to say where a client is not installed."""
    return Problem(f"{service}'s client is not installed: pip install 'tracemill[{package}]'")


def utc_text(moment: datetime) -> str:
    """A UTC time as services take it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
