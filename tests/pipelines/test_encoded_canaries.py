"""Personal values of every type, in every place of a trace and every encoding, are nowhere in the lake after a day."""

from __future__ import annotations

import base64
import gzip
import json
import random
import string
import zlib
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any
from urllib.parse import quote

import polars as pl
import pytest
from mills import day_of

from assets.mill import Mill
from benchmarks.privacy.planting import Planted, Planter
from benchmarks.privacy.reading import readable
from benchmarks.privacy.score import seen
from warehouse.catalog import DAILY

DAY = date(2026, 11, 30)
TYPES = (
    "write to <<email>> please", "call <<phone>> please", "연락처는 <<kphone>>입니다", "the card <<card>>",
    "SSN <<ssn>>", "주민등록번호는 <<rrn>>입니다", "IBAN <<iban>>", "logged in from <<ip>>", "MAC <<mac>>",
    "My name is <<name>>.", "제 이름은 <<kname>>입니다", "user id is <<user_id>>", "date of birth <<dob>>",
    "send it to <<us_address>>", "use <<secret>>", "passport number <<passport>>",
    "Codice fiscale <<it codice fiscale>>",
)  # fmt: skip
PLAIN = string.ascii_letters + string.digits


def zipped(raw: bytes) -> str:
    return base64.b64encode(gzip.compress(raw, mtime=0)).decode()


ENCODINGS: dict[str, Callable[[bytes], str]] = {
    "plain": bytes.decode,
    "percent": lambda raw: quote(raw, safe=""),
    "percent twice": lambda raw: quote(quote(raw, safe=""), safe=""),
    "entities": lambda raw: "".join(char if char in PLAIN else f"&#{ord(char)};" for char in raw.decode()),
    "escapes": lambda raw: "".join(f"\\u{ord(char):04x}" for char in raw.decode()),
    "bytes": lambda raw: "".join(f"\\x{byte:02x}" for byte in raw),
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "base64 for URLs": lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("="),
    "base64 twice": lambda raw: base64.b64encode(base64.b64encode(raw)).decode(),
    "hexadecimal": bytes.hex,
    "HEXADECIMAL": lambda raw: raw.hex().upper(),
    "0x": lambda raw: f"0x{raw.hex()}",
    "bytea": lambda raw: f"\\x{raw.hex()}",
    "gzip": lambda raw: zipped(raw),
    "zlib": lambda raw: base64.b64encode(zlib.compress(raw)).decode(),
    "zlib in hexadecimal": lambda raw: zlib.compress(raw).hex(),
    "JSON in gzip": lambda raw: zipped(json.dumps({"rows": [{"note": raw.decode()}]}).encode()),
}  # fmt: skip
PLACES = ("user", "argument", "nested", "result")


def chat(said: dict[str, str]) -> dict[str, Any]:
    """A chat with a text in each place."""
    arguments = json.dumps({"note": said["argument"], "body": json.dumps({"rows": [{"data": said["nested"]}]})})
    calls = [{"id": "c1", "type": "function", "function": {"name": "file", "arguments": arguments}}]
    return {"messages": [
        {"role": "user", "content": f"please file this: {said['user']}"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"data": said["result"], "ok": True})},
        {"role": "assistant", "content": "It is filed."},
    ]}  # fmt: skip


def chats(planted: list[tuple[str, Planted]]) -> Iterator[str]:
    """One chat for each type and encoding; no value comes twice, so that each must be found where it stands."""
    rng = random.Random()
    for type_ in TYPES:
        for encoding, encode in ENCODINGS.items():
            said = {}
            for place in PLACES:
                text, values = Planter(rng).fill(type_, place)
                planted += [(encoding, one) for one in values]
                said[place] = encode(text.encode())
            yield json.dumps(chat(said), ensure_ascii=rng.random() < 0.5)


@pytest.fixture(scope="module")
def planted() -> list[tuple[str, Planted]]:
    return []


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory, planted: list[tuple[str, Planted]]) -> Iterator[Mill]:
    with day_of(tmp_path_factory.mktemp("canaries"), "\n".join(chats(planted)), DAY) as mill:
        yield mill


def texts(mill: Mill) -> Iterator[str]:
    """Every text of the day's tables."""
    for table in (table for asset in DAILY for table in DAILY[asset]):
        frame = mill.lake.scan(table, only=DAY).collect()
        for name in (name for name, kind in frame.schema.items() if kind == pl.String):
            yield from frame[name].drop_nulls()


def stands(one: Planted, read: str, low: str) -> bool:
    """Whether anything of a value is left; two syllables of a Korean name may be any word's."""
    parts = [one.value] if one.kind == "kname" else one.parts
    return any(part.casefold() in low and seen(part, read) for part in parts)


def test_no_value_is_left_whatever_it_is_encoded_in(mill: Mill, planted: list[tuple[str, Planted]]) -> None:
    read = readable(list(texts(mill)))
    low = read.casefold()
    assert len(planted) == len(TYPES) * len(ENCODINGS) * len(PLACES)
    assert "please file this" in read and "It is filed." in read
    left = [(encoding, one.kind, one.place) for encoding, one in planted if stands(one, read, low)]
    assert left == []
