"""Whoever asks in SQL sees whole partitions, waits for nobody and opens nothing but the lake."""

import resource
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest
from lake_samples import BY, DAY, landed

from warehouse.catalog import RELEASED, daily_tables
from warehouse.duck import reader, rebuild
from warehouse.files import writer_lock
from warehouse.home import Home
from warehouse.lake import Lake
from warehouse.problem import Problem
from warehouse.schemas import CURATED, FEEDBACK, GATES, LEFT_OUT, MESSAGES, SPANS, TRAJECTORIES

VIEWS = {table.name for table in (*daily_tables(), *RELEASED)} | {
    "curated_trajectories", "releases", "models", "evaluations"
}  # fmt: skip


def trajectory(name: str, revision: date, *traces: str) -> dict[str, object]:
    return {
        "revision": revision, "trajectory_id": name, "rollout_id": name, "trace_ids": list(traces), "source": "otlp",
        "task_id": "k", "task_rule": "prompt", "task_family": "f", "steps": 1, "segments": 1, "tool_calls": 0,
        "models": [], "termination": "finished", "trainable": True, "flags": [],
    }  # fmt: skip


def publish(home: Home, day: date, *rows: dict[str, object], left: Sequence[dict[str, object]] = ()) -> None:
    frames = {table.name: table.empty() for table in daily_tables()} | {
        "trajectories": TRAJECTORIES.frame(list(rows)), "unstepped_spans": LEFT_OUT.frame(list(left))
    }  # fmt: skip
    Lake(home.lake).publish("trajectories", day, frames, BY)


def names(home: Home) -> list[tuple[str, date]]:
    with reader(home) as connection:
        return connection.sql("SELECT trajectory_id, revision FROM trajectories ORDER BY 1").fetchall()


def test_every_view_exists_and_has_its_columns_before_anything_is_in_it(tmp_path: Path) -> None:
    with reader(Home.at(tmp_path)) as connection:
        shown = {name for (name,) in connection.sql("SELECT table_name FROM duckdb_columns() GROUP BY 1").fetchall()}
        assert shown >= VIEWS
        for table in (*daily_tables(), *RELEASED):
            assert connection.sql(f"SELECT * FROM {table.name}").columns == list(table.columns)


def test_every_view_table_and_column_is_commented(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    publish(home, DAY, trajectory("a", DAY, "t"))
    with duckdb.connect(str(rebuild(home)), read_only=True) as connection:
        for things in ("duckdb_columns()", "duckdb_views()", "duckdb_tables()"):
            bare = connection.sql(
                f"SELECT * FROM {things} WHERE schema_name = 'main' AND NOT internal AND comment IS NULL"
            )
            assert bare.fetchall() == []
        assert connection.sql("SELECT * FROM curated_trajectories").columns == list(CURATED.columns)


def test_readers_take_the_highest_revision(tmp_path: Path) -> None:
    home, later = Home.at(tmp_path), date(2026, 3, 5)
    publish(home, DAY, trajectory("a", DAY, "t1"), trajectory("b", DAY, "t2"))
    publish(home, later, trajectory("a", later, "t1"))
    assert names(home) == [("a", later), ("b", DAY)]


def test_threads_that_a_late_span_joined_do_not_live_on_beside_their_union(tmp_path: Path) -> None:
    home, later = Home.at(tmp_path), date(2026, 3, 5)
    publish(home, DAY, trajectory("a", DAY, "t1"), trajectory("b", DAY, "t2"))
    publish(home, later, trajectory("a", later, "t1", "t2"))
    assert names(home) == [("a", later)]


def test_a_call_is_where_the_latest_day_put_it(tmp_path: Path) -> None:
    home, later = Home.at(tmp_path), date(2026, 3, 5)
    left = {"revision": DAY, "trace_id": "t1", "span_id": "s", "reason": "pending"}
    publish(home, DAY, trajectory("b", DAY, "t2"), left=[left])
    publish(home, later, trajectory("a", later, "t1"), left=[left | {"revision": later, "trace_id": "t2"}])
    assert names(home) == [("a", later)]
    with reader(home) as connection:
        assert connection.sql("SELECT trace_id, revision FROM unstepped_spans").fetchall() == [("t2", later)]


def test_what_several_days_hold_counts_once(tmp_path: Path) -> None:
    """A span, a message and a verdict of an export that grew; the copy of the span that ended counts."""
    home = Home.at(tmp_path)
    ended = datetime(2026, 3, 4, tzinfo=UTC)
    for day, end in ((DAY, ended), (date(2026, 3, 5), None)):
        span = {
            "day": day, "trace_id": "t", "span_id": "s", "file_id": "f", "position": 0, "source": "otlp",
            "dialect": "otlp", "sequence": "", "kind": "llm", "name": "", "status": "ok", "attributes": "{}",
            "base_length": 0, "prompt_suffix": [], "prompt_length": 0, "output": [], "content_state": "full",
            "flags": [], "altered": False, "ended_at": end, "output_tokens": 7,
        }  # fmt: skip
        message = {"day": day, "message_id": b"m", "role": "user", "content": f"{day}", "altered": False}
        verdict = {"day": day, "feedback_id": "v", "trace_id": "t", "key": "reward", "annotator": "human"}
        frames = {table.name: table.empty() for table in daily_tables()} | {
            "spans": SPANS.frame([span]), "messages": MESSAGES.frame([message]), "feedback": FEEDBACK.frame([verdict])
        }  # fmt: skip
        Lake(home.lake).publish("clean_spans", day, frames, BY)
    with reader(home) as connection:
        assert connection.sql("SELECT sum(output_tokens), max(day) FROM spans").fetchall() == [(7, DAY)]
        assert connection.sql("SELECT content FROM messages").fetchall() == [("2026-03-05",)]
        assert connection.sql("SELECT day FROM feedback").fetchall() == [(date(2026, 3, 5),)]
        assert connection.sql("SELECT count(*) FROM raw.spans").fetchall() == [(2,)]


def test_every_rule_that_leaves_a_trajectory_without_a_reward_is_named(tmp_path: Path) -> None:
    home, verdicts = Home.at(tmp_path), ("kept", "approved", "violated", "denied", "edited", "needs_approval")
    publish(home, DAY, *(trajectory(verdict, DAY, verdict) for verdict in verdicts))
    rows: list[dict[str, object]] = [
        {"revision": DAY, "trajectory_id": verdict, "rule": rule, "version": "1", "verdict": said}
        for verdict in verdicts
        for rule, said in (("rule", verdict), ("other", "kept"))
    ]
    Lake(home.lake).publish("gates", DAY, {"gates": GATES.frame(rows)}, BY)
    with reader(home) as connection:
        query = "SELECT trajectory_id, broken_rules FROM curated_trajectories WHERE gated ORDER BY 1"
        assert connection.sql(query).fetchall() == [(name, ["rule"]) for name in sorted(verdicts[2:])]


def test_a_rule_broken_in_one_thread_gates_the_whole_rollout_before_rewards_are_there(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    threads = [trajectory(name, DAY, name) | {"rollout_id": "root"} for name in ("root", "sub")]
    publish(home, DAY, *threads, trajectory("other", DAY, "other"))
    rows: list[dict[str, object]] = [
        {"revision": DAY, "trajectory_id": name, "rule": "rule", "version": "1", "verdict": said}
        for name, said in (("root", "kept"), ("sub", "violated"), ("other", "kept"))
    ]
    Lake(home.lake).publish("gates", DAY, {"gates": GATES.frame(rows)}, BY)
    with reader(home) as connection:
        told = connection.sql("SELECT trajectory_id, gated, broken_rules FROM curated_trajectories ORDER BY 1")
        assert told.fetchall() == [("other", False, []), ("root", True, []), ("sub", True, ["rule"])]


def test_a_reader_waits_for_no_writer(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    with writer_lock(home.lock_file), reader(home) as connection:
        assert connection.sql("SELECT count(*) FROM spans").fetchall() == [(0,)]


def test_a_query_opens_no_file_outside_the_lake(tmp_path: Path) -> None:
    home, secret = Home.at(tmp_path / "home"), tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    with reader(home) as connection:
        for query in (
            f"SELECT * FROM read_csv('{secret}')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            "SET enable_external_access = true",
            f"ATTACH '{tmp_path}/other.duckdb'",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(query)


def test_the_warehouse_is_swapped_in_while_somebody_has_the_old_one_open(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    publish(home, DAY, trajectory("a", DAY, "t"))
    with duckdb.connect(str(rebuild(home))) as old:
        publish(home, DAY, trajectory("a", DAY, "t"), trajectory("b", DAY, "u"))
        rebuild(home)
        assert old.sql("SELECT count(*) FROM trajectories").fetchall() == [(1,)]
    with duckdb.connect(str(home.warehouse), read_only=True) as new:
        assert new.sql("SELECT count(*) FROM trajectories").fetchall() == [(2,)]


def test_on_a_full_disk_the_warehouse_is_whole_or_refused(tmp_path: Path) -> None:
    """Files may not grow over a limit, from far too little to enough."""
    home = Home.at(tmp_path)
    limits, built = resource.getrlimit(resource.RLIMIT_FSIZE), []
    for kilobytes in (12, 60, 100, 160, 240, 400, 1200):
        home.warehouse.unlink(missing_ok=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, limits[1]))
        try:
            rebuild(home)
        except Problem:
            assert not home.warehouse.exists()
        else:
            with duckdb.connect(str(home.warehouse), read_only=True) as connection:
                built.append({name for (name,) in connection.sql("SHOW TABLES").fetchall()} >= VIEWS)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert not list(tmp_path.glob("*.part*"))
    assert built and all(built)


def test_the_warehouse_comes_back_from_the_lake(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    Lake(home.lake).publish("landed", DAY, landed("a"), BY)
    rebuild(home).unlink()
    with duckdb.connect(str(rebuild(home)), read_only=True) as connection:
        assert connection.sql("SELECT file_id FROM exports").fetchall() == [("a",)]


def test_what_a_killed_client_wrote_into_the_old_file_does_not_spoil_the_new_one(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    path = rebuild(home)
    client = (
        f"import duckdb, os; c = duckdb.connect({str(path)!r}); c.execute('CREATE TABLE mine (a INT)'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", client], check=True)
    assert path.with_suffix(".duckdb.wal").exists()
    with duckdb.connect(str(rebuild(home))) as connection:
        assert connection.sql("SELECT count(*) FROM spans").fetchall() == [(0,)]
