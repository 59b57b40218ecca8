"""The worlds of the credit study know their advantages, and the methods rank them as far as they can.

Figures are those of the study at a third of its size; a method that loses what it can do falls below them.
"""

import sqlite3

import numpy as np
import pytest

from benchmarks.credit import desk, mdp
from benchmarks.credit.frames import Sample
from benchmarks.credit.measure import Measured, measure
from transforms.credit.assign import Scored, assign_credit
from transforms.datasets.release_spec import ReleaseSpec

ERROR = 0.035
"""Standard error of `within` at this size is about 0.03, of `across` less."""

PLAIN: dict[str, object] = {"method": "anchor_td", "lam": 0.0, "leave_one_out": False}


@pytest.fixture(scope="module")
def steps() -> Sample:
    return mdp.worlds(130)


@pytest.fixture(scope="module")
def desks() -> Sample:
    return desk.desks(130)


def measured(sample: Sample, **spec: object) -> Measured:
    method = ReleaseSpec.model_validate({"credit": spec}).credit
    scored = Scored(sample.scores)
    credit = assign_credit("r", sample.cut, sample.steps, sample.rewards, sample.messages, method, scored)
    return measure(credit, sample.truth)


@pytest.mark.parametrize(
    ("method", "within", "across"),
    [({"method": "outcome"}, 0.0, 0.17), ({"method": "gigpo"}, 0.33, 0.18), ({"method": "anchor_td"}, 0.33, 0.33),
     (PLAIN, 0.47, 0.45), ({"method": "hcapo"}, 0.04, 0.18), ({"method": "contrastive"}, 1.0, 1.0)],
)  # fmt: skip
def test_in_a_world_of_eight_steps(steps: Sample, method: dict[str, object], within: float, across: float) -> None:
    found = measured(steps, **method)
    assert found.within == pytest.approx(within, abs=3 * ERROR)
    assert found.across == pytest.approx(across, abs=3 * ERROR)


@pytest.mark.parametrize(
    ("method", "within", "across"),
    [({"method": "outcome"}, 0.0, 0.44), ({"method": "gigpo"}, 0.11, 0.45), ({"method": "anchor_td"}, 0.43, 0.65),
     (PLAIN, 0.45, 0.65), ({"method": "hcapo"}, 0.08, 0.46), ({"method": "contrastive"}, 0.81, 0.97)],
)  # fmt: skip
def test_at_a_desk_with_real_errors(desks: Sample, method: dict[str, object], within: float, across: float) -> None:
    found = measured(desks, **method)
    assert found.within == pytest.approx(within, abs=3 * ERROR)
    assert found.across == pytest.approx(across, abs=3 * ERROR)


def test_where_no_observation_recurs_the_default_does_not_fall_behind_the_outcome() -> None:
    for apart in (mdp.worlds(130, apart=1.0), desk.desks(130, apart=1.0)):
        found, plain, outcome = (
            measured(apart, **spec) for spec in ({"method": "anchor_td"}, PLAIN, {"method": "outcome"})
        )
        assert found.across > outcome.across - ERROR and found.sign > plain.sign + 0.05


def test_what_ranks_better_ranks_better_by_more_than_chance(steps: Sample) -> None:
    methods = ("hcapo", "gigpo", "contrastive")
    found = {name: measured(steps, method=name) for name in methods} | {"anchor_td": measured(steps, **PLAIN)}
    for worse, better in [("hcapo", "gigpo"), ("gigpo", "anchor_td"), ("anchor_td", "contrastive")]:
        gap = found[better].within - found[worse].within
        assert gap > 2 * np.hypot(found[better].within_error, found[worse].within_error)


def test_what_a_whole_trajectory_is_given_changes_no_rank_within_it(steps: Sample, desks: Sample) -> None:
    for sample in (steps, desks):
        both, local = (measured(sample, method="gigpo", weight=weight) for weight in (1.0, 1e6))
        assert both.within == pytest.approx(local.within, abs=1e-9)
        assert both.across != pytest.approx(local.across, abs=1e-3)


def test_true_advantages_are_zero_on_average_under_the_policy() -> None:
    rng = np.random.default_rng(0)
    world = mdp.make_world(rng)
    values, actions = world.values()
    for step in range(mdp.STEPS):
        for policy, q, v in zip(world.policy[step], actions[step], values[step], strict=False):
            assert policy @ q == pytest.approx(v)
    one = desk.make_desk("d", rng)
    worth = desk.action_values(one)
    state = desk.State(knows=True, last="wrong", left=4)
    value = sum(p * worth(state, action) for action, p in one.policy(state).items())
    assert sum(p * (worth(state, action) - value) for action, p in one.policy(state).items()) == pytest.approx(0)


def test_what_steps_gain_comes_to_nothing_over_many_rollouts(desks: Sample, steps: Sample) -> None:
    for sample in (desks, steps):
        gained = np.array([sum(step.advantage for step in rollout.steps) for rollout in sample.rollouts])
        assert abs(gained.mean()) < 3 * gained.std() / len(gained) ** 0.5


def test_the_errors_at_the_desk_are_those_of_the_database() -> None:
    one = desk.make_desk("d", np.random.default_rng(1))
    assert one.says("guess") == "error: no such column: amount"
    with pytest.raises(sqlite3.OperationalError):
        one.database.execute(one.words("guess").removeprefix("query: "))
    right, wrong = one.says("right"), one.says("wrong")
    assert right != wrong and right.startswith("[(") and one.amount in one.says("look")
