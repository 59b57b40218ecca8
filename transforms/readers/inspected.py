"""Makes JSON of what JavaScript's consoles print: objects as `util.inspect` writes them, which is no JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from transforms.readers.values import json_text

CUT = '{"droppedAttributesCount":1,'
"""How an object begins of which the console left something out, as a span that lost attributes says it."""

_OBJECT = re.compile(rb"^\{\r?\n\s+(?:[A-Za-z_$][\w$]*|'[^'\n]*'): ", re.MULTILINE)
"""How an object begins that was printed over several lines: names without quotes or with single ones."""

_OPENED, CLOSED = re.compile(rb"^\{\r?$", re.MULTILINE), re.compile(rb"(?:\A|\n)\}\r?\n")
"""Lines at which an object begins and ends."""

_BRACE = re.compile(rb"\{\r?\n")

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    | (?P<string>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`(?:[^`\\]|\\.)*+`)
    | (?P<more>,?\s*\.\.\.\ \d+\ more\ (?:item|character)s?)
    | (?P<name>[A-Za-z_$][\w$]*)(?=:)
    | (?P<nothing>(?:undefined|NaN|-?Infinity)\b)
    | (?P<plain>(?:null|true|false)\b|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)n?
    | (?P<kind>\[Object:\ null\ prototype\]|[A-Za-z_$][\w$.]*(?:\(\d+\))?(?=\ [\[{]))
    | (?P<hidden>\[(?:Object|Array|Function|Getter|Circular)[^\[\]\n]*+\])
    | (?P<joined>\+)
    | (?P<mark>[{}\[\],:])""",
    re.VERBOSE | re.DOTALL,
)
"""What objects are made of. No token is sought twice through the same text: words end where a name would, and what is
hidden holds no bracket."""

_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_LAST_CHARACTER = 0x10FFFF


def is_printed(head: bytes) -> bool:
    """Whether a file that begins so holds what a console printed."""
    return any(_OBJECT.match(head, brace.start()) for brace in _BRACE.finditer(head))


def printed_pieces(text: bytes) -> Iterator[bytes]:
    """What stands before an object, line by line, and the JSON of the object, which ends with the text.

    Those before it that were never closed are pieces of their own: what is in an object is indented.
    """
    starts = [opened.start() for opened in _OPENED.finditer(text)]
    yield from filter(None, map(bytes.strip, text[: starts[0] if starts else None].splitlines()))
    for start, end in pairwise([*starts, len(text)]):
        yield as_json(text[start:end].strip())


def as_json(printed: bytes) -> bytes:
    """The JSON of an object that was printed; what was printed where it cannot be told."""
    text = printed.decode("utf-8", "replace")
    made: list[str] = []
    said: list[str] = []  # pieces of a text that older consoles broke over several lines
    is_cut = False
    at = 0
    while token := _TOKEN.match(text, at):
        kind, found = token.lastgroup, token[0]
        at = token.end()
        if kind == "string":
            said.append(_ESCAPE.sub(_character, found[1:-1]))
        elif kind not in ("joined", "space", "more"):
            made += [json_text("".join(said))] if said else []
            said = []
            made.append({"name": json_text(found), "nothing": "null", "hidden": "null", "kind": ""}.get(
                str(kind), token["plain"] or found))  # fmt: skip
        is_cut = is_cut or kind in ("more", "hidden")
    if at < len(text) or said or not made or made[0] != "{":
        return printed
    return "".join([CUT if is_cut and made[1:2] != ["}"] else "{", *made[1:]]).encode("utf-8", "surrogatepass")


def _character(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits is None:
        return _LETTERS.get(found[4], found[4])
    return chr(min(int(digits, 16), _LAST_CHARACTER))
