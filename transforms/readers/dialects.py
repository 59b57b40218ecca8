"""Tells and reads the dialects that are not OTLP, by the keys of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from transforms.readers import (
    agent_lightning,
    atif,
    chat,
    flat_spans,
    langfuse,
    langsmith_exports,
    mlflow,
    nemo_gym,
    openai_agents,
    phoenix,
    span_dumps,
    swe_agent,
    tau2_bench,
)
from transforms.readers.reading import Reading
from transforms.records import Record

Reads = Callable[[dict[str, Any], int, Reading], Iterator[Record]]

READERS: dict[str, Reads] = {
    "langsmith_v2": langsmith_exports.read_v2,
    "langsmith_bulk": langsmith_exports.read_bulk,
    "langsmith_cli": langsmith_exports.read_cli_row,
    "langsmith_batch": langsmith_exports.read_batch,
    "langsmith_fetch": langsmith_exports.read_fetched,
    "langfuse": langfuse.read_trace,
    "langfuse_row": langfuse.read_observation,
    "langfuse_trace": langfuse.read_trace_row,
    "langfuse_score": langfuse.read_score,
    "mlflow": mlflow.read_trace,
    "phoenix": phoenix.read_api_span,
    "phoenix_row": phoenix.read_row,
    "phoenix_annotation": phoenix.read_annotation,
    "openai_agents": openai_agents.read_item,
    "agent_lightning": agent_lightning.read_store_span,
    "lightning_rollout": agent_lightning.read_rollout,
    "lightning_event": agent_lightning.read_event,
    "jaeger": span_dumps.read_jaeger,
    "jaeger_span": span_dumps.read_jaeger_span,
    "otlp_span": span_dumps.read_bare,
    "otel_console": span_dumps.read_console,
    "otel_javascript": span_dumps.read_javascript,
    "otel_span": flat_spans.read_flat_span,
    "otel_log": flat_spans.read_log,
    "cloud_log": flat_spans.read_cloud_log,
    "atif": atif.read_trajectory,
    "tau2_bench": tau2_bench.read_results,
    "tau2_simulation": tau2_bench.read_simulation,
    "nemo_gym": nemo_gym.read_rollout,
    "swe_agent": swe_agent.read_trajectory,
    "chat": chat.read_chat,
}

IN_PARTS = frozenset({"atif", "tau2_bench", "swe_agent"})
"""Dialects of documents that may hold many chats, each given as a whole or refused by the reader itself: together their
prompts, whose lengths count squared, could fill the memory."""

VERDICTS = frozenset(
    {"langsmith_feedback", "langfuse_score", "phoenix_annotation", "agent_lightning", "lightning_event", "otel_log",
     "cloud_log"}
)  # fmt: skip
"""Dialects whose documents may be a verdict and nothing else."""

_RULES: tuple[tuple[Callable[[dict[str, Any]], bool], str], ...] = (
    (atif.is_trajectory, "atif"),
    (span_dumps.is_jaeger, "jaeger"),
    (span_dumps.is_jaeger_span, "jaeger_span"),
    (mlflow.is_trace, "mlflow"),
    (langfuse.is_trace, "langfuse"),
    (langfuse.is_observation, "langfuse_row"),
    (langfuse.is_score, "langfuse_score"),
    (langfuse.is_trace_row, "langfuse_trace"),
    (langsmith_exports.is_v2, "langsmith_v2"),
    (langsmith_exports.is_bulk, "langsmith_bulk"),
    (langsmith_exports.is_cli_row, "langsmith_cli"),
    (langsmith_exports.is_batch, "langsmith_batch"),
    (langsmith_exports.is_fetched, "langsmith_fetch"),
    (phoenix.is_span, "phoenix"),
    (phoenix.is_row, "phoenix_row"),
    (phoenix.is_annotation, "phoenix_annotation"),
    (span_dumps.is_bare, "otlp_span"),
    (agent_lightning.is_span, "agent_lightning"),
    (agent_lightning.is_event, "lightning_event"),
    (agent_lightning.is_rollout, "lightning_rollout"),
    (span_dumps.is_console, "otel_console"),
    (span_dumps.is_javascript, "otel_javascript"),
    (openai_agents.is_item, "openai_agents"),
    (tau2_bench.is_results, "tau2_bench"),
    (tau2_bench.is_simulation, "tau2_simulation"),
    (nemo_gym.is_rollout, "nemo_gym"),
    (swe_agent.is_trajectory, "swe_agent"),
    (flat_spans.is_log, "otel_log"),
    (flat_spans.is_cloud_log, "cloud_log"),
    (flat_spans.is_span, "otel_span"),
)


def detect(fields: dict[str, Any]) -> str:
    """The first dialect that fits, empty where none does; plain chats, which much looks like, are not among them."""
    return next((name for fits, name in _RULES if fits(fields)), "")
