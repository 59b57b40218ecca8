"""Puts text into UTF-8, whatever encoding its byte order mark tells."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from transforms.readers.containers import Source

_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
WIDE_BOMS = (*_BOMS,)


def as_utf8(source: Source) -> Source:
    """The same text in UTF-8 without a byte order mark; only a mark tells other encodings."""
    head = source.peek(4)
    for mark, encoding in _BOMS.items():
        if head.startswith(mark):
            return Source(_recoded(source, encoding))
    return Source(_without_mark(source)) if head.startswith(codecs.BOM_UTF8) else source


def _recoded(source: Source, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in source:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _without_mark(source: Source) -> Iterator[bytes]:
    chunks = iter(source)
    head = b""
    while len(head) < len(codecs.BOM_UTF8):
        head += next(chunks, b"")
    yield head.removeprefix(codecs.BOM_UTF8)
    yield from chunks
