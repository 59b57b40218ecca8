"""Which stretches a pull asks for: all that is wanted, nothing twice but the overlap, cut at midnights."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.pull.coverage import by_day, gaps, joined
from pipelines.pull.sources import Window

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
hours = st.integers(0, 24 * 10)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    start, end = sorted((draw(hours), draw(hours)))
    return Window(FIRST + timedelta(hours=start), FIRST + timedelta(hours=end + 1))


@given(st.lists(windows(), max_size=5), windows(), st.integers(0, 30))
def test_after_its_gaps_everything_wanted_is_covered_and_only_overlaps_were_covered_before(
    pulled: list[Window], wanted: Window, overlap: int
) -> None:
    covered: list[Window] = []
    for window in pulled:
        covered = joined(covered, window)
    late = timedelta(hours=overlap)
    asked = [part for gap in gaps(covered, wanted, late) for part in by_day(gap)]
    for part in asked:
        assert part.end - part.start <= timedelta(days=1) and part.end <= wanted.end
        for done in covered:
            again = min(part.end, done.end) - max(part.start, done.start)
            assert again <= late and (again <= timedelta(0) or part.start >= done.end - late)
    after = covered
    for part in asked:
        after = joined(after, part)
    assert any(done.start <= wanted.start and wanted.end <= done.end for done in after)
    assert gaps(after, wanted, late) == []


def test_a_gap_takes_in_the_end_of_what_was_pulled_before_it_and_no_more_than_was_pulled() -> None:
    done = [Window(FIRST, FIRST + timedelta(hours=2))]
    wanted = Window(FIRST, FIRST + timedelta(days=2))
    assert gaps(done, wanted, timedelta(hours=6))[0].start == FIRST
    assert gaps(done, wanted, timedelta(hours=1))[0].start == FIRST + timedelta(hours=1)
