"""`trajectories`: what each agent did, in threads and steps."""

from datetime import date

import dagster as dg
import polars as pl

from assets.failures import told_safely
from assets.lake_io import DayScans, DayTables
from assets.mill import Mill, MillResource
from assets.partitions import days
from transforms.trajectories.threads import build_threads
from warehouse.lake import Lake
from warehouse.schemas import SPANS


@dg.asset(partitions_def=days, group_name="trajectories", kinds={"polars"}, io_manager_key="lake_io")
def trajectories(context: dg.AssetExecutionContext, mill: MillResource, clean_spans: DayScans) -> DayTables:
    """Trajectories that the day touched, with their steps, tool calls, and the calls that are in no step."""
    with told_safely():
        return thread_day(mill.open(), date.fromisoformat(context.partition_key), clean_spans)


def thread_day(mill: Mill, day: date, clean_spans: DayScans) -> DayTables:
    """Thread every trace that got a span or a verdict on `day`, with all that came before."""
    traces = touched_traces(mill.lake, day, clean_spans)
    spans = mill.lake.scan(SPANS, through=day).join(traces.lazy(), on="trace_id", how="semi").collect()
    held = spans.lazy().select(pl.col("prompt_suffix").list.concat("output").alias("message_id")).explode("message_id")
    messages = mill.lake.newest_messages(held, day)
    threads = build_threads(spans, messages, mill.identity, day)
    return DayTables({
        "trajectories": threads.trajectories, "steps": threads.steps,
        "tool_calls": threads.tool_calls, "unstepped_spans": threads.left_out,
    })  # fmt: skip


def touched_traces(lake: Lake, day: date, clean_spans: DayScans) -> pl.DataFrame:
    """Traces with a span or a verdict of the day, and the other traces of their conversations."""
    touched = pl.concat([clean_spans["spans"].select("trace_id"), clean_spans["feedback"].select("trace_id")]).unique()
    known = lake.scan(SPANS, through=day).select("trace_id", "source", "conversation_id")
    talks = known.join(touched, on="trace_id", how="semi").select("source", "conversation_id").drop_nulls().unique()
    siblings = known.join(talks, on=["source", "conversation_id"], how="semi").select("trace_id")
    return pl.concat([touched, siblings]).unique().collect()
