"""Texts that say nearly the same, found without comparing all with all."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.datasets.near_duplicates import near_duplicates

LONG = "please book me the cheapest direct flight to seattle on friday morning and send the ticket to my office"


def test_equal_texts_are_linked_in_a_chain():
    assert near_duplicates([("a", LONG), ("b", LONG.upper()), ("c", LONG)], 0.9) == [("a", "b"), ("b", "c")]


def test_one_word_more_is_still_the_same_text():
    assert len(near_duplicates([("a", LONG), ("b", f"{LONG} today")], 0.9)) == 1


def test_another_text_is_another():
    assert near_duplicates([("a", LONG), ("b", " ".join(reversed(LONG.split())))], 0.9) == []


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=9).map(" ".join), max_size=8),
    st.sampled_from([0.3, 0.5, 0.75, 0.9, 1.0]),
)
def test_the_links_join_what_comparing_all_with_all_would(texts, threshold):
    def shingles(text):
        words = text.split()
        return {tuple(words[i : i + 3]) for i in range(max(len(words) - 2, 1))}

    def groups(links):
        sets = {str(i): {str(i)} for i in range(len(texts))}
        for one, other in links:
            merged = sets[one] | sets[other]
            for key in merged:
                sets[key] = merged
        return {frozenset(group) for group in sets.values()}

    alike = [
        (str(i), str(j))
        for i, j in combinations(range(len(texts)), 2)
        if len(shingles(texts[i]) & shingles(texts[j])) >= threshold * len(shingles(texts[i]) | shingles(texts[j]))
    ]
    found = near_duplicates([(str(i), text) for i, text in enumerate(texts)], threshold)
    assert groups(found) == groups(alike)
