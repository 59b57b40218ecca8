"""Finds where JSON documents begin and end without decoding them, chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator

BETWEEN = b" \t\r\n,\x1e"

QUOTE, NEWLINE = ord('"'), ord("\n")
LOOK_BACK = 64
"""Bytes before a line in which its predecessor's end is sought."""

LONGEST_MARGIN = 4096
"""Bytes of white space before a document that are looked at."""

_GAP = re.compile(rb"(?:[ \t\r\n,\x1e]|\\n)*+")
_STRING = rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_STRING_REST = re.compile(rb'[^"\\\n]*+(?:\\.[^"\\\n]*+)*+')
_CLOSED = re.compile(_STRING)
_SCALAR = re.compile(_STRING + rb'|"[^\n]*+|[^\s,\[\]{}"]++')
_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\[\s*+(?:\{|\]\s*+\Z)")
_FLAT = rb'(?:[^"{}\[\]]++|' + _STRING + rb")*+"
_RUN = rb'(?:[^"{}\[\]\n]++|' + _STRING + rb"|\{" + _FLAT + rb"\}|\[" + _FLAT + rb"\]|\n(?!%s\{))*+"
"""What can be passed over at once: text, strings, objects and arrays without nesting; not a line that restarts."""


def opens_array(head: bytes) -> bool:
    """Whether a text begins like an array of objects."""
    return _ARRAY.match(head) is not None


class Scanner:
    """Yields the documents of a text that is fed in chunks: top-level objects, and elements of top-level arrays.

    A document that breaks off does not take the next one with it: a line which begins as the first document of
    its file did (same margin, then a brace) begins a document. Memory is one document and one chunk.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self._at = 0
        self._start = -1
        self._depth = 0
        self._limit = 0
        self._in_array = False
        self._run: re.Pattern[bytes] | None = None
        self._strict_margin = False
        self._skipping = False
        self._quoted = False

    @property
    def held(self) -> int:
        """Bytes that wait for the end of their document."""
        return len(self._buffer)

    @property
    def holds_scalar(self) -> bool:
        """Whether what is held begins neither an object nor a list."""
        return self._start < 0

    def skip(self) -> None:
        """Forgets what is held of the unfinished document and passes over the rest of it."""
        self._skipping = True
        if self._start < 0:
            self._shorten()
            return
        self._buffer = self._buffer[self._at :]
        self._at, self._start = 0, 0

    def _shorten(self) -> None:
        """Keeps of a scalar how it began and whether it is over, or what its last character may hang on."""
        scalar = self._buffer[self._at :]
        backslashes = len(scalar) - len(scalar.rstrip(b"\\"))
        rest = b'"' if _CLOSED.fullmatch(scalar) else b"\\" * (backslashes % 2)
        self._buffer, self._at = scalar[:1] + rest, 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The documents that end in this chunk."""
        self._buffer += chunk
        self._limit = len(self._buffer.rstrip())
        yield from self._scan(final=False)
        if self._skipping and self._start < 0:
            self._shorten()
        kept = self._at if self._start < 0 or self._skipping else self._start
        self._buffer = self._buffer[kept:]
        self._at -= kept
        self._start = min(self._start, 0)

    def finish(self) -> Iterator[bytes]:
        """What is left: whole documents, and one that never ended."""
        yield from self._scan(final=True)
        rest = self._buffer[max(self._start, 0) :] if self._start >= 0 else self._buffer[self._at :]
        if not _GAP.fullmatch(rest) and not self._skipping:
            yield rest

    def _scan(self, final: bool) -> Iterator[bytes]:
        while True:
            piece = self._inside(final) if self._start >= 0 else self._between(final)
            if piece is None:
                return
            if piece:
                yield piece

    def _between(self, final: bool) -> bytes | None:
        """Steps to the next document; a bare scalar is one. None asks for more bytes."""
        buffer = self._buffer
        gap = _GAP.match(buffer, self._at)
        at = self._at if gap is None else gap.end()
        if at + 1 >= len(buffer) and not (final and at < len(buffer)):
            line = buffer.rfind(b"\n", self._at, at)  # kept, for the margin of the document that begins next
            self._at = max(self._at, line, at - LONGEST_MARGIN)
            return None
        byte = buffer[at : at + 1]
        if byte == b"{" or (byte == b"[" and self._in_array):
            self._begin(buffer[self._at : at], at)
            return b""
        if byte in b"[]}":
            self._in_array = byte == b"[" or (self._in_array and byte == b"}")
            self._at = at + 1
            return b""
        scalar = _SCALAR.match(buffer, at)
        end = at + 1 if scalar is None else scalar.end()
        self._at = at
        if end == len(buffer) and not final:
            return None
        self._at = end
        skipped, self._skipping = self._skipping, False
        return b"" if skipped else buffer[at:end]

    def _begin(self, gap: bytes, at: int) -> None:
        if self._run is None:
            margin = gap[gap.rfind(b"\n") + 1 :] if b"\n" in gap else b""
            margin = b"" if margin.strip() else margin
            self._strict_margin = bool(margin) or self._buffer[at + 1 : at + 2] not in (b"\n", b"\r")
            self._run = re.compile(_RUN % re.escape(margin))
        self._start, self._at, self._depth = at, at + 1, 1

    def _inside(self, final: bool) -> bytes | None:
        """Goes on to the end of the document; None asks for more bytes."""
        buffer, run = self._buffer, self._run
        assert run is not None
        limit = len(buffer) if final else self._limit  # a margin may go on in the next chunk
        while self._closed():
            depth, at = self._depth, self._at
            while not self._quoted:
                passed = run.match(buffer, at, limit)
                at = at if passed is None else passed.end()
                if at >= limit:
                    self._at, self._depth = at, depth
                    return None
                byte = buffer[at]
                at += 1
                if byte == QUOTE:
                    self._quoted = True
                elif byte in b"{[":
                    depth += 1
                elif byte == NEWLINE:
                    if self._restarts(at - 1):
                        return self._end(at - 1)
                else:
                    depth -= 1
                    if depth == 0:
                        return self._end(at)
            self._at, self._depth = at, depth
        return None

    def _closed(self) -> bool:
        """Goes on to the end of a string that spans chunks, or of its line: no string of JSON holds a newline."""
        if not self._quoted:
            return True
        rest = _STRING_REST.match(self._buffer, self._at)
        end = self._at if rest is None else rest.end()
        after = self._buffer[end : end + 2]
        self._at = end + (after[:1] == b'"')
        self._quoted = after in (b"", b"\\")
        return not self._quoted

    def _restarts(self, newline: int) -> bool:
        if self._strict_margin:
            return True
        before = self._buffer[max(self._start, newline - LOOK_BACK) : newline].rstrip()
        return not before.endswith((b",", b"[", b":"))

    def _end(self, end: int) -> bytes:
        piece = b"" if self._skipping else self._buffer[self._start : end]
        self._at, self._start, self._depth, self._skipping = end, -1, 0, False
        return piece
