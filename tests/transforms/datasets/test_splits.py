"""Held-out tasks: nothing of a test task may be trained on."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.datasets.release_spec import Refused, SplitSpec
from transforms.datasets.splits import split_tasks

NO_PERSONS = pl.DataFrame(schema={"trajectory_id": pl.String, "person": pl.String})
LONG = "please book me the cheapest direct flight to seattle on friday and send the ticket to my office"


def _rows(sizes, rule="explicit", names=None):
    return pl.DataFrame(
        [(f"{task}/{i}", task, rule, (names or {}).get(task)) for task, size in sizes.items() for i in range(size)],
        schema={name: pl.String for name in ("trajectory_id", "task_id", "task_rule", "task")}, orient="row",
    )  # fmt: skip


def _texts(rows, texts):
    return rows.select("trajectory_id", pl.col("task_id").replace_strict(texts, default="hello").alias("text"))


def _split(sizes, texts=None, persons=None, mixed=(), rule="explicit", **spec):
    rows = _rows(sizes, rule)
    known = NO_PERSONS if persons is None else pl.DataFrame(persons, schema=NO_PERSONS.schema, orient="row")
    return split_tasks(rows, _texts(rows, texts or {}), known, mixed, SplitSpec(**spec))


def test_about_the_share_asked_for_is_held_out():
    found = _split({f"t{i}": 4 for i in range(50)}, mixed=[f"t{i}" for i in range(26)])
    tasks = found.group_by("split").len().sort("split").rows()
    assert tasks == [("test", 10), ("train", 40)]


def test_both_splits_get_tasks_whose_outcomes_differ():
    mixed = ["t3", "t7"]
    found = _split({f"t{i}": 4 for i in range(40)}, mixed=mixed)
    assert set(found.filter(pl.col("task_id").is_in(mixed))["split"]) == {"test", "train"}


def test_the_only_mixed_task_is_trained_on():
    found = _split({"a": 4, "b": 4}, mixed=["a"])
    assert dict(found.select("task_id", "split").rows()) == {"a": "train", "b": "test"}


def test_near_duplicates_lie_in_one_split():
    found = _split({f"t{i}": 2 for i in range(20)}, {"t1": LONG, "t2": LONG + " today"}, mixed=["t1", "t5"])
    component = dict(found.select("task_id", "component").rows())
    assert component["t1"] == component["t2"] and found["component"].n_unique() == 19


def test_one_task_that_two_systems_exported_lies_in_one_split_however_short_its_text():
    rows = _rows({f"t{i}": 2 for i in range(20)}, names={"t1": "ticket-77", "t2": "ticket-77", "t3": "ticket-78"})
    texts = rows.select("trajectory_id", text=pl.lit("classify this"))
    found = split_tasks(rows, texts, NO_PERSONS, ["t1"], SplitSpec())
    component = dict(found.select("task_id", "component").rows())
    assert component["t1"] == component["t2"] != component["t3"]


def test_a_greeting_ties_no_explicit_tasks():
    greeting = "Hi! I'd like to cancel a reservation, please."
    found = _split({f"t{i}": 2 for i in range(20)}, {f"t{i}": greeting for i in range(20)}, mixed=["t1"])
    assert found["component"].n_unique() == 20


def test_a_short_question_ties_tasks_that_are_nothing_but_their_prompt():
    question = "What was the net revenue in May?"
    found = _split({f"t{i}": 2 for i in range(20)}, {"t1": question, "t2": question}, mixed=["t1"], rule="prompt")
    assert found["component"].n_unique() == 19


def test_a_shared_person_ties_tasks():
    found = _split(
        {f"t{i}": 2 for i in range(20)}, persons=[("t1/0", "ann"), ("t2/1", "ann"), ("t3/0", "bob")], mixed=["t1"]
    )
    assert found["component"].n_unique() == 19


def test_too_much_tied_together_is_refused_by_the_rule_that_tied_it():
    sizes = {f"t{i}": 2 for i in range(10)}
    with pytest.raises(Refused, match="near_duplicate") as refused:
        _split(sizes, {f"t{i}": LONG for i in range(3)}, mixed=["t1"])
    assert refused.value.counts == {"rows tied": 6, "of": 20, "tasks tied": 3}
    with pytest.raises(Refused, match="person"):
        _split(sizes, persons=[(f"t{i}/0", "ann") for i in range(3)], mixed=["t1"])
    assert _split(sizes, {f"t{i}": LONG for i in range(3)}, mixed=["t1"], max_component_share=0.5).height == 10


def test_one_large_task_is_nobodys_fault():
    assert _split({"a": 50, "b": 1}, mixed=["a", "b"])["split"].to_list().count("test") == 1


def test_one_component_cannot_be_split():
    with pytest.raises(Refused, match="too_few_tasks"):
        _split({"a": 2, "b": 2}, {"a": LONG, "b": LONG}, mixed=["a"], max_component_share=1)


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(st.sampled_from([f"t{i}" for i in range(12)]), st.integers(1, 5), min_size=2),
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from("xyz")), max_size=6),
    st.sets(st.integers(0, 11)),
    st.randoms(use_true_random=False),
)
def test_no_component_lies_in_two_splits_whatever_the_order_of_rows(sizes, persons, mixed, random):
    rows = _rows(sizes)
    known = pl.DataFrame([(f"t{i}/0", p) for i, p in persons], schema=NO_PERSONS.schema, orient="row")
    spec, signal = SplitSpec(max_component_share=1), [f"t{i}" for i in mixed if f"t{i}" in sizes]

    def split(frame):
        try:
            return split_tasks(frame, _texts(frame, {}), known, signal, spec).sort("task_id")
        except Refused as refused:
            return refused.rule

    found, again = split(rows), split(rows.sample(fraction=1, shuffle=True, seed=random.randint(0, 9)))
    if isinstance(found, str):
        assert found == again == "too_few_tasks"
        return
    assert found.equals(again)
    assert found.group_by("component").agg(pl.col("split").n_unique())["split"].max() == 1
    assert set(found["split"]) == {"train", "test"}
    with_signal = found.filter(pl.col("task_id").is_in(signal))
    if with_signal["component"].n_unique() > 1:
        assert set(with_signal["split"]) == {"train", "test"}
