"""What asks for runs by itself: files that landed, and nights that are done."""

import json
from datetime import UTC, date, datetime

import dagster as dg

from assets.datasets import rests_on_input
from assets.mill import open_mill
from assets.partitions import days, releases
from pipelines.jobs import nightly, release
from transforms.datasets.release_spec import ReleaseSpec


@dg.sensor(job=nightly, minimum_interval_seconds=60)
def landing(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """One run for each arrival day whose files changed, and only one for each change."""
    mill = open_mill()
    mill.register([], datetime.now(UTC).date())
    arrivals = mill.arrivals
    digests = {day.isoformat(): arrivals.digest(day) for day in arrivals.days()}
    before = json.loads(context.cursor or "{}")
    changed = [day for day, digest in digests.items() if before.get(day) != digest and days.has_partition_key(day)]
    requests = [dg.RunRequest(run_key=f"{day}:{digests[day]}", partition_key=day) for day in changed]
    return dg.SensorResult(run_requests=requests, cursor=json.dumps(digests))


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS, monitored_jobs=[nightly], request_job=release, minimum_interval_seconds=60
)
def release_after_nightly(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason:
    """The second half of a night: a release through the day that was just run."""
    day = context.dagster_run.tags.get("dagster/partition")
    if day is None:
        return dg.SkipReason("the run was not of one day")
    name, rests_on = nightly_release(date.fromisoformat(day))
    context.instance.add_dynamic_partitions(str(releases.name), [name])
    # A refused cut leaves its name free: only with what it rests on does the key tell the next try from the last.
    return dg.RunRequest(run_key=f"{name}:{rests_on}", partition_key=name, run_config=release_config(day))


def nightly_release(through: date) -> tuple[str, str]:
    """`nightly-DAY`, with `.2`, `.3`, ... where that name is sealed with other content; and what it rests on."""
    mill = open_mill()
    rests_on = rests_on_input(mill, through, mill.settings.release)
    return mill.releases.name_for(f"nightly-{through}", rests_on), rests_on


def release_config(through: str, spec: ReleaseSpec | None = None) -> dict[str, object]:
    """Run configuration of a release."""
    config = {"through": through, "spec": spec.model_dump_json() if spec else ""}
    return {"ops": {"sealed_release": {"config": config}}}
