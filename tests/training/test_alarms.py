"""A run that collapses is stopped, and one that merely stumbles is not."""

import math

from training.alarms import alarm, doubtful, gradient_spikes
from transforms.credit.echo_trap import collapses

REWARD_SPREAD = [0.48, 0.49, 0.47, 0.45, 0.38, 0.29, 0.2, 0.12, 0.07, 0.05]
ENTROPY = [1.1, 1.08, 1.05, 1.0, 0.9, 0.75, 0.55, 0.4, 0.3, 0.25]
NORMS = [0.3, 0.31, 0.29, 0.32, 0.3, 0.33, 0.35, 0.4, 1.9, 4.2]
FLAT = [1.0] * 10


def test_an_echo_trap_is_seen_at_the_published_steps() -> None:
    assert collapses(REWARD_SPREAD) == [6, 7, 8, 9]
    assert collapses(ENTROPY) == [7, 8, 9]
    assert gradient_spikes(NORMS) == [8, 9]


def test_one_spike_is_doubtful_and_two_in_a_row_stop_the_run() -> None:
    assert doubtful(NORMS[:9]) and not alarm(FLAT[:9], NORMS[:9], FLAT[:9])
    assert "gradient norms" in alarm(FLAT, NORMS, FLAT)


def test_an_entropy_that_stays_collapsed_stops_the_run() -> None:
    assert not alarm(FLAT[:8], FLAT[:8], ENTROPY[:8])
    assert "entropies" in alarm(FLAT[:9], FLAT[:9], ENTROPY[:9])


def test_what_is_not_a_number_stops_the_run() -> None:
    assert "loss" in alarm([1.0, math.nan], [1.0, 1.0], [1.0, 1.0])
    assert "gradient" in alarm([1.0, 1.0], [1.0, math.inf], [1.0, 1.0])


def test_a_healthy_first_step_raises_nothing() -> None:
    assert alarm([0.69], [5.0], [2.0]) == ""
