"""Changes documents as hostile or broken exporters would: keys lost, doubled or renamed, values of another kind."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

Container = dict[str, Any] | list[Any]

LEAVES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**19, 10**399, 0.1, -0.0,
    1e-320, 1e17, 1e19, 1e300, -1e300, float("nan"), float("inf"), 1_796_014_908.5, 1_796_014_908_576,
    1_796_014_908_576_527_902, 253_402_300_800, 9_223_372_036.9, "", " ", "\n", "\0", "\ud800", "a\u0000b",
    "\U0010ffff", "{", "[", '"', "{}", "[]", "[[]]", '"{}"', '"\\ud800"', '{"a": NaN}', '{"a": "\\u0000"}', "null",
    "true", "NaN", "1e999", "9" * 20, "9" * 400, "9" * 5000, "-1", "0x1f", "1_000", "\u0663", "\u00b2",
    "2026-11-30T05:04:00Z",
    "2026-11-30", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00", "2026-W01-1", "20261130T050400",
    "1677-09-21T00:12:43Z", "2262-04-12T00:00:00Z", "a" * 32, "b" * 16, "0" * 32, "A" * 36, "AAAAAAAAAAAAAAAAAAAAAA==",
    "{'a': '\\ud800'}", "{'a': '\\d'}", "{'a': 1e999}", "{'a': b'x'}", "{'a': {1, 2}}", "{'a': ...}", "{'a': 1j}",
    "[{\"type\":1}]", "__REDACTED__", "data:image/png;base64,AA", "data:,", "..", "a.b.c", "x" * 3000,
    "[" * 300 + "]" * 300,
    "{'a':" * 90 + "1" + "}" * 90, "Traceback (most recent call last):", "jane@mail.test", "reward", "ATIF-v1.7",
)  # fmt: skip
"""Values that readers trip over: limits of numbers and times, bad text, text that holds structures."""

KEYS = ("", " ", ".", "..", "0", "1", "\u00b2", "-1", "\ud800", "\0", "a" * 300, "__class__", "jane@mail.test")
"""Keys that no exporter writes."""

DEEP = (20, 90, 150, 199, 201, 300, 900, 1100)


def mutated(document: Any, others: list[Any], chance: random.Random) -> Any:
    """A copy of a document with one to a few changes; `others` lend keys and parts."""
    copy = _copied(document)
    for _ in range(1 << chance.randrange(4)):
        places = list(_containers(copy))
        if not places:
            return chance.choice(LEAVES)
        chance.choice(CHANGES)(chance.choice(places), others, chance)
    return copy


def dumped(document: Any, chance: random.Random) -> bytes:
    """A document as a line of JSON, now and then written as no tidy exporter does."""
    try:
        line = json.dumps(document, ensure_ascii=chance.random() < 0.7)
    except RecursionError:
        return b"[" * 1200 + b"]" * 1200
    if chance.random() < 0.1:
        line = line.replace(" ", "\t ")
    if chance.random() < 0.1:
        line = line.replace('"', '"x": 1, "', 1) if line.startswith('{"') else line
    return line.encode("utf-8", chance.choice(("surrogatepass", "replace")))


def _copied(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (RecursionError, ValueError):
        return {}


def _containers(value: Any) -> list[Container]:
    found: list[Container] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list) and item:
            found.append(item)
            waiting += item.values() if isinstance(item, dict) else item
    return found


def _place(container: Container, chance: random.Random) -> Any:
    return chance.choice(list(container) if isinstance(container, dict) else range(len(container)))


def _drop(container: Container, others: list[Any], chance: random.Random) -> None:
    del container[_place(container, chance)]


def _retype(container: Container, others: list[Any], chance: random.Random) -> None:
    container[_place(container, chance)] = chance.choice((*LEAVES, {}, [], [None], [[]], {"": 1}, [{}], {"a": {}}))


def _wrap(container: Container, others: list[Any], chance: random.Random) -> None:
    """A value in a list, in an object, or alone where it was in one."""
    place = _place(container, chance)
    value = container[place]
    inner = [*value.values()] if isinstance(value, dict) else value
    alone = inner[0] if isinstance(inner, list) and inner else value
    container[place] = chance.choice(([value], {"value": value}, [value, value], alone))


def _encode(container: Container, others: list[Any], chance: random.Random) -> None:
    """A structure as JSON text, or text that holds one opened."""
    place = _place(container, chance)
    value = container[place]
    try:
        container[place] = json.loads(value) if isinstance(value, str) else json.dumps(value)
    except (ValueError, RecursionError):
        container[place] = "[" * chance.choice(DEEP)


def _deepen(container: Container, others: list[Any], chance: random.Random) -> None:
    place, list_like = _place(container, chance), chance.random() < 0.5
    value = container[place]
    for _ in range(chance.choice(DEEP)):
        value = [value] if list_like else {"a": value}
    container[place] = value


def _rename(container: Container, others: list[Any], chance: random.Random) -> None:
    if isinstance(container, dict):
        known = list(chance.choice(_containers(chance.choice(others)) or [{}]))
        names = KEYS if chance.random() < 0.5 else [key for key in known if isinstance(key, str)] or KEYS
        container[chance.choice(names)] = container.pop(_place(container, chance))


def _graft(container: Container, others: list[Any], chance: random.Random) -> None:
    """A part of another document in the place of one here, or beside it."""
    donors = _containers(chance.choice(others))
    if not donors:
        return
    donor = chance.choice(donors)
    place = _place(donor, chance)
    value = _copied(donor[place])
    if isinstance(container, dict):
        container[place if isinstance(place, str) else _place(container, chance)] = value
    else:
        container.insert(chance.randrange(len(container) + 1), value)


def _double(container: Container, others: list[Any], chance: random.Random) -> None:
    if isinstance(container, list):
        container[:] = (container * chance.choice((2, 2, 50)))[:500]
    else:
        place = _place(container, chance)
        container[place + chance.choice("sS0.")] = _copied(container[place])


def _cut(container: Container, others: list[Any], chance: random.Random) -> None:
    """Text that breaks off."""
    place = _place(container, chance)
    if isinstance(value := container[place], str) and value:
        container[place] = value[: chance.randrange(len(value))]


CHANGES: tuple[Callable[[Container, list[Any], random.Random], None], ...] = (
    _drop, _retype, _retype, _retype, _wrap, _encode, _deepen, _rename, _graft, _graft, _double, _cut,
)  # fmt: skip
