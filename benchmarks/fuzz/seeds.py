"""What fuzzing starts from: one document of each dialect, and captures in folders that one names."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.transforms.readers import test_dialect_properties, test_properties
from transforms.readers.exports import detect

LARGEST_CAPTURE = 64 << 10
"""Bytes of a capture beyond which it is no seed: mutations should hit what matters."""

NEIGHBOUR = test_dialect_properties.NEIGHBOUR


def documents() -> dict[str, list[Any]]:
    """Documents of each dialect, small ones written by hand."""
    found: dict[str, list[Any]] = {name: [seed] for name, seed in test_dialect_properties.SEEDS.items()}
    for seed in test_properties.SEEDS:
        found.setdefault(detect(seed), []).append(seed)
    return found


def captured(folders: Iterable[Path]) -> Iterator[bytes]:
    """Small captures as they lie, and the lines and documents of larger ones."""
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if len(data) <= LARGEST_CAPTURE:
            yield data
        for line in _unpacked(data).split(b"\n")[:3]:
            if 0 < len(line) <= LARGEST_CAPTURE:
                yield line


def parsed(captures: Iterable[bytes]) -> Iterator[Any]:
    """The captures that are one JSON document."""
    for data in captures:
        try:
            yield json.loads(data)
        except (ValueError, RecursionError):
            continue


def _unpacked(data: bytes) -> bytes:
    try:
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except (OSError, EOFError):
        return b""
