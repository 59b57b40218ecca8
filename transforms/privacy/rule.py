"""A rule: what one kind of personal value looks like in text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import regex

# `\b` and `\w` take Hangul for word characters, so that a value followed by a particle would not end.
START = r"(?<![A-Za-z0-9_])"
END = r"(?![A-Za-z0-9_])"
# For what cannot be mistaken: names of files and ids glue values together with underscores.
OPEN = r"(?<![A-Za-z0-9])"
CLOSE = r"(?![A-Za-z0-9])"

THRESHOLD = 0.4  # what scores less does not count


@dataclass(frozen=True)
class Rule:
    """A pattern of the `regex` module; a group named `v`, where there is one, is what is personal, each time it occurs.

    `anchors`: the pattern is tried only where the text (in lower case) holds one of them.
    `valid`: what a value must pass besides, e.g. a check digit; `whole`: what the whole match must pass.
    `gate`: what the text must pass before the pattern is tried; cheap, and asked once for all rules that share it.
    `context`: words within 64 characters that lift a score below the threshold over it.
    """

    entity: str
    name: str
    regex: str
    score: float = 0.85
    anchors: tuple[str, ...] = ()
    valid: Callable[[str], bool] | None = None
    context: tuple[str, ...] = ()
    ignore_case: bool = False
    whole: Callable[[str], bool] | None = None
    gate: Callable[[str], bool] | None = None

    @property
    def only_ascii(self) -> bool:
        r"""Whether `\w`, `\s` and `\d` are of ASCII only: wherever the pattern asks for nothing of Unicode."""
        return r"\p{" not in self.regex

    @cached_property
    def pattern(self) -> Any:
        """The compiled pattern; made when it is first tried, since most texts need few."""
        flags = regex.V0 | (regex.ASCII if self.only_ascii else 0) | (regex.IGNORECASE if self.ignore_case else 0)
        return regex.compile(self.regex, flags)
