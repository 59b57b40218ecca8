"""Places in a JSON document, and the document with another value in one of them."""

from __future__ import annotations

import json
from typing import Any


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
    return [place for key in keys for place in ((*path, key), *places(value[key], (*path, key)))]


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return copy
