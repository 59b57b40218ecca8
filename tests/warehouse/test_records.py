"""Records are added and never changed; the newest one of a key is what counts."""

from pathlib import Path

from warehouse.records import Records

MODEL = {
    "model": "m", "release": "r", "objective": "dpo", "state": "candidate", "path": "models/m", "reference": "base",
    "first_loss": 0.7, "last_loss": 0.6, "steps": 3,
}  # fmt: skip


def states(records: Records) -> list[str]:
    return records.models()["state"].to_list()


def test_a_record_that_says_nothing_new_is_not_added(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.add_model(MODEL)
    records.add_model(MODEL)
    assert len(list((tmp_path / "models").iterdir())) == 1


def test_a_model_that_came_back_to_an_earlier_state_is_in_that_state(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for state in ("candidate", "withdrawn", "candidate"):
        records.add_model(MODEL | {"state": state})
        assert states(records) == [state]
    assert len(list((tmp_path / "models").iterdir())) == 3


def test_policies_and_measures_have_their_newest_record_each(tmp_path: Path) -> None:
    records = Records(tmp_path)
    measure = {"model": "m", "release": "r", "count": 3, "verdict": "inconclusive"}
    for name, after in (("preferred", 0.5), ("positive_margin", 0.4), ("preferred", 0.6)):
        records.add_evaluation(measure | {"measure": name, "after": after})
    found = dict(records.evaluations().select("measure", "after").iter_rows())
    assert found == {"preferred": 0.6, "positive_margin": 0.4}
