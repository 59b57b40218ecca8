"""Cuts OTLP in protobuf into messages: bare bodies of requests, and the Collector's length-prefixed frames."""

from __future__ import annotations

from collections.abc import Iterator

from transforms.readers.containers import Source, Torn, unpack
from transforms.readers.documents import LONGEST, Refused

HEAD = 4 << 10
"""Bytes looked at to tell binary from text."""

PREFIX = 4
"""Bytes of a frame's length, the highest first."""

FIELD_1, FIELD_2, FIELD_3 = b"\x0a", b"\x12", b"\x1a"
"""How protobuf announces the first three fields of a message where they are messages or text."""

LONGEST_VARINT = 5
BLANKS = b" \t\r\n"


def binary_layout(source: Source) -> str:
    """`frames`, `protobuf` (bare messages), or empty for text."""
    head = source.peek(HEAD)[:HEAD]
    if _opens_message(head):  # first: the four bytes before a field may be read as a length of 170 MB and more
        return "protobuf"
    return "frames" if _opens_frames(head) else ""


def is_message(piece: bytes) -> bool:
    """Whether a piece is protobuf rather than JSON: the first field of every OTLP body is its list of resources."""
    return piece.startswith(FIELD_1)


def split_binary(source: Source, how: str, growing: bool) -> Iterator[bytes | Refused]:
    """Messages in order, JSON among them where frames hold it. Never raises: a tear is one refusal at the end."""
    reader = _Reader(source)
    yield from _frames(reader, growing) if how == "frames" else _messages(reader, growing)
    if reader.torn is not None and not (growing and reader.torn.reason.startswith("torn_")):
        yield Refused(reader.torn.reason)


class _Reader:
    """Takes a stream of chunks in pieces of any size."""

    def __init__(self, source: Source) -> None:
        self._chunks = iter(source)
        self._buffer = bytearray()
        self.torn: Torn | None = None

    def take(self, size: int) -> bytes:
        """The next `size` bytes; fewer at the end."""
        while len(self._buffer) < size and self._more():
            pass
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def skip(self, size: int) -> int:
        """Passes over `size` bytes; how many there were."""
        skipped = 0
        while skipped < size and (self._buffer or self._more()):
            step = min(len(self._buffer), size - skipped)
            del self._buffer[:step]
            skipped += step
        return skipped

    def rest(self) -> int:
        """Passes over what is left; how many bytes it was."""
        return self.skip(1 << 62)

    def _more(self) -> bool:
        try:
            chunk = next(self._chunks, b"")
        except Torn as torn:
            self.torn = torn
            return False
        self._buffer += chunk
        return bool(chunk)


def _opens_frames(head: bytes) -> bool:
    """No text begins so: a length below `LONGEST` begins with a control character, four of which are never blanks."""
    size, first = int.from_bytes(head[:PREFIX], "big"), head[PREFIX : PREFIX + 1]
    packed = head[PREFIX : PREFIX + 4] == b"\x28\xb5\x2f\xfd"
    return 0 < size <= LONGEST and bool(head[:PREFIX].strip(BLANKS)) and (packed or first in (FIELD_1, b"{"))


def _opens_message(head: bytes) -> bool:
    """JSON may begin with the newline that is also field 1, but holds no control characters such as field 2."""
    size, at = _varint(head, 1)
    nested = head[at : at + 1] in (FIELD_1, FIELD_2, FIELD_3)
    return head.startswith(FIELD_1) and 0 < size <= LONGEST and nested and FIELD_2 in head


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """A number and where it ends; -1 where it does not."""
    value = 0
    for place, byte in enumerate(raw[at : at + LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    return -1, at


def _frames(reader: _Reader, growing: bool) -> Iterator[bytes | Refused]:
    while header := reader.take(PREFIX):
        size = int.from_bytes(header, "big")
        if len(header) == PREFIX and size > LONGEST:
            yield Refused("too_large", PREFIX + reader.skip(size))
            continue
        payload = reader.take(size) if len(header) == PREFIX else b""
        if len(header) < PREFIX or len(payload) < size:
            if reader.torn is None and not growing:
                yield Refused("incomplete_message", len(header) + len(payload))
            return
        yield _unpacked(payload)


def _unpacked(payload: bytes) -> bytes | Refused:
    """The message of a frame, which older Collectors pack one by one."""
    _, inner = unpack(Source(iter([payload])))
    parts: list[bytes] = []
    size = 0
    try:
        for part in inner:
            size += len(part)
            if size > LONGEST:
                return Refused("too_large", size)
            parts.append(part)
    except Torn as torn:
        return Refused(torn.reason, len(payload))
    return b"".join(parts)


def _messages(reader: _Reader, growing: bool) -> Iterator[bytes | Refused]:
    """Each resource of a body as a body of its own, which is how protobuf defines a list."""
    while tag := reader.take(1):
        length = b""
        while len(length) < LONGEST_VARINT and (not length or length[-1] >= 0x80) and (byte := reader.take(1)):
            length += byte
        size, _ = _varint(length, 0)
        if tag != FIELD_1 or (size < 0 and len(length) == LONGEST_VARINT):
            yield Refused("broken_protobuf", len(tag + length) + reader.rest())
            return
        if size > LONGEST:
            yield Refused("too_large", len(tag + length) + reader.skip(size))
            continue
        payload = reader.take(max(size, 0))
        if size < 0 or len(payload) < size:
            if reader.torn is None and not growing:
                yield Refused("incomplete_message", len(tag + length + payload))
            return
        yield tag + length + payload
