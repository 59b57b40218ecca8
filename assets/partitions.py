"""How assets are cut up: by UTC arrival day, and by release."""

import dagster as dg

# The first day that may have a partition; older traces arrive on the day on which they are handed over.
FIRST_DAY = "2024-01-01"

# One day more than Dagster's default, so that today's arrivals can be run today.
days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, timezone="UTC", end_offset=1)

releases = dg.DynamicPartitionsDefinition(name="releases")
