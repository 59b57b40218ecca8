"""Cuts text into JSON documents: lines, one object, one giant array, or pretty-printed objects back to back.

What JavaScript's consoles print becomes JSON on the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from transforms.readers.containers import Source, Torn
from transforms.readers.cuts import Cut
from transforms.readers.inspected import CLOSED, is_printed, printed_pieces
from transforms.readers.scanning import BETWEEN, Scanner, opens_array

LONGEST = 256 << 20
"""Bytes of one document that are held; what is longer is refused and skipped."""

LONGEST_SCALAR = 16 << 20
"""Bytes of a number or text that stands where a document should, and is none whatever its length."""

HEAD = 1 << 20
"""Bytes looked at to tell lines from other layouts."""

MOST_TOGETHER = 1 << 18
"""Documents that share a line at most."""

BLANK = b""
SPACE = ord(" ")

_BLANK_LINES = re.compile(rb"\n((?:[ \t\r\f\v]*+\n){16,}+)")
"""Blank lines that are worth passing over together."""

SHORT_LINE = 8
"""Bytes of lines on average under which blank ones are sought before lines are cut."""

SAMPLES, SAMPLE_BYTES = 8, 512
"""Places of a chunk that are looked at for short lines, and how much of each."""


@dataclass(slots=True)
class Refused:
    """A stretch that is no document: why, and its size where known."""

    reason: str
    bytes: int | None = None


@dataclass(slots=True)
class Blanks:
    """Blank lines in a row."""

    count: int


def layout(source: Source) -> str:
    """`jsonl`, `json` (an array, or objects over several lines), `inspected`, `empty`, or `unknown`."""
    head = source.peek(HEAD)
    if not head.strip():
        return "empty" if len(head) < HEAD else "jsonl"
    if opens_array(head):
        return "json"
    if is_printed(head):
        return "inspected"
    lines = [line.rstrip() for line in head.split(b"\n") if line.strip()]
    starts = [line for line in lines if line.startswith((b"{", b"["))]
    objects = [line for line in starts if line.startswith(b"{") and line.endswith(b"}")]
    if not objects and (not starts or b"\0" in head):
        return "unknown"
    if len(lines) == 1 or 2 * len(objects) >= len(lines):
        return "jsonl"
    return "json" if starts[0].startswith(b"{") and starts[0] not in objects[:1] else "jsonl"


Take = Callable[[bytes, int, int], Cut | bytes]
"""Gives the document that stands in a buffer between two places."""


def taken(buffer: bytes, start: int, end: int) -> bytes:
    """The document as it is."""
    return buffer[start:end]


def split(source: Source, how: str, growing: bool, take: Take = taken) -> Iterator[Cut | bytes | Refused | Blanks]:
    """Documents in order; an empty one is a blank line. Never raises: a tear is one refusal at the end."""
    chunks = _until_torn(source)
    cut = {"jsonl": _lines, "inspected": _printed}.get(how, _scanned)
    yield from cut(chunks, growing, take)


def exhaust(source: Source) -> None:
    """Reads to the end what nobody can use, so that its size is known."""
    for _ in _until_torn(source):
        pass


def split_again(line: bytes) -> list[bytes]:
    """Pieces of what is no document by itself: documents that share a line, or one behind a torn one."""
    scanner = Scanner()
    pieces = _objects(chain(scanner.feed(line), scanner.finish()))
    if len(pieces) == 1:
        torn = re.split(rb"\n(?=\{)", line, maxsplit=MOST_TOGETHER)
        pieces = _objects(piece.strip(BETWEEN) for piece in torn)
    return pieces if len(pieces) > 1 else []


def _objects(pieces: Iterator[bytes]) -> list[bytes]:
    """All pieces where each begins as an object and they are not too many, else none."""
    found: list[bytes] = []
    for piece in pieces:
        if not piece.startswith(b"{") or len(found) == MOST_TOGETHER:
            return []
        found.append(piece)
    return found


def _until_torn(source: Source) -> Iterator[bytes | Torn]:
    try:
        yield from source
    except Torn as torn:
        yield torn


def _lines(chunks: Iterator[bytes | Torn], growing: bool, take: Take) -> Iterator[Cut | bytes | Refused | Blanks]:
    held: list[bytes] = []
    size = 0
    torn: Torn | None = None
    for chunk in chain.from_iterable(map(_without_blanks, chunks)):
        if isinstance(chunk, Blanks):
            yield chunk
            continue
        if isinstance(chunk, Torn):
            torn = chunk
            break
        at = chunk.find(b"\n") + 1
        if at:
            if size > LONGEST:
                yield Refused("too_large", size + at - 1)
            else:
                yield _line(b"".join((*held, chunk[: at - 1])), take)
            while (end := chunk.find(b"\n", at)) >= 0:
                yield _stretch(chunk, at, end, take)
                at = end + 1
            held, size = [], 0
        size += len(chunk) - at
        if size <= LONGEST:
            held.append(chunk[at:])
        else:
            held = []
    yield from _tail(b"".join(held).strip(), size, torn, growing)


def _line(line: bytes, take: Take) -> Cut | bytes:
    line = line.strip()
    return take(line, 0, len(line))


def _stretch(chunk: bytes, start: int, end: int, take: Take) -> Cut | bytes:
    if end > start and chunk[start] > SPACE < chunk[end - 1]:
        return take(chunk, start, end)
    return _line(chunk[start:end], take)


def _without_blanks(chunk: bytes | Torn) -> Iterator[bytes | Torn | Blanks]:
    """A chunk, of which many blank lines in a row are counted together: a file of nothing else costs no more."""
    if isinstance(chunk, Torn) or not any(_is_blank_at(chunk, part * len(chunk) // SAMPLES) for part in range(SAMPLES)):
        yield chunk
        return
    at = 0
    for run in _BLANK_LINES.finditer(chunk):
        yield chunk[at : run.start(1)]  # ends with a newline: what follows begins a line
        yield Blanks(run[1].count(b"\n"))
        at = run.end()
    yield chunk[at:]


def _is_blank_at(chunk: bytes, at: int) -> bool:
    """Whether lines are short at a place of a chunk."""
    return chunk.count(b"\n", at, at + SAMPLE_BYTES) * SHORT_LINE >= min(SAMPLE_BYTES, len(chunk) - at)


def _scanned(chunks: Iterator[bytes | Torn], growing: bool, take: Take) -> Iterator[Cut | bytes | Refused]:
    scanner = Scanner()
    torn: Torn | None = None
    for chunk in chunks:
        if isinstance(chunk, Torn):
            torn = chunk
            break
        for piece in scanner.feed(chunk):
            yield take(piece, 0, len(piece))
        if scanner.held > (LONGEST_SCALAR if scanner.holds_scalar else LONGEST):
            yield Refused("too_large", scanner.held)
            scanner.skip()
    *pieces, last = [*scanner.finish()] or [b""]
    yield from pieces
    yield from _tail(last.strip(BETWEEN), len(last), torn, growing)


def _printed(chunks: Iterator[bytes | Torn], growing: bool, take: Take) -> Iterator[Cut | bytes | Refused]:
    """Objects of a console, each from a line that is an opening brace to one that is a closing one."""
    held = bytearray()
    looked = 0
    torn: Torn | None = None
    for chunk in chunks:
        if isinstance(chunk, Torn):
            torn = chunk
            break
        held += chunk
        while end := CLOSED.search(held, looked):
            yield from _taken(printed_pieces(bytes(held[: end.end()])), take)
            del held[: end.end()]
            looked = 0
        looked = max(len(held) - len(b"\n}\r\n"), 0)
        if len(held) > LONGEST:
            yield Refused("too_large", len(held))
            held.clear()
            looked = 0
    whole = bytes(held).rstrip() + b"\n"
    if CLOSED.search(whole):
        yield from _taken(printed_pieces(whole), take)
        whole = b""
    yield from _tail(whole.strip(), len(whole), torn, growing)


def _taken(pieces: Iterator[bytes], take: Take) -> Iterator[Cut | bytes]:
    return (take(piece, 0, len(piece)) for piece in pieces)


def _tail(tail: bytes, size: int, torn: Torn | None, growing: bool) -> Iterator[bytes | Refused]:
    if size > LONGEST:
        yield Refused("too_large", size)
    elif tail and _whole(tail):
        yield tail
    elif tail and torn is None and not growing:
        yield Refused("incomplete_json", len(tail))
    if torn is not None and not (growing and torn.reason.startswith("torn_")):
        yield Refused(torn.reason)


def _whole(tail: bytes) -> bool:
    scanner = Scanner()
    return any(scanner.feed(tail)) or not tail.startswith((b"{", b"["))
