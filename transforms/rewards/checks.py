"""All verifiers and rules of a reward specification over a day's trajectories."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from transforms.rewards.rules import measure
from transforms.rewards.spec import Component, RewardSpec
from transforms.rewards.subjects import subjects_of
from transforms.rewards.verify import VERDICTS, Known, References, verify

UNKNOWN = ("error", "no_sandbox", "flaky")
"""Verdicts that another run may change."""

NAMES: dict[str, type[pl.DataType]] = dict.fromkeys(("component", "source", "version", "verifier"), pl.String)


def needs_checks(spec: RewardSpec) -> bool:
    return any(part.verifier or part.rule for part in spec.components.values())


def check(
    trajectories: pl.DataFrame,
    steps: pl.DataFrame,
    tool_calls: pl.DataFrame,
    messages: pl.DataFrame,
    spec: RewardSpec,
    references: Mapping[str, References] | None = None,
    before: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """VERDICTS of every verifier and rule, with `component`, `source`, `version` and `verifier`.

    `references` are those of each file that verifiers name. `before` are REWARDS of an earlier run, whose verdicts
    are taken over where version and evidence are the same.
    """
    parts = [VERDICTS.to_frame().with_columns(pl.lit(None, kind).alias(name) for name, kind in NAMES.items())]
    judged = any(part.verifier for part in spec.components.values())
    rollouts = subjects_of(trajectories, steps, tool_calls, messages) if judged else []
    for name, part in spec.components.items():
        if part.verifier:
            given = (references or {}).get(part.verifier.references or "", {})
            rows = verify(part.verifier, rollouts, given, _known(before, name, part))
        elif part.rule:
            rows = measure(part.rule, trajectories, steps, tool_calls, messages)
        else:
            continue
        parts.append(rows.with_columns(**_names(name, part)))
    return pl.concat(parts)


def _names(name: str, part: Component) -> dict[str, pl.Expr]:
    told = part.verifier or part.rule
    words = {"component": name, "source": "verifier" if part.verifier else "rule", "version": part.version}
    words["verifier"] = told.method if told else ""
    return {column: pl.lit(word) for column, word in words.items()}


def _known(before: pl.DataFrame | None, name: str, part: Component) -> Known:
    if before is None:
        return {}
    own = before.filter(
        (pl.col("component") == name) & (pl.col("version") == part.version) & ~pl.col("verdict").is_in(UNKNOWN)
    )
    columns = ("trajectory_id", "step", "evidence_hash", "value", "verdict", "duration")
    return {
        (trajectory, step, marks): (value, verdict, seconds)
        for trajectory, step, marks, value, verdict, seconds in own.select(columns).iter_rows()
        if marks is not None
    }
