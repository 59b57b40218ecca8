"""When the nightly job runs by itself."""

from datetime import timedelta

import dagster as dg

from pipelines.jobs import nightly


@dg.schedule(job=nightly, cron_schedule="0 2 * * *", execution_timezone="UTC")
def every_night(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """At 02:00 UTC, the day that has just ended."""
    yesterday = context.scheduled_execution_time.date() - timedelta(days=1)
    return dg.RunRequest(partition_key=yesterday.isoformat())
