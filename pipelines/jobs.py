"""The jobs: a day's experience, a release, and a policy for each objective."""

import dagster as dg

nightly = dg.define_asset_job(
    "nightly",
    dg.AssetSelection.groups("ingest", "privacy", "trajectories", "rewards"),
    description="One arrival day: exports, clean spans, trajectories, gates, rewards.",
)
score = dg.define_asset_job(
    "score",
    dg.AssetSelection.groups("rewards"),
    description="Gates and rewards of one stored day anew; no export is read.",
)
release = dg.define_asset_job(
    "release",
    dg.AssetSelection.groups("datasets"),
    description="One cut through all days: splits, credit, preference pairs, rollouts.",
)
train_dpo = dg.define_asset_job(
    "train_dpo",
    dg.AssetSelection.assets("dpo_policy", "evaluation"),
    description="Direct preference optimisation on a release, judged on its held-out tasks.",
)
train_grpo = dg.define_asset_job(
    "train_grpo",
    dg.AssetSelection.assets("grpo_policy", "evaluation"),
    description="Offline replay of GRPO on a release, judged on its held-out tasks.",
)
