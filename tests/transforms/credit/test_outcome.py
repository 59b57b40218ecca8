"""Outcome credit against published figures, and the traps around groups."""

from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transforms.credit.outcome import outcome
from transforms.datasets.release_spec import ReleaseSpec
from warehouse.schemas import CUT, STEPS

DAY = date(2026, 11, 30)


def _cut(groups, rows=lambda rollout: 1, gated=()):
    """A cut of `groups` (task to rewards); `rows` says how many trajectories a rollout has."""
    return CUT.frame([
        {
            "release": "r", "trajectory_id": f"{task}{i}/{part}", "revision": DAY, "rollout_id": f"{task}{i}",
            "task_id": task, "task_family": task, "component": task, "split": "train",
            "reward": None if f"{task}{i}" in gated else reward, "gated": f"{task}{i}" in gated,
        }
        for task, rewards in groups.items() for i, reward in enumerate(rewards) for part in range(rows(f"{task}{i}"))
    ])  # fmt: skip


def _steps(cut, each=2):
    return STEPS.frame([
        {
            "revision": DAY, "trajectory_id": trajectory, "step": step, "trace_id": "t",
            "span_id": f"{trajectory}-{step}", "segment": 0,
            "observed": [], "action": b"a", "prompt_length": 1, "content_state": "full",
        }
        for trajectory in cut["trajectory_id"] for step in range(each)
    ])  # fmt: skip


def _credit(groups, scale="none", each=2, **kwargs):
    chosen = _cut(groups, **kwargs)
    return outcome("r", chosen, _steps(chosen, each), ReleaseSpec.model_validate({"credit": {"scale": scale}}))


def _advantages(rewards, scale="none"):
    return _credit({"t": rewards}, scale, each=1)["advantage"].to_list()


def test_without_a_divisor_it_is_dr_grpo():
    assert _advantages([1, 0, 0, 0]) == pytest.approx([0.75, -0.25, -0.25, -0.25])


def test_with_the_standard_deviation_it_is_grpo_but_for_the_epsilon():
    # TRL divides by std + 1e-4; ours is the same number before that epsilon
    std = 0.5
    found = [advantage * std / (std + 1e-4) for advantage in _advantages([1, 0, 0, 0], "std")]
    assert found == pytest.approx([1.4997000599880024] + [-0.4999000199960008] * 3)
    std = 0.8 / 2**0.5
    found = [advantage * std / (std + 1e-4) for advantage in _advantages([0.9, 0.1], "std")]
    assert found == pytest.approx([0.7069818032797288, -0.7069818032797288])


def test_a_tiny_gap_is_not_blown_up():
    # with an epsilon alone these would be 0.29 (1e-4) or 0.70 (1e-6)
    assert _advantages([0.5001, 0.5], "std") == pytest.approx([0.001, -0.001])
    assert _advantages([0.5001, 0.5]) == pytest.approx([0.00005, -0.00005])


def test_equal_rewards_say_nothing():
    rows = _credit({"t": [1, 1, 1]}, "std")
    assert rows["advantage"].to_list() == [0.0] * 6
    assert rows["flags"].to_list() == [["no_spread"]] * 6


def test_a_singleton_never_gets_its_raw_reward():
    rows = _credit({"t": [1.0]}, "std")
    assert rows["advantage"].to_list() == [0.0, 0.0]
    assert rows["flags"].to_list() == [["singleton"]] * 2


def test_the_unit_is_the_rollout_and_not_the_row():
    rows = _credit({"t": [1, 0]}, rows=lambda rollout: 3 if rollout == "t0" else 1)
    assert set(rows["baseline"]) == {0.5}  # by rows it would be 0.75
    assert set(rows["group_size"]) == {2}
    assert rows.height == 8


def test_gated_rollouts_neither_get_credit_nor_move_the_baseline():
    rows = _credit({"t": [1, 0, 1]}, gated=("t2",))
    assert set(rows["baseline"]) == {0.5} and not rows["trajectory_id"].str.starts_with("t2").any()


def test_another_scale_is_another_version():
    assert _credit({"t": [1, 0]})["version"][0] != _credit({"t": [1, 0]}, "std")["version"][0]


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(st.sampled_from("abc"), st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=1),
    st.sampled_from(["none", "std"]),
)
def test_credit_adds_up_to_nothing_over_the_rollouts_of_a_group(groups, scale):
    rows = _credit(groups, scale, rows=lambda rollout: 1 + int(rollout[1]) % 2)
    rollouts = rows.with_columns(rollout=pl.col("trajectory_id").str.split("/").list.first()).unique("rollout")
    sums = rollouts.group_by("task_id").agg(pl.col("advantage").sum())["advantage"]
    assert sums.abs().max() < 1e-6
    assert rows.group_by("trajectory_id").agg(pl.col("advantage").n_unique())["advantage"].max() == 1
