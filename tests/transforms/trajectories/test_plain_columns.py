"""What is found out for many texts or keys at once is what each of them says."""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from transforms.trajectories.plain_masks import masked_texts
from transforms.trajectories.plain_messages import may_tell_failure
from transforms.trajectories.tasks import masked
from transforms.trajectories.tool_results import says_error
from transforms.trajectories.trace_rows import NONE, Index

PIECES = [
    "may", "dec 3", "3 dec", " ", "\n", "1", "a1b", "_9x", "x_", "9", "@", "a@b.c", "#", "-", ".", "monday", "Day", "é",
    "[secret_0123456789ab]", "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "index", "한국", "\x1c", "abexbax", "(4", "٣", "²",
    "3  jan", "jan.\t4",
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), max_size=20))
def test_texts_masked_at_once_are_masked_as_each_is(texts):
    assert masked_texts(pl.Series(texts, dtype=pl.String)).to_list() == [masked(text) for text in texts]


TELLING = [
    "error", "Error:", "traceback (most recent", "TRACEBACK (most recent", "x.y", " ", "\x1c", "{", '"error": 1', "}",
    '"\\u0065rror": 1', "timeout(", "exceeded:", "ſ", "İ", "failure :", "denıed:", "ok", '"isError": true',
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(TELLING), max_size=5).map("".join), max_size=20))
def test_no_failure_is_overlooked(texts):
    told = pl.DataFrame({"text": texts}, schema={"text": pl.String}).select(may_tell_failure("text")).to_series()
    assert [text is not None and says_error(text) for text in told] == [says_error(text) for text in texts]


@given(st.lists(st.integers(0, 2**64 - 1), max_size=30), st.lists(st.integers(0, 2**64 - 1), max_size=30))
def test_an_index_tells_the_latest_place_of_a_key(held, asked):
    places = {key: place for place, key in enumerate(held)}
    index = Index.of(np.array(held, dtype=np.uint64))
    asked = [*asked, *held]
    found = index.places(np.array(asked, dtype=np.uint64))
    assert found.tolist() == [places.get(key, NONE) for key in asked]
