"""Everything that a value says, decoded: what a reader could find. It uses no code of the cleaner."""

from __future__ import annotations

import base64
import contextlib
import gzip
import html
import json
import re
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

_PACKED = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
DEPTH = 8


def readable(value: Any) -> str:
    """All strings, keys and numbers of a value, JSON and encodings in them undone, one a line."""
    return "\n".join(dict.fromkeys(_texts(value, DEPTH)))


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item, depth)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, depth)
    elif isinstance(value, str):
        yield value
        if depth:
            yield from _decoded(value, depth - 1)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def _decoded(text: str, depth: int) -> Iterator[str]:
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError):
        loaded = None
    if isinstance(loaded, dict | list | str):
        yield from _texts(loaded, depth)
    for way in (unquote, html.unescape, _unescaped):
        if (plain := way(text)) != text:
            yield from _texts(plain, depth)
    for packed in _PACKED.findall(text):
        yield from _texts(_unpacked(packed), depth)
    for digits in _HEX.findall(text):
        yield from _texts(_said(bytes.fromhex(digits)), depth)


def _unescaped(text: str) -> str:
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace('\\"', '"').replace("\\n", "\n")


def _unpacked(packed: str) -> str | None:
    bare = packed.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _said(base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True))
    except ValueError:
        return None


def _said(data: bytes) -> str | None:
    with contextlib.suppress(zlib.error, OSError, EOFError):
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else zlib.decompress(data) if data[:1] == b"x" else data
    try:
        text = data.decode()
    except ValueError:
        return None
    return text if text.isprintable() or "\n" in text else None
