"""The tenant's key: what makes ids and surrogates the same everywhere, and nobody else's."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from pathlib import Path

from warehouse.files import flush
from warehouse.home import Home
from warehouse.lake import Lake
from warehouse.problem import Problem

KEY_BYTES = 32
LOOSE = stat.S_IRWXG | stat.S_IRWXO


def tenant_key(home: Home) -> bytes:
    """The key from `TRACEMILL_KEY`, `TRACEMILL_KEY_FILE` or the home; made anew only for an empty lake.

    Raises Problem where a lake with data has no key, where the key is another than the one that the lake was
    written with, where it is too short, or where others may read its file.
    """
    lake = Lake(home.lake)
    key = _given_key(home) or _new_key(home, lake)
    written_with = lake.key_fingerprints()
    if written_with - {fingerprint(key)}:
        raise Problem(
            f"the lake at {home.lake} was written with another key than this one; "
            "set TRACEMILL_KEY or TRACEMILL_KEY_FILE to the key it was written with"
        )
    return key


def fingerprint(key: bytes) -> str:
    """What a manifest bears of the key: enough to tell keys apart, nothing to learn one from."""
    return hmac.digest(key, b"tracemill/fingerprint", "sha256")[:8].hex()


def _given_key(home: Home) -> bytes | None:
    if value := os.environ.get("TRACEMILL_KEY"):
        return _parse(value, "TRACEMILL_KEY")
    if named := os.environ.get("TRACEMILL_KEY_FILE"):
        return _read(Path(named).expanduser())
    return _read(home.key_file) if home.key_file.exists() else None


def _read(path: Path) -> bytes:
    try:
        loose = path.stat().st_mode & LOOSE
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise Problem(f"cannot read the key file {path} ({error.strerror})") from None
    if loose:
        raise Problem(f"others may read the key file {path}: chmod 600 it")
    return _parse(text.strip(), str(path))


def _parse(value: str, where: str) -> bytes:
    try:
        key = bytes.fromhex(value)
    except ValueError:
        raise Problem(f"the key in {where} is not hexadecimal; `openssl rand -hex 32` makes one") from None
    if len(key) < KEY_BYTES:
        raise Problem(f"the key in {where} has {len(key)} bytes; {KEY_BYTES} are needed: `openssl rand -hex 32`")
    return key


def _new_key(home: Home, lake: Lake) -> bytes:
    if not lake.is_empty():
        raise Problem(
            f"the lake at {home.lake} holds data, but its key is not at {home.key_file}; "
            "put it back, or set TRACEMILL_KEY or TRACEMILL_KEY_FILE"
        )
    key = secrets.token_bytes(KEY_BYTES)
    fresh = home.key_file.with_name(f"key.{os.getpid()}")
    try:
        home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh.touch(mode=0o600)
        fresh.write_text(key.hex() + "\n")
        flush(fresh)  # a lake whose key a power cut took can never be added to
        os.link(fresh, home.key_file)  # whole or not at all, and never over a key that another run just made
        flush(home.root)
    except FileExistsError:
        return _read(home.key_file)
    except OSError as error:
        raise Problem(f"cannot create the key file {home.key_file} ({error.strerror})") from None
    finally:
        fresh.unlink(missing_ok=True)
    return key
