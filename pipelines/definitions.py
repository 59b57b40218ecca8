"""The code location: what `dagster dev`, `dg` and the command line load."""

import dagster as dg

from assets.datasets import sealed_release
from assets.ingest import landed
from assets.lake_io import LakeIO
from assets.mill import MillResource
from assets.privacy import clean_spans
from assets.rewards import gates, rewards
from assets.training import dpo_policy, evaluation, grpo_policy
from assets.trajectories import trajectories
from pipelines.erasure_jobs import forget, retain
from pipelines.jobs import nightly, release, score, train_dpo, train_grpo
from pipelines.schedules import every_night
from pipelines.sensors import landing, release_after_nightly

defs = dg.Definitions(
    assets=[
        landed, clean_spans, trajectories, gates, rewards, sealed_release, dpo_policy, grpo_policy, evaluation
    ],
    jobs=[nightly, score, release, train_dpo, train_grpo, forget, retain],
    schedules=[every_night],
    sensors=[landing, release_after_nightly],
    resources={
        "mill": MillResource(),
        "lake_io": LakeIO(),
        # A trainer that is told to stop saves a checkpoint first: five minutes are enough for that.
        "pipes": dg.PipesSubprocessClient(termination_timeout_seconds=300),
    },
    # One process a run: a further step costs hundredths of a second, not the seconds of a new interpreter.
    executor=dg.in_process_executor,
)  # fmt: skip
