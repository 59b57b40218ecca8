"""The benchmark itself: its generators share nothing with the recognisers, and a small run of it meets the targets."""

from __future__ import annotations

import json
import random

from benchmarks.privacy import noise
from benchmarks.privacy.cleaners import Cleaned, Ours
from benchmarks.privacy.integrity import json_kept
from benchmarks.privacy.people import LATIN
from benchmarks.privacy.planting import Planted
from benchmarks.privacy.reading import readable
from benchmarks.privacy.score import OVERALL, PRECISION, TARGETS, Score
from benchmarks.privacy.synthetic import generated, run
from benchmarks.privacy.traces import PLACES, Trace
from transforms.privacy.names import BOTH
from transforms.privacy.words import known_names


def test_the_names_of_the_benchmark_stand_in_no_list_of_the_recognisers() -> None:
    ours = {word.lower() for given, family in LATIN.values() for word in (given + " " + family).split()}
    assert len(ours) > 250 and not ours & (known_names() | BOTH)


def test_a_seed_gives_the_same_traces_and_all_places() -> None:
    first, again = generated(7, 12), generated(7, 12)
    assert json.dumps([trace.values for trace in first]) == json.dumps([trace.values for trace in again])
    assert {one.place for trace in generated(7, 40) for planted in trace.planted for one in planted} >= set(PLACES)


def test_a_small_run_meets_the_targets() -> None:
    score = run(Ours(), generated(11, 12))
    assert score.recall() >= OVERALL and score.precision >= PRECISION
    assert {group: score.recall(group) for group in TARGETS if score.recall(group) < TARGETS[group]} == {}


def test_what_is_left_counts_as_missed_in_any_encoding() -> None:
    planted = [Planted("email", "jane.roe@mail.test", "chat", ("jane.roe@mail.test",))]
    for left in ("jane.roe%40mail.test", "amFuZS5yb2VAbWFpbC50ZXN0IGFuZA==", '{"a": "jane.roe\\u0040mail.test"}'):
        score = Score()
        score.add(Trace([{"content": left}], [planted]), [Cleaned({"content": left}, [])])
        assert score.recall() == 0 and "jane.roe@mail.test" in readable({"content": left})


def test_code_and_logs_that_name_nobody_stay() -> None:
    cleaner = Ours()
    for make in (noise.service_log, noise.generated_code):
        rate, spans = noise.measured(cleaner, noise.texts(make, random.Random(7), 40_000))
        assert rate <= noise.TARGET, spans


def test_json_keeps_its_keys() -> None:
    checked, broken = json_kept(generated(13, 10))
    assert checked > 50 and broken == 0
