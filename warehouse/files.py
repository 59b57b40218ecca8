"""Files that appear whole or not at all, and the lock that lets one writer at a time publish them."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from warehouse.problem import Problem

TEMPORARY = ".part"
LOCK_PATIENCE_S = 120.0
LOCK_POLL_S = 0.05
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, then give it its name: a kill leaves the old file or the new one.

    Raises Problem where the disk is full or may not be written; the temporary file is gone then.
    """
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        flush(temporary)
        temporary.replace(path)
        flush(path.parent)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise Problem(_why(_error_number(error), path)) from None
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """`content` as JSON with sorted keys, so that equal contents are equal bytes. Raises Problem, and ValueError for
    a number that is none, which JSON cannot say."""
    text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> Any:
    """The JSON in `path`. Raises Problem where it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise Problem(f"{path} is not the JSON that tracemill wrote; restore it or delete it and run again") from None


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the kernel's lock on `path`; a killed holder frees it.

    Raises Problem after two minutes of waiting, and where the lock may not be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = path.open("a")
    except OSError as error:
        raise Problem(_why(error.errno, path)) from None
    with opened as handle:
        deadline = time.monotonic() + LOCK_PATIENCE_S
        while not _try_lock(handle.fileno()):
            if time.monotonic() > deadline:
                raise Problem(f"another tracemill process is writing ({path} is locked); try again when it is done")
            time.sleep(LOCK_POLL_S)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def flush(path: Path) -> None:
    """Have the system write a file or folder to the disk now. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _error_number(error: Exception) -> int | None:
    """The system's error number, which Polars gives in its message only."""
    if isinstance(error, OSError):
        return error.errno
    told = re.search(r"os error (\d+)", str(error))
    return int(told[1]) if told else None


def _why(number: int | None, path: Path) -> str:
    if number in NO_SPACE:
        return f"no space left while writing below {path.parent}; nothing was published: free some and run again"
    reason = os.strerror(number) if number else "the writer failed"
    return f"cannot write below {path.parent} ({reason}); nothing was published"
