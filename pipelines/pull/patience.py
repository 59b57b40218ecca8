"""Asks a service again when it is busy or breaks off, and waits as long as it says."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

Answer = TypeVar("Answer")
Tell = Callable[[str], None]

PASSING = frozenset({0, 408, 425, 429, 500, 502, 503, 504})
"""Statuses that another attempt may change; 0 is no answer, or half of one."""
ATTEMPTS = 8
FIRST_ATTEMPTS = 3
"""Before anything was answered: a wrong address is likelier than a bad moment."""
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
LONGEST_ASKED_S = 900.0  # longer than this a service does not mean a burst, but a quota


class Trouble(Exception):
    """A request that failed: the HTTP status (0: none came), and the seconds after which to ask again, if said."""

    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.retry_after = retry_after


def patiently(ask: Callable[[], Answer], tell: Tell, attempts: int = ATTEMPTS) -> Answer:
    """The answer, asked for again while the trouble may pass. Raises the last Trouble where it does not."""
    for attempt in range(attempts):
        try:
            return ask()
        except Trouble as trouble:
            wait = _wait(trouble, attempt)
            if trouble.status not in PASSING or wait > LONGEST_ASKED_S or attempt + 1 == attempts:
                raise
            if wait >= 1:
                tell(f"{_reason(trouble)}; asking again in {wait:.0f} s")
            time.sleep(wait)
    raise AssertionError("no attempt was made")


def retry_after(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or a date; none where it says neither."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _wait(trouble: Trouble, attempt: int) -> float:
    if trouble.retry_after is not None:
        return trouble.retry_after
    # Spread, so that several pulls that were stopped at once do not come back at once.
    return min(FIRST_WAIT_S * 2.0**attempt, LONGEST_WAIT_S) * random.uniform(0.8, 1.2)


def _reason(trouble: Trouble) -> str:
    if trouble.status == 429:
        return "the service limits requests"
    return f"the service fails (HTTP {trouble.status})" if trouble.status else "the connection broke"
