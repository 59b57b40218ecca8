"""Records come back as they were kept, and what lies outside of memory says nothing."""

import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from transforms import kept as kept_module
from transforms import kept_blocks, surroundings
from transforms.holders import Holders
from transforms.identity import Identity
from transforms.kept import KeptRecords
from transforms.kept_shelves import MOST_PARTS, PART_BYTES, PARTS, parts_for
from transforms.records import Feedback, Media, Message, Span, ToolCall
from transforms.sealed import Sealed

IDENTITY = Identity(b"a tenant's key, 32 bytes at least")

texts = st.text(max_size=5) | st.sampled_from(["\ud83d", "é", "\0"])
calls = st.builds(ToolCall, texts, texts, st.sampled_from(['{"b": 1, "a": 2}', '{"a"', "\ud83d", "[1.0]"]))
media = st.builds(Media, texts, st.just("image/png"), texts)
said = st.builds(
    Message,
    st.sampled_from(["user", "assistant"]),
    texts,
    texts,
    st.lists(calls, max_size=2).map(tuple),
    texts,
    texts,
    st.lists(media, max_size=1).map(tuple),
)
plain = st.none() | st.integers() | st.floats(allow_nan=False) | texts
values = st.dictionaries(texts, plain | st.lists(plain, max_size=2), max_size=2)


@st.composite
def spans(draw: st.DrawFn, number: int = 0) -> Span:
    span = Span("s", "d", draw(st.integers(0, 9)), draw(st.sampled_from("abc")) * 32, "1" * 16, "llm", draw(texts))
    span.attributes, span.parameters = draw(values), draw(values)
    span.tools = draw(st.sampled_from([[], [{"a": 1}], [{"a": 2**70}]]))
    span.prompt, span.output = draw(st.lists(said, max_size=4)), draw(st.lists(said, max_size=2))
    span.started_ns, span.flags = draw(st.none() | st.integers(0, 2**62)), draw(st.lists(texts, max_size=2))
    span.response_id, span.input_tokens = draw(texts), draw(st.none() | st.integers(0, 2**70))
    return span


def returned(kept: KeptRecords) -> Iterator[tuple[Span, int]]:
    """The spans of all parts, whole again."""
    messages = {number: message for part in range(PARTS) for number, message in kept.messages(part)}
    for part in range(PARTS):
        for one in kept.spans(part):
            span = Span(trace_id=kept.traces[one.trace], **asdict(one.around), **asdict(one.span))
            span.prompt, span.output = [messages[n] for n in one.prompt], [messages[n] for n in one.output]
            span.tools = kept.tools[one.tools]
            yield span, one.file


@given(st.lists(spans(), max_size=8), st.booleans(), st.integers(0, 8))
@settings(max_examples=200, deadline=None)
def test_spans_come_back_as_they_were_in_the_order_of_their_trace_from_one_reading_or_two(
    given_spans: list[Span], small: bool, first: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_blocks, "BLOCK_BYTES", 100 if small else 1 << 16)
        patch.setattr(kept_module, "RECENT", 1 if small else 512)
        patch.setattr(surroundings, "FORGOTTEN_BYTES", 100 if small else 1 << 17)  # two or three surroundings
        kept, other = KeptRecords(IDENTITY), KeptRecords(IDENTITY)
        for number, span in enumerate(given_spans):
            into = kept if number < first else other
            into.add(span, into.start_file(str(number)))
        kept.absorb(other)
        kept.finish()
        found = list(returned(kept))
    assert sorted(kept.files[file] for _, file in found) == [str(number) for number in range(len(given_spans))]
    for number in range(len(kept.message_ids)):
        told = {kept.traces[trace] for trace in kept.holders.of(number)}
        of_it = [one for part in range(PARTS) for one in kept.spans(part) if number in (*one.prompt, *one.output)]
        assert told == {kept.traces[one.trace] for one in of_it}
    for trace in {span.trace_id for span in given_spans}:
        before = [span for span in given_spans if span.trace_id == trace]
        after = [span for span, _ in found if span.trace_id == trace]
        assert before == after


def test_verdicts_come_back_with_their_files() -> None:
    kept = KeptRecords(IDENTITY)
    verdicts = [Feedback(1, "a" * 32, "key", score=0.5), Feedback(2, "", "key", trace_identity=("x", "y"))]
    for verdict in verdicts:
        kept.add(verdict, kept.start_file("f"))
    assert list(kept.feedback()) == [(verdicts[0], 0), (verdicts[1], 1)]
    assert len(kept.traces) == 2


def test_a_message_is_kept_once_and_once_more_where_its_reasoning_differs() -> None:
    kept = KeptRecords(IDENTITY)
    for reasoning in ("", "Hm.", "", "Hm."):
        span = Span("s", "d", 0, "a" * 32, "1" * 16, "llm", "n", prompt=[Message("user", "hi", reasoning)])
        kept.add(span, 0)
    assert len(kept.message_ids) == 2 and len(set(kept.message_ids)) == 1


def test_surroundings_that_spans_of_a_part_share_come_back_as_one_object_until_they_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = KeptRecords(IDENTITY)
    for number in range(40):
        kept.add(Span("s", "d", number, "a" * 32, f"{number:016x}", "llm", "n", agent="ab"[number // 20]), 0)
    arounds = [one.around for part in range(PARTS) for one in kept.spans(part)]
    assert [around.agent for around in arounds] == [*"a" * 20, *"b" * 20] and len(set(arounds)) == 2

    monkeypatch.setattr(surroundings, "FORGOTTEN_BYTES", 0)
    forgetful = KeptRecords(IDENTITY)
    for number in range(40):
        forgetful.add(Span("s", "d", number, "a" * 32, f"{number:016x}", "llm", "n", agent="ab"[number % 2]), 0)
    arounds = [one.around for part in range(PARTS) for one in forgetful.spans(part)]
    assert [around.agent for around in arounds] == [*"ab" * 20] and len(set(arounds)) == 40


def test_long_surroundings_are_known_again_and_not_held_meanwhile() -> None:
    kept = KeptRecords(IDENTITY)
    tracemalloc.start()
    for number in range(64):
        state = {"state": f"{number // 2}" + "x" * (1 << 20)}
        kept.add(Span("s", "d", number, f"{number // 2:032x}", f"{number:016x}", "llm", "n", attributes=state), 0)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 4 << 20
    arounds = [one.around for part in range(PARTS) for one in kept.spans(part)]
    assert len(arounds) == 64 and len(set(arounds)) == 32


def test_what_is_sealed_says_nothing_and_cannot_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sealed = Sealed()
    blocks = [random.Random(size).randbytes(size) + b"a secret" for size in (0, 1, 100_000)]
    numbers = [sealed.put(block) for block in blocks]
    assert [sealed.get(number) for number in reversed(numbers)] == blocks[::-1]
    sealed._file.seek(0)
    assert b"a secret" not in sealed._file.read()
    sealed._file.seek(3)
    sealed._file.write(b"\0\0")
    sealed._file.flush()
    with pytest.raises(InvalidTag):
        sealed.get(0)


def test_holders_of_a_message_are_told_once_each() -> None:
    holders = Holders()
    for trace, messages in ((5, [0, 1]), (7, [1]), (5, [1, 1]), (0, [2, 1])):
        holders.add(trace, messages)
    assert [sorted(holders.of(number)) for number in range(3)] == [[5], [0, 5, 7], [0]]


def test_a_large_day_has_more_parts_so_that_none_is_large() -> None:
    assert parts_for(0) == parts_for(PARTS * PART_BYTES) == PARTS
    assert parts_for(PARTS * PART_BYTES + 1) == 2 * PARTS
    assert parts_for(10**15) == MOST_PARTS
