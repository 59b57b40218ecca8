"""Who does a day's work: this process alone, or several beside it, each with an object of its own and parts of its own.

A worker's object keeps what it learned from one step to the next. Raw text reaches workers through sealed blocks and
pipes only, and an error tells its type and nothing else.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, Protocol

from transforms.garbage import seldom_collected

MOST = 8
"""Workers at most where nobody says how many: each takes up to 300 MB of memory."""


PRELOADED = ["transforms.part_cleaning", "transforms.readers.exports"]
"""What workers need, loaded once by the server that they are forked from; nothing of it starts a thread."""


_STARTING = threading.Lock()


class WorkerLost(RuntimeError):
    """A worker ended before its work was done."""


class Crew(Protocol):
    """Does steps, which are methods of the workers' objects."""

    def each(self, step: str, parts: Sequence[int]) -> Iterator[Any]:
        """A step on each part; what comes of them, in their order."""

    def all(self, step: str, *args: Any) -> list[Any]:
        """A step that every worker does."""

    def one(self, step: str, *args: Any) -> Any:
        """A step that has no parts."""

    def shared(self, step: str, given: Sequence[Any]) -> Iterator[Any]:
        """A step that every worker does, each with one of `given`; what comes of them, in their order."""


class Alone:
    """This process."""

    def __init__(self, worker: object) -> None:
        self._worker = worker

    def each(self, step: str, parts: Sequence[int]) -> Iterator[Any]:
        """A step on each part, one after the other."""
        yield from map(getattr(self._worker, step), parts)

    def all(self, step: str, *args: Any) -> list[Any]:
        """A step, once."""
        return [self.one(step, *args)]

    def one(self, step: str, *args: Any) -> Any:
        """A step, once."""
        return getattr(self._worker, step)(*args)

    def shared(self, step: str, given: Sequence[Any]) -> Iterator[Any]:
        """A step with the only one of `given`."""
        yield from (self.one(step, one) for one in given)


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

    def shared(self, step: str, given: Sequence[Any]) -> Iterator[Any]:
        """A step that every worker does at once, each with one of `given`."""
        for connection, one in zip(self._connections, given, strict=True):
            connection.send((step, (one,)))
        yield from map(_received, self._connections)

    def one(self, step: str, *args: Any) -> Any:
        """A step of the first worker."""
        self._connections[0].send((step, args))
        return _received(self._connections[0])

    def _of(self, part: int) -> Connection[Any, Any]:
        return self._connections[part % len(self._connections)]


def worth(size: int, each: int) -> int:
    """How many workers `size` bytes are worth on this machine where one needs `each` to be worth its start."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, MOST, size // each))


@contextmanager
def crew(makers: Sequence[Callable[[], object]]) -> Iterator[Crew]:
    """A worker for each of `makers`, which makes its object; one is this process. They end with the block."""
    if len(makers) == 1:
        yield Alone(makers[0]())
        return
    context = multiprocessing.get_context("forkserver")  # a fork of this process would copy locks that threads hold
    context.set_forkserver_preload(PRELOADED)
    ours: list[Connection[Any, Any]] = []
    processes = []
    try:
        for make in makers:
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, make), daemon=True)
            with _nothing_to_import():
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
        for process in processes:
            process.join()


@contextmanager
def _nothing_to_import() -> Iterator[None]:
    """A process is told of the program that started it and imports that again: a second for Dagster's, and an endless
    loop for a script without a guard. Workers need none of it."""
    with _STARTING:
        program = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = program


def _received(connection: Connection[Any, Any]) -> Any:
    try:
        failed, result = connection.recv()
    except (EOFError, OSError):
        raise WorkerLost("a worker process ended too early; was there enough memory?") from None
    if failed:
        raise WorkerLost(f"a worker failed ({result})")
    return result


def _work(connection: Connection[Any, Any], make: Callable[[], object]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked for the work ends it
    try:
        with seldom_collected():
            worker = make()
            while True:
                step, given = connection.recv()
                connection.send((False, getattr(worker, step)(*given)))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, its message may hold a value
        connection.send((True, type(error).__name__))
