"""The cut: which trajectories make a release, in which split, and why the others do not."""

from __future__ import annotations

import polars as pl

from transforms.datasets.approvals import UNSAID, approved_elsewhere
from transforms.datasets.exported_twice import SAME_RUNS
from transforms.datasets.release_spec import Refused, ReleaseSpec
from transforms.datasets.splits import split_tasks
from transforms.rewards.compose import WHOLE
from transforms.rewards.human_gates import GATING
from transforms.rewards.spec import COMPOSED, SAME
from warehouse.schemas import CUT

RULES = ("exported_twice", "not_trainable", "no_reward")  # in the order in which they are applied


def cut(
    release: str,
    trajectories: pl.DataFrame,
    rewards: pl.DataFrame,
    gates: pl.DataFrame,
    first_user_texts: pl.DataFrame,
    persons: pl.DataFrame,
    spec: ReleaseSpec,
    same_runs: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """CUT: every trajectory of the window, the highest revision of each, with its split or the rule that drops it.

    The reward and the gates of a rollout are those of its root and of any of its threads. Gated rollouts stay: they
    are the worse side of pairs. Of rollouts that are records of one run (`same_runs`, as `exported_twice.py` tells
    them) the fullest stays, with the word that any of them got. Raises Refused where no task has outcomes that differ,
    where tasks are too few, or where too many rows are tied together.
    """
    same = pl.DataFrame(schema=SAME_RUNS) if same_runs is None else same_runs
    judged = _once(_judged(trajectories, rewards, gates, same), same)
    dropped = (
        pl.when(pl.col("copy_of").is_not_null()).then(pl.lit("exported_twice"))
        .when(~pl.col("trainable")).then(pl.lit("not_trainable"))
        .when(pl.col("reward").is_null() & ~pl.col("gated")).then(pl.lit("no_reward"))
    )  # fmt: skip
    rows = judged.with_columns(dropped.alias("dropped"))
    kept = rows.filter(pl.col("dropped").is_null())
    mixed = mixed_tasks(kept)
    _refuse_too_little(rows, kept, len(mixed), spec)
    tasks = split_tasks(
        kept.select("trajectory_id", "task_id", "task_rule", "task"), first_user_texts, persons, mixed, spec.split
    )
    split = rows.join(tasks, on="task_id", how="left").with_columns(
        pl.when(pl.col("dropped").is_null()).then(pl.col(name)).alias(name) for name in ("component", "split")
    )
    return CUT.enforce(split.with_columns(release=pl.lit(release)).select(list(CUT.columns)))


def funnel(cut: pl.DataFrame) -> list[dict[str, object]]:
    """How many rows are left after each rule, in order; `where` is what the release's filter let in."""
    left = cut.height
    stages: list[dict[str, object]] = [{"rule": "where", "left": left}]
    for rule in RULES:
        left -= cut.filter(pl.col("dropped") == rule).height
        stages.append({"rule": rule, "left": left})
    return stages


def mixed_tasks(kept: pl.DataFrame) -> list[str]:
    """Tasks whose rollouts differ in outcome: in reward, or in that some broke a hard rule."""
    tasks = kept.unique("rollout_id").group_by("task_id").agg(outcomes_differ().alias("differs"))
    return sorted(tasks.filter("differs")["task_id"].to_list())


def outcomes_differ() -> pl.Expr:
    """Whether among rows with `reward` and `gated` rewards lie apart, or some and not all are gated."""
    apart = (pl.col("reward").max() - pl.col("reward").min() > SAME).fill_null(value=False)
    return apart | (pl.col("gated").any() & ~pl.col("gated").all())


def _judged(
    trajectories: pl.DataFrame, rewards: pl.DataFrame, gates: pl.DataFrame, same_runs: pl.DataFrame
) -> pl.DataFrame:
    """Trajectories with what their rollout got: `reward` (null where gated) and `gated`."""
    composed = rewards.filter((pl.col("component") == COMPOSED) & (pl.col("step") == WHOLE))
    own = trajectories.join(
        composed.select("trajectory_id", pl.col("value").alias("own")), on="trajectory_id", how="left"
    )
    approved = approved_elsewhere(trajectories, gates, same_runs)
    of_rollout = trajectories.select("trajectory_id", "rollout_id")
    broken = gates.filter(pl.col("verdict").is_in(GATING)).join(of_rollout, on="trajectory_id")
    unsaid = broken.filter(pl.col("verdict").is_in(UNSAID)).join(approved, on=["rollout_id", "rule"], how="semi")
    left = broken.join(unsaid, on=["trajectory_id", "rule"], how="anti")
    gated_rewards = composed.filter(pl.col("verdict") == "gated").join(of_rollout, on="trajectory_id")
    unheard = gated_rewards.join(approved, on="rollout_id", how="anti")  # of the others the gates tell all
    breaks = pl.col("trajectory_id").is_in(pl.concat([left["trajectory_id"], unheard["trajectory_id"]]).implode())
    of_root = pl.col("own").filter(pl.col("trajectory_id") == pl.col("rollout_id")).first()
    judged = own.with_columns(
        breaks.any().over("rollout_id").alias("gated"),
        pl.coalesce(of_root.over("rollout_id"), pl.col("own").max().over("rollout_id")).alias("reward"),
    )
    return judged.with_columns(pl.when(~pl.col("gated")).then("reward").alias("reward"))


def _once(judged: pl.DataFrame, same_runs: pl.DataFrame) -> pl.DataFrame:
    """`judged` with `copy_of`: the rollout that stays, where another record of the run does. It gets the reward of any
    of them, its own first, and is gated where any is."""
    if same_runs.is_empty():
        return judged.with_columns(copy_of=pl.lit(None, dtype=pl.String))
    rollouts = (
        judged.join(same_runs, on="rollout_id")
        .group_by("run", "rollout_id")
        .agg(pl.col("trainable").all(), pl.col("steps").sum(), pl.col("gated").any(), pl.col("reward").first())
        .sort(~pl.col("trainable"), -pl.col("steps"), pl.col("reward").is_null(), "rollout_id")
    )
    gated, word = pl.col("gated").any().over("run"), pl.col("reward").drop_nulls().first().over("run")
    chosen = rollouts.select(
        "rollout_id",
        pl.col("rollout_id").first().over("run").alias("kept"),
        gated.alias("any_gated"),
        pl.when(~gated).then(pl.coalesce("reward", word)).alias("any_reward"),
    )
    told = judged.join(chosen, on="rollout_id", how="left")
    known = pl.col("kept").is_not_null()
    return told.with_columns(
        pl.when(known & (pl.col("kept") != pl.col("rollout_id"))).then("kept").alias("copy_of"),
        pl.when(known).then("any_gated").otherwise("gated").alias("gated"),
        pl.when(known).then("any_reward").otherwise("reward").alias("reward"),
    )


def _refuse_too_little(rows: pl.DataFrame, kept: pl.DataFrame, mixed: int, spec: ReleaseSpec) -> None:
    counts = {
        "trajectories": rows.height,
        "kept": kept.height,
        "tasks": kept["task_id"].n_unique(),
        "mixed tasks": mixed,
    }
    counts |= {rule: rows.filter(pl.col("dropped") == rule).height for rule in RULES}
    if counts["tasks"] < spec.min_tasks:
        raise Refused("too_few_tasks", f"at least {spec.min_tasks} tasks with an outcome are needed", counts)
    if not mixed:
        raise Refused("no_mixed_task", "no task has outcomes that differ, so nothing can be compared", counts)
