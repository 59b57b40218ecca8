"""Keeps imports light: what a library would load for features that are not used here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Within it, importing one of `names` fails as if it were not installed; modules already loaded stay as they are.

    Presidio and thinc load torch, transformers and gliner wherever they find them, for recognisers and layers that this
    project does not use: 3.5 s of CPU and 280 MB a process, measured with presidio-analyzer 2.2.366.
    """
    modules = cast(dict[str, Any], sys.modules)
    ours = [name for name in names if name not in modules]
    modules.update(dict.fromkeys(ours))
    try:
        yield
    finally:
        for name in ours:
            if modules.get(name, ...) is None:
                del modules[name]
