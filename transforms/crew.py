"""Who works on the parts of a day: this process alone, or several beside it, each on parts of its own.

A worker keeps what it learned of its parts from one step to the next. Raw text reaches workers through sealed blocks
and pipes only, and an error tells its type and nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, Protocol

from transforms.part_cleaning import CleanPart, PartCleaner
from warehouse.schemas import FEEDBACK, MESSAGES, SPANS

TABLES = {"messages": MESSAGES, "spans": SPANS, "feedback": FEEDBACK}
"""What the steps make whose rows travel as columns."""

BYTES_EACH = 16 << 20
"""Sealed bytes from which on one more worker is worth its start."""

MOST = 8
"""Workers at most where nobody says how many: each takes up to 300 MB of memory."""


class WorkerLost(RuntimeError):
    """A worker ended before its work was done."""


class Crew(Protocol):
    """Does steps of the cleaning."""

    def each(self, step: str, parts: Sequence[int]) -> Iterator[Any]:
        """A step on each part; what comes of them, in their order."""

    def all(self, step: str, *args: Any) -> list[Any]:
        """A step that every worker does."""

    def one(self, step: str, *args: Any) -> Any:
        """A step that has no parts."""


class Alone:
    """This process."""

    def __init__(self, cleaner: PartCleaner) -> None:
        self._cleaner = cleaner

    def each(self, step: str, parts: Sequence[int]) -> Iterator[Any]:
        """A step on each part, one after the other."""
        yield from map(getattr(self._cleaner, step), parts)

    def all(self, step: str, *args: Any) -> list[Any]:
        """A step, once."""
        return [self.one(step, *args)]

    def one(self, step: str, *args: Any) -> Any:
        """A step, once."""
        return getattr(self._cleaner, step)(*args)


class Workers:
    """Several processes; part `n` is always worked on by the same one."""

    def __init__(self, connections: list[Connection[Any, Any]]) -> None:
        self._connections = connections

    def each(self, step: str, parts: Sequence[int]) -> Iterator[Any]:
        """A step on all parts at once."""
        for part in parts:
            self._of(part).send((step, (part,)))
        for part in parts:
            yield _received(self._of(part))

    def all(self, step: str, *args: Any) -> list[Any]:
        """A step that every worker does at once."""
        for connection in self._connections:
            connection.send((step, args))
        return [*map(_received, self._connections)]

    def one(self, step: str, *args: Any) -> Any:
        """A step of the first worker."""
        self._connections[0].send((step, args))
        return _received(self._connections[0])

    def _of(self, part: int) -> Connection[Any, Any]:
        return self._connections[part % len(self._connections)]


def worth(sealed_bytes: int) -> int:
    """How many workers a day's records are worth on this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, MOST, sealed_bytes // BYTES_EACH))


@contextmanager
def crew(count: int, *args: Any) -> Iterator[Crew]:
    """`count` workers whose `PartCleaner` is made of `args`; one is this process. They end with the block."""
    if count <= 1:
        yield Alone(PartCleaner(*args))
        return
    context = multiprocessing.get_context("spawn")  # a fork would copy locks that threads of Polars hold
    ours: list[Connection[Any, Any]] = []
    processes = []
    try:
        for _ in range(count):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, *args), daemon=True)
            process.start()
            there.close()
            ours.append(here)
            processes.append(process)
        yield Workers(ours)
    finally:
        for connection in ours:
            connection.close()
        for process in processes:
            process.terminate()
            process.join()


def _received(connection: Connection[Any, Any]) -> Any:
    try:
        failed, result = connection.recv()
    except (EOFError, OSError):
        raise WorkerLost("a worker process ended too early; was there enough memory?") from None
    if failed:
        raise WorkerLost(f"a worker failed ({result})")
    return result


def _work(connection: Connection[Any, Any], *args: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked for the work ends it
    try:
        cleaner = PartCleaner(*args)
        while True:
            step, given = connection.recv()
            connection.send((False, _columns(step, getattr(cleaner, step)(*given))))
    except (EOFError, OSError):
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, its message may hold a value
        connection.send((True, type(error).__name__))


def _columns(step: str, result: Any) -> Any:
    if isinstance(result, CleanPart) and isinstance(result.rows, list):
        result.rows = TABLES[step].part(result.rows)
    return result
