"""Which task a rollout attempts."""

import pytest

from transforms.privacy.coined import ENDINGS, stems
from transforms.trajectories.tasks import mask, tool_names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refund order HP-20417, please", "refund order HP-7, please"),
        ("Today is November 30, 2026.", "Today is Mar 2, 2025."),
        ("Today is Monday, 30 Nov 2026", "Today is Tuesday, 1 May 2026"),
        ("It is 2026-11-30T10:00:00Z", "It is 2025-01-02T23:59:59Z"),
        ("Run 1b4e28ba-2fa1-11d2-883f-0016d3cca427", "Run 6fa459ea-ee8a-3ca4-894e-db77e160355e"),
        ("I am ann@d01234567.example", "I am bob@d89abcdef.example"),
        ("The key is [SECRET_0123456789ab].", "The key is [SECRET_ffffffffffff]."),
        ("I'm  Ann", "i'm ann"),
    ],
)
def test_what_differs_between_attempts_is_masked(one, other):
    assert mask(one) == mask(other)


def test_coined_names_are_masked():
    names = [(stem + ending).capitalize() for stem, ending in zip(stems()[:2], ENDINGS[:2], strict=True)]
    assert mask(f"I am {names[0]}") == mask(f"I am {names[1]}") != mask("I am late")


def test_words_are_not_masked():
    assert mask("May I march to the second floor on my own?") == "may i march to the second floor on my own?"


def test_tool_names_come_out_of_either_shape():
    assert tool_names('[{"type":"function","function":{"name":"b"}},{"name":"a"}]') == ["a", "b"]
    assert tool_names(None) == []


def test_an_explicit_task_is_scoped_by_source_and_data_set(traffic):
    day = traffic()
    day.run("a", task="7", dataset="airline")
    day.run("b", task="7", dataset="retail")
    day.run("c", task="7", dataset="airline", user="Something else entirely")
    ids = {row["trace_ids"][0]: row["task_id"] for row in day.threads().trajectories.iter_rows(named=True)}
    assert ids["a"] == ids["c"] != ids["b"]


def test_attempts_without_an_id_are_grouped_by_their_masked_prompt(traffic):
    day = traffic()
    for trace, user in (("a", "Refund order HP-1"), ("b", "Refund order HP-2"), ("c", "Cancel order HP-1")):
        day.run(trace, user=user)
    rows = {row["trace_ids"][0]: row for row in day.threads().trajectories.iter_rows(named=True)}
    assert rows["a"]["task_id"] == rows["b"]["task_id"] != rows["c"]["task_id"]
    assert rows["a"]["task_rule"] == "prompt"
    assert rows["a"]["task_family"] == rows["b"]["task_family"] != rows["c"]["task_family"]


def test_another_key_gives_other_ids(traffic):
    from transforms.identity import Identity

    one, other = traffic(), traffic(identity=Identity(b"other"))
    one.run("t")
    other.run("t")
    assert one.threads().trajectories["task_id"].item() != other.threads().trajectories["task_id"].item()
