"""What calls repeat is decoded once, and nothing that is read tells so: any order, any writer, any oddity."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.ingest.generate import DIALECTS, trajectories
from transforms.readers import exports, histories
from transforms.readers.exports import Tally, read_export
from transforms.readers.histories import Histories
from transforms.readers.shared_values import NotPlain
from transforms.readers.writings import ESCAPED
from transforms.records import Record, Span

Write = Callable[[Any], str]
WRITERS: dict[str, Write] = {
    "compact": lambda value: json.dumps(value, separators=(",", ":")),
    "spaced": json.dumps,
    "unescaped": lambda value: json.dumps(value, ensure_ascii=False),
    "odd spaces": lambda value: json.dumps(value, separators=(" ,", ": ")),
}
ODD = ["é", "\u2028", "\0", '"', "\\", "\\u0000", "😀", "\ud83d", "</", "[]", "x]", '"}]', "NaN"]
ITEMS = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.integers(0, 120),
        st.none(),
        st.sampled_from(ODD),
        st.fixed_dictionaries({"role": st.sampled_from(["user", "tool"]), "content": st.text(max_size=400)}),
    ),
    max_size=6,
)


def calls(dialect: str, count: int, seed: int = 3) -> list[dict[str, Any]]:
    """Documents of the generator, of traces that run at the same time."""
    made = trajectories(random.Random(seed))
    return [DIALECTS[dialect](next(made)) for _ in range(count)]


def read(lines: list[str]) -> list[Record]:
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    return list(read_export(io.BytesIO(data), Tally()))


@pytest.fixture(params=["compact", "spaced", "unescaped", "odd spaces"])
def write(request: pytest.FixtureRequest) -> Write:
    return WRITERS[request.param]


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[list[str]], list[Record]]]:
    """Reads with every document decoded as a whole."""

    def decoded_whole(lines: list[str]) -> list[Record]:
        with monkeypatch.context() as patch:
            patch.setattr(exports, "decode_shared", lambda piece, reading: None)
            return read(lines)

    yield decoded_whole


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled"])
def test_records_are_the_same_in_every_order_and_from_every_writer(
    dialect: str, order: str, write: Write, whole: Callable[[list[str]], list[Record]]
) -> None:
    lines = [write(document) for document in calls(dialect, 60)]
    if order == "descending":
        lines.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(lines)
    assert read(lines) == whole(lines)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_a_document_that_was_damaged_anywhere_reads_as_if_it_stood_alone(
    dialect: str, whole: Callable[[list[str]], list[Record]]
) -> None:
    chance = random.Random(5)
    lines = [json.dumps(document) for document in calls(dialect, 24)]
    for _ in range(120):
        number = chance.randrange(len(lines))
        at = chance.randrange(len(lines[number]))
        damage = chance.choice([*ODD, "", ",", "]", "}", "{", "9" * 30, "1e999", "llm.input_messages.1.", "\\ud83d"])
        damaged = list(lines)
        damaged[number] = lines[number][:at] + damage + lines[number][at + chance.randrange(3) :]
        assert read(damaged) == whole(damaged), (number, at, damage)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
def test_the_documents_of_the_commonest_writers_are_not_decoded_as_a_whole(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps(document) for document in calls(dialect, 20)]

    def never(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(exports, "decode", never)
    assert len(read(lines)) == 20


@given(st.lists(ITEMS, min_size=1, max_size=6), st.sampled_from(sorted(WRITERS)))
@settings(max_examples=300, deadline=None)
def test_a_list_is_what_its_json_says_whatever_lists_came_before(lists: list[list[Any]], writer: str) -> None:
    for escape in (False, True):
        known = Histories()
        so_far: list[Any] = []
        for items in [*lists, *lists]:
            so_far = (so_far + items)[-40:]
            text = WRITERS[writer](so_far)
            raw = (json.dumps(text) if escape else text).encode("utf-8", "surrogatepass")
            try:
                found = known.read("t", raw, ESCAPED) if escape else known.read("t", raw)
            except NotPlain:
                assert any(odd in text for odd in ("\\u0000", "\0", "\\ud83d", "\ud83d")) or b"\\u0000" in raw
                continue
            assert list(found) == json.loads(text)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "REMEMBERED_BYTES", 20_000)
    monkeypatch.setattr(histories, "TRACES", 4)
    known = Histories()
    for number in range(100):
        items = [{"role": "user", "content": f"{number} {place} " + "x" * 100} for place in range(9)]
        assert list(known.read(f"trace {number}", json.dumps(items).encode())) == items
    assert len(known._roots) <= 4
    assert sum(map(len, known._items)) <= 20_000


def test_messages_that_calls_share_are_one_object() -> None:
    spans = [record for record in read([json.dumps(d) for d in calls("langsmith", 80)]) if isinstance(record, Span)]
    systems = {id(span.prompt[0]) for span in spans}
    assert len(systems) == len({span.prompt[0].content for span in spans})
