"""A prompt is stored as what it adds to an earlier span, and comes back whole."""

from hypothesis import given
from hypothesis import strategies as st

from transforms.contexts import Call, link
from transforms.identity import EMPTY_CONTEXT, extend

MESSAGES = st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=6).map(tuple)
CALLS = st.lists(st.tuples(MESSAGES, MESSAGES.map(lambda output: output[:2])), max_size=8)


def _chained(messages):
    context = EMPTY_CONTEXT
    for message in messages:
        context = extend(context, message)
    return context


def test_a_call_that_goes_on_stores_only_what_is_new():
    links = link([Call("1", (b"s", b"u"), (b"a",)), Call("2", (b"s", b"u", b"a", b"v"), (b"b",))])
    assert (links["1"].base_span_id, links["1"].suffix) == (None, (b"s", b"u"))
    assert (links["2"].base_span_id, links["2"].base_length, links["2"].suffix) == ("1", 3, (b"v",))


@given(CALLS)
def test_every_prompt_comes_back_from_its_base_and_suffix(made):
    calls = [Call(str(number), prompt, output) for number, (prompt, output) in enumerate(made)]
    links = link(calls)
    told = {None: ()}
    for call in calls:
        found = links[call.span_id]
        prompt = told[found.base_span_id][: found.base_length] + found.suffix
        assert prompt == call.prompt and (found.base_span_id is None) == (found.base_length == 0)
        assert found.context_id == _chained(prompt)
        assert found.result_id == (_chained(prompt + call.output[:1]) if call.output else None)
        told[call.span_id] = prompt + call.output[:1]
