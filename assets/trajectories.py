"""`trajectories`: what each agent did, in threads and steps."""

from datetime import date

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.lake_io import DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from assets.staleness import touched_traces
from transforms.trajectories.threads import build_threads
from warehouse.schemas import SPANS


@dg.asset(
    partitions_def=days, group_name="trajectories", kinds={"polars"}, io_manager_key="lake_io", deps=["clean_spans"]
)
def trajectories(context: dg.AssetExecutionContext, mill: MillResource) -> DayTables:
    """Trajectories that the day touched, with their steps, tool calls, and the calls that are in no step."""
    with told_safely():
        return thread_day(mill.open(), date.fromisoformat(context.partition_key))


def thread_day(mill: Mill, day: date) -> DayTables:
    """Thread every trace that got a span or a verdict on `day`, with all that came before."""
    traces = touched_traces(mill.lake, day)
    spans = mill.lake.scan(SPANS, through=day).join(traces.lazy(), on="trace_id", how="semi").collect()
    held = (
        spans.lazy()
        .select(pl.col("prompt_suffix").list.concat("output").alias("message_id"))
        .explode("message_id", empty_as_null=False)
    )
    messages = mill.lake.newest_messages(held, day)
    threads = build_threads(spans, messages, mill.identity, day)
    return DayTables({
        "trajectories": threads.trajectories, "steps": threads.steps,
        "tool_calls": threads.tool_calls, "unstepped_spans": threads.left_out,
    })  # fmt: skip
