"""Which files of a capture are exports, and what its library leaves out of them.

A corpus has one folder a capture: `export/` holds what the library wrote, `expected.json` what really happened, made
from the scenario and the traffic to the model and never from the export.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Export:
    """Files that are read together, and what is lost in them; everything else must agree.

    `lost_threads` is what readers cannot show to be missing, and the tables of trajectories do.
    """

    capture: str
    files: tuple[str, ...]
    lost: frozenset[str] = frozenset()
    lost_threads: frozenset[str] = frozenset()

    @property
    def all_lost(self) -> frozenset[str]:
        return self.lost | self.lost_threads


LOST = {
    "agentlightning-0.3.0-otel": {"tasks", "attempts"},
    "langsmith-0.15.1-langchain-anthropic": {"input tokens of streams"},
    "langsmith-0.15.1-traceable-openai": {"cached tokens", "reasoning tokens"},
    "logfire-5.4.0": {"tasks", "attempts", "how errors of tools were worded", "how lists of tools were written"},
    "mlflow-3.17.2-openai": {"tasks", "attempts"},
    "openai-agents-0.24.0-native-trace-ingest": {"messages", "tools"},
    "openinference-instrumentation-langchain-0.1.80": {"names of single arguments in spans of tools"},
    "openinference-instrumentation-openai-0.1.66-long": {"first messages of calls beyond 128 attributes"},
    "openinference-instrumentation-openai-agents-2.6.0": {"tasks", "attempts"},
    "opentelemetry-instrumentation-genai-langchain-1.3b0": {"tasks", "attempts"},
    "opentelemetry-instrumentation-langchain-0.62.4": {"reasoning tokens"},
    "opentelemetry-instrumentation-openai-0.45.6": {"reasoning tokens", "pictures"},
    "opentelemetry-instrumentation-openai-0.62.4": {"prompts with pictures"},
    "opentelemetry-instrumentation-openai-agents-0.62.4": {"tasks", "attempts"},
    "opentelemetry-instrumentation-openai-v2-2.4b0-latest-span": {
        "cached tokens", "reasoning tokens", "pictures", "tools",
    },
    "opentelemetry-instrumentation-openai-v2-2.4b0-legacy-events": {
        "cached tokens", "reasoning tokens", "tools",
    },
    "opentelemetry-instrumentation-openai-v2-2.4b0-nocontent": {
        "cached tokens", "tools", "messages", "arguments in spans of tools",
    },
    "pydantic-ai-slim-0.7.4": {"tasks", "attempts", "cached tokens", "blanks after system prompts"},
    "pydantic-ai-slim-1.106.0": {"tasks", "attempts", "how lists of tools were written"},
    "pydantic-ai-slim-2.68.0": {
        "tasks", "attempts", "how errors of tools were worded", "how lists of tools were written",
    },
    "strands-agents-1.62.0": {"attempts", "reasoning tokens"},
    "traceloop-sdk-0.62.4": {"attempts"},
    "vercel-ai-5.0.277-chat": {"cached tokens", "reasoning tokens"},
    "vercel-ai-7.0.173-genai": {"tasks", "attempts", "reasoning tokens", "how errors of tools were worded"},
}  # fmt: skip
"""What a library does not export, found by comparing its capture with the wire."""

OF_CONVERSATION = "which traces are of one conversation"
OF_RUN = "which calls are of one run"

LOST_THREADS = {
    "agentlightning-0.3.0-otel": {OF_RUN},
    "mlflow-3.17.2-openai": {OF_CONVERSATION},
    "openinference-instrumentation-openai-agents-2.6.0": {OF_CONVERSATION},
    "opentelemetry-instrumentation-openai-agents-0.62.4": {OF_CONVERSATION},
    "pydantic-ai-slim-0.7.4": {OF_CONVERSATION},
    "vercel-ai-7.0.173-genai": {OF_CONVERSATION},
}
"""What it does not export and only trajectories show."""

RUNS = "runs.list_runs.dict.jsonl.gz"
OTHER_RUNS = ("runs.query_v2.jsonl.gz", "traces.read_run_load_child_runs.jsonl.gz")
TRACES = ("traces.jsonl.gz", "traces.pb.gz")

FILES: dict[str, tuple[str, ...]] = {
    "agentlightning-0.3.0-otel": (*TRACES, "store.spans.jsonl.gz + store.rollouts.jsonl"),
    "agentlightning-1.0.2-gateway": ("events.jsonl.gz + rollouts.json",),
    "arize-phoenix-20.26.1": (
        "spans.get_spans.jsonl.gz", "spans.get_spans_dataframe.jsonl.gz", "spans.get_spans_dataframe.parquet",
        "spans.rest.json.gz", "spans.rest_otlpv1.json.gz",
    ),
    "langfuse-5.0.4-openai": TRACES,
    "langsmith-wrap-openai": ("runs.jsonl.gz",),
    "langsmith-0.15.1-langchain-anthropic": (RUNS,),
    "langsmith-0.15.1-langchain-openai": (RUNS, *OTHER_RUNS, "runs.api_query_response.json.gz"),
    "langsmith-0.15.1-traceable-openai": (RUNS,),
    "langsmith-0.15.1-wrap-openai": (RUNS, *OTHER_RUNS, "runs.api_query_response.json"),
    "langsmith-0.15.1-wrap-openai-batch": (RUNS,),
    "langsmith-js-0.3.87-wrapAISDK": (RUNS,),
    "logfire-5.4.0": TRACES,
    "mlflow-3.17.2-openai": (*TRACES, "traces.to_json.jsonl.gz"),
    "openai-agents-0.24.0-native-trace-ingest": ("items.jsonl.gz",),
    "openinference-instrumentation-anthropic-3.1.0": TRACES,
    "openinference-instrumentation-langchain-0.1.80": TRACES,
    "openinference-instrumentation-openai-0.1.66": TRACES,
    "openinference-instrumentation-openai-0.1.66-long": TRACES,
    "openinference-instrumentation-openai-agents-2.6.0": TRACES,
    "opentelemetry-instrumentation-genai-langchain-1.3b0": TRACES,
    "opentelemetry-instrumentation-genai-openai-1.3b0-span": (*TRACES, "traces.python-json-file-exporter.jsonl.gz"),
    "opentelemetry-instrumentation-langchain-0.62.4": TRACES,
    "opentelemetry-instrumentation-openai-0.45.6": (*TRACES, "traces.oldcollector.jsonl.gz"),
    "opentelemetry-instrumentation-openai-0.62.4": TRACES,
    "opentelemetry-instrumentation-openai-agents-0.62.4": TRACES,
    "opentelemetry-instrumentation-openai-v2-2.4b0-latest-span": TRACES,
    "opentelemetry-instrumentation-openai-v2-2.4b0-legacy-events": (
        "traces.jsonl.gz + logs.jsonl.gz", "traces.pb.gz + logs.pb.gz",
    ),
    "opentelemetry-instrumentation-openai-v2-2.4b0-nocontent": (
        "traces.jsonl + logs.jsonl", "traces.pb.gz + logs.pb.gz",
    ),
    "otlp-genai-openai": ("traces.jsonl.gz",),
    "pydantic-ai-slim-0.7.4": TRACES,
    "pydantic-ai-slim-1.106.0": TRACES,
    "pydantic-ai-slim-2.68.0": TRACES,
    "strands-agents-1.62.0": TRACES,
    "traceloop-sdk-0.62.4": TRACES,
    "vercel-ai-5.0.277-chat": ("traces.otlp.jsonl.gz",),
    "vercel-ai-7.0.173-genai": ("traces.otlp.jsonl.gz",),
}  # fmt: skip

LOST_IN = {"agentlightning-1.0.2-gateway": {"arguments in spans of tools"}}
"""What only one way out of a library loses, by capture."""

EXPORTS = tuple(
    Export(
        capture,
        tuple(files.split(" + ")),
        frozenset(LOST.get(capture, ()) or LOST_IN.get(capture, ())),
        frozenset(LOST_THREADS.get(capture, ())),
    )
    for capture, ways in FILES.items()
    for files in ways
)
"""One row a way out of a library."""

NOT_COMPARED = {
    "adapter.messages.jsonl": "made from spans, without ids",
    "adapter.triplets.jsonl": "made from spans, without ids",
    "events.triplet.jsonl": "token ids only; tests compare them",
    "feedback.list_feedback.jsonl": "verdicts; tests compare them",
    "logs.jsonl": "read with the traces beside it",
    "logs.pb": "read with the traces beside it",
    "metrics.jsonl": "counts, no traces",
    "metrics.pb": "counts, no traces",
    "raw_requests.jsonl": "a recorder's own format",
    "runs.list_runs.model_dump_json.jsonl": "cut off within a run; tests compare it run by run",
    "scores.jsonl": "verdicts; tests compare them",
    "search_traces.csv": "a page of the traces; tests compare it with their JSON",
    "span_annotations.jsonl": "verdicts; tests compare them",
}
"""Other files of captures, and why they are in no row."""
