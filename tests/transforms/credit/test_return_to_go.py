"""Returns and baselines against figures that were worked out apart, and what a task done once gets."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from credit_samples import Told, by_rollout, method, world
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.credit.audit import CreditError, audit
from transforms.credit.returns import advantages, to_go
from warehouse.schemas import CREDIT


def _trajectory(rewards, values=()):
    n = len(rewards)
    return pl.DataFrame({
        "trajectory": [0] * n, "left": list(range(n))[::-1], "r": rewards,
        "v": list(values) or [0.0] * n, "next": [*values[1:], 0.0] if values else [0.0] * n,
    })  # fmt: skip


def test_what_is_still_to_come_is_the_discounted_sum():
    frame = _trajectory([0.0, 0.0, -0.1, 1.0])
    assert frame.select(to_go(pl.col("r"), 0.95))["r"].to_list() == pytest.approx(
        [0.767125, 0.8075, 0.85, 1.0], abs=1e-12
    )
    assert frame.select(to_go(pl.col("r"), 1.0))["r"].to_list() == pytest.approx([0.9, 0.9, 0.9, 1.0], abs=1e-12)


@pytest.mark.parametrize(
    ("lam", "expected"),
    [
        (0.9, [0.19421677499999995, 0.36750499999999997, 0.231, 0.2]),
        (1.0, [0.2671249999999999, 0.4074999999999999, 0.25, 0.2]),
        (0.0, [-0.12, 0.17, 0.06, 0.2]),
    ],
)
def test_generalised_advantages_are_those_of_the_paper(lam, expected):
    frame = _trajectory([0.0, 0.0, -0.1, 1.0], [0.5, 0.4, 0.6, 0.8])
    found = frame.select(advantages(pl.col("r"), pl.col("v"), pl.col("next"), 0.95, lam).alias("a"))["a"]
    assert found.to_list() == pytest.approx(expected, abs=1e-12)
    returns = (found + frame["v"]).to_list()
    if lam == 0.9:
        assert returns == pytest.approx([0.6942167749999999, 0.767505, 0.831, 1.0], abs=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.sampled_from([0.0, 0.05, 0.5, 0.95, 0.999, 1.0]))
def test_sums_to_go_are_those_of_a_loop(rewards, gamma):
    expected, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + gamma * total
        expected.append(total)
    found = _trajectory(rewards).select(to_go(pl.col("r"), gamma))["r"]
    assert found.to_list() == pytest.approx(expected[::-1], abs=1e-9)


def test_thousands_of_steps_neither_underflow_nor_blow_up():
    found = _trajectory([1.0] * 30_000).select(to_go(pl.col("r"), 0.5))["r"]
    assert found[0] == pytest.approx(2.0) and found[-1] == 1.0 and found.is_finite().all()


def test_with_one_family_that_weighs_nothing_it_is_leave_one_out():
    rows = world(*[Told("t", reward) for reward in (1, 0, 1, 1)]).credit(method="return_to_go", shrinkage=1e-12)
    assert by_rollout(rows) == [pytest.approx([value], abs=1e-9) for value in (1 / 3, -1, 1 / 3, 1 / 3)]


def test_it_is_then_rloo():
    rows = world(*[Told("t", reward) for reward in (1, 0, 0, 0)]).credit(method="return_to_go", shrinkage=1e-12)
    assert by_rollout(rows) == [pytest.approx([value], abs=1e-9) for value in (1, -1 / 3, -1 / 3, -1 / 3)]


def test_baselines_shrink_from_the_task_over_its_family_to_all():
    made = [Told(task, reward, family=family) for family, task, reward in (
        ("f1", "tA", 1), ("f1", "tA", 0), ("f1", "tA", 1), ("f1", "tB", 1), ("f2", "tC", 0), ("f2", "tD", 1),
    )]  # fmt: skip
    rows = world(*made).credit(method="return_to_go")
    expected = [0.5499999999999999, 0.9833333333333334, 0.5499999999999999, 0.65, 0.9, 0.3]
    assert by_rollout(rows, "baseline") == [pytest.approx([value], abs=1e-9) for value in expected]
    assert by_rollout(rows)[4:] == [pytest.approx([-0.9], abs=1e-9), pytest.approx([0.7], abs=1e-9)]
    assert [flags[0] for flags in by_rollout(rows, "flags")[3:]] == [["singleton"]] * 3


def test_a_rollout_that_is_alone_in_the_world_gets_nothing_and_says_why():
    rows = world(Told("t", 1.0, steps=2)).credit(method="return_to_go")
    assert by_rollout(rows) == [[0.0, 0.0]] and by_rollout(rows, "baseline") == [[None, None]]
    assert by_rollout(rows, "flags") == [[["singleton", "no_baseline"]] * 2]


def test_what_is_held_out_teaches_no_wider_baseline():
    told = [Told("a", 1), Told("b", 0), Told("held", 1, family="a", split="test")]
    rows = world(*told).credit(method="return_to_go")
    without = world(*told[:2]).credit(method="return_to_go")
    assert by_rollout(rows, "baseline")[:2] == by_rollout(without, "baseline")
    assert by_rollout(rows, "baseline")[2] == [pytest.approx(0.75)]  # all: 1/2; its family's one in training: 1


def test_a_held_out_task_is_compared_with_its_own_rollouts():
    rows = world(Told("a", 1), Told("h", 1, split="test"), Told("h", 0, split="test")).credit(method="return_to_go")
    assert by_rollout(rows, "baseline")[1:] == [[pytest.approx(0.5)], [pytest.approx(1.0)]]


def test_rollouts_count_once_however_many_threads_and_steps_they_have():
    rows = world(Told("t", 1, steps=3, parts=5), Told("t", 0), Told("t", 1, steps=9)).credit(method="return_to_go")
    plain = world(*[Told("t", reward) for reward in (1, 0, 1)]).credit(method="return_to_go")
    found = dict(zip(rows["rollout_id"], rows["baseline"], strict=True))
    assert found == pytest.approx(dict(zip(plain["rollout_id"], plain["baseline"], strict=True)), abs=1e-12)


def test_step_rewards_add_to_the_return_and_are_compared_at_the_same_position():
    told = {"checked": [1.0, None, 0.0]}
    worked = world(
        Told("t", 1, steps=3, told=told), Told("t", 0, steps=1, told={"checked": [0.0]})
    ).credit(method="return_to_go", shrinkage=1e-9, process={"checked": {"weight": 0.5}})  # fmt: skip
    assert by_rollout(worked, "return") == [pytest.approx([1.5, 1.0, 1.0]), pytest.approx([0.0])]
    # the short one was over by then: it counts with its last return
    assert by_rollout(worked, "baseline") == [pytest.approx([0, 0, 0], abs=1e-6), pytest.approx([1.5], abs=1e-6)]
    assert worked["evidence"].struct.field("process").to_list() == [0.5, None, 0.0, 0.0]


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_baselines_are_those_of_a_loop_over_the_others(data):
    told = data.draw(st.lists(st.builds(
        Told, st.sampled_from(["a", "b", "c"]), st.sampled_from([0.0, 0.25, 1.0]), st.integers(1, 4),
        st.sampled_from(["f", "g"]), parts=st.integers(1, 2),
    ), min_size=2, max_size=7))  # fmt: skip
    splits = {task: data.draw(st.sampled_from(["train", "test"])) for task in "abc"}
    told = [replace(one, split=splits[one.task]) for one in told]
    gamma, kappa = data.draw(st.sampled_from([0.9, 1.0])), data.draw(st.sampled_from([0.5, 1.0, 3.0]))
    found = world(*told).credit(method="return_to_go", gamma=gamma, shrinkage=kappa)
    for row in found.iter_rows(named=True):
        own = told[int(row["rollout_id"][1:])]
        others = [one for one in told if one is not own]
        train = [one for one in others if one.split == "train"]
        levels = [train, [o for o in train if o.family == own.family], [o for o in others if o.task == own.task]]
        known = None
        for level in levels:
            values = [one.reward * gamma ** max(one.steps - 1 - row["step"], 0) for one in level]
            if values:
                weight = 0 if known is None else kappa
                known = (sum(values) + weight * (known or 0)) / (len(values) + weight)
        assert row["baseline"] == (None if known is None else pytest.approx(known, abs=1e-9))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_order_of_rows_changes_no_bit(seed):
    rng = np.random.default_rng(3)
    made = world(*[Told(f"t{n % 7}", float(rng.random()), steps=1 + n % 5, family=f"f{n % 3}") for n in range(60)])
    spec = {"method": "return_to_go", "gamma": 0.9}
    assert made.credit(**spec).equals(made.shuffled(seed).credit(**spec))


def test_credit_that_was_meddled_with_is_not_sealed():
    made = world(Told("t", 1, steps=2), Told("t", 0, steps=2))
    rows, spec = made.credit(method="return_to_go"), method(method="return_to_go")
    audit(rows, made.cut, made.steps, spec)
    for broken, why in [
        (rows.with_columns(advantage=pl.lit(0.3)), "advantages that are not return less baseline"),
        (rows[1:], "steps without credit"),
        (rows.with_columns(pl.col("step") + 1), "steps without credit"),
        (rows.with_columns(baseline=pl.lit(7.0), advantage=pl.col("return") - 7.0), "outside of what was ever got"),
        (rows.with_columns(pl.col("baseline").cast(pl.Float64) * float("nan")), "no numbers"),
        (rows.with_columns(baseline=pl.lit(None, pl.Float64)), "without a baseline"),
    ]:
        with pytest.raises(CreditError, match=why):
            audit(CREDIT.enforce(broken), made.cut, made.steps, spec)
