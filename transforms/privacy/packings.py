r"""Text that is packed inside text: in base64, in hexadecimal, and compressed by gzip or zlib in either.

What is packed is walked like any other value, and packed again in the same way where something changed. Only what
unpacks to readable text counts: a digest, a picture or an id does not, but by a chance of less than one in a thousand
for eight random bytes, and then there is hardly a value in it. Work is linear in the text: a compressed run may grow
GROWTH times, and nothing inside of it is inflated once more.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import regex

from transforms.privacy.unscannable import Unscannable

GROWTH = 64
"""How many times its size compressed text may be; logs that repeat themselves reach some forty."""

_RUN = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:(?:[A-Za-z0-9+/]{60,80}\r?\n)+[A-Za-z0-9+/]{2,80}|[A-Za-z0-9+/_-]{16,})={0,2}(?![A-Za-z0-9+/_=-])"
)
_BYTE = "(?:[2-9A-Fa-f][0-9A-Fa-f]|0[79AaDd]|1[Bb])"  # of readable text in UTF-8
_MAGIC = "(?:1[Ff]8[Bb]08|78(?:01|5[Ee]|9[Cc]|[Dd][Aa]))"  # gzip (RFC 1952), zlib (RFC 1950)
# Fewer than 24 decimal digits without a letter are a number.
_HEX = re.compile(
    rf"(?<![0-9A-Za-z])(?:0?[xX])?(?P<digits>(?=\d{{0,23}}[A-Fa-f]|\d{{24}}){_BYTE}{{8,}}|{_MAGIC}(?:[0-9A-Fa-f]{{2}}){{6,}})(?![0-9A-Za-z])"
)
_LINES = re.compile(  # of hexadecimal, as tools wrap it: 30 to 40 bytes each, and a shorter one
    r"(?P<digits>(?:(?:[0-9A-Fa-f]{2}){30,40}\r?\n)+(?:[0-9A-Fa-f]{2}){1,40})(?![0-9A-Za-z+/_=-])"
)
_GZIP, _ZLIB = b"\x1f\x8b\x08", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_EITHER = 32 + zlib.MAX_WBITS  # gzip's or zlib's header, whichever is there
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


def packed(text: str, inflate: bool = True) -> Iterator[Packed]:
    """The packed text inside `text`, in order; compressed text only with `inflate`.

    Raises Unscannable where compressed text is larger than GROWTH times its size.
    """
    for match in _RUN.finditer(text):
        run, at = match.group(), match.start()
        yield from (
            _in_hex(_LINES, run, at, inflate)
            or _in_hex(_HEX, run, at, inflate)
            or _in_base64(run, at, inflate)
            or _in_base64(run[: run.rfind("\n") + 1].rstrip(), at, inflate)  # a word may follow on a line of its own
        )


def _in_hex(pattern: re.Pattern[str], run: str, at: int, inflate: bool) -> list[Packed]:
    """The packed text in the digits of a run that begins `at` a place of the text."""
    return [
        Packed(at + digits.start("digits"), at + digits.end("digits"), *said)
        for digits in pattern.finditer(run)
        if (said := _said(bytes.fromhex(digits["digits"]), inflate))
    ]


def _in_base64(run: str, at: int, inflate: bool) -> list[Packed]:
    said = _said(_from_base64(run), inflate)
    return [Packed(at, at + len(run), *said)] if said else []


def repacked(new: str, run: str) -> str:
    """`new` packed as `run` is: digits in the same case; or the same alphabet, padding and lines of base64."""
    if _is_hex(run):
        digits = _packed_like(new, bytes.fromhex(run)).hex()
        return _in_lines(digits.upper() if run.upper() == run else digits, run)
    return _as_base64(_packed_like(new, _from_base64(run)), run)


def _is_hex(run: str) -> bool:
    return (_HEX.fullmatch(run) or _LINES.fullmatch(run)) is not None and _said(bytes.fromhex(run), True) is not None


def _said(data: bytes, inflate: bool) -> tuple[str, bool] | None:
    """The readable text that bytes are, and whether it was compressed; None where they are none."""
    opened = _inflated(data) if inflate else b""
    try:
        said = (opened or data).decode()
    except UnicodeDecodeError:
        return None
    return (said, bool(opened)) if opened or _is_readable(said) else None


def _is_readable(said: str) -> bool:
    """Whether bytes that happen to be UTF-8 are a text; what was compressed need not prove it."""
    plain = said.isprintable() or _UNREADABLE.search(_COLOUR.sub("", said)) is None
    return plain and _LEAST_WORDS.search(said) is not None


def _inflated(data: bytes) -> bytes:
    """All members of a gzip file, or a zlib stream, as far as it is there; nothing where `data` is neither."""
    pieces, room = [], GROWTH * len(data)
    while data.startswith((_GZIP, *_ZLIB)):
        stream = zlib.decompressobj(_EITHER)
        try:
            pieces.append(stream.decompress(data, room + 1))
        except zlib.error:
            break
        room -= len(pieces[-1])
        if room < 0:
            raise Unscannable("too_long")
        data = stream.unused_data
    return b"".join(pieces)


def _packed_like(text: str, data: bytes) -> bytes:
    """`text` compressed as `data` is, if it is."""
    if not _inflated(data):
        return text.encode()
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS + (16 if data.startswith(_GZIP) else 0))
    return packer.compress(text.encode()) + packer.flush()


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
