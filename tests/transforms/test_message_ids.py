"""Ids are found again by their keys, however many there are, in a few bytes each."""

import pickle
import random
import sys

from hypothesis import given
from hypothesis import strategies as st

from transforms.message_ids import MessageIds


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), max_size=80))
def test_numbers_are_those_of_a_dictionary(said: list[tuple[int, int]]) -> None:
    ids, numbers = MessageIds(), dict[bytes, int]()
    for message, variant in said:
        message_id = message.to_bytes(8, "big") * 2  # many keys that begin alike
        key = message_id if not variant else message_id[:8] + variant.to_bytes(8, "big")
        is_new = key not in numbers
        assert ids.add(message_id, key) == (numbers.setdefault(key, len(numbers)), is_new)
        assert ids[numbers[key]] == message_id
    assert list(numbers.values()) == list(range(len(ids)))
    assert [ids.key(number) for number in range(len(ids))] == list(numbers)
    once = ids.made_once()
    assert [once[number] for number in range(len(ids))] == list(ids)
    assert all(once[number] is once[number] for number in range(len(ids)))


def test_a_hundred_thousand_ids_take_a_few_bytes_each_and_travel() -> None:
    chance, ids = random.Random(3), MessageIds()
    keys = [chance.randbytes(16) for _ in range(100_000)]
    for key in keys:
        ids.add(key, key)
    again = pickle.loads(pickle.dumps(ids))  # noqa: S301 - as between processes
    assert all(again.add(key, key) == (number, False) for number, key in enumerate(keys))
    assert again.add(bytes(16), bytes(16)) == (len(keys), True)
    assert sys.getsizeof(ids._ids) + sys.getsizeof(ids._places) < 30 * len(keys)
