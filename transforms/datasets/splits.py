"""Which tasks are held out, so that nothing of a test task is trained on."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from transforms.datasets.near_duplicates import near_duplicates
from transforms.datasets.release_spec import Refused, SplitSpec
from transforms.datasets.union import Union

# A greeting says nothing about the task behind it, so that an explicit task is told by a longer text than a task
# that is nothing but its prompt. Words, punctuation left aside.
MIN_WORDS = {"explicit": 12, "prompt": 4}
SPLIT_SCHEMA = {"task_id": pl.String, "component": pl.String, "split": pl.String}


def split_tasks(
    rows: pl.DataFrame, texts: pl.DataFrame, persons: pl.DataFrame, mixed: Iterable[str], spec: SplitSpec
) -> pl.DataFrame:
    """(task_id, component, split) of every task in `rows` (trajectory_id, task_id, task_rule, task).

    Tasks are tied by near-duplicates among their first user texts (trajectory_id, text), by an equal name with an
    equal text (one task that two systems exported), and by shared `persons` (trajectory_id, person); what is tied
    is one component and lies in one split. Components go by hash, those that hold a task of `mixed` (outcomes
    differ) apart from the others: both splits get some of either.
    Raises Refused where one rule ties more than `max_component_share` of the rows, or only one component is left.
    """
    sizes = Counter(rows["task_id"].to_list())
    union = Union()
    for task in sizes:
        union.find(task)
    _tie(union, _by_text(rows, texts, spec.near_duplicate), "near_duplicate", sizes, spec)
    _tie(union, _by_name(rows, texts), "same_task", sizes, spec)
    _tie(union, _by_person(rows, persons), "person", sizes, spec)
    components: dict[str, list[str]] = defaultdict(list)
    for task in sizes:
        components[union.find(task)].append(task)
    if len(components) < 2:
        counts = {"rows": rows.height, "tasks": len(sizes), "components": len(components)}
        raise Refused("too_few_tasks", "nothing can be held out of one component", counts)
    test = _held_out(components, sizes, set(mixed), spec.test_share)
    return pl.DataFrame(
        [
            (task, _hash(name), "test" if name in test else "train")
            for name, tasks in components.items()
            for task in tasks
        ],
        schema=SPLIT_SCHEMA, orient="row",
    )  # fmt: skip


def _by_text(rows: pl.DataFrame, texts: pl.DataFrame, threshold: float) -> list[tuple[str, str]]:
    least = pl.col("task_rule").replace_strict(MIN_WORDS, return_dtype=pl.Int64)
    telling = pl.col("text").str.count_matches(r"\w+") >= least
    known = texts.join(rows, on="trajectory_id").filter(telling).select("task_id", "text").unique()
    return near_duplicates(known.iter_rows(), threshold)


def _by_name(rows: pl.DataFrame, texts: pl.DataFrame) -> list[list[str]]:
    named = texts.join(rows, on="trajectory_id").filter(pl.col("task").is_not_null())
    return list(named.group_by("task", "text").agg(pl.col("task_id").unique().sort())["task_id"].to_list())


def _by_person(rows: pl.DataFrame, persons: pl.DataFrame) -> list[list[str]]:
    shared = persons.join(rows, on="trajectory_id").group_by("person").agg(pl.col("task_id").unique().sort())
    return list(shared["task_id"].to_list())


def _tie(union: Union, ties: Iterable[Sequence[str]], rule: str, sizes: Mapping[str, int], spec: SplitSpec) -> None:
    for tasks in ties:
        union.join(tasks)
    held: Counter[str] = Counter()
    members: Counter[str] = Counter()
    for task, rows in sizes.items():
        held[union.find(task)] += rows
        members[union.find(task)] += 1
    total = sum(sizes.values())
    for name, rows in held.most_common():
        if rows > spec.max_component_share * total and members[name] > 1:
            counts = {"rows tied": rows, "of": total, "tasks tied": members[name]}
            advice = f"it ties more than {spec.max_component_share:.0%} of the rows, which cannot be split"
            raise Refused(rule, advice, counts)


def _held_out(
    components: Mapping[str, Sequence[str]], sizes: Mapping[str, int], mixed: set[str], share: float
) -> set[str]:
    with_signal = [name for name, tasks in components.items() if mixed.intersection(tasks)]
    without = [name for name in components if name not in set(with_signal)]
    rows = {name: sum(sizes[task] for task in tasks) for name, tasks in components.items()}
    test = _first_by_hash(with_signal, rows, share, least=1 if len(with_signal) > 1 else 0)
    return test | _first_by_hash(without, rows, share, least=0 if test else 1)


def _first_by_hash(names: Sequence[str], rows: Mapping[str, int], share: float, least: int) -> set[str]:
    """The first of `names` by hash, until about `share` of their rows; some stay out wherever there are two."""
    goal, taken, chosen = share * sum(rows[name] for name in names), 0, set[str]()
    for name in sorted(names, key=_hash)[: max(len(names) - 1, least)]:
        closer = abs(goal - taken - rows[name]) < abs(goal - taken)
        if closer or len(chosen) < least:
            chosen.add(name)
            taken += rows[name]
    return chosen


def _hash(name: str) -> str:
    return hashlib.sha256(f"component/{name}".encode()).hexdigest()[:32]
