"""Runs one way of a benchmark in a process of its own, so that nothing of another is in its memory or its figures."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any


def told_by(module: str, *arguments: object) -> dict[str, Any]:
    """What `python -m module` says in the last line that it prints, as JSON. Raises CalledProcessError."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
