"""Whether two answers are the same mathematics: math-verify, in a process of its own.

That library stops what takes too long by signals, which only a main thread gets, and sympy can eat all memory. Run as
a program it reads JSON lines [gold, answer] and writes a line [value or null, seconds] for each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TIMEOUT_S = 5
MEMORY_BYTES = 4 << 30
LIBRARY = "math-verify"


def same_mathematics(pairs: Sequence[tuple[str, str]]) -> list[tuple[float | None, float]]:
    """For each (gold, answer) 1 or 0, None where it could not be told in time, and the seconds it took."""
    told: list[tuple[float | None, float]] = []
    while len(told) < len(pairs):
        rest = pairs[len(told) :]
        lines = "".join(json.dumps(pair) + "\n" for pair in rest)
        try:
            done = subprocess.run(
                [sys.executable, "-P", str(Path(__file__).resolve())], input=lines, capture_output=True, text=True,
                timeout=60 + 4 * TIMEOUT_S * len(rest), check=False, env=_environment(),
            ).stdout  # fmt: skip
        except subprocess.TimeoutExpired as late:
            done = (late.stdout or b"").decode() if isinstance(late.stdout, bytes | None) else late.stdout
        answers = [json.loads(line) for line in done.splitlines() if line.endswith("]")]
        told += [(value, seconds) for value, seconds in answers]
        if len(answers) < len(rest):
            told.append((None, 0.0))  # the one at which the process ended
    return told


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH") if name in os.environ}


def _main() -> None:
    import resource
    import time

    from math_verify import parse, verify

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for line in sys.stdin:
        gold, answer = json.loads(line)
        started = time.perf_counter()
        value: float | None
        try:
            wanted, given = (parse(text, parsing_timeout=TIMEOUT_S, raise_on_error=True) for text in (gold, answer))
            same = verify(
                wanted, given, float_rounding=6, numeric_precision=15, strict=True, timeout_seconds=TIMEOUT_S,
                raise_on_error=True,
            )  # fmt: skip
            value = float(same)
        except Exception:  # noqa: BLE001 - of whatever kind: not told is null
            value = None
        sys.stdout.write(json.dumps([value, time.perf_counter() - started]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
