"""Which tables each asset of an arrival day publishes, together and at once."""

from __future__ import annotations

from warehouse.schemas import (
    CREDIT,
    CREDIT_DIAGNOSTICS,
    CUT,
    EXPORTS,
    FEEDBACK,
    GATES,
    LEFT_OUT,
    MESSAGES,
    PII_FINDINGS,
    PREFERENCE_PAIRS,
    REJECTS,
    REWARDS,
    ROLLOUTS,
    SPANS,
    STEPS,
    TOOL_CALLS,
    TRAJECTORIES,
    Table,
)

DAILY: dict[str, tuple[Table, ...]] = {
    "landed": (EXPORTS, REJECTS),
    "clean_spans": (SPANS, MESSAGES, FEEDBACK, PII_FINDINGS, REJECTS),
    "trajectories": (TRAJECTORIES, STEPS, TOOL_CALLS, LEFT_OUT),
    "gates": (GATES,),
    "rewards": (REWARDS,),
}

RELEASED: tuple[Table, ...] = (CUT, CREDIT, CREDIT_DIAGNOSTICS, PREFERENCE_PAIRS, ROLLOUTS)


def daily_tables() -> list[Table]:
    """Every table of arrival days, once, in the order in which a day makes them."""
    return list({table.name: table for tables in DAILY.values() for table in tables}.values())
