"""Synthetic traces with labelled values: chat, tool arguments and results, records in records, encodings, long texts.

    python -m benchmarks.privacy.traces --seed 7 --traces 3      # to look at them

A trace is a list of values as a cleaner gets them: messages, attributes of spans, schemas of tools.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import html
import json
import random
import zlib
from dataclasses import dataclass, field
from typing import Any

from benchmarks.privacy.planting import Planted, Planter, decoy
from benchmarks.privacy.templates import FILLER, METADATA, RECORDS, SCHEMAS, TEXTS

SYSTEM = "You are a support agent. Check the policy before each refund. The current time is 2026-03-14 15:00:00 UTC."
PLACES = (
    *TEXTS, "record", "arguments", "nested json", "json in prose", "python repr", "cut json", "rows", "metadata",
    "schema", "message name", "chunk border", "base64", "escapes", "entities", "percent",
    "hexadecimal", "compressed",
)  # fmt: skip
CHUNK = 8_000


@dataclass
class Trace:
    """The values of one trajectory, and what is planted in each."""

    values: list[Any] = field(default_factory=list)
    planted: list[list[Planted]] = field(default_factory=list)

    def add(self, value: Any, planted: list[Planted]) -> None:
        self.values.append(value)
        self.planted.append(planted)


def trace(rng: random.Random, messages: int = 24) -> Trace:
    """One trajectory with about `messages` values in places drawn at random."""
    planter, made = Planter(rng), Trace()
    made.add({"role": "system", "content": SYSTEM}, [])
    for _ in range(messages):
        made.add(*_value(planter, rng.choice(PLACES)))
    return made


def _value(planter: Planter, place: str) -> tuple[Any, list[Planted]]:
    rng = planter.rng
    if place in TEXTS:
        text, planted = planter.fill(rng.choice(TEXTS[place]), place)
        return _message(rng, place, text), planted
    if place in ("metadata", "schema"):
        return planter.fill(rng.choice(METADATA if place == "metadata" else SCHEMAS), place)
    if place == "message name":
        value = {"role": "user", "name": rng.choice(["<<user_id>>", "<<name>>"]), "content": "ok, go on"}
        return planter.fill(value, place)
    if place == "chunk border":
        text, planted = planter.fill(rng.choice(TEXTS["chat"]), place)
        lead = "".join(rng.choice(FILLER) for _ in range(120))[: CHUNK - rng.randrange(0, len(text) + 40)]
        return {"role": "tool", "content": f"{lead} {text} {rng.choice(FILLER) * 30}"}, planted
    if place in ("base64", "escapes", "entities", "percent", "hexadecimal", "compressed"):
        return _encoded(planter, place)
    return _record(planter, place)


def _message(rng: random.Random, place: str, text: str) -> Any:
    """A text in the envelope that it has in traces."""
    if place in ("chat", "emoji", "korean", "markdown", "mail"):
        return {"role": rng.choice(["user", "assistant"]), "content": text}
    key = {
        "sql": "query",
        "code": "code",
        "log": "output",
        "csv": "content",
        "html": "body",
        "url": "url",
        "path": "path",
    }.get(place, "text")
    way = rng.randrange(3)
    if way == 0:
        return {"role": "tool", "tool_call_id": "call_1", "content": text}
    if way == 1:
        return _call(json.dumps({key: text, "limit": 20}, ensure_ascii=rng.random() < 0.5))
    return {"role": "tool", "content": json.dumps({"ok": True, key: text}, ensure_ascii=rng.random() < 0.5)}


def _call(arguments: str) -> dict[str, Any]:
    function = {"name": "run", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }


def _record(planter: Planter, place: str) -> tuple[Any, list[Planted]]:
    rng = planter.rng
    record, planted = planter.fill(rng.choice(RECORDS), place)
    if place == "rows":
        more, rest = planter.fill(rng.choice(RECORDS), place)
        return {"role": "tool", "content": json.dumps([record, more], ensure_ascii=False, indent=2)}, planted + rest
    text = json.dumps(record, ensure_ascii=rng.random() < 0.5)
    if place == "arguments":
        return _call(text), planted
    if place == "nested json":
        inner = json.dumps({"payload": text, "id": decoy(rng)})
        return _call(json.dumps({"event": json.dumps({"body": inner})})), planted
    if place == "json in prose":
        return {"role": "tool", "content": f"Found one record: {text} (1 row, 3 ms)"}, planted
    if place == "python repr":
        return {"role": "tool", "content": f"Row: {record!r}"}, planted
    if place == "cut json":
        return {
            "role": "tool",
            "content": json.dumps({"rows": [record], "next": None}, ensure_ascii=rng.random() < 0.5)[:-9],
        }, planted
    return {"role": "tool", "content": text}, planted


def _encoded(planter: Planter, place: str) -> tuple[Any, list[Planted]]:
    rng = planter.rng
    text, planted = planter.fill(rng.choice(TEXTS[rng.choice(["chat", "korean", "log", "csv", "mail"])]), place)
    if place == "base64":
        coder = rng.choice([base64.b64encode, base64.urlsafe_b64encode])
        packed = coder(text.encode()).decode()
        return rng.choice([
            {"role": "tool", "content": json.dumps({"filename": "note.txt", "data": packed})},
            {"role": "tool", "content": f"GET /attachments/1 -> 200\npayload={packed}\n"},
            {"role": "user", "content": f"data:text/plain;base64,{base64.b64encode(text.encode()).decode()}"},
        ]), planted  # fmt: skip
    if place == "hexadecimal":
        digits = rng.choice([text.encode().hex(), text.encode().hex().upper()])
        return rng.choice([
            {"role": "tool", "content": f"SELECT payload FROM t; -- 1 row\n\\x{digits}\n"},
            {"role": "tool", "content": json.dumps({"encoding": "hex", "data": f"0x{digits}"})},
            {"role": "assistant", "content": f"The bytes are {digits} in hexadecimal."},
        ]), planted  # fmt: skip
    if place == "compressed":
        data = rng.choice([gzip.compress(text.encode(), mtime=0), zlib.compress(text.encode())])
        run = rng.choice([base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode(), data.hex()])
        return {"role": "tool", "content": json.dumps({"logs": run, "truncated": False})}, planted
    if place == "escapes":
        escaped = json.dumps(text.replace("@", "\ufffe")).replace("\\ufffe", "\\u0040")[1:-1]
        return {"role": "tool", "content": f"repr: {escaped} ..."}, planted
    if place == "entities":
        coded = html.escape(text).replace("@", rng.choice(["&#64;", "&#x40;", "&commat;"]))
        coded = "".join(f"&#{ord(char)};" if char > "~" else char for char in coded) if rng.random() < 0.5 else coded
        return {"role": "tool", "content": f"<p>{coded}</p>"}, planted
    from urllib.parse import quote

    return {"role": "tool", "content": f"POST /form body=message={quote(text, safe='')}&lang=en"}, planted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--traces", type=int, default=1)
    options = parser.parse_args()
    for number in range(options.traces):
        made = trace(random.Random(f"{options.seed}/{number}"))
        for value, planted in zip(made.values, made.planted, strict=True):
            print(json.dumps(value, ensure_ascii=False)[:600])
            print("   ", [(one.kind, one.value[:40]) for one in planted])


if __name__ == "__main__":
    main()
