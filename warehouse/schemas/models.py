"""Tables of what was trained and how it did, made from append-only records."""

import polars as pl

from warehouse.schemas.table import Column, Table

RELEASES = Table(
    "releases",
    "One row a sealed release.",
    ("release",),
    {
        "release": Column(pl.String, "its name"),
        "through": Column(pl.Date, "last arrival day in it"),
        "version": Column(pl.String, "hash of all its rows and of its specification"),
        "trajectories": Column(pl.Int64, "trajectories in a split"),
        "tasks": Column(pl.Int64, "tasks in a split"),
        "pairs": Column(pl.Int64, "preference pairs"),
        "rollouts": Column(pl.Int64, "rows of rollouts"),
    },
)

MODELS = Table(
    "models",
    "One row a trained policy.",
    ("model",),
    {
        "model": Column(pl.String, "its name: release, objective and a hash of what it was trained with"),
        "release": Column(pl.String, "what it was trained on"),
        "objective": Column(pl.String, "dpo or grpo"),
        "state": Column(pl.String, "candidate, passed, canary, production or withdrawn"),
        "path": Column(pl.String, "checkpoint folder, relative to the home"),
        "reference": Column(pl.String, "folder of the model it started from, relative to the home"),
        "first_loss": Column(pl.Float64, "loss over the whole training split before training", nullable=True),
        "last_loss": Column(pl.Float64, "the same after training", nullable=True),
        "steps": Column(pl.Int64, "optimiser steps", nullable=True),
    },
)

EVALUATIONS = Table(
    "evaluations",
    "One row a policy and a measure, before (reference) and after (policy).",
    ("model", "measure"),
    {
        "model": Column(pl.String, "the policy"),
        "release": Column(pl.String, "whose held-out tasks it was judged on"),
        "measure": Column(pl.String, "what was measured"),
        "before": Column(pl.Float64, "value of the reference", nullable=True),
        "after": Column(pl.Float64, "value of the policy", nullable=True),
        "low": Column(pl.Float64, "lower end of the 95 % interval of `after`", nullable=True),
        "high": Column(pl.Float64, "upper end of the 95 % interval of `after`", nullable=True),
        "count": Column(pl.Int64, "items it was measured on"),
        "verdict": Column(pl.String, "pass, fail, inconclusive or too few to judge"),
    },
)
