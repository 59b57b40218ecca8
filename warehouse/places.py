"""Where exports lie: files of this machine, and objects behind any URL that fsspec opens."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

from warehouse.problem import Problem

URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
IGNORED = re.compile(r"^[._]|\.part$|\.tmp$|^README|^LICENSE", re.IGNORECASE)
QUERIED = ("http", "https")

BLOCK_BYTES = 8 << 20
"""What is asked of an object store at a time, and held of an object."""

STAMPS = (
    "ETag",
    "etag",
    "generation",
    "md5Hash",
    "mtime",
    "LastModified",
    "last_modified",
    "updated",
    "modified",
    "created",
)
"""Where the file systems of fsspec say which bytes an object has, or since when; the surest first."""


@dataclass(frozen=True)
class State:
    """What lies at a place: its size in bytes, and what changes with its bytes (time of change in ns, ETag, version);
    empty where nobody tells."""

    size: int
    stamp: str


@dataclass(frozen=True)
class Places:
    """Lists and opens exports. `options` are fsspec's storage options by protocol; credentials come from them or from
    the environment, and stand in no message."""

    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)

    def below(self, place: str, called: str = "") -> dict[str, State]:
        """The file at `place`, or those below that folder, by uri; hidden and half-written ones are left out.

        Empty where there is nothing. Raises Problem where that cannot be told, of a place that is `called` so.
        """
        return self._objects(place, called or place) if is_url(place) else _files(local(place))

    def state(self, uri: str) -> State | None:
        """What lies at a uri; None where nothing does. Raises Problem."""
        if not is_url(uri):
            path = Path(uri)
            return _state(path) if path.is_file() else None
        with told(f"an export in {protocol(uri)}"):
            system, path_there = self._system(uri)
            try:
                return _remote_state(system.info(path_there))
            except FileNotFoundError:
                return None

    def open(self, uri: str) -> BinaryIO:
        """A stream of what lies at a uri, held block by block. Raises OSError for a file, Problem for an object."""
        if not is_url(uri):
            return io.FileIO(uri)
        with told("an export of that day"):
            system, path = self._system(uri)
            return cast(BinaryIO, _Told(system.open(path, "rb", block_size=BLOCK_BYTES)))

    def _objects(self, place: str, called: str) -> dict[str, State]:
        with told(called):
            system, root = self._system(place)
            system.invalidate_cache()
            found: dict[str, dict[str, Any]] = system.find(root, detail=True)
        return {
            system.unstrip_protocol(name): _remote_state(info)
            for name, info in sorted(found.items())
            if info.get("type", "file") == "file" and not _ignored(name.removeprefix(root).split("/"))
        }

    def _system(self, url: str) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        return cast(tuple[Any, str], url_to_fs(url, **self.options.get(protocol(url), {})))


def is_url(place: str) -> bool:
    """Whether a place is a URL rather than a path of this machine."""
    return URL.match(place) is not None


def protocol(url: str) -> str:
    """The protocol of a URL."""
    return url.partition("://")[0].lower()


def named(place: str) -> str:
    """A place as its user gave it, in the form in which it is remembered: a URL, or an absolute path.

    Raises Problem for a URL that holds credentials, which would be remembered with it.
    """
    if not is_url(place):
        return str(local(place))
    if protocol(place) == "file":
        return str(local(place.partition("://")[2]))
    parts = urlsplit(place)
    if "@" in parts.netloc or (parts.query and parts.scheme in QUERIED):
        raise Problem(
            "a URL with credentials or a query in it is not read, since it would be remembered with them: leave them "
            "out, and give credentials in the environment or as `storage_options` in tracemill.yaml"
        )
    return place.rstrip("/")


def local(place: str) -> Path:
    """The absolute path of a place on this machine."""
    return Path(place).expanduser().resolve()


@contextmanager
def told(what: str) -> Iterator[None]:
    """Turn whatever a client of an object store raises into a Problem that speaks of `what` and quotes nothing."""
    try:
        yield
    except Problem:
        raise
    except Exception as error:  # noqa: BLE001 - clients raise what they like, and quote what they were given
        raise Problem(_sentence(what, error)) from None


def _sentence(what: str, error: Exception) -> str:
    kind = type(error).__name__
    if isinstance(error, FileNotFoundError):
        return f"{what} is not there: is the name right, or was it deleted since it was listed?"
    if isinstance(error, PermissionError) or "Credential" in kind:
        return (
            f"{what} may not be read: are the credentials right, in the environment or as `storage_options` in "
            "tracemill.yaml, and do they allow to list and to get?"
        )
    if isinstance(error, ImportError):
        return (
            f"{what} needs a client of fsspec that is not installed: pip install 'tracemill[s3]' for s3://, "
            "gcsfs for gs://, adlfs for az://"
        )
    if isinstance(error, ValueError) and "rotocol" in str(error):
        return f"{what} cannot be read: fsspec knows no such protocol"
    if kind == "FileExpired":
        return f"{what} changed while it was read: run again"
    return f"{what} cannot be read ({kind}): is the endpoint right, and does it answer? Run again then"


class _Told(io.RawIOBase):
    """A stream of an object, whose client's errors become sentences: read as damage they would lose records."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        with told("an export of that day"):
            return self._stream.read(-1 if size is None else size)

    def readinto(self, buffer: Any, /) -> int:
        chunk = self.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def seek(self, position: int, whence: int = io.SEEK_SET, /) -> int:
        return self._stream.seek(position, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        self._stream.close()
        super().close()


def _files(place: Path) -> dict[str, State]:
    if place.is_file():
        return {str(place): _state(place)}
    found = (path for path in place.rglob("*") if not _ignored(path.relative_to(place).parts))
    return {str(path): _state(path) for path in sorted(found) if path.is_file()}


def _state(path: Path) -> State:
    found = path.stat()
    return State(found.st_size, str(found.st_mtime_ns))


def _remote_state(info: Mapping[str, Any]) -> State:
    stamp = next((info[name] for name in STAMPS if info.get(name)), "")
    same = stamp.timestamp() if isinstance(stamp, datetime) else stamp  # lists and single answers write times apart
    return State(int(info.get("size") or 0), str(same))


def _ignored(parts: tuple[str, ...] | list[str]) -> bool:
    return any(IGNORED.search(part) for part in parts)
