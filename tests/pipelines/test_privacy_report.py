"""A privacy officer is shown counts, in words and pages that hold no value from any trace."""

import json
from datetime import date
from pathlib import Path

import pytest
from canaries import encodings
from conftest import CORPUS
from mills import KEY, ROOT, Night
from typer.testing import CliRunner

from pipelines.cli import app
from pipelines.privacy_facts import facts_of_day, facts_of_release
from pipelines.privacy_page import Page, Section, Share, as_html, as_markdown
from pipelines.privacy_report import privacy_page
from warehouse.duck import reader
from warehouse.problem import Problem
from warehouse.schemas import MESSAGES, PII_FINDINGS

PERSONAL = sorted({
    str(one["value"] if isinstance(one, dict) else one)
    for path in (CORPUS / "expected").glob("*.json") for run in json.loads(path.read_text())["runs"]
    for one in run["pii"]
})  # fmt: skip


@pytest.fixture(autouse=True)
def _at_the_night(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEMILL_HOME", str(night.mill.home.root))
    monkeypatch.setenv("TRACEMILL_CONFIG", str(ROOT / "tracemill.yaml"))
    monkeypatch.setenv("TRACEMILL_KEY", KEY)


def test_the_view_counts_what_the_tables_hold(night: Night) -> None:
    found = night.mill.lake.scan(PII_FINDINGS).collect()
    messages = night.mill.lake.scan(MESSAGES).collect()
    with reader(night.mill.home) as connection:
        total = "SELECT sum(count), sum(total) FROM privacy_report WHERE section = 'found'"
        assert connection.sql(total).fetchall() == [(found.height, found["length"].sum())]
        changed = "SELECT count, total FROM privacy_report WHERE section = 'changed' AND item = 'messages'"
        assert connection.sql(changed).fetchall() == [(messages["altered"].sum(), messages.height)]
        groups = connection.sql("SELECT count, total, smallest FROM privacy_report WHERE item LIKE 'source, %'")
        count, rows, smallest = groups.fetchall()[0]
        sizes = connection.sql(
            "SELECT count(*) FROM trajectories GROUP BY source, dataset, agent, models, termination, started_at::DATE"
        ).fetchall()
    assert (count, rows, smallest) == (
        sum(size for (size,) in sizes if size < 5), sum(size for (size,) in sizes), min(sizes)[0]
    )  # fmt: skip


@pytest.mark.parametrize("form", ["md", "html"])
def test_no_value_from_a_trace_is_in_a_report(night: Night, form: str, tmp_path: Path) -> None:
    assert len(PERSONAL) > 5
    texts = night.mill.lake.scan(MESSAGES).collect()["content"].to_list()
    for flags in (["--day", night.day.isoformat()], ["--release", night.release], []):
        out = tmp_path / "report"
        done = CliRunner().invoke(app, ["report", "privacy", "--format", form, "--out", str(out), *flags])
        assert done.exit_code == 0, done.output
        made = out.read_bytes()
        assert not [value for value in PERSONAL for spelling in encodings(value) if spelling in made]
        assert not [text for text in texts if len(text) > 20 and text.encode() in made]
        assert b"EMAIL_ADDRESS" in made
        assert b"http" not in made.replace(b"http-equiv", b"")


def test_what_the_audit_reads_is_clean_and_a_release_is_reported_on_what_it_holds(night: Night) -> None:
    day, release = facts_of_day(night.mill, night.day), facts_of_release(night.mill, night.release)
    assert day.remains == release.remains == {}
    assert day.forgotten == release.forgotten == release.missing == 0
    assert 0 < release.searched <= day.searched
    held = dict((item, total) for item, _, _, total, _ in release.of("anonymity"))
    assert held["source"] == night.mill.releases.manifest(night.release)["counts"]["trajectories"]


def test_what_somebody_must_look_at_comes_first(night: Night, monkeypatch: pytest.MonkeyPatch) -> None:
    page = privacy_page(night.mill, night.day, None)
    assert page.state == "look"
    assert "k = 1" in page.findings[0]
    monkeypatch.setattr("pipelines.privacy_facts._remains", lambda *_: {"EMAIL_ADDRESS": 2})
    page = privacy_page(night.mill, night.day, None)
    assert page.state == "bad"
    assert page.findings[0] == "2 rows hold a EMAIL_ADDRESS that is no surrogate"


def test_a_day_or_release_that_is_not_there_is_told(night: Night) -> None:
    with pytest.raises(Problem, match="2020-01-01 is not in the lake"):
        privacy_page(night.mill, date(2020, 1, 1), None)
    with pytest.raises(Problem, match="there is no release"):
        privacy_page(night.mill, None, "gone")
    assert CliRunner().invoke(app, ["report", "privacy", "--format", "pdf"]).exit_code == 2


def test_a_page_escapes_what_it_shows() -> None:
    section = Section("a & b", "<note>", ("name", "share"), [("<x|y>", Share(0.25))])
    page = Page("<t>", "about", "fine", sections=[section])
    html, markdown = as_html(page), as_markdown(page)
    assert "<x|y>" not in html
    assert "&lt;x|y&gt;" in html
    assert "width:25.0%" in html
    assert "| <x/y> | 25.0% |" in markdown
