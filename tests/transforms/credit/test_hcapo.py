"""HCAPO against figures worked out from the paper's equations, and what it says nothing about."""

import polars as pl
import pytest
from credit_samples import Told, by_rollout, evidence, scores, world

from transforms.credit.hcapo import without_length

LOGPROBS = [[-0.3, -1.2, -0.6, -0.1], [-0.5, -0.4, -0.2], [-0.9, -2.5, -0.7, -0.8, -0.6], [-0.35, -0.3]]
OUTCOMES = (10.0, 10.0, 0.0, 0.0)


def _published(**spec):
    made = world(*[Told("t", r, len(m)) for r, m in zip(OUTCOMES, LOGPROBS, strict=True)])
    return made.credit(scores(hindsight=LOGPROBS), method="hcapo", **spec)


def _close(expected):
    return [pytest.approx(row, abs=1e-9) for row in expected]


def test_advantages_are_those_of_the_paper():
    rows = _published()
    assert evidence(rows, "ratio")[:3:2] == _close([
        [1.0477113282600383, 0.8751220626537468, 0.9866973703897487, 1.0904692386964658],
        [1.03114093088333, 0.8, 1.0732225905741386, 1.0519713594436095, 1.0949031250507224],
    ])  # fmt: skip
    assert by_rollout(rows, "return")[0] == pytest.approx(
        [8.440395808059783, 8.635800817076339, 10.139158702833637, 10.904692386964658], abs=1e-9
    )
    assert rows["baseline"].unique().to_list() == pytest.approx([4.817853866531867], abs=1e-9)
    assert [row[0] for row in evidence(rows, "episode")] == pytest.approx(
        [0.8660252537844645] * 2 + [-0.8660252537844645] * 2, abs=1e-9
    )
    assert by_rollout(rows) == _close([
        [1.61206868230581, 1.6523113144768176, 1.961919951033257, 2.1195775802826224],
        [1.7498367599514513, 1.9095420761215336, 2.00240176851454],
        [-1.8582368760980046] * 5,
        [-1.8582368760980046] * 2,
    ])  # fmt: skip


def test_without_smoothing_the_next_step_does_not_count():
    assert by_rollout(_published(smoothing=1.0)) == _close([
        [1.771090576226049, 1.5421673517407544, 1.8535595326238252, 2.1766462556068658],
        [1.7292994186750281, 1.8662857074751287, 2.0565824527408854],
        [-1.85651875644122] * 5,
        [-1.85651875644122] * 2,
    ])  # fmt: skip


def test_half_the_weight_is_half_the_hindsight():
    assert by_rollout(_published(weight=0.5))[:2] == _close([
        [1.2390469680451373, 1.259168284130641, 1.4139726024088608, 1.4928014170335433],
        [1.3079310068679577, 1.387783664952999, 1.434213511149502],
    ])  # fmt: skip


def test_no_step_of_a_failure_is_told_from_another():
    assert all(len(set(row)) == 1 for row in by_rollout(_published())[2:])


def test_hindsight_is_nearly_another_copy_of_the_outcome():
    rows = _published(do_no_harm=False).with_columns(pl.col("evidence").struct.field("local").alias("micro"))
    between = rows.with_columns(pl.col("micro").mean().over("reward").alias("mean"))
    share = ((between["mean"] - between["micro"].mean()) ** 2).mean() / between["micro"].var(ddof=0)
    assert share == pytest.approx(0.9844843089527396, abs=1e-9)
    made = world(*[Told("t", r, len(m)) for r, m in zip(OUTCOMES, LOGPROBS, strict=True)])
    flat = made.credit(scores(hindsight=[[0.0] * len(m) for m in LOGPROBS]), method="hcapo", do_no_harm=False)
    one = pl.DataFrame({"micro": rows["micro"], "flat": flat["evidence"].struct.field("local")})
    assert one.select(pl.corr("micro", "flat")).item() == pytest.approx(0.9976277056911024, abs=1e-9)


def test_what_length_explains_is_taken_out():
    frame = pl.DataFrame({"trajectory": 0, "logprob": LOGPROBS[0], "tokens": [60, 400, 120, 30]})
    expected = [-0.5046937322398366, -0.585918803280491, -0.505539467858673, -0.6038479966209999]
    assert frame.select(without_length())["logprob"].to_list() == pytest.approx(expected, abs=1e-9)
    assert frame[:3].select(without_length())["logprob"].to_list() == LOGPROBS[0][:3]  # three say it by chance
    alike = frame.with_columns(tokens=pl.lit(7))
    assert alike.select(without_length())["logprob"].to_list() == LOGPROBS[0]


def test_the_last_step_may_be_left_out_since_the_end_gives_it_away():
    ratios = evidence(_published(exclude_final=True), "ratio")
    assert [row[-1] for row in ratios] == [1.0] * 4 and ratios[0][1] < 1 < ratios[0][0]


def test_a_step_that_was_not_scored_says_so_and_counts_as_any():
    made = world(Told("t", 1, 2), Told("t", 0, 2))
    rows = made.credit(scores(hindsight=[[-0.1, None], [-0.2, -0.3]]), method="hcapo")
    assert by_rollout(rows, "flags")[0] == [[], ["unscored"]]
    assert evidence(rows, "ratio")[0] == [1.0, 1.0]


def test_a_group_of_one_gets_nothing():
    rows = world(Told("t", 1, 2)).credit(scores(hindsight=[[-0.1, -2.0]]), method="hcapo")
    assert by_rollout(rows) == [[0.0, 0.0]]


def test_another_model_is_another_version():
    made = world(Told("t", 1), Told("t", 0))
    assert (
        made.credit(scores(hindsight=[[0.0], [0.0]]), method="hcapo")["version"][0]
        != made.credit(method="hcapo")["version"][0]
    )
