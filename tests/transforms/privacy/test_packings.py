"""Values in hexadecimal, and in what was compressed, go; digests and ids stay; nothing costs more than its length."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import random
import time
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.privacy.deidentifier import Deidentifier, Unscannable
from transforms.privacy.erasure import Tombs, read_value
from transforms.privacy.inflation import GROWTH, MAX_LAYERS, MOST_INFLATED
from transforms.privacy.packings import packed, repacked
from transforms.privacy.surrogates import Surrogates

KEY = b"a tenant's key, 32 bytes at least"
SAID = "Hello, write to jane.roe@mail.test, card 4111 1111 1111 1111, 김철수님, thanks. " + json.dumps(
    {"first_name": "Zed"}
)
GONE = ("jane", "1111", "철수", "Zed")


def zipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


PACKINGS: list[tuple[Callable[[bytes], str], Callable[[str], bytes]]] = [
    (bytes.hex, bytes.fromhex),
    (lambda data: data.hex().upper(), bytes.fromhex),
    (lambda data: zlib.compress(data).hex(), lambda run: zlib.decompress(bytes.fromhex(run))),
    (lambda data: base64.b64encode(zipped(data)).decode(), lambda run: gzip.decompress(base64.b64decode(run))),
    (lambda data: base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("="),
     lambda run: zlib.decompress(base64.urlsafe_b64decode(run + "=="))),
    (lambda data: base64.b64encode(base64.b64encode(data)).decode(),
     lambda run: base64.b64decode(base64.b64decode(run))),
    (lambda data: base64.b64encode(data.hex().encode()).decode(),
     lambda run: bytes.fromhex(base64.b64decode(run).decode())),
]  # fmt: skip
AROUND = [
    "%s",
    "payload=%s",
    "0x%s",
    r"SELECT '\x%s'::bytea",
    "INSERT INTO t VALUES (X'%s')",
    "see /files/%s/raw",
    "a %s b",
]


@pytest.mark.parametrize(
    ("pack", "unpack", "around"),
    [(*packing, around) for at, packing in enumerate(PACKINGS) for around in (AROUND if at < 3 else AROUND[:2])],
)
def test_what_is_packed_is_cleaned_and_packed_again(
    rules: Deidentifier, pack: Callable[[bytes], str], unpack: Callable[[str], bytes], around: str
) -> None:
    run = pack(SAID.encode())
    made = rules.clean(around % run, [])
    before, _, after = around.partition("%s")
    inside = unpack(made.value.removeprefix(before).removesuffix(after)).decode()
    assert made.altered and inside.startswith("Hello, write to ") and inside.endswith('"}')
    assert not [value for value in GONE if value in inside]
    again = rules.clean(made.value, [])
    assert again.value == made.value and not again.altered


@pytest.mark.parametrize("odd", ["\xa0", "\u3000", "\u200d", "\ufeff", "\x1b[31m ", " \x1b]8;;x\x07"])
def test_odd_characters_keep_no_text_from_being_read(rules: Deidentifier, odd: str) -> None:
    said = f"ask mia.li@gmail.com{odd}now".encode()
    tombs = Tombs(KEY, read_value("mia.li@gmail.com", Tombs(KEY), Surrogates(KEY)).tombstones)
    for pack, unpack in PACKINGS:
        run = pack(said)
        made = rules.clean(run, [])
        assert made.altered and b"mia.li" not in unpack(made.value) and unpack(made.value).startswith(b"ask ")
        assert tombs.finds(run) and rules.audit([("row", run)]) != []


def test_compressed_text_is_read_whatever_it_holds(rules: Deidentifier) -> None:
    run = base64.b64encode(zipped(b"\x00\x01 mia.li@gmail.com \x7f")).decode()
    assert b"mia" not in gzip.decompress(base64.b64decode(rules.clean(run, []).value))


def test_random_bytes_are_no_text() -> None:
    chosen = random.Random(3)
    runs = [base64.b64encode(chosen.randbytes(12)).decode() for _ in range(100_000)]
    assert sum(bool(list(packed(run))) for run in runs) <= 10


@pytest.mark.parametrize(
    "run",
    [
        "6d69612e6c69406578616d706c652e636f6d",
        "0x6d69612e6c69406578616d706c652e636f6d",
        r"\x6d\x69\x61\x2e\x6c\x69\x40\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d",
    ],
)
def test_an_address_in_hexadecimal_goes_alone_as_in_prose(rules: Deidentifier, run: str) -> None:
    for text in (run, f"decode {run} please", json.dumps({"data": run})):
        assert run not in rules.clean(text, []).value and rules.clean(text, []).altered


@pytest.mark.parametrize("pack", [bytes.hex, lambda data: zlib.compress(data).hex().upper()])
@pytest.mark.parametrize(("width", "end"), [(60, "\n"), (64, "\r\n"), (76, "\n")])
@pytest.mark.parametrize("around", ["%s", "dump:\n%s\n", "%s\nEnd of dump"])
def test_hexadecimal_in_lines_is_read_as_one(
    rules: Deidentifier, pack: Callable[[bytes], str], width: int, end: str, around: str
) -> None:
    digits = pack(("é" * 29 + " ask jane.roe@mail.test, 김철수님, " + SAID).encode())
    run = end.join(digits[at : at + width] for at in range(0, len(digits), width))
    made = rules.clean(around % run, []).value
    before, _, after = around.partition("%s")
    lines = made.removeprefix(before).removesuffix(after).split(end)
    inside = bytes.fromhex("".join(lines))
    said = (inside if pack is bytes.hex else zlib.decompress(inside)).decode()
    assert said.startswith("é" * 29 + " ask ") and not [value for value in GONE if value in said]
    assert {len(line) for line in lines[:-1]} == {width} and rules.clean(made, []).value == made


def test_a_word_on_the_line_after_base64_is_no_part_of_it(rules: Deidentifier) -> None:
    run = base64.encodebytes((SAID + "." * (-len(SAID.encode()) % 3)).encode()).decode()
    made = rules.clean(f"{run}Done now", []).value
    assert made.endswith("\nDone now") and b"jane" not in base64.b64decode(made.removesuffix("Done now"))


def test_lines_of_digests_stay_and_one_line_of_text_among_them_does_not(rules: Deidentifier) -> None:
    digests = [hashlib.sha256(bytes([number])).hexdigest() for number in range(9)]
    assert rules.clean("\n".join(digests), []).value == "\n".join(digests)
    said = b"write to jane.roe@mail.test now.".hex()
    assert said not in rules.clean("\n".join([*digests, said, *digests]), []).value


def test_digests_and_ids_in_hexadecimal_stay(rules: Deidentifier) -> None:
    for number in range(2_000):
        digest = hashlib.sha512(str(number).encode()).hexdigest()
        text = f"trace {digest[:32]} span {digest[32:48]} sha256 {digest[:64]} 0x{digest[:40]} {digest}"
        assert rules.clean(text, []).value == text


def test_text_that_begins_as_compressed_text_does_is_still_read(rules: Deidentifier) -> None:
    for said in ("x^2 + y: ask jane.roe@mail.test", "x\x9c"):
        run = base64.b64encode(said.encode()).decode()
        assert ("jane" in said) == rules.clean(run, []).altered


def test_a_value_known_to_the_trace_goes_from_what_is_packed_and_the_audit_looks_into_it() -> None:
    from transforms.privacy.policy import PrivacyPolicy

    cleaner = Deidentifier(PrivacyPolicy(model=None), KEY)
    cleaner.learn("t", {"first_name": "Zora", "last_name": "Kettlewell"})
    run = base64.b64encode(zipped(b"ask Zora Kettlewell about it")).decode()
    assert cleaner.audit([("row", run)]) != []
    made = cleaner.clean(run, ["t"]).value
    assert cleaner.audit([("row", made)]) == [] and b"Kettle" not in gzip.decompress(base64.b64decode(made))


def test_who_is_to_be_forgotten_is_found_in_what_is_packed() -> None:
    value = read_value("jane.roe@mail.test", Tombs(KEY), Surrogates(KEY))
    tombs = Tombs(KEY, value.tombstones)
    for pack, _ in PACKINGS:
        assert tombs.finds({"data": pack(SAID.encode())})
        assert not tombs.finds({"data": pack(b"Hello, nobody is in here, thanks.")})


def test_a_member_of_a_gzip_file_is_read_whichever_it_is(rules: Deidentifier) -> None:
    run = base64.b64encode(zipped(b"nothing here\n") + zipped(b"jane.roe@mail.test\n")).decode()
    made = gzip.decompress(base64.b64decode(rules.clean(run, []).value))
    assert made.startswith(b"nothing here\n") and b"jane" not in made


def named(data: bytes, name: str) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(name, "wb", fileobj=made, mtime=0) as file:
        file.write(data)
    return made.getvalue()


def small_window(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=9)
    return packer.compress(data) + packer.flush()


SAYS = b"now ask mia.li@gmail.com for it, "
ODDLY_COMPRESSED = [
    named(b"nothing to see here", "mia.li@gmail.com.txt"),
    zipped(b"nothing to see here, ") + SAYS, zipped(b"nothing to see here, ") + b"\0\0" + SAYS,
    zlib.compress(b"nothing to see here, ") + SAYS,
    zipped(zipped(SAYS)), zlib.compress(zipped(SAYS)), named(zipped(SAYS), "a.gz"),
    small_window(SAYS), zipped(SAYS)[:-8] + bytes(8), zlib.compress(SAYS)[:-4] + bytes(4), zipped(SAYS * 9)[:-20],
    b"\x1f\x8b\x08\x1e" + bytes(6) + b"\x02\0abn\0by mia.li@gmail.com\0\0\0" + zipped(b"nothing")[10:],
]  # fmt: skip


@pytest.mark.parametrize("data", ODDLY_COMPRESSED)
@pytest.mark.parametrize("pack", [bytes.hex, lambda data: base64.b64encode(data).decode()])
def test_all_that_compressed_bytes_hold_is_read(rules: Deidentifier, data: bytes, pack: Callable[[bytes], str]) -> None:
    run = pack(data)
    tombs = Tombs(KEY, read_value("mia.li@gmail.com", Tombs(KEY), Surrogates(KEY)).tombstones)
    assert tombs.finds(run) and rules.audit([("row", run)]) != []
    made = rules.clean(run, []).value
    assert made != run and rules.clean(made, []).value == made
    assert rules.audit([("row", made)]) == []
    inside = zlib.decompress(bytes.fromhex(made) if pack is bytes.hex else base64.b64decode(made), 47)
    inside = gzip.decompress(inside) if inside.startswith(b"\x1f\x8b") else inside
    assert inside.startswith((b"nothing", b"now ask ")) and b"mia.li" not in inside


def test_text_that_begins_as_a_small_window_does_is_read_as_text(rules: Deidentifier) -> None:
    assert rules.clean(base64.b64encode(b"HK office: mia.li@gmail.com").decode(), []).altered


def test_what_is_too_much_or_too_deep_is_refused(rules: Deidentifier) -> None:
    half = base64.b64encode(
        zipped(b"".join(random.Random(1).choices([b"days ", b"of ", b"rain "], k=MOST_INFLATED // 6)))
    ).decode()
    assert rules.clean(half, []).value == half
    deep = SAYS
    for _ in range(MAX_LAYERS + 1):
        deep = zipped(deep)
    for refused in (f"{half} {half}", base64.b64encode(deep).decode()):
        with pytest.raises(Unscannable, match="too_"):
            rules.clean(refused, [])


def test_a_bomb_is_refused_and_one_in_another_is_not_opened(rules: Deidentifier) -> None:
    bomb = base64.b64encode(zipped(b"a word " * 200_000)).decode()
    with pytest.raises(Unscannable, match="too_long"):
        rules.clean({"data": bomb}, [])
    assert Tombs(KEY, read_value("jane.roe@mail.test", Tombs(KEY), Surrogates(KEY)).tombstones).finds(bomb)
    inner = base64.b64encode(zipped(os.urandom(3_000).hex().encode() + bomb.encode())).decode()
    assert rules.clean(inner, []).value == inner


@pytest.mark.parametrize("make", [
    lambda size: base64.b64encode(os.urandom(size * 3 // 4)).decode(),
    lambda size: os.urandom(size // 2).hex(),
    lambda size: ("41" * 3 + "00") * (size // 8),
    lambda size: "41" * (size // 2) + "z",
    lambda size: "789c" * (size // 4),
    lambda size: "eJx" * (size // 3),
    lambda size: base64.b64encode(zipped(b"") * (size // 27)).decode(),
    lambda size: " ".join(["789c" + "ff" * 6] * (size // 17)),
    lambda size: base64.b64encode(zlib.compress(os.urandom(size // 2).hex().encode())).decode(),
])  # fmt: skip
def test_a_long_run_costs_no_more_than_its_length(make: Callable[[int], str]) -> None:
    seconds = []
    for size in (250_000, 1_000_000):
        text = make(size)
        started = time.process_time()
        list(packed(text))
        seconds.append(time.process_time() - started)
    assert seconds[1] < 12 * seconds[0] + 0.5


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60), st.sampled_from(PACKINGS[:5]))
def test_what_is_packed_comes_back(text: str, packing: tuple[Callable[[bytes], str], Callable[[str], bytes]]) -> None:
    run = packing[0](text.encode())
    for one in packed(run):
        assert one.said == text and packing[1](repacked(text, run)).decode() == text


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=12, max_size=60))
def test_readable_text_in_hexadecimal_is_always_read(text: str) -> None:
    assert [one.said for one in packed(f"{text} at".encode().hex())] == [f"{text} at"]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_looked_at_in_peace(data: bytes) -> None:
    for run in (data.hex(), base64.b64encode(data).decode(), base64.b64encode(b"\x1f\x8b\x08" + data).decode(),
                ("789c" + data.hex())):  # fmt: skip
        assert all(len(one.said) <= GROWTH * len(run) for one in packed(run))
