r"""Text that is packed inside text: in base64, in hexadecimal, and compressed by gzip or zlib in either.

What is packed is walked like any other value, and packed again in the same way where something changed. Only what
unpacks to readable text counts: a digest, a picture or an id does not, but by a chance of less than one in a thousand
for eight random bytes, and then there is hardly a value in it. Work is linear in the text: a compressed run may grow
GROWTH times, and no run inside of it is inflated once more.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from transforms.privacy.inflation import MOST_INFLATED, closed, opened

_RUN = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:(?:[A-Za-z0-9+/]{60,80}\r?\n)+[A-Za-z0-9+/]{2,80}|[A-Za-z0-9+/_-]{16,})={0,2}(?![A-Za-z0-9+/_=-])"
)
_BYTE = "(?:[2-9A-Fa-f][0-9A-Fa-f]|0[79AaDd]|1[Bb])"  # of readable text in UTF-8
_MAGIC = "(?:1[Ff]8[Bb]08|[0-7]8[0-9A-Fa-f]{2})"  # as gzip and zlib begin
# Fewer than 24 decimal digits without a letter are a number.
_HEX = re.compile(
    rf"(?<![0-9A-Za-z])(?:0?[xX])?(?P<digits>(?=\d{{0,23}}[A-Fa-f]|\d{{24}}){_BYTE}{{8,}}|{_MAGIC}(?:[0-9A-Fa-f]{{2}}){{6,}})(?![0-9A-Za-z])"
)
_LINES = re.compile(  # of hexadecimal, as tools wrap it: 30 to 40 bytes each, and a shorter one
    r"(?P<digits>(?:(?:[0-9A-Fa-f]{2}){30,40}\r?\n)+(?:[0-9A-Fa-f]{2}){1,40})(?![0-9A-Za-z+/_=-])"
)
# What no text holds: control characters that are no blanks, and code points that nobody assigned.
_UNREADABLE = regex.compile(r"[[\p{Cc}\p{Cn}\p{Co}\p{Cs}]--[\t\n\r]]", regex.V1)
_COLOUR = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"
)  # and what else terminals obey
_LEAST_WORDS = re.compile(r"[^\W\d_]{2}|\d{4}|@")


@dataclass(frozen=True, slots=True)
class Packed:
    """A run from `start` to `end` of a text, and the text that is packed in it."""

    start: int
    end: int
    said: str
    inflated: bool
    beside: str
    """Names and comments in headers of compressed text; they are left out where it is packed again."""


def packed(text: str, inflate: bool = True) -> Iterator[Packed]:
    """The packed text inside `text`, in order; compressed text only with `inflate`.

    Raises Unscannable where compressed text is more than GROWTH times its size, or than MOST_INFLATED bytes in all.
    """
    room = MOST_INFLATED if inflate else None
    for match in _RUN.finditer(text):
        found = _found(match.group(), match.start(), room)
        if room is not None:
            room = max(room - sum(len(one.said.encode()) for one in found if one.inflated), 0)
        yield from found


def _found(run: str, at: int, room: int | None) -> list[Packed]:
    """The packed text in a run; a word on the last line of several need not belong to it."""
    *lines, _ = run.split("\n")
    found = _in_hex(_LINES, run, at, room) if lines else []
    found = found or _in_hex(_HEX, run, at, room) or _in_base64(run, at, room)
    return found or (_in_base64("\n".join(lines).rstrip(), at, room) if lines else [])


def _in_hex(pattern: re.Pattern[str], run: str, at: int, room: int | None) -> list[Packed]:
    """The packed text in the digits of a run that begins `at` a place of the text."""
    return [
        Packed(at + digits.start("digits"), at + digits.end("digits"), *said)
        for digits in pattern.finditer(run)
        if (said := _said(bytes.fromhex(digits["digits"]), room))
    ]


def _in_base64(run: str, at: int, room: int | None) -> list[Packed]:
    said = _said(_from_base64(run), room)
    return [Packed(at, at + len(run), *said)] if said else []


def repacked(new: str, run: str) -> str:
    """`new` packed as `run` is: digits in the same case; or the same alphabet, padding and lines of base64."""
    if _is_hex(run):
        digits = _packed_like(new, bytes.fromhex(run)).hex()
        return _in_lines(digits.upper() if run.upper() == run else digits, run)
    return _as_base64(_packed_like(new, _from_base64(run)), run)


def _is_hex(run: str) -> bool:
    return (_HEX.fullmatch(run) or _LINES.fullmatch(run)) is not None and _said(
        bytes.fromhex(run), MOST_INFLATED
    ) is not None


def _said(data: bytes, room: int | None) -> tuple[str, bool, str] | None:
    """The readable text that bytes are, whether it was compressed, and what its headers say; None where none."""
    try:
        if _is_readable(said := data.decode()):
            return said, False, ""
    except UnicodeDecodeError:
        pass
    found = opened(data, room) if room is not None else None
    if found is None:
        return None
    try:
        return found.content.decode(), True, found.beside.decode(errors="replace")
    except UnicodeDecodeError:
        return None


def _is_readable(said: str) -> bool:
    """Whether bytes that happen to be UTF-8 are a text; what was compressed need not prove it."""
    plain = said.isprintable() or _UNREADABLE.search(_COLOUR.sub("", said)) is None
    return plain and _LEAST_WORDS.search(said) is not None


def _packed_like(text: str, data: bytes) -> bytes:
    """`text` compressed as `data` is, if it is."""
    said = _said(data, MOST_INFLATED)
    found = opened(data) if said and said[1] else None
    return closed(text.encode(), found.layers) if found else text.encode()


def _from_base64(run: str) -> bytes:
    """The bytes of a run of base64, in either alphabet; none where it is none."""
    bare = run.rstrip("=").translate({10: None, 13: None, 45: "+", 95: "/"})
    if len(bare) % 4 == 1:
        return b""
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return b""


def _as_base64(data: bytes, run: str) -> str:
    made = base64.b64encode(data).decode()
    if "-" in run or "_" in run:
        made = made.replace("+", "-").replace("/", "_")
    if not run.endswith("=") and len(run.replace("\r", "").replace("\n", "")) % 4:
        made = made.rstrip("=")
    return _in_lines(made, run)


def _in_lines(made: str, run: str) -> str:
    """Characters in lines as wide as those of a run."""
    width = run.find("\n")
    if width < 0:
        return made
    width -= run[width - 1] == "\r"
    end = "\r\n" if "\r\n" in run else "\n"
    return end.join(made[at : at + width] for at in range(0, len(made), width))
