"""The tables: one object each, the single source of their columns, types, comments and keys."""

from warehouse.schemas.datasets import CREDIT, CREDIT_DIAGNOSTICS, CUT, MESSAGE, PREFERENCE_PAIRS, ROLLOUTS
from warehouse.schemas.erasures import ERASURES
from warehouse.schemas.ingest import EXPORTS, FEEDBACK, MESSAGES, PII_FINDINGS, REJECTS, SPANS
from warehouse.schemas.models import EVALUATIONS, MODELS, RELEASES
from warehouse.schemas.privacy import PRIVACY_REPORT
from warehouse.schemas.table import TIME, Column, SchemaError, Table, held_bytes
from warehouse.schemas.trajectories import CURATED, GATES, LEFT_OUT, REWARDS, STEPS, TOOL_CALLS, TRAJECTORIES

__all__ = [
    "CREDIT",
    "CREDIT_DIAGNOSTICS",
    "CURATED",
    "CUT",
    "ERASURES",
    "EVALUATIONS",
    "EXPORTS",
    "FEEDBACK",
    "GATES",
    "LEFT_OUT",
    "MESSAGE",
    "MESSAGES",
    "MODELS",
    "PII_FINDINGS",
    "PREFERENCE_PAIRS",
    "PRIVACY_REPORT",
    "REJECTS",
    "RELEASES",
    "REWARDS",
    "ROLLOUTS",
    "SPANS",
    "STEPS",
    "TIME",
    "TOOL_CALLS",
    "TRAJECTORIES",
    "Column",
    "SchemaError",
    "Table",
    "held_bytes",
]
