"""What holds for credit by any method."""

from dataclasses import replace

import pytest
from credit_samples import Told, method, scores, world
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.credit.spec import METHODS
from warehouse.schemas import CREDIT

OPTIONS = {
    "shaping": {"potential": "judge"}, "adca": {"flags": "judge"}, "igpo": {"answers": "answers.jsonl"},
    "gigpo": {"process": {"judge": {}}}, "anchor_td": {"process": {"judge": {}}},
}  # fmt: skip
SPECS = [pytest.param({"method": name, **OPTIONS.get(name, {})}, id=name) for name in METHODS]


def _mixed():
    told = {"judge": [1.0, 0.0]}
    attempts = [Told("a", r, 2, saw=["x", f"{r}"], told=told, parts=1 + n % 2) for n, r in enumerate((1, 0, 1, 0.5))]
    others = [Told("alone", 1, 2, family="b", told=told), Told("held", 0, 2, split="test", told=told)]
    return world(*attempts, *others, Told("a", 0.7, 2, gated=True, told=told))


def _scores():
    values = [[-1.0, -2.0]] * 6
    return scores(hindsight=values, success=values, failure=[row[::-1] for row in values], answer=values)


@pytest.mark.parametrize("spec", SPECS)
def test_every_step_of_every_rewarded_rollout_has_credit_and_nothing_else_has(spec):
    made = _mixed()
    rows = made.credit(_scores(), **spec)
    assert rows.schema == CREDIT.schema and set(rows["method"]) == {spec["method"]}
    due = {(row["trajectory_id"], row["step"]) for row in made.steps.to_dicts() if row["trajectory_id"] != "r06"}
    assert {(row["trajectory_id"], row["step"]) for row in rows.to_dicts()} == due


@pytest.mark.parametrize("spec", SPECS)
def test_a_task_done_once_never_gets_its_raw_reward(spec):
    made = world(Told("alone", 1.0, 2, told={"judge": [1.0, 0.0]}))
    rows = made.credit(_scores(), **spec)
    assert rows["advantage"].abs().max() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("spec", SPECS)
def test_what_is_held_out_moves_no_credit_of_training(spec):
    told = {"judge": [1.0, 0.0]}
    train = [Told("a", r, 2, saw=["x", f"{r}"], told=told) for r in (1, 0, 1)]
    held = [Told("b", r, 2, saw=["x", f"{r}"], split="test", family="a", told=told) for r in (1, 1)]
    alone, beside = (world(*rollouts).credit(_scores(), **spec) for rollouts in (train, train + held))
    columns = ["trajectory_id", "step", "return", "baseline", "advantage"]
    assert beside.head(6).select(columns).equals(alone.select(columns))


@pytest.mark.parametrize("spec", SPECS)
def test_the_order_of_rows_changes_no_bit(spec):
    made = _mixed()
    assert made.credit(_scores(), **spec).equals(made.shuffled(5).credit(_scores(), **spec))


@pytest.mark.parametrize("spec", SPECS)
def test_a_release_without_rewards_has_no_credit(spec):
    assert world(Told("t", None, gated=True, told={"judge": [1.0]})).credit(**spec).is_empty()


@pytest.mark.parametrize("spec", SPECS)
def test_another_option_is_another_version(spec):
    made = world(Told("t", 1, 2, told={"judge": [1.0, 0.0]}), Told("t", 0, 2))
    options = {"outcome": {"scale": "std"}, "adca": {"weight": 0.5}, "hcapo": {"weight": 0.5}, "igpo": {"gamma": 0.9},
               "gigpo": {"memory": 1}, "anchor_td": {"lam": 0.0}, "shaping": {"weight": 0.5},
               "contrastive": {"cap": 1.0}, "return_to_go": {"gamma": 0.9}}  # fmt: skip
    versions = {made.credit(**spec, **more)["version"][0] for more in ({}, options[spec["method"]])}
    assert len(versions) == 2


def test_the_default_is_outcome_under_the_version_that_it_always_had():
    assert method(method="outcome") == method()
    assert world(Told("t", 1), Told("t", 0)).credit(method="outcome")["version"].unique().to_list() == ["684486fe24f9"]


def _rollout(draw):
    steps = draw(st.integers(1, 5))
    unit = st.floats(0, 1, width=16)
    maybe = st.lists(st.none() | unit, min_size=steps, max_size=steps)
    gated = draw(st.booleans())
    return Told(
        draw(st.sampled_from("abc")), None if gated else draw(st.sampled_from([0.0, 0.5, 1.0]) | unit), steps,
        family=draw(st.sampled_from("fg")), gated=gated, parts=draw(st.integers(1, 3)),
        saw=draw(st.lists(st.sampled_from("xyz"), min_size=steps, max_size=steps)), told={"judge": draw(maybe)},
    )  # fmt: skip


@st.composite
def _worlds(draw):
    rollouts = [_rollout(draw) for _ in range(draw(st.integers(1, 8)))]
    splits = {task: draw(st.sampled_from(["train", "test"])) for task in "abc"}
    return [replace(one, split=splits[one.task]) for one in rollouts]


@settings(deadline=None, max_examples=25)
@given(_worlds(), st.data())
@pytest.mark.parametrize("spec", SPECS)
def test_whatever_the_traffic_credit_adds_up_and_is_a_number(spec, rollouts, data):
    judged = Told("judged", 1.0, 1, told={"judge": [1.0]})
    options = {
        "gamma": st.sampled_from([0.5, 0.95, 1.0]), "lam": st.sampled_from([0.0, 0.5, 1.0]),
        "scale": st.sampled_from(["none", "std"]), "leave_one_out": st.booleans(), "memory": st.integers(0, 2),
        "smoothing": st.floats(0, 1), "residual": st.booleans(), "exclude_final": st.booleans(),
        "reduce": st.sampled_from(["sum", "mean"]), "weight": st.sampled_from([0.25, 1.0]),
    }  # fmt: skip
    known = type(method(**spec)).model_fields
    more = {name: data.draw(values, label=name) for name, values in options.items() if name in known}
    made = world(*rollouts, judged)
    value = st.none() | st.floats(-8, 0)
    told = {
        context: [[data.draw(value) for _ in range(one.steps)] for one in rollouts]
        for context in ("hindsight", "success", "failure", "answer")
        if spec["method"] in ("hcapo", "contrastive", "igpo")
    }
    rows = made.credit(scores(**told) if told else None, **{**spec, **more})
    assert rows["advantage"].is_finite().all() and rows["advantage"].abs().max() < 1e3
